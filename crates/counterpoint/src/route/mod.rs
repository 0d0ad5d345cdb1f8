//! Routes: ways to compute the composed profile.

use std::fmt;

/// A way to compute the profile of a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// One binomial sum; all epsilons equal. Exact.
    Equal,
    /// Every atom of few distinct epsilons. Exact.
    Grouped,
    /// Two halves of the list, met in the middle. Exact.
    Halves,
    /// The saddle-point contour on a lattice. Certified to a tolerance.
    Contour,
    /// Direct convolution on a lattice. Certified to a tolerance.
    Convolution,
    /// Arbitrary precision. Exact.
    Precise,
}

impl Route {
    /// Every route.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::Grouped,
        Self::Halves,
        Self::Contour,
        Self::Convolution,
        Self::Precise,
    ];

    /// The name users know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Grouped => "grouped",
            Self::Halves => "halves",
            Self::Contour => "contour",
            Self::Convolution => "convolution",
            Self::Precise => "precise",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

pub(crate) mod contour;
pub(crate) mod convolution;
pub(crate) mod equal;
pub(crate) mod halves;
pub(crate) mod lattice;
pub(crate) mod saddle;
pub(crate) mod sandwich;
pub(crate) mod tail;
