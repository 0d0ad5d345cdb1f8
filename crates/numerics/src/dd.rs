//! Double-double numbers: an unevaluated sum of two doubles, about 106 bits.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The number `hi + lo`, where `hi` is the double nearest to the sum.
///
/// No operation may overflow or come near underflow: callers keep magnitudes between 2^-900 and 2^900, or use
/// [`super::Wide`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dd {
    /// The leading double.
    pub hi: f64,
    /// The trailing double: the number minus `hi`.
    pub lo: f64,
}

/// Returns a + b exactly, as a double and its rounding error (Knuth).
#[inline]
fn two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    let b_seen = hi - a;
    Dd { hi, lo: (a - (hi - b_seen)) + (b - b_seen) }
}

/// Returns a + b exactly where |a| >= |b| or a = 0 (Dekker).
#[inline]
fn fast_two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd { hi, lo: b - (hi - a) }
}

/// Returns a * b exactly, as a double and its rounding error (Dekker, Veltkamp).
#[inline]
fn two_prod(a: f64, b: f64) -> Dd {
    let hi = a * b;
    let (a_high, a_low) = halves(a);
    let (b_high, b_low) = halves(b);
    let lo = ((a_high * b_high - hi) + a_high * b_low + a_low * b_high) + a_low * b_low;
    Dd { hi, lo }
}

/// Splits 53 bits into 26 and 26.
#[inline]
fn halves(a: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let scaled = SPLITTER * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

impl Dd {
    /// Zero.
    pub const ZERO: Self = Self::literal(0.0, 0.0);
    /// One.
    pub const ONE: Self = Self::literal(1.0, 0.0);

    /// Makes a number from two parts in normal form.
    #[inline]
    pub(crate) const fn literal(hi: f64, lo: f64) -> Self {
        Self { hi, lo }
    }

    /// Returns a + b without error.
    #[must_use]
    #[inline]
    pub fn sum(a: f64, b: f64) -> Self {
        two_sum(a, b)
    }

    /// Returns a * b without error.
    #[must_use]
    #[inline]
    pub fn product(a: f64, b: f64) -> Self {
        two_prod(a, b)
    }

    /// True if the number is below zero.
    #[must_use]
    #[inline]
    pub fn is_negative(self) -> bool {
        self.hi < 0.0
    }

    /// True if the number is above zero.
    #[must_use]
    #[inline]
    pub fn is_positive(self) -> bool {
        self.hi > 0.0
    }

    /// The magnitude.
    #[must_use]
    #[inline]
    pub fn abs(self) -> Self {
        if self.hi < 0.0 { -self } else { self }
    }

    /// Multiplies by a power of two, exactly.
    #[must_use]
    #[inline]
    pub fn scaled(self, factor: f64) -> Self {
        Self { hi: self.hi * factor, lo: self.lo * factor }
    }

    /// Returns a double that is at least as large.
    #[must_use]
    #[inline]
    pub fn upper(self) -> f64 {
        if self.lo > 0.0 { self.hi.next_up() } else { self.hi }
    }

    /// Returns a double that is at most as large.
    #[must_use]
    #[inline]
    pub fn lower(self) -> f64 {
        if self.lo < 0.0 { self.hi.next_down() } else { self.hi }
    }
}

impl From<f64> for Dd {
    #[inline]
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Neg for Dd {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Dd {
    type Output = Self;
    /// Relative error at most 3 u^2 + 13 u^3 (Joldes et al., Algorithm 6).
    #[inline]
    fn add(self, other: Self) -> Self {
        let high = two_sum(self.hi, other.hi);
        let low = two_sum(self.lo, other.lo);
        let partial = fast_two_sum(high.hi, high.lo + low.hi);
        fast_two_sum(partial.hi, low.lo + partial.lo)
    }
}

impl Sub for Dd {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + (-other)
    }
}

impl Mul for Dd {
    type Output = Self;
    /// Relative error at most 7 u^2 (Joldes et al., Algorithm 10).
    #[inline]
    fn mul(self, other: Self) -> Self {
        let head = two_prod(self.hi, other.hi);
        let cross = self.hi * other.lo + self.lo * other.hi;
        fast_two_sum(head.hi, head.lo + cross)
    }
}

impl Mul<f64> for Dd {
    type Output = Self;
    /// Relative error at most 3 u^2 (Joldes et al., Algorithm 8).
    #[inline]
    fn mul(self, other: f64) -> Self {
        let head = two_prod(self.hi, other);
        fast_two_sum(head.hi, head.lo + self.lo * other)
    }
}

impl Div for Dd {
    type Output = Self;
    /// Relative error at most 15 u^2 + 56 u^3 (Joldes et al., Algorithm 17).
    #[inline]
    fn div(self, other: Self) -> Self {
        let head = self.hi / other.hi;
        let covered = other * head;
        let rest = (self.hi - covered.hi) + (self.lo - covered.lo);
        fast_two_sum(head, rest / other.hi)
    }
}

impl Div<f64> for Dd {
    type Output = Self;
    /// Relative error at most 3 u^2 (Joldes et al., Algorithm 15).
    #[inline]
    fn div(self, other: f64) -> Self {
        let head = self.hi / other;
        let covered = two_prod(head, other);
        let rest = ((self.hi - covered.hi) - covered.lo) + self.lo;
        fast_two_sum(head, rest / other)
    }
}

impl PartialOrd for Dd {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.hi.partial_cmp(&other.hi)? {
            Ordering::Equal => self.lo.partial_cmp(&other.lo),
            order => Some(order),
        }
    }
}
