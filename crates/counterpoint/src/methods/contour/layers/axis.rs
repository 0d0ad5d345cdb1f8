//! Nodes on the axis, the weights that cuts give them, and their values on the turned line of integration.

use super::complex::{ZERO, complement, expm1, exponential};
use super::steps::{Layer, Steps};
use crate::delta_bounds::DOUBLES;
use crate::laws::Direction;
use crate::laws::transform::angle;
use crate::methods::Failure;
use counterpoint_numerics::complex::{Complex, minus, times};
use counterpoint_numerics::{exp, ln_1p_rounded};

/// The power of y in kappa.
const GRADE: f64 = 4.0;
/// The largest angle by which the line of integration is turned: rho becomes rho e^(i TURN). The rule's error is
/// bounded on the axis and at twice the turn.
const TURN: f64 = 0.15;
/// The exponent of the rule's error.
const FALL: f64 = 50.0;
/// The mass beyond the ends of the axis: at most the normal tail beyond 11.4, of all functions, twice.
pub(super) const CUT: f64 = 1e-28;
/// The length of the axis beyond the laws' centres, in standard deviations; to the left r^-t may be e^60.
const LEFT: f64 = 11.5;
const LEFT_OF_GROWTH: f64 = 16.0;
const RIGHT: f64 = 11.4;
/// kappa is negligible if y^-4 is above this.
const DEEP: f64 = 3000.0;
/// Exponents of weights from which on a weight counts as infinite.
const LARGE: f64 = 600.0;
/// An upper bound on |kappa| over |e^kappa - 1|, with a third to spare, on lines turned by up to twice [`TURN`]. There
/// kappa has an angle of at most 1.35 where its size is 6, and e^kappa is not near one again.
const SPREAD: f64 = 3.0;
pub(super) const MOST_NODES: f64 = 40_000.0;

pub(super) struct Axis {
    pub(super) steps: Steps,
    pub(super) spacing: f64,
    /// The shift of the line of integration, which turns rho by this times mu.
    pub(super) shift: f64,
    pub(super) nodes: Vec<AxisNode>,
}

pub(super) struct AxisNode {
    pub(super) x: f64,
    /// q e^(mu x - mu^2/2).
    pub(super) rho: f64,
    /// The mass of P.
    pub(super) mass: f64,
    /// ln r if the person is in P's data, else -ln r.
    pub(super) loss: f64,
}

impl Axis {
    pub(super) fn new(steps: Steps) -> Result<Self, Failure> {
        let Steps { rate, mu, direction, .. } = steps;
        let shift = TURN.min(mu) / mu;
        let spacing = std::f64::consts::TAU * shift / (FALL + 2.0 * shift * shift);
        let (from, to) = match direction {
            Direction::Remove => (-(mu + LEFT), (1.0 + steps.most_tilt()) * mu + RIGHT),
            Direction::Add => (-(mu + LEFT_OF_GROWTH), mu + RIGHT),
        };
        if (to - from) / spacing > MOST_NODES {
            return Err(Failure::TooMuch);
        }
        let scale = spacing / std::f64::consts::TAU.sqrt();
        let node = |k: i64| {
            let x = k as f64 * spacing;
            let y = (mu * (x - 0.5 * mu)).min(600.0);
            let rise = rate * expm1(y);
            let density = scale * exp(-0.5 * x * x);
            let (mass, loss) = match direction {
                Direction::Remove => (density * (1.0 + rise), ln_1p_rounded(rise)),
                Direction::Add => (density, -ln_1p_rounded(rise)),
            };
            AxisNode { x, rho: rate * exp(y), mass, loss }
        };
        let places = ((from / spacing).floor() as i64)..=((to / spacing).ceil() as i64);
        Ok(Self { steps, spacing, shift, nodes: places.map(node).collect() })
    }

    /// The angle by which rho is turned.
    pub(super) fn turn(&self) -> f64 {
        self.shift * self.steps.mu
    }

    /// ln y^4 and y^-4 at a place, where y is rho over its value at the cut.
    fn powers(&self, cut: f64, x: f64) -> (f64, f64) {
        let exponent = GRADE * self.steps.mu * (x - cut);
        (exponent, exp((-exponent).min(600.0)))
    }

    /// kappa on the axis.
    pub(super) fn kappa(&self, cut: f64, x: f64) -> f64 {
        let (exponent, deep) = self.powers(cut, x);
        if deep > DEEP { 0.0 } else { exp((exponent - deep).min(600.0)) }
    }

    /// kappa on a line that is turned by an angle.
    fn turned_kappa(&self, cut: f64, x: f64, turn: f64) -> Complex {
        let (exponent, deep) = self.powers(cut, x);
        if deep > DEEP {
            return ZERO;
        }
        let (less, sine) = angle(GRADE * turn);
        exponential((exponent - deep * (1.0 - less)).min(600.0), GRADE * turn + deep * sine)
    }

