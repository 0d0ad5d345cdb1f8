//! Laplace noise.

use super::cells::{self, CellAtom, CellFineness, Domination};
use super::closed_form::{
    FOUR_ROUNDINGS, LARGE, PLAIN, SHORT_OF_THE_SPAN, around, cumulant_of, keep,
};
use super::transform::TiltedLaw;
use super::{BlurNeed, Jet, Law, Loss, OmittedMass, exceeds};
use crate::delta_bounds::DeltaBounds;
use counterpoint_numerics::{Dd, Wide, expm1, one_minus_exp_neg};

/// The law with atoms of 1/2 at epsilon and e^-epsilon/2 at -epsilon, and the density e^((l - epsilon)/2)/4 between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Laplace {
    pub(crate) epsilon: Dd,
}

impl Law for Laplace {
    fn is_symmetric(&self) -> bool {
        true
    }

    fn is_class(&self) -> bool {
        false
    }

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass::NOTHING
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.epsilon.hi, self.epsilon.lo]
    }

    fn laplace_epsilon(&self) -> Option<Dd> {
        Some(self.epsilon)
    }

    fn dominates(&self, other: &Loss, _: bool) -> bool {
        matches!(other, Loss::Laplace(less) if exceeds(self.epsilon, less.epsilon))
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        Some((self.epsilon, Dd::from(0.5)))
    }

    fn growth(&self, s: f64) -> Option<f64> {
        (s < SHORT_OF_THE_SPAN * self.epsilon.hi).then(|| -expm1(-0.5 * s))
    }

    fn mass_within(&self, gap: f64) -> Dd {
        let side = one_minus_exp_neg(Dd::from(0.5 * gap)) * (1.0 + FOUR_ROUNDINGS);
        let is_short = gap < SHORT_OF_THE_SPAN * self.epsilon.hi;
        let mass = if is_short { (Dd::ONE + side).scaled(0.5) } else { Dd::ONE };
        mass * (1.0 + FOUR_ROUNDINGS)
    }

    fn profile(&self, epsilon: Dd) -> Option<DeltaBounds> {
        let largest = self.epsilon;
        let at = |gap: Dd| {
            if gap < largest.scaled(2.0) {
                one_minus_exp_neg(gap.scaled(0.5))
            } else {
                keep(epsilon)
            }
        };
        Some(around(largest - epsilon, largest, at))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        cumulant_of(cumulant(self.epsilon, t))
    }

    /// Evaluates ln((1+t) e^(te) + t e^(-(1+t)e)) - ln(1+2t) directly.
    #[allow(clippy::disallowed_methods)] // An estimate.
    fn jet(&self, t: f64) -> Option<Jet> {
        let e = self.epsilon.hi;
        if e <= PLAIN {
            return None;
        }
        let fall = (-(1.0 + 2.0 * t) * e).exp();
        // The sum over e^(te), with its two derivatives.
        let sum = 1.0 + t + t * fall;
        let first = (1.0 + t) * e + 1.0 + (1.0 - t * e) * fall;
        let second = (1.0 + t) * e * e + 2.0 * e + (t * e - 2.0) * e * fall;
        let (slope, over) = (first / sum, 1.0 + 2.0 * t);
        let value = t * e + (sum / over).ln();
        Some([value, slope - 2.0 / over, second / sum - slope * slope + 4.0 / (over * over)])
    }

    fn tilted(&self, t: f64) -> Option<TiltedLaw> {
        Some(TiltedLaw::ends(self.epsilon, t, true))
    }

    fn blur_need(&self) -> BlurNeed {
        BlurNeed::Needed
    }

    fn has_edges(&self) -> bool {
        true
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        cells::laplace(self.epsilon, cells::WHOLE, side, cut, sink)
    }

    fn offset(&self) -> Dd {
        self.epsilon
    }
}

/// Returns K, the logarithm of `((1+t) e^(t eps) + t e^(-(1+t) eps)) / (1+2t)`; the exponentials' linear terms cancel.
fn cumulant(epsilon: Dd, t: f64) -> Dd {
    let x = epsilon * t;
    let order = Dd::sum(1.0, t);
    if x.hi > LARGE {
        return x - (Dd::from(t) / order).ln_1p();
    }
    let sum = order * above_line(x) + above_line(-(x + epsilon)) * t;
    (sum / (order + t.into())).ln_1p()
}

/// Returns e^x - 1 - x for x below 600, with a relative error of at most 8 STEP.
fn above_line(x: Dd) -> Dd {
    if x.hi.abs() > 0.5 {
        return x.expm1() - x;
    }
    let mut term = (x * x).scaled(0.5);
    let mut sum = term;
    for n in 3..40_u32 {
        term = term * x / f64::from(n);
        sum = sum + term;
        if term.hi.abs() <= sum.hi * 1e-34 {
            break;
        }
    }
    sum
}
