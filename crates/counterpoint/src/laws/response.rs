//! Randomized response, which dominates every mechanism with its guarantee (MV Lemma 3.2, KOV section IV).

use super::cells::{CellAtom, CellFineness, Domination};
use super::closed_form::{
    FOUR_ROUNDINGS, LARGE, PLAIN, SHORT_OF_THE_SPAN, around, cumulant_of, keep,
};
use super::transform::{TiltedLaw, TransformKind};
use super::{Atom, BlurNeed, Jet, Law, Loss, OmittedMass, exceeds};
use crate::delta_bounds::DeltaBounds;
use counterpoint_numerics::{Dd, Wide, exp, exp_neg, one_minus_exp_neg};

/// The law of a loss that is epsilon with probability e^epsilon/(1 + e^epsilon), otherwise -epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) epsilon: Dd,
}

impl Response {
    /// The probability of the larger loss.
    fn truth(&self) -> Dd {
        Dd::ONE / (Dd::ONE + exp_neg(self.epsilon))
    }
}

impl Law for Response {
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

    fn response_epsilon(&self) -> Option<Dd> {
        Some(self.epsilon)
    }

    /// Randomized response dominates every law of losses from -epsilon to epsilon under which all of Q has a finite loss
    /// (theory 9.2).
    fn dominates(&self, other: &Loss, is_complete: bool) -> bool {
        let covers = |largest: Dd| self.epsilon == largest || exceeds(self.epsilon, largest);
        match other {
            Loss::Response(less) => exceeds(self.epsilon, less.epsilon),
            Loss::Laplace(law) => covers(law.epsilon),
            Loss::Range(law) => covers(law.epsilon),
            Loss::Atoms(atoms) if is_complete => {
                let mut ends = [atoms.list.first(), atoms.list.last()].into_iter().flatten();
                atoms.cut <= 0.0 && ends.all(|end| covers(end.loss) && covers(-end.loss))
            }
            _ => false,
        }
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        Some((self.epsilon, self.truth()))
    }

    fn growth(&self, s: f64) -> Option<f64> {
        (s < SHORT_OF_THE_SPAN * self.epsilon.hi).then_some(0.0)
    }

    fn mass_within(&self, gap: f64) -> Dd {
        let is_alone = gap < SHORT_OF_THE_SPAN * self.epsilon.hi;
        let mass = if is_alone { self.truth() } else { Dd::ONE };
        mass * (1.0 + FOUR_ROUNDINGS)
    }

    fn atoms(&self) -> Option<Vec<Atom>> {
        let mass = self.truth();
        let minus = mass * exp_neg(self.epsilon);
        Some(vec![Atom { loss: self.epsilon, mass }, Atom { loss: -self.epsilon, mass: minus }])
    }

    fn listed_count(&self) -> Option<usize> {
        Some(2)
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn profile(&self, epsilon: Dd) -> Option<DeltaBounds> {
        let (largest, mass) = (self.epsilon, self.truth());
        let at = |gap: Dd| {
            if gap < largest.scaled(2.0) { mass * one_minus_exp_neg(gap) } else { keep(epsilon) }
        };
        Some(around(largest - epsilon, largest, at))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        cumulant_of(cumulant(self.epsilon, t))
    }

    /// K is ln(p e^(te) + q e^(-te)), where p is e^e times q; w is the second term's share of the sum.
    #[allow(clippy::disallowed_methods)] // An estimate.
    fn jet(&self, t: f64) -> Option<Jet> {
        let e = self.epsilon.hi;
        if e <= PLAIN {
            return None;
        }
        let p = 1.0 / (1.0 + (-e).exp());
        let fall = (1.0 - p) * (-2.0 * t * e).exp();
        let w = fall / (p + fall);
        Some([t * e + (p + fall).ln(), e * (1.0 - 2.0 * w), 4.0 * e * e * w * (1.0 - w)])
    }

    fn tilted(&self, t: f64) -> Option<TiltedLaw> {
        let epsilon = self.epsilon;
        let s = Dd::from(t) + Dd::from(0.5);
        let ratio = exp_neg(epsilon * 2.0 * s);
        let stay = Dd::ONE / (Dd::ONE + ratio);
        let gone = ratio * stay;
        let variance = 4.0 * epsilon.hi * epsilon.hi * stay.hi * gone.hi;
        let kind = TransformKind::Two { stay, gone, fall: epsilon.scaled(2.0) };
        Some(TiltedLaw { shift: epsilon, variance, kind })
    }

    fn blur_need(&self) -> BlurNeed {
        BlurNeed::Possible
    }

    /// The masses are 1/(1 + e^-eps) at epsilon and e^-eps times that at -epsilon.
    fn points(
        &self,
        _side: Domination,
        _cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        let epsilon = self.epsilon;
        let p = 1.0 / (1.0 + exp(-epsilon.hi));
        sink(CellAtom { loss: epsilon, scale: Dd::ZERO, p, q: p, error: 0.0 });
        sink(CellAtom { loss: -epsilon, scale: -epsilon, p, q: p, error: 0.0 });
        Some(Wide::ZERO)
    }

    fn offset(&self) -> Dd {
        self.epsilon
    }

    fn spacings(&self) -> Option<Vec<f64>> {
        Some(vec![2.0 * self.epsilon.hi])
    }
}

/// Returns K; the expectation is one plus cosh(t eps) - 1 + tanh(eps/2) sinh(t eps).
fn cumulant(epsilon: Dd, t: f64) -> Dd {
    let x = epsilon * t;
    if x.hi > LARGE {
        return x - exp_neg(epsilon).ln_1p();
    }
    let rise = x.expm1();
    let square = rise * rise;
    let fall = (-epsilon).expm1();
    let tanh = -fall / (Dd::from(2.0) + fall);
    let twice = square + tanh * (square + rise.scaled(2.0));
    (twice / (rise + Dd::ONE).scaled(2.0)).ln_1p()
}
