//! A bound on the lowest layer's transform at all high frequencies.

use super::axis::{Axis, AxisNode};
use super::complex::expm1;
use super::masses::Masses;
use super::steps::Layer;
use super::turned::ln_modulus;
use crate::delta_bounds::DOUBLES;
use crate::laws::Direction;
use crate::laws::transform::angle;
use counterpoint_numerics::exp;

/// arctan x is at least this times x, for x up to one: pi/4, rounded down.
const ARCTANGENT: f64 = 0.785;
/// The error of masses that should add up to one, besides the error of their divisor.
const WHOLE: f64 = 1e-12;
/// Cells that keep less are left out of the sum.
const NOTHING: f64 = 1e-25;
/// The number of turns that are tried.
const HALVINGS: i32 = 8;

/// Bounds on the transform of the part below a cut, for one step. On a turned line |r^(iw)| = e^(-w arg r). If a share
/// s of r is turned by an angle, arg r is at least the arctangent of s times the angle's sine.
pub(super) struct Envelope(Vec<Turn>);

/// The bound by one turn: one, minus a lower bound on the loss, plus an upper bound on the gain from the turn.
struct Turn {
    grown: f64,
    /// One plus the gain.
    whole: f64,
    /// A lower bound on the mass that a cell keeps, and its argument of r.
    cells: Vec<(f64, f64)>,
}

impl Envelope {
    pub(super) fn new(
        axis: &Axis,
        layer: Layer,
        masses: &Masses,
        tilted: (f64, (f64, f64)),
    ) -> Self {
        // The gain from the turn itself counts too, so small turns are better at first.
        let turn = |k: i32| axis.turn() / f64::from(1 << k);
        Self((0..HALVINGS).map(|k| Turn::new(axis, layer, masses, (tilted, turn(k)))).collect())
    }

    /// An upper bound on the transform's size at every frequency from the given one on.
    pub(super) fn at(&self, w: f64) -> f64 {
        self.0.iter().map(|turn| turn.at(w)).fold(1.0, f64::min)
    }
}

impl Turn {
    fn new(
        axis: &Axis,
        layer: Layer,
        masses: &Masses,
        ((t, below), turn): ((f64, (f64, f64)), f64),
    ) -> Self {
        let half = 0.5 * axis.spacing;
        let shift = turn / axis.steps.mu;
        let (mut cells, mut gained) = (Vec::with_capacity(axis.nodes.len()), 0.0);
        for (node, mass) in axis.nodes.iter().zip(&masses.list) {
            let exponent = t * mass.loss - below.0;
            let slope = slope(axis, t, node) * half;
            // The changes of kappa within the cell, on the axis and on the line.
            let moved = axis.kappa_change(layer.high, node.x, (0.0, half));
            let moved_there = axis.kappa_change(layer.high, node.x, (turn, half));
            let kept = exp((exponent - mass.high - moved).clamp(-690.0, 600.0));
            let most = weight(axis, layer, (t, turn), (node, exponent + moved_there));
            gained += mass.mass * (most - kept).max(0.0) * exp(slope.min(600.0));
            let least = mass.mass * kept * exp((-slope).max(-690.0));
            if least > NOTHING {
                cells.push((least, least_argument(axis, node, turn)));
            }
        }
        let whole = 1.0 + gained * (1.0 + DOUBLES) + WHOLE + 2.0 * below.1;
        Self { grown: exp(0.5 * shift * shift) * (1.0 + DOUBLES), whole, cells }
    }

    fn at(&self, w: f64) -> f64 {
        let lost = |&(least, argument): &(f64, f64)| -least * expm1(-w * argument);
        let lost: f64 = self.cells.iter().map(lost).sum();
        self.grown * (self.whole - lost * (1.0 - DOUBLES))
    }
}

/// An upper bound on |weight| on the turned line, relative to the density on the axis, times a power of e.
fn weight(
    axis: &Axis,
    layer: Layer,
    (t, turn): (f64, f64),
    (node, power): (&AxisNode, f64),
) -> f64 {
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

/// A lower bound on the argument of r on the turned line, anywhere in a node's cell.
fn least_argument(axis: &Axis, node: &AxisNode, turn: f64) -> f64 {
    let rho = node.rho * exp(-0.5 * axis.steps.mu * axis.spacing);
    let share = rho / (1.0 - axis.steps.rate + rho);
    ARCTANGENT * angle(turn).1 * share * (1.0 - DOUBLES)
}

/// An upper bound on the rate at which the tilted density's logarithm changes within a node's cell.
fn slope(axis: &Axis, t: f64, node: &AxisNode) -> f64 {
    let mu = axis.steps.mu;
    let rho = node.rho * exp(0.5 * mu * axis.spacing);
    let share = rho / (1.0 - axis.steps.rate + rho);
    node.x.abs() + axis.spacing + (1.0 + t) * mu * share
}
