//! The nodes on the turned line: a layer's transform, frequency by frequency.

use super::axis::{Axis, AxisNode, CUT, MOST_NODES};
use super::complex::{ZERO, argument, expm1, size};
use super::masses::{ARGUMENT, FUNCTION, LayerSums};
use super::split::{self, ComplexList, product};
use super::steps::{Layer, Steps};
use crate::delta_bounds::DOUBLES;
use crate::laws::Direction;
use crate::laws::transform::angle;
use counterpoint_numerics::complex::{Complex, minus, plus, times};
use counterpoint_numerics::{Dd, STEP, UNIT, exp, ln_1p_rounded, ln_rounded};

/// The error of an argument of r, in units of u, for each unit of its power.
const ANGLE: f64 = 1100.0;
/// The error of a running power in units of u: for each step, and at the start; five times that where arguments are not
/// small. It is computed afresh after [`STRETCH`] steps.
const POWER_STEP: f64 = 8.0;
const STRETCH: u64 = 64;
const POWER_START: f64 = 256.0;
const ROUGH: f64 = 5.0;
/// (a + b)^n - a^n by doubling in double-doubles, for each factor.
const DOUBLING: f64 = 64.0 * STEP;
/// The largest n times the errors of a and b; beyond it the products of errors count.
const FIRST_ORDER: f64 = 0.25;
/// The factor between the nodes' sum and the integral on the outer lines: within a cell logarithms change by up to
/// three.
const CELLS: f64 = 20.0;
/// The number of additions besides the blocks of nodes.
const SUMS: usize = 64;
/// Weights below this are left out.
const NEGLIGIBLE: f64 = 1e-40;
/// The size below which a power counts as vanished.
const GONE: f64 = 1e-18;

/// A layer's transform for one step, at one frequency after another.
pub(super) struct TurnedTransform {
    many: f64,
    count: u64,
    has_low: bool,
    sums: LayerSums,
    nodes: Nodes,
    /// The number of nodes whose powers have not vanished, and the weights of the others, times -1.
    active: usize,
    gone: (Complex, Complex),
    sizes: Sizes,
    /// The rule's errors, below the low cut and in the layer.
    rule: (f64, f64),
    index: u64,
    unit: f64,
}

/// A node on the line.
struct TurnedNode {
    /// ln r = rise + i theta; the rise has the direction's sign.
    rise: f64,
    theta: f64,
    /// r^(iv) - 1 for the least frequency v.
    one: Complex,
    /// The weights of the part below the low cut and of the layer, as shares of the whole.
    inner: Complex,
    window: Complex,
}

/// The nodes on the line, each of their numbers in its own list, so that a processor works on several at once.
#[derive(Default)]
struct Nodes {
    rise: Vec<f64>,
    theta: Vec<f64>,
    one: ComplexList,
    /// r^(iv) - 1 for the current frequency.
    now: ComplexList,
    inner: ComplexList,
    window: ComplexList,
}

impl Nodes {
    fn push(&mut self, place: &TurnedNode) {
        self.rise.push(place.rise);
        self.theta.push(place.theta);
        self.one.push(place.one);
        self.now.push(ZERO);
        self.inner.push(place.inner);
        self.window.push(place.window);
    }

    fn len(&self) -> usize {
        self.rise.len()
    }
}

/// Sums over the line that bound the errors.
#[derive(Default)]
struct Sizes {
    /// Sums over the layer: of weights, and of weights times losses, times relative errors, and times both.
    window: f64,
    window_losses: f64,
    window_errors: f64,
    window_loss_errors: f64,
    /// Sums over the part below the low cut.
    inner_losses: f64,
    inner_errors: f64,
    /// Sums of the integrands on the outer lines.
    inner_outer: f64,
    window_outer: f64,
}

