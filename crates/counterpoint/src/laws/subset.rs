//! Gaussian noise on a sample of a fixed size (theory 6.8).

use super::cells::{self, CellAtom, CellFineness, Domination};
use super::{Direction, Gaussian, Law, OmittedMass, SampledPair};
use counterpoint_numerics::{Dd, Wide};

/// The law of a Gaussian pair, mu apart, on a sample that is this share of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Subset {
    pub(crate) share: f64,
    pub(crate) mu: Dd,
}

impl Law for Subset {
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
        vec![self.mu.hi, self.mu.lo, self.share]
    }

    /// Above zero its profile is that of a Poisson sample with the person in P's data.
    fn sampled_pair(&self) -> Option<SampledPair> {
        let inner = Gaussian { square: self.mu * self.mu }.into();
        Some(SampledPair { inner, rate: self.share, direction: Direction::Remove, is_whole: false })
    }

    /// The density has a jump, for which no rule here is made.
    fn has_cumulant(&self) -> bool {
        false
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
        cells::subset(self.share, self.mu, side, cut, sink)
    }
}
