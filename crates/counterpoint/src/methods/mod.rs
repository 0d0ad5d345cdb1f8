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

pub(crate) use responses::precise;

use crate::ends::Ends;
use crate::watch::Stopped;
use counterpoint_numerics::Bracket;
use std::fmt;

/// A way to compute the profile of a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// The formula of one mechanism, run once. Asked for, any formula will do: this one, or those of the five routes that follow,
    /// which had this name together.
    Closed,
    /// None: delta is what leaks, or epsilon the largest loss.
    Leaks,
    /// Bounds next to the largest loss, where few outcomes matter.
    NearLargestLoss,
    /// Gaussians whose mu together is at most 10^-4: three moments of a normal tail.
    SmallMu,
    /// Laplace noise of one scale: sums of cardinal splines.
    Splines,
    /// Few Laplace losses of several scales: sums of truncated powers.
    TruncatedPowers,
    /// One binomial sum; all epsilons equal. Exact.
    Equal,
    /// Every outcome, one by one. Asked for of (epsilon, delta) guarantees it is [`Route::Halves`].
    Outcomes,
    /// Two halves of the list, met in the middle. Exact.
    Halves,
    /// The saddle-point contour. Certified to a tolerance. Asked for, either of the next two will do as well.
    Contour,
    /// The contour of losses that are blurred by a small normal law.
    BlurredContour,
    /// Several contours, of losses cut into layers.
    LayeredContour,
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
    pub const ALL: [Self; 16] = [
        Self::Closed,
        Self::Leaks,
        Self::NearLargestLoss,
        Self::SmallMu,
        Self::Splines,
        Self::TruncatedPowers,
        Self::Equal,
        Self::Outcomes,
        Self::Halves,
        Self::Contour,
        Self::BlurredContour,
        Self::LayeredContour,
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
            Self::Leaks => "leaks",
            Self::NearLargestLoss => "near-largest-loss",
            Self::SmallMu => "small-mu",
            Self::Splines => "splines",
            Self::TruncatedPowers => "truncated-powers",
            Self::Equal => "equal",
            Self::Outcomes => "outcomes",
            Self::Halves => "halves",
            Self::Contour => "contour",
            Self::BlurredContour => "blurred-contour",
            Self::LayeredContour => "layered-contour",
            Self::Lattice => "lattice",
            Self::Convolution => "convolution",
            Self::Renyi => "renyi",
            Self::Precise => "precise",
        }
    }

    /// The route of this name, or of a name that it had: `grouped` is [`Route::Outcomes`].
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "grouped" { "outcomes" } else { name };
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
        !matches!(self, Self::Equal | Self::Halves | Self::Convolution | Self::Precise)
    }

    /// Whether an answer by another route is one by this route, if it is asked for.
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        let formula = matches!(
            other,
            Self::Leaks
                | Self::NearLargestLoss
                | Self::SmallMu
                | Self::Splines
                | Self::TruncatedPowers
        );
        self == other
            || self == Self::Closed && formula
            || self == Self::Outcomes && other == Self::Halves
            || self == Self::Contour && matches!(other, Self::BlurredContour | Self::LayeredContour)
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
