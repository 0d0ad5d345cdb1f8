//! A bound on the lowest layer's transform at all high frequencies.

use super::axis::{Axis, Node};
use super::complex::expm1;
use super::masses::Masses;
use super::steps::Layer;
use super::turned::ln_modulus;
use crate::ends::DOUBLES;
use crate::laws::Direction;
use crate::laws::transform::angle;
use counterpoint_numerics::exp;

/// arctan x is at least this times x for x up to one: pi/4, from below.
const ARCTANGENT: f64 = 0.785;
/// What masses that should add up to one are off by, beside the error of what they are divided by.
const WHOLE: f64 = 1e-12;
/// Cells that keep less are lost from the sum.
const NOTHING: f64 = 1e-25;
/// Turns that are tried.
const HALVINGS: i32 = 8;

/// Bounds on the transform of what is below a cut, of one step. On a turned line |r^(iw)| = e^(-w arg r), and arg r,
/// for a share s of r that is turned by an angle, is at least the arctangent of s times the angle's sine.
pub(super) struct Envelope(Vec<Turn>);

/// The bound by one turn: the whole is one; what is lost of it, from below, and what the turn adds, from above.
struct Turn {
    grown: f64,
    /// One, and what is added to it.
    whole: f64,
    /// What a cell keeps, at least, and its argument of r.
    cells: Vec<(f64, f64)>,
}

impl Envelope {
    pub(super) fn new(
        axis: &Axis,
        layer: Layer,
        masses: &Masses,
        tilted: (f64, (f64, f64)),
    ) -> Self {
        // What the turn itself adds counts too: small turns are better at first.
        let turn = |k: i32| axis.turn() / f64::from(1 << k);
        Self((0..HALVINGS).map(|k| Turn::new(axis, layer, masses, (tilted, turn(k)))).collect())
    }

    /// At least the transform's size at every frequency from one on.
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
            // How far kappa moves within the cell, on the axis and on the line.
            let moved = axis.moved(layer.high, node.x, (0.0, half));
            let moved_there = axis.moved(layer.high, node.x, (turn, half));
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
