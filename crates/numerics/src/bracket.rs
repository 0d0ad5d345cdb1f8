//! Every numeric answer is a bracket.

use std::fmt;

/// Two numbers with the truth between them, rounding included.
///
/// `upper` is what a release may rely on; `lower` shows how much better any
/// other method could possibly do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Never above the truth.
    pub lower: f64,
    /// Never below the truth.
    pub upper: f64,
}

impl Bracket {
    /// The bracket of a number known exactly.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// Whether a number lies in the bracket, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// `upper - lower`.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// The width relative to the upper end; zero for the bracket `[0, 0]`.
    #[must_use]
    pub fn relative_width(&self) -> f64 {
        if self.upper > 0.0 { self.width() / self.upper } else { 0.0 }
    }

    /// Whether it is as narrow as promised: relatively, or absolutely near zero.
    pub fn keeps(&self, tolerance: f64) -> bool {
        self.relative_width() <= tolerance || self.width() <= 1e-12
    }

    /// Whether two brackets have a point in common, as two brackets of the same
    /// number must.
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