impl TurnedTransform {
    pub(super) fn new(axis: &Axis, layer: Layer, (t, sums): (f64, LayerSums), unit: f64) -> Self {
        let (mut nodes, mut sizes) = (Nodes::default(), Sizes::default());
        for node in &axis.nodes {
            let place = sizes.add(axis, layer, (t, sums.below.0, unit), node);
            if size(place.window) + size(place.inner) > NEGLIGIBLE {
                nodes.push(&place);
            }
        }
        // 2/(e^(2 pi b/h) - 1), on lines moved by b from the turned one: the axis, and twice the turn.
        let fall = std::f64::consts::TAU * axis.shift / axis.spacing;
        let lines = CELLS * 2.0 * exp(2.0 * axis.shift * axis.shift) / expm1(fall.min(690.0));
        let rule = (lines * sizes.inner_outer + CUT, lines * sizes.window_outer + CUT);
        let (active, gone) = (nodes.len(), (ZERO, ZERO));
        let (many, count) = (axis.steps.many(), axis.steps.count);
        let has_low = layer.low.is_some();
        Self { many, count, has_low, sums, nodes, active, gone, sizes, rule, index: 0, unit }
    }

    pub(super) fn frequency(&self) -> f64 {
        self.index as f64 * self.unit
    }

    /// The work of the next frequency.
    pub(super) fn work(&self) -> f64 {
        self.active as f64
    }

    /// (a + b)^n - a^n at the current frequency, relative to the whole, and its absolute error to first order; the
    /// error is infinite if first order is not enough.
    pub(super) fn value(&self) -> (Complex, f64) {
        let Nodes { now, inner, window, .. } = &self.nodes;
        let a = plus(self.gone.0, product(inner, now, self.active));
        let b = plus(self.gone.1, product(window, now, self.active));
        let (a_error, b_error) = self.errors();
        let start = |(re, im): Complex, one: f64| (Dd::sum(one, re), Dd::from(im));
        if !self.has_low {
            let value = difference((Dd::ZERO, Dd::ZERO), start(b, 1.0), self.count);
            let off = b_error + 2.0 * UNIT * size(b) + DOUBLING;
            return (value, self.first_order(self.many * off, off, ln_size(b)));
        }
        // The part below the low cut excludes the layer.
        let window = self.sums.window;
        let (below, within) = ((a.0 - window, a.1), (window + b.0, b.1));
        let value = difference(start(below, 1.0), start(within, 0.0), self.count);
        // The value changes by n times the change of b, and by n^2 b times the change of a.
        let off = window * (self.sums.window_error + 2.0 * UNIT);
        let a_off = a_error + off + 2.0 * UNIT * size(below) + DOUBLING;
        let moved =
            self.many * (b_error + off + self.many * (size(within) + b_error + off) * a_off);
        let largest = ln_size(below).max(ln_size((a.0 + b.0, a.1 + b.1)));
        (value, self.first_order(moved, a_off + b_error + off, largest))
    }

    /// An error to first order: from the slope where a and a + b have size one, times the largest of their powers
    /// within their errors.
    fn first_order(&self, moved: f64, off: f64, ln_largest: f64) -> f64 {
        let product = self.many * off;
        if product.is_nan() || product >= FIRST_ORDER {
            return f64::INFINITY;
        }
        let most = ln_largest + 4.0 * off + 16.0 * UNIT;
        let fall = if most > 0.0 { self.many * most } else { (self.many - 2.0) * most };
        moved * exp(fall.clamp(-690.0, 690.0)) * (1.0 + DOUBLES)
    }

    /// The errors of a and b: weights, powers and additions, and the rule.
    fn errors(&self) -> (f64, f64) {
        let (w, sizes) = (self.frequency(), &self.sizes);
        let blocks = split::BLOCK + SUMS + self.nodes.len() / split::BLOCK;
        let additions = (blocks + self.nodes.len() - self.active) as f64;
        let steps = self.index.min(STRETCH) as f64;
        let sums = UNIT * (POWER_STEP * steps + additions);
        // The error of the weights' common divisor.
        let whole = self.sums.below.1;
        let a = (sums + UNIT * POWER_START + whole) * w * sizes.inner_losses
            + w * sizes.inner_errors
            + self.rule.0;
        let reach = (2.0 * ROUGH * sizes.window).min(w * sizes.window_losses);
        let weights = (2.0 * sizes.window_errors).min(w * sizes.window_loss_errors);
        let starts = UNIT * POWER_START * w * sizes.window_losses;
        (a, (2.0 * sums + whole) * reach + starts + weights + self.rule.1)
    }

