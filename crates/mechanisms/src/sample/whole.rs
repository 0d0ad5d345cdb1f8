//! Whole numbers of any size. All but extremely rare ones fit in an `i128`.

use dashu_int::{IBig, Sign};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WholeNumber {
    Small(i128),
    Large(IBig),
}

impl WholeNumber {
    pub(super) fn big(self) -> IBig {
        match self {
            Self::Small(x) => x.into(),
            Self::Large(x) => x,
        }
    }

    /// The difference of two numbers that are not negative.
    pub(super) fn minus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Small(x), Self::Small(y)) => Self::Small(x - y),
            (x, y) => Self::Large(x.big() - y.big()),
        }
    }

    /// The sum with `units`, clamped to the range of an `i128`. Clamping the noisy sum is postprocessing and reveals
    /// nothing.
    pub(crate) fn added_to(&self, units: i128) -> i128 {
        match self {
            Self::Small(noise) => units.saturating_add(*noise),
            Self::Large(noise) => {
                let sum = noise + IBig::from(units);
                let cut = if sum.sign() == Sign::Positive { i128::MAX } else { i128::MIN };
                i128::try_from(sum).unwrap_or(cut)
            }
        }
    }
}
