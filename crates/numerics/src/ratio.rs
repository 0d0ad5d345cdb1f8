//! The type of exact fractions.

use dashu_ratio::RBig;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

/// An exact fraction in lowest terms. Division by zero panics, as for whole numbers.
///
/// ```
/// use counterpoint_numerics::fractions::Ratio;
/// let third: Ratio = "1/3".parse()?;
/// assert_eq!((third + Ratio::from(1)).to_string(), "4/3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(RBig);

/// The text is not a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the text is not a fraction; legal: a whole number, or two whole numbers with / between them"
)]
pub struct RatioError;

impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self(RBig::ZERO);
    /// One.
    pub const ONE: Self = Self(RBig::ONE);

    /// True for zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// True for one.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.0.is_one()
    }

    /// The power with a whole exponent. A negative power of zero panics, as a division by zero does.
    #[must_use]
    pub fn pow(&self, exponent: i32) -> Self {
        Self(self.0.pow(exponent as isize))
    }

    /// The number in the library that computes with it, for the other crates of this workspace.
    #[doc(hidden)]
    #[must_use]
    pub const fn raw(&self) -> &RBig {
        &self.0
    }

    /// A number of the library that computes with it, for the other crates of this workspace.
    #[doc(hidden)]
    #[must_use]
    pub const fn from_raw(raw: RBig) -> Self {
        Self(raw)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        text.parse().map(Self).map_err(|_| RatioError)
    }
}

impl Neg for Ratio {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

macro_rules! from_whole {
    ($($whole:ty)*) => { $(
        impl From<$whole> for Ratio {
            fn from(whole: $whole) -> Self {
                Self(whole.into())
            }
        }
    )* };
}
from_whole!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

macro_rules! operator {
    ($($trait:ident $function:ident)*) => { $(
        impl $trait for Ratio {
            type Output = Ratio;
            fn $function(self, other: Ratio) -> Ratio {
                Ratio(self.0.$function(other.0))
            }
        }
        impl $trait<&Ratio> for Ratio {
            type Output = Ratio;
            fn $function(self, other: &Ratio) -> Ratio {
                Ratio(self.0.$function(&other.0))
            }
        }
        impl $trait<Ratio> for &Ratio {
            type Output = Ratio;
            fn $function(self, other: Ratio) -> Ratio {
                Ratio((&self.0).$function(other.0))
            }
        }
        impl $trait for &Ratio {
            type Output = Ratio;
            fn $function(self, other: &Ratio) -> Ratio {
                Ratio((&self.0).$function(&other.0))
            }
        }
    )* };
}
operator!(Add add Sub sub Mul mul Div div);

macro_rules! assignment {
    ($($trait:ident $function:ident)*) => { $(
        impl $trait for Ratio {
            fn $function(&mut self, other: Ratio) {
                self.0.$function(other.0);
            }
        }
        impl $trait<&Ratio> for Ratio {
            fn $function(&mut self, other: &Ratio) {
                self.0.$function(&other.0);
            }
        }
    )* };
}
assignment!(AddAssign add_assign SubAssign sub_assign MulAssign mul_assign);