    /// An upper bound on |b| at every frequency from the current one on: powers decrease with the frequency, and the
    /// rule's error is bounded at all of them.
    pub(super) fn most(&self) -> f64 {
        let w = self.frequency();
        let part = |(index, theta): (usize, &f64)| {
            size(self.nodes.window.get(index)) * exp((-w * theta).max(-690.0))
        };
        let omitted_mass = NEGLIGIBLE * MOST_NODES;
        let rest = self.rule.1 + omitted_mass + 4.0 * CUT;
        self.nodes.theta.iter().enumerate().map(part).sum::<f64>() * (1.0 + DOUBLES) + rest
    }

    /// Moves to the next frequency: z^(j+1) - 1 = (z^j - 1) z + (z - 1).
    pub(super) fn advance(&mut self) {
        self.index += 1;
        let v = self.frequency();
        let Nodes { rise, theta, one, now, inner, window } = &mut self.nodes;
        if self.index.is_multiple_of(STRETCH) {
            for (index, (rise, theta)) in rise.iter().zip(theta).take(self.active).enumerate() {
                now.set(index, power_less_one(v, *rise, *theta));
            }
        } else {
            now.advance(one, self.active);
        }
        // The powers of large losses vanish first.
        while let Some(last) = self.active.checked_sub(1) {
            let power = now.get(last);
            if size((power.0 + 1.0, power.1)) > GONE {
                break;
            }
            self.gone = (minus(self.gone.0, inner.get(last)), minus(self.gone.1, window.get(last)));
            self.active = last;
        }
    }
}

impl Sizes {
    /// Moves a node to the turned line.
    fn add(
        &mut self,
        axis: &Axis,
        layer: Layer,
        (t, ln_below, unit): (f64, f64, f64),
        node: &AxisNode,
    ) -> TurnedNode {
        let Steps { rate, mu, direction, .. } = axis.steps;
        let (power, sign) = match direction {
            Direction::Remove => (1.0 + t, 1.0),
            Direction::Add => (-t, -1.0),
        };
        let (x, turn, shift) = (node.x, axis.turn(), axis.shift);
        let scale = axis.spacing / std::f64::consts::TAU.sqrt();
        // ln r = rise + i theta, or its conjugate.
        let (less, sine) = angle(turn);
        let (real, side) = (1.0 - rate + node.rho * (1.0 - less), node.rho * sine);
        let (rise, theta) = (ln_modulus(rate, node.rho, turn), argument(real, side));
        let exponent = -0.5 * x * x + 0.5 * shift * shift + power * rise - ln_below;
        let turned = (exponent, sign * (power * theta - x * shift));
        let (inner, window) = axis.weights(layer, (x, turn), turned);
        let scaled = |weight: Complex| (scale * weight.0, scale * weight.1);
        let (inner, window) = (scaled(inner), scaled(window));
        let rise = sign * rise;
        let one = power_less_one(unit, rise, theta);
        self.bound_outer(axis, layer, (power, ln_below), node);
        // An upper bound on |ln r|: -ln(1 - q) is at most 5/4 q for q up to 1/4, approximately.
        let loss = 1.25 * rate + ln_1p_rounded(node.rho) + theta;
        let powers = power.abs() * (ARGUMENT * loss * (1.0 + x.abs() * mu) + ANGLE * theta);
        let carried = FUNCTION + ARGUMENT * (x * x + x.abs() * (mu + shift)) + powers;
        self.count(
            axis,
            layer,
            (x, loss, carried),
            if side <= 0.03 * real { 1.0 } else { ROUGH },
            (inner, window),
        );
        TurnedNode { rise, theta, one, inner, window }
    }

