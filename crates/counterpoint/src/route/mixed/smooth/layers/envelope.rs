//! A bound on the lowest layer's transform at all high frequencies.

use super::axis::{Axis, Node};
use super::complex::expm1;
use super::masses::{Mass, Masses};
use super::steps::Layer;
use super::turned::ln_modulus;
use crate::loss::Direction;
use crate::rounding::exp;
use crate::route::DOUBLES;
use crate::route::mixed::smooth::sampled::angle;

/// arctan x is at least this times x for x up to one: pi/4, from below.
const ARCTANGENT: f64 = 0.785;
/// What masses that should add up to one are off by, beside the error of what they are divided by.
const WHOLE: f64 = 1e-12;
/// Turns that are tried.
const HALVINGS: i32 = 8;

/// At least the transform of what is below a cut, of one step, at every frequency from one on. On a turned line
/// |r^(iw)| = e^(-w arg r), and arg r, for a share s of r that is turned by an angle, is at least the arctangent of
/// s times the angle's sine.
pub(super) fn envelope(
    axis: &Axis,
    layer: Layer,
    masses: &Masses,
    (t, below): (f64, (f64, f64)),
    w: f64,
) -> f64 {
    // What the turn itself adds counts too: small turns are better at first.
    let turn = |k: i32| axis.turn() / f64::from(1 << k);
    let at = |k: i32| turned(axis, layer, masses, (t, below), (w, turn(k)));
    (0..HALVINGS).map(at).fold(1.0, f64::min)
}

fn turned(
    axis: &Axis,
    layer: Layer,
    masses: &Masses,
    (t, below): (f64, (f64, f64)),
    (w, turn): (f64, f64),
) -> f64 {
    let half = 0.5 * axis.spacing;
    let shift = turn / axis.steps.mu;
    let grown = exp(0.5 * shift * shift) * (1.0 + DOUBLES);
    let exponent = |mass: &Mass| t * mass.loss - below.0;
    let nodes = axis.nodes.iter().zip(&masses.list);
    // The whole is one: what is lost of it, from below, and what the turn adds, from above.
    let (mut lost, mut gained) = (0.0, 0.0);
    for (node, mass) in nodes {
        let slope = slope(axis, t, node) * half;
        // How far kappa moves within the cell, on the axis and on the line.
        let moved = axis.moved(layer.high, node.x, (0.0, half));
        let moved_there = axis.moved(layer.high, node.x, (turn, half));
        let kept = exp((exponent(mass) - mass.high - moved).clamp(-690.0, 600.0));
        let most = weight(axis, layer, (t, turn), (node, exponent(mass) + moved_there));
        let share = -expm1(-w * least_argument(axis, node, turn));
        lost += mass.mass * kept * share * exp((-slope).max(-690.0));
        gained += mass.mass * (most - kept).max(0.0) * exp(slope.min(600.0));
    }
    grown
        * (1.0 - (lost - gained) * (1.0 - DOUBLES) + 2.0 * DOUBLES * gained + WHOLE + 2.0 * below.1)
}

/// At least |weight| on the turned line, relative to the density on the axis, times a power of e.
fn weight(axis: &Axis, layer: Layer, (t, turn): (f64, f64), (node, power): (&Node, f64)) -> f64 {
    let (re, im) = axis.weights(layer, (node.x, turn), (power, 0.0)).1;
    let size = (re * re + im * im).sqrt() * (1.0 + DOUBLES);
    match axis.steps.direction {
        Direction::Remove => size,
        Direction::Add => {
            let fallen = -node.loss - ln_modulus(axis.steps.rate, node.rho, turn);
            size * exp((t * fallen).clamp(0.0, 600.0)) * (1.0 + DOUBLES)
        }
    }
}

/// At most the argument of r on the turned line, anywhere in a node's cell.
fn least_argument(axis: &Axis, node: &Node, turn: f64) -> f64 {
    let rho = node.rho * exp(-0.5 * axis.steps.mu * axis.spacing);
    let share = rho / (1.0 - axis.steps.rate + rho);
    ARCTANGENT * angle(turn).1 * share * (1.0 - DOUBLES)
}

/// At least how fast the tilted density's logarithm changes within a node's cell.
fn slope(axis: &Axis, t: f64, node: &Node) -> f64 {
    let mu = axis.steps.mu;
    let rho = node.rho * exp(0.5 * mu * axis.spacing);
    let share = rho / (1.0 - axis.steps.rate + rho);
    node.x.abs() + axis.spacing + (1.0 + t) * mu * share
}
