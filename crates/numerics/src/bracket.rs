//! Brackets, the form of every numeric answer.

use std::fmt;

/// A lower and an upper bound on a number, rounding included.
///
/// A release may rely on `upper`; `lower` shows how much better any other method could possibly be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Never above the truth.
    pub lower: f64,
    /// Never below the truth.
    pub upper: f64,
}

impl Bracket {
    /// The bracket of a number that is known exactly.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// True if a number lies in the bracket, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// `upper - lower`.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// The width relative to the upper bound; zero for the bracket `[0, 0]`.
    #[must_use]
    pub fn relative_width(&self) -> f64 {
        if self.upper > 0.0 { self.width() / self.upper } else { 0.0 }
    }

    /// True if the bracket is within a tolerance: a relative width, or a tiny absolute width near zero.
    pub fn is_within_tolerance(&self, tolerance: f64) -> bool {
        self.relative_width() <= tolerance || self.width() <= 1e-12
    }

    /// True if two brackets have a point in common; two brackets of the same number always do.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lower <= other.upper && other.lower <= self.upper
    }
}

impl fmt::Display for Bracket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?}, {:?}]", self.lower, self.upper)
    }
}
