//! Double-doubles with a separate exponent, so that nothing underflows.

use crate::dd::Dd;
use crate::functions::power_of_two;
use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

/// The number `mantissa * 2^exponent`, the mantissa zero or between 1 and 2 in magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    mantissa: Dd,
    exponent: i64,
}

/// The number of bits beyond which a summand is left out: this costs 2^-120.
const FAR: i64 = 120;

impl Wide {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: Dd::ZERO, exponent: 0 };
    /// One.
    pub const ONE: Self = Self { mantissa: Dd::ONE, exponent: 0 };

    /// Makes a number from a double-double and a power of two.
    #[must_use]
    #[inline]
    pub fn new(mantissa: Dd, exponent: i64) -> Self {
        let field = ((mantissa.hi.to_bits() >> 52) & 0x7ff) as i64;
        if field == 0 {
            return Self::tiny(mantissa, exponent);
        }
        let shift = field - 1023;
        Self { mantissa: mantissa.scaled(power_of_two(-shift)), exponent: exponent + shift }
    }

    /// Makes a number from zero or a subnormal double, which is rescaled first.
    #[cold]
    fn tiny(mantissa: Dd, exponent: i64) -> Self {
        if mantissa.hi.abs() > 0.0 {
            Self::new(mantissa.scaled(power_of_two(200)), exponent - 200)
        } else {
            Self::ZERO
        }
    }

    /// Returns e^x for |x| < 2^46, with a relative error of at most 2^-98.
    #[must_use]
    #[inline]
    pub fn exp(x: Dd) -> Self {
        let (mantissa, exponent) = x.exp_parts();
        Self::new(mantissa, exponent)
    }

    /// Returns ln of a positive number, with an absolute error of at most 2^-97 max(1, |ln|).
    #[must_use]
    #[inline]
    pub fn ln(self) -> Dd {
        const LN2: Dd = Dd::literal(std::f64::consts::LN_2, 2.3190468138462996e-17);
        self.mantissa.ln() + LN2 * self.exponent as f64
    }

    /// Returns ln in double precision, for estimates.
    #[allow(clippy::disallowed_methods)]
    #[must_use]
    #[inline]
    pub fn ln_estimate(self) -> f64 {
        self.mantissa.hi.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// True if the number is above zero.
    #[must_use]
    #[inline]
    pub fn is_positive(self) -> bool {
        self.mantissa.is_positive()
    }

    /// Returns the reciprocal.
    #[must_use]
    #[inline]
    pub fn recip(self) -> Self {
        Self::new(Dd::ONE / self.mantissa, -self.exponent)
    }

    /// Returns the n-th power, with a relative error of at most 2n 2^-102 on top of n times that of the base.
    #[must_use]
    #[inline]
    pub fn powi(self, mut n: u64) -> Self {
        let mut base = self;
        let mut result = Self::ONE;
        while n > 0 {
            if n & 1 == 1 {
                result = result * base;
            }
            base = base * base;
            n >>= 1;
        }
        result
    }

    /// Returns a double that is at least the value times (1 + slack), for a non-negative value and slack below one.
    #[must_use]
    #[inline]
    pub fn upper(self, slack: f64) -> f64 {
        if self.mantissa.hi.is_nan() {
            return f64::INFINITY;
        }
        if !self.is_positive() {
            return 0.0;
        }
        let mantissa = (self.mantissa.hi.next_up() * (1.0 + slack).next_up()).next_up();
        scale(mantissa, self.exponent, f64::next_up)
    }

    /// Returns a double that is at most the value times (1 - slack), and not below 0.
    #[must_use]
    #[inline]
    pub fn lower(self, slack: f64) -> f64 {
        if !self.is_positive() || slack >= 1.0 {
            return 0.0;
        }
        let mantissa = (self.mantissa.hi.next_down() * (1.0 - slack).next_down()).next_down();
        scale(mantissa, self.exponent, f64::next_down).max(0.0)
    }

    /// Converts the value to a double-double; it must lie between 2^-900 and 2^900 or be 0.
    #[must_use]
    #[inline]
    pub fn to_dd(self) -> Dd {
        self.mantissa.scaled(power_of_two(self.exponent))
    }

    /// Returns a double near the value, for estimates.
    #[must_use]
    #[inline]
    pub fn estimate(self) -> f64 {
        scale(self.mantissa.hi, self.exponent, |x| x)
    }
}

/// Returns mantissa * 2^exponent for a mantissa near one, stepping outward where the result leaves the normal doubles.
fn scale(mantissa: f64, exponent: i64, outward: impl Fn(f64) -> f64) -> f64 {
    match exponent {
        -1000..=1000 => mantissa * power_of_two(exponent),
        // Infinity and one step towards it.
        1001.. => outward(mantissa * power_of_two(exponent)),
        _ if exponent < -1100 => outward(0.0),
        _ => outward((mantissa * power_of_two(-900)) * power_of_two(exponent + 900)),
    }
}

impl From<f64> for Wide {
    #[inline]
    fn from(x: f64) -> Self {
        Self::new(Dd::from(x), 0)
    }
}

impl From<Dd> for Wide {
    #[inline]
    fn from(x: Dd) -> Self {
        Self::new(x, 0)
    }
}

impl Mul for Wide {
    type Output = Self;
    /// Relative error at most 2^-102.
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

impl Add for Wide {
    type Output = Self;
    /// Relative error at most 2^-102, for summands of one sign.
    #[inline]
    fn add(self, other: Self) -> Self {
        let (large, small) = if self.exponent >= other.exponent && self.mantissa != Dd::ZERO
            || other.mantissa == Dd::ZERO
        {
            (self, other)
        } else {
            (other, self)
        };
        let apart = large.exponent - small.exponent;
        if apart > FAR || small.mantissa == Dd::ZERO {
            return large;
        }
        let aligned = small.mantissa.scaled(power_of_two(-apart));
        Self::new(large.mantissa + aligned, large.exponent)
    }
}

impl Sub for Wide {
    type Output = Self;
    /// Absolute error at most 2^-102 times the larger operand.
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + Self { mantissa: -other.mantissa, exponent: other.exponent }
    }
}

impl PartialOrd for Wide {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (*self - *other).mantissa.hi.partial_cmp(&0.0)
    }
}
