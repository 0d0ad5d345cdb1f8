//! Gaussian noise: the loss is normal, N(s/2, s), and a sum of k such losses is one such loss.

use super::cells::{self, CellAtom, CellFineness, Domination};
use super::closed_form::cumulant_of;
use super::transform::{TiltedLaw, TransformKind};
use super::{Jet, Law, Loss, Moments, OmittedMass, exceeds};
use counterpoint_numerics::{Bracket, Dd, STEP, Wide};

/// The law N(square/2, square): with noise of standard deviation 1 and means mu apart, square is mu^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gaussian {
    pub(crate) square: Dd,
}

/// Estimates K, K' and K'' of a normal loss.
pub(super) fn normal_jet(square: f64, t: f64) -> Jet {
    [0.5 * square * t * (1.0 + t), 0.5 * square * (1.0 + 2.0 * t), square]
}

/// Returns K(t) of a normal loss.
pub(super) fn normal_cumulant(square: Dd, t: f64) -> Dd {
    (square * (Dd::product(t, t) + t.into())).scaled(0.5)
}

impl Law for Gaussian {
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
        vec![self.square.hi, self.square.lo]
    }

    fn normal_square(&self) -> Option<Dd> {
        Some(self.square)
    }

    fn dominates(&self, other: &Loss, _: bool) -> bool {
        matches!(other, Loss::Gaussian(less) if exceeds(self.square, less.square))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        cumulant_of(normal_cumulant(self.square, t))
    }

    fn jet(&self, t: f64) -> Option<Jet> {
        Some(normal_jet(self.square.hi, t))
    }

    fn own_moments(&self) -> Option<Moments> {
        let error = Dd::from(STEP * self.square.hi);
        let around =
            |value: Dd| Bracket { lower: (value - error).lower(), upper: (value + error).upper() };
        Some(Moments { mean: around(self.square.scaled(0.5)), variance: around(self.square) })
    }

    fn tilted(&self, t: f64) -> Option<TiltedLaw> {
        let (square, s) = (self.square, Dd::from(t) + Dd::from(0.5));
        Some(TiltedLaw {
            shift: square * s,
            variance: square.hi,
            kind: TransformKind::Gaussian { square },
        })
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        cells::normal(self.square.sqrt(), cells::WHOLE, side, cut, sink)
    }
}
