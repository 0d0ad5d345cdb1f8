//! Bounded range: the worst pair of the mechanisms whose losses lie within an interval of a given length.

use super::cells::{self, CellAtom, CellFineness, Domination};
use super::closed_form::{FOUR_ROUNDINGS, PLAIN, SHORT_OF_THE_SPAN, around, cumulant_of, keep};
use super::transform::TiltedLaw;
use super::{AttainedLaw, BlurNeed, Jet, Law, Loss, OmittedMass, Response, exceeds, two_outcomes};
use crate::delta_bounds::DeltaBounds;
use counterpoint_numerics::{Dd, Wide, exp_neg, one_minus_exp_neg};
use std::sync::Arc;

/// The law with a density proportional to e^(l/2) between -epsilon and epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) epsilon: Dd,
}

/// Up to this share of the range, the law of a single mechanism is the randomized response of half the range.
const HALF: f64 = 0.5;

impl Law for Range {
    fn is_symmetric(&self) -> bool {
        true
    }

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass::NOTHING
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.epsilon.hi, self.epsilon.lo]
    }

    fn is_class(&self) -> bool {
        true
    }

    fn attained_law(&self, share: f64) -> AttainedLaw {
        AttainedLaw::Other(if share > HALF {
            Arc::new(two_outcomes(self.epsilon, share)).into()
        } else {
            Response { epsilon: self.epsilon.scaled(HALF) }.into()
        })
    }

    fn dominates(&self, other: &Loss, _: bool) -> bool {
        matches!(other, Loss::Range(less) if exceeds(self.epsilon, less.epsilon))
    }

    /// Range eta is eta^2/8 concentrated (Cesar and Rogers 2021, Lemma 3.2), which is less than its worst profile
    /// implies.
    fn concentration(&self) -> Option<f64> {
        Some((self.epsilon * self.epsilon).scaled(0.125).upper())
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        Some((self.epsilon, Dd::ZERO))
    }

    fn mass_within(&self, gap: f64) -> Dd {
        let side = one_minus_exp_neg(Dd::from(0.5 * gap)) * (1.0 + FOUR_ROUNDINGS);
        let is_short = gap < SHORT_OF_THE_SPAN * self.epsilon.hi;
        let mass = if is_short { side / one_minus_exp_neg(self.epsilon) } else { Dd::ONE };
        mass * (1.0 + FOUR_ROUNDINGS)
    }

    fn profile(&self, epsilon: Dd) -> Option<DeltaBounds> {
        let largest = self.epsilon;
        let whole = one_minus_exp_neg(largest);
        let at = |gap: Dd| {
            let side = one_minus_exp_neg(gap.scaled(0.5));
            if gap < largest.scaled(2.0) { side * side / whole } else { keep(epsilon) }
        };
        Some(around(largest - epsilon, largest, at))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        cumulant_of(cumulant(self.epsilon, t))
    }

    /// f((t + 1/2) e) - f(e/2) with f(x) = ln(sinh x / x).
    #[allow(clippy::disallowed_methods)] // An estimate.
    fn jet(&self, t: f64) -> Option<Jet> {
        let e = self.epsilon.hi;
        if e <= PLAIN {
            return None;
        }
        let f = |x: f64| {
            if x < 0.03 {
                let xx = x * x;
                let value = xx / 6.0 - xx * xx / 180.0 + xx * xx * xx / 2835.0;
                let slope = x / 3.0 - x * xx / 45.0 + 2.0 * x * xx * xx / 945.0;
                return [value, slope, 1.0 / 3.0 - xx / 15.0 + 2.0 * xx * xx / 189.0];
            }
            let fall = (-2.0 * x).exp();
            let rest = 1.0 - fall;
            let sinh_squared = rest * rest / (4.0 * fall.max(1e-300));
            let slope = (1.0 + fall) / rest - 1.0 / x;
            [x + (rest / (2.0 * x)).ln(), slope, 1.0 / (x * x) - 1.0 / sinh_squared]
        };
        let ([value, slope, curvature], [before, ..]) = (f((t + 0.5) * e), f(0.5 * e));
        Some([value - before, e * slope, e * e * curvature])
    }

    fn tilted(&self, t: f64) -> Option<TiltedLaw> {
        Some(TiltedLaw::ends(self.epsilon, t, false))
    }

    fn blur_need(&self) -> BlurNeed {
        BlurNeed::Possible
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        cells::range(self.epsilon, cells::WHOLE, side, cut, sink)
    }

    fn offset(&self) -> Dd {
        self.epsilon
    }
}

/// K with x = (t + 1/2) eps and y = eps/2, whose exponential is (sinh x / x) / (sinh y / y).
fn cumulant(epsilon: Dd, t: f64) -> Dd {
    let y = epsilon.scaled(0.5);
    let x = y + epsilon * t;
    if x.hi > 40.0 {
        // The quotient of 1 - e^(-2x) and 1 - e^(-2y), less one.
        let rest = exp_neg(epsilon) * (-(epsilon * t).scaled(2.0)).expm1() / (-epsilon).expm1();
        return epsilon * t - Dd::product(2.0, t).ln_1p() + rest.ln_1p();
    }
    // sinh x / x - sinh y / y, term by term: x^2 - y^2 is t (1+t) eps^2.
    let squares = epsilon * epsilon * (Dd::product(t, t) + t.into());
    let (xx, yy) = (x * x, y * y);
    let (mut power, mut difference) = (Dd::ONE, Dd::ZERO);
    let (mut powers, mut differences) = (Dd::ONE, Dd::ZERO);
    for n in 1..200_u32 {
        let n = f64::from(n);
        let divisor = 2.0 * n * (2.0 * n + 1.0);
        difference = (difference * xx + power * squares) / divisor;
        power = power * yy / divisor;
        differences = differences + difference;
        powers = powers + power;
        if n > x.hi + 1.0 && difference.hi <= differences.hi * 1e-34 {
            break;
        }
    }
    (differences / powers).ln_1p()
}
