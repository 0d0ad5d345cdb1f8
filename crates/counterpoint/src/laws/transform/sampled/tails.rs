//! How fast the transform falls at high frequencies: by the variation of the loss's density.

use super::shape::{Shape, expm1, fall};
use counterpoint_numerics::exp;

/// Three extrema, up and down.
const EXTREMA: f64 = 6.0;
/// The weights' sum instead of their integral: the rule's error, checked to be below a tenth of this.
const NORM: f64 = 1e-6;
/// A cell's mass from below: the same, and the weights' rounding.
const CELL: f64 = 1e-5;

/// Pairs of 1 - m and v as in `Sampled`, for losses from some nodes on, and for all.
///
/// The total variation is that from node to node, the jump where the density is cut off, and
/// what each extremum between nodes may add. There are at most three, since the density's slope
/// vanishes where x + mu = (power + 1) mu share(x) and the share is a sigmoid; between nodes the
/// logarithm of the density bends by at most 2 + |power + 1| mu^2/4. The mass in a cell is at
/// least its node's, but for the slope of its logarithm.
pub(super) fn tails(shape: &Shape, spacing: f64) -> Vec<(f64, f64)> {
    if exp(fall(shape, spacing)) > 0.1 * NORM {
        return Vec::new();
    }
    let first = (shape.from / spacing).floor() as i64;
    let last = (shape.to / spacing).ceil() as i64;
    let nodes: Vec<(f64, f64, f64)> = (first..=last)
        .map(|k| {
            let x = k as f64 * spacing;
            let (loss, share) = shape.loss(x);
            (x, shape.exponent(x, loss), share.max(1e-300))
        })
        .collect();
    let largest = nodes.iter().map(|node| node.1).fold(f64::NEG_INFINITY, f64::max);
    let weight = |exponent: f64| exp((exponent - largest).max(-700.0));
    let total: f64 = nodes.iter().map(|node| weight(node.1)).sum();
    let bend = 2.0 + (shape.power + 1.0).abs() * shape.mu * shape.mu / 4.0;
    let missed = EXTREMA * expm1((bend * spacing * spacing / 8.0).min(600.0));
    let unit = (1.0 + NORM) / (total * spacing * shape.mu);
    let mut list = Vec::new();
    let (mut mass, mut variation, mut densest, mut before) = (0.0, 0.0, 0.0_f64, 0.0);
    for (i, &(x, exponent, share)) in nodes.iter().rev().enumerate() {
        let density = weight(exponent) / share;
        variation += (density - before).abs();
        (densest, before) = (densest.max(density), density);
        if i % 4 == 0 && mass > 1e-12 {
            list.push((1.0 - mass, (variation + density + missed * densest) * unit));
        }
        let slope = x.abs() + spacing + shape.power.abs() * shape.mu;
        mass += weight(exponent) * exp(-0.5 * slope * spacing) / total * (1.0 - CELL);
    }
    // All critical points must lie among the nodes.
    let outermost = (shape.power + 1.0).abs() * shape.mu * shape.loss(shape.from).1;
    if shape.from + shape.mu + outermost <= -1.0 {
        list.push((0.0, (variation + before + missed * densest) * unit));
    }
    list
}
