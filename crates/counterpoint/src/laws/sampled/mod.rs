//! The laws of pairs on a Poisson sample.

mod doubles;
mod precise;

pub(super) use precise::{
    Excess, FIRST_ORDER, LN_RATIO, ROUNDING, inner_loss, magnitude, power, trapezoid,
};

use super::amplified::log_mixture;
use super::atoms::sampled_two_outcomes;
use super::cells::{self, CellAtom, CellFineness, Domination, PoissonSample};
use super::closed_form::SHORT_OF_HALF;
use super::transform::{SampledTransform, TiltedLaw, TransformKind, quick};
use super::{
    AttainedLaw, Direction, Gaussian, Jet, Laplace, Law, Loss, OmittedMass, Range, SampledPair,
    exceeds,
};
use counterpoint_numerics::{Dd, Wide, exp_neg, exp_rounded, expm1, ln_1p_rounded};
use std::sync::Arc;

/// The law of a Gaussian pair, mu apart, on a Poisson sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampledGaussian {
    pub(crate) rate: f64,
    pub(crate) mu: Dd,
    pub(crate) direction: Direction,
}

/// The law of a Laplace pair on a Poisson sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampledLaplace {
    pub(crate) rate: f64,
    pub(crate) epsilon: Dd,
    pub(crate) direction: Direction,
}

/// The law of the pair of a range on a Poisson sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampledRange {
    pub(crate) rate: f64,
    pub(crate) epsilon: Dd,
    pub(crate) direction: Direction,
}

/// True if two samples have the same rate and the same direction.
fn are_alike(a: (f64, Direction), b: (f64, Direction)) -> bool {
    a.0.to_bits() == b.0.to_bits() && a.1 == b.1
}

impl Law for SampledGaussian {
    fn is_symmetric(&self) -> bool {
        false
    }

    fn is_class(&self) -> bool {
        false
    }

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass::NOTHING
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.mu.hi, self.mu.lo, self.rate]
    }

    fn sampled_normal(&self) -> Option<&SampledGaussian> {
        Some(self)
    }

    fn dominates(&self, other: &Loss, _: bool) -> bool {
        let Loss::SampledGaussian(less) = other else { return false };
        are_alike((self.rate, self.direction), (less.rate, less.direction))
            && exceeds(self.mu, less.mu)
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        (self.direction == Direction::Add).then(|| (-(-Dd::from(self.rate)).ln_1p(), Dd::ZERO))
    }

    fn sampled_pair(&self) -> Option<SampledPair> {
        let inner = Gaussian { square: self.mu * self.mu }.into();
        Some(SampledPair { inner, rate: self.rate, direction: self.direction, is_whole: true })
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        precise::gaussian(self.rate, self.mu, self.direction, t)
    }

    fn cumulant_in_doubles(&self, t: f64) -> Option<(Dd, f64)> {
        quick::cumulant(self.rate, self.mu, self.direction, t)
    }

    fn own_jet(&self, t: f64) -> Option<Option<Jet>> {
        Some(quick::jet(self.rate, self.mu.hi, self.direction, t))
    }

    fn tilted(&self, t: f64) -> Option<TiltedLaw> {
        let sampled = SampledTransform::new(self.rate, self.mu, self.direction, t)?;
        let (shift, variance) = (Dd::from(sampled.centre), sampled.variance);
        Some(TiltedLaw { shift, variance, kind: TransformKind::Sampled(Box::new(sampled)) })
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        cells::normal(self.mu, PoissonSample::new(self.rate, self.direction), side, cut, sink)
    }
}

/// Returns the largest loss on a Poisson sample of a pair with losses from -epsilon to epsilon.
fn largest(rate: f64, epsilon: Dd, direction: Direction) -> Dd {
    match direction {
        Direction::Remove => log_mixture(Dd::from(rate), epsilon),
        Direction::Add => -log_mixture(Dd::from(rate), -epsilon),
    }
}

impl Law for SampledLaplace {
    fn is_symmetric(&self) -> bool {
        false
    }