    /// Adds up a node's weights, times losses and errors.
    fn count(
        &mut self,
        axis: &Axis,
        layer: Layer,
        (x, loss, carried): (f64, f64, f64),
        rough: f64,
        (inner, window): (Complex, Complex),
    ) {
        let around = ARGUMENT * (1.0 + x.abs());
        let inner_error = UNIT * (carried + around * axis.slope_below(layer.low, x));
        let steep = if layer.low.is_some() {
            axis.steepness(layer, x)
        } else {
            axis.slope_below(layer.high, x)
        };
        let window_error = UNIT * (carried + around * steep);
        self.window += size(window);
        self.window_losses += size(window) * loss * rough;
        self.window_errors += size(window) * window_error;
        self.window_loss_errors += size(window) * loss * window_error;
        self.inner_losses += size(inner) * loss * rough;
        self.inner_errors += size(inner) * loss * inner_error;
    }

    /// Bounds the integrands on the axis and at twice the turn, where |r| is at most r, and |r^-t| is computed.
    fn bound_outer(
        &mut self,
        axis: &Axis,
        layer: Layer,
        (power, ln_below): (f64, f64),
        node: &AxisNode,
    ) {
        let twice = 2.0 * axis.turn();
        let most = if power > 0.0 {
            power * node.loss
        } else {
            power * ln_modulus(axis.steps.rate, node.rho, twice)
        };
        let exponent = -0.5 * node.x * node.x + most - ln_below;
        let scale = axis.spacing / std::f64::consts::TAU.sqrt();
        for turn in [0.0, twice] {
            let (inner, window) = axis.weights(layer, (node.x, turn), (exponent, 0.0));
            self.inner_outer += scale * size(inner);
            self.window_outer += scale * size(window);
        }
    }
}

/// r^(iv) - 1, or r^(-iv) - 1: e^(-v theta) times a phase, less one.
fn power_less_one(v: f64, rise: f64, theta: f64) -> Complex {
    let (less, sine) = angle(v * rise);
    let fall = exp((-v * theta).max(-690.0));
    (expm1(-v * theta) - fall * less, fall * sine)
}

/// ln |1 + z| to 16 u if that is above -1; else an upper bound.
fn ln_size((re, im): Complex) -> f64 {
    let excess = 2.0 * re + re * re + im * im;
    if excess > -0.5 {
        return 0.5 * ln_1p_rounded(excess);
    }
    let square = (1.0 + re) * (1.0 + re) + im * im;
    0.5 * ln_rounded(square.max(0.1))
}

/// ln |r| where rho is turned by an angle.
pub(super) fn ln_modulus(rate: f64, rho: f64, turn: f64) -> f64 {
    let (less, sine) = angle(turn);
    let (m, side) = (rho * (1.0 - less) - rate, rho * sine);
    if rho > 1e100 {
        // Next to rho itself, 1 - q is nothing.
        return Dd::from(rho).ln().hi;
    }
    0.5 * ln_1p_rounded(2.0 * m + m * m + side * side)
}

/// (a + b)^n - a^n, computed without a subtraction.
fn difference(a: Complex<Dd>, b: Complex<Dd>, n: u64) -> Complex {
    let both = (a.0 + b.0, a.1 + b.1);
    let (mut power, mut difference) = (a, b);
    for bit in (0..63 - n.leading_zeros()).rev() {
        let sum = (power.0.scaled(2.0) + difference.0, power.1.scaled(2.0) + difference.1);
        difference = times(difference, sum);
        power = times(power, power);
        if n >> bit & 1 == 1 {
            let (grown, new) = (times(difference, both), times(power, b));
            difference = (grown.0 + new.0, grown.1 + new.1);
            power = times(power, a);
        }
    }
    (difference.0.hi, difference.1.hi)
}
