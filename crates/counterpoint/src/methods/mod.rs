//! Methods: ways to compute the composed profile. They ask laws for abilities and name none.
//!
//! An exact route gives the tail of the loss at any epsilon; a certified one gives the
//! profile between two lattices, to a tolerance.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub(crate) mod closed;
mod common_step;
pub(crate) mod contour;
pub(crate) mod edge;
pub(crate) mod faint;
pub(crate) mod knots;
pub(crate) mod largest;
pub(crate) mod lattice;
pub(crate) mod listed;
pub(crate) mod outcomes;
pub(crate) mod renyi;
pub(crate) mod responses;
pub(crate) mod saddle;
pub(crate) mod search;
pub(crate) mod splines;
pub(crate) mod tail;

pub use responses::precise;

use crate::ends::Ends;
use crate::watch::Stopped;
use counterpoint_numerics::Bracket;
use std::fmt;

/// A way to compute the profile of a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// A formula: of one mechanism, of Laplace noise of one scale, next to the largest loss, or where only
    /// leaks are left.
    Closed,
    /// One binomial sum; all epsilons equal. Exact.
    Equal,
    /// Every atom of few distinct epsilons. Exact.
    Grouped,
    /// Two halves of the list, met in the middle. Exact.
    Halves,
    /// The saddle-point contour on a lattice. Certified to a tolerance.
    Contour,
    /// Fourier transforms on a lattice. Certified to a tolerance.
    Lattice,
    /// Direct convolution on a lattice. Certified to a tolerance.
    Convolution,
    /// Rényi divergences, added up and converted.
    Renyi,
    /// Arbitrary precision. Exact.
    Precise,
}

impl Route {
    /// Every route.
    pub const ALL: [Self; 9] = [
        Self::Closed,
        Self::Equal,
        Self::Grouped,
        Self::Halves,
        Self::Contour,
        Self::Lattice,
        Self::Convolution,
        Self::Renyi,
        Self::Precise,
    ];

    /// The name users know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Equal => "equal",
            Self::Grouped => "grouped",
            Self::Halves => "halves",
            Self::Contour => "contour",
            Self::Lattice => "lattice",
            Self::Convolution => "convolution",
            Self::Renyi => "renyi",
            Self::Precise => "precise",
        }
    }
}

impl Route {
    /// The route of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|route| route.name() == name)
    }

    /// The names of some, with commas between them.
    #[must_use]
    pub fn names(routes: impl IntoIterator<Item = Self>) -> String {
        let names: Vec<&str> = routes.into_iter().map(Self::name).collect();
        names.join(", ")
    }

    /// Whether it is for mechanisms of any kind; the others are for (epsilon, delta)
    /// guarantees alone.
    #[must_use]
    pub fn is_for_mechanisms(self) -> bool {
        match self {
            Self::Closed | Self::Grouped | Self::Contour | Self::Lattice | Self::Renyi => true,
            Self::Equal | Self::Halves | Self::Convolution | Self::Precise => false,
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a route has no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Failure {
    Stopped,
    /// It would take too much work.
    TooMuch,
    /// The width reached when refining had to stop.
    TooWide(f64),
}

/// A bracket that is as narrow as promised, or too wide.
pub(crate) fn kept(bracket: Bracket, tolerance: f64) -> Result<Bracket, Failure> {
    match bracket.keeps(tolerance) {
        true => Ok(bracket),
        false => Err(Failure::TooWide(bracket.relative_width())),
    }
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl Ends {
    /// As narrow as this, or too wide.
    pub(crate) fn kept(self, tolerance: f64) -> Result<Self, Failure> {
        let width = self.relative_width();
        if width <= tolerance { Ok(self) } else { Err(Failure::TooWide(width)) }
    }
}
