//! The decay of the transform at high frequencies, from the variation of the loss's density.

use super::integrand::{Integrand, expm1, fall};
use counterpoint_numerics::exp;

/// Three extrema, each up and down.
const EXTREMA: f64 = 6.0;
/// The error of using the weights' sum for their integral: the rule's error is checked to be below a tenth of this.
const NORM: f64 = 1e-6;
/// The error of a lower bound on a cell's mass: that error, and the weights' rounding.
const CELL: f64 = 1e-5;

/// Returns pairs of 1 - m and v as in `SampledTransform`, for the losses from some nodes on, and for all.
///
/// The total variation is the sum of the variation from node to node, of the jump where the density is cut off, and of
/// the contribution of each extremum between nodes. There are at most three extrema, since the density's slope vanishes
/// where x + mu = (power + 1) mu share(x) and the share is a sigmoid; between nodes the logarithm of the density bends
/// by at most 2 + |power + 1| mu^2/4. The mass in a cell is at least its node's, up to the slope of its logarithm.
pub(super) fn tails(shape: &Integrand, spacing: f64) -> Vec<(f64, f64)> {
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