    /// Weights on a turned line, times e^z: of the part below the low cut, and of the layer. Exponents are added first,
    /// because one may be as large as the other is small.
    pub(super) fn weights(
        &self,
        layer: Layer,
        (x, turn): (f64, f64),
        z: Complex,
    ) -> (Complex, Complex) {
        let falling = |kappa: Complex| exponential((z.0 - kappa.0).min(LARGE), z.1 - kappa.1);
        let high = layer.high.map_or(ZERO, |cut| self.turned_kappa(cut, x, turn));
        let kept = falling(high);
        let Some(cut) = layer.low else { return (ZERO, kept) };
        let low = self.turned_kappa(cut, x, turn);
        let gap = minus(low, high);
        (falling(low), times(kept, complement(gap.0, gap.1)))
    }

    /// An upper bound on the change of kappa within a distance of a place on a turned line: |kappa| increases with x,
    /// and its slope is 4 mu |1 + y^-4| of it.
    pub(super) fn kappa_change(&self, cut: Option<f64>, x: f64, (turn, far): (f64, f64)) -> f64 {
        let Some(cut) = cut else { return 0.0 };
        let (exponent, deep) = self.powers(cut, x + far);
        if deep > DEEP {
            return 0.0;
        }
        let size = exp((exponent - deep * (1.0 - angle(GRADE * turn).0)).min(600.0));
        let steep = 1.0 + self.powers(cut, x - far).1;
        far * GRADE * self.steps.mu * steep * size * (1.0 + DOUBLES)
    }

    /// The rate at which the logarithm of e^-kappa changes with x.
    pub(super) fn slope_below(&self, cut: Option<f64>, x: f64) -> f64 {
        let one = |cut: f64| (1.0 + self.powers(cut, x).1.min(DEEP)) * self.kappa(cut, x).min(1e3);
        GRADE * self.steps.mu * cut.map_or(0.0, one)
    }

    /// The rate at which the logarithm of a layer's weight changes with x. That of 1 - e^-kappa changes as fast as that
    /// of kappa, or at most [`SPREAD`] times as fast on turned lines, where |kappa e^-kappa| is at most that times |1 -
    /// e^-kappa|.
    pub(super) fn steepness(&self, layer: Layer, x: f64) -> f64 {
        let one = |cut: f64| SPREAD * (1.0 + self.powers(cut, x).1.min(DEEP));
        GRADE * self.steps.mu * layer.low.map_or(0.0, one) + self.slope_below(layer.high, x)
    }

    /// True if the axis reaches places with a negligible share below the cut: kappa is beyond 500 where rho is five
    /// times the cut's.
    pub(super) fn reaches(&self, cut: f64) -> bool {
        self.nodes.last().is_some_and(|last| self.kappa(cut, last.x) > 600.0)
    }

    /// An upper bound on the mass of P^n with some loss above a cut.
    pub(super) fn mass_above(&self, cut: f64) -> f64 {
        let above = |node: &AxisNode| -expm1(-self.kappa(cut, node.x)) * node.mass;
        let sum: f64 = self.nodes.iter().map(above).sum();
        self.steps.many() * (sum * (1.0 + DOUBLES) + CUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_numerics::Dd;

    fn axis() -> Axis {
        let (rate, mu) = (1e-4, 1.0);
        Axis::new(Steps { rate, mu, count: 100, direction: Direction::Remove }).unwrap()
    }

    /// kappa / (e^kappa - 1) is at most two in size, and its weight is what its own series says.
    #[test]
    fn the_weight_changes_as_fast_as_kappa_or_hardly_faster() {
        let (axis, cut) = (axis(), 5.0);
        for turn in [0.0, 0.5 * TURN, TURN, 2.0 * TURN] {
            for k in 0..4000 {
                let x = cut - 2.0 + 0.001 * f64::from(k);
                let (re, im) = axis.turned_kappa(cut, x, turn);
                if re > 600.0 {
                    break;
                }
                // |e^-kappa| |kappa| / |1 - e^-kappa|.
                let (a, b) = complement(re, im);
                let ratio = (-re).exp() * (re * re + im * im).sqrt() / (a * a + b * b).sqrt();
                assert!(ratio.is_nan() || ratio < 0.75 * SPREAD, "{ratio} at {x}, {turn}");
            }
        }
    }

    /// The nodes' masses are those of the law: they add up to one, in both directions.
    #[test]
    fn masses_add_up_to_one() {
        for direction in [Direction::Remove, Direction::Add] {
            for mu in [0.1, 1.0, 3.0] {
                let axis = Axis::new(Steps { rate: 1e-3, mu, count: 100, direction }).unwrap();
                let sum = axis.nodes.iter().fold(Dd::ZERO, |sum, node| sum + Dd::from(node.mass));
                assert!((sum - Dd::ONE).hi.abs() < 1e-14, "{mu}: {}", (sum - Dd::ONE).hi);
            }
        }
    }
}
