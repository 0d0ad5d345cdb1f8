//! Gaussian noise on a sample of a fixed size (theory 6.8).

use super::cells::{self, Cut, Point, Side};
use super::{Direction, Gaussian, Law, LeftOut, Sample};
use counterpoint_numerics::{Dd, Wide};

/// A Gaussian pair, mu apart, on a sample that is this share of the data.
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

    fn left_out(&self) -> LeftOut {
        LeftOut::NOTHING
    }

    fn numbers(&self) -> Vec<f64> {
        vec![self.mu.hi, self.mu.lo, self.share]
    }

    /// Above zero its profile is that of a Poisson sample with the person in P's data.
    fn sample(&self) -> Option<Sample> {
        let inner = Gaussian { square: self.mu * self.mu }.into();
        Some(Sample { inner, rate: self.share, direction: Direction::Remove, is_whole: false })
    }

    /// Its density has a jump, and no rule here is for that.
    fn has_cumulant(&self) -> bool {
        false
    }

    fn has_transform(&self) -> bool {
        false
    }

    fn points(
        &self,
        side: Side,
        cut: Option<&Cut<'_>>,
        sink: &mut dyn FnMut(Point),
    ) -> Option<Wide> {
        cells::subset(self.share, self.mu, side, cut, sink)
    }
}