    fn is_class(&self) -> bool {
        false
    }

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass::NOTHING
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.epsilon.hi, self.epsilon.lo, self.rate]
    }

    fn dominates(&self, other: &Loss, _: bool) -> bool {
        let Loss::SampledLaplace(less) = other else { return false };
        are_alike((self.rate, self.direction), (less.rate, less.direction))
            && exceeds(self.epsilon, less.epsilon)
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        let mass = match self.direction {
            Direction::Remove => {
                let rest = exp_neg(self.epsilon);
                let rate = Dd::from(self.rate);
                (rate + (Dd::ONE - rate) * rest).scaled(0.5)
            }
            Direction::Add => Dd::from(0.5),
        };
        Some((largest(self.rate, self.epsilon, self.direction), mass))
    }

    /// Losses within s of the largest have a loss before sampling within 2d of its end (theory 2.7).
    fn growth(&self, s: f64) -> Option<f64> {
        let (rate, epsilon) = (self.rate, self.epsilon);
        if epsilon.hi >= 590.0 {
            return None;
        }
        let decay = exp_rounded(-epsilon);
        match self.direction {
            Direction::Remove => {
                let rest = (1.0 - rate) * decay;
                let fall = (rest + rate) / rate * -expm1(-s);
                let d = -0.5 * ln_1p_rounded(-fall.min(0.5));
                let grown = rest * expm1(d) - rate * expm1(-d);
                (fall < 0.5 && d < SHORT_OF_HALF * epsilon.hi).then_some(grown / (rest + rate))
            }
            Direction::Add => {
                let rise = (1.0 - rate + rate * decay) / (rate * decay) * expm1(s);
                let d = 0.5 * ln_1p_rounded(rise.min(0.5));
                (rise < 0.5 && d < SHORT_OF_HALF * epsilon.hi).then_some(-expm1(-d))
            }
        }
    }

    fn sampled_pair(&self) -> Option<SampledPair> {
        let inner = Laplace { epsilon: self.epsilon }.into();
        Some(SampledPair { inner, rate: self.rate, direction: self.direction, is_whole: true })
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        precise::laplace(self.rate, self.epsilon, self.direction, t)
    }

    fn cumulant_in_doubles(&self, t: f64) -> Option<(Dd, f64)> {
        doubles::laplace(self.rate, self.epsilon, self.direction, t)
    }

    fn has_transform(&self) -> bool {
        false
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        cells::laplace(self.epsilon, PoissonSample::new(self.rate, self.direction), side, cut, sink)
    }

    fn offset(&self) -> Dd {
        largest(self.rate, self.epsilon, self.direction)
    }
}

impl Law for SampledRange {
    fn is_symmetric(&self) -> bool {
        false
    }

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass::NOTHING
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.epsilon.hi, self.epsilon.lo, self.rate]
    }

    fn is_class(&self) -> bool {
        true
    }

    fn attained_law(&self, share: f64) -> AttainedLaw {
        match sampled_two_outcomes(self.epsilon, share, self.rate, self.direction) {
            Some(atoms) => AttainedLaw::Other(Arc::new(atoms).into()),
            None => AttainedLaw::Unknown,
        }
    }

    fn dominates(&self, other: &Loss, _: bool) -> bool {
        let Loss::SampledRange(less) = other else { return false };
        are_alike((self.rate, self.direction), (less.rate, less.direction))
            && exceeds(self.epsilon, less.epsilon)
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        Some((largest(self.rate, self.epsilon, self.direction), Dd::ZERO))
    }

    fn sampled_pair(&self) -> Option<SampledPair> {
        let inner = Range { epsilon: self.epsilon }.into();
        Some(SampledPair { inner, rate: self.rate, direction: self.direction, is_whole: true })
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        precise::range(self.rate, self.epsilon, self.direction, t)
    }

    fn cumulant_in_doubles(&self, t: f64) -> Option<(Dd, f64)> {
        doubles::range(self.rate, self.epsilon, self.direction, t)
    }

    fn has_transform(&self) -> bool {
        false
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        cells::range(self.epsilon, PoissonSample::new(self.rate, self.direction), side, cut, sink)
    }

    fn offset(&self) -> Dd {
        largest(self.rate, self.epsilon, self.direction)
    }
}
