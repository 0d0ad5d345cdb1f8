//! Methods: ways to compute the composed profile. They ask laws for abilities and name none.
//!
//! An exact method gives the tail of the loss at any epsilon. A certified method gives the profile between two bounds,
//! to a tolerance.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub(crate) mod closed;
mod common_step;
pub(crate) mod contour;
pub(crate) mod graded;
pub(crate) mod near_max;
pub(crate) mod small_mu;
pub(crate) mod knots;
pub(crate) mod largest;
pub(crate) mod lattice;
pub(crate) mod outcome_list;
pub(crate) mod outcomes;
pub(crate) mod renyi;
pub(crate) mod responses;
pub(crate) mod saddle;
pub(crate) mod search;
pub(crate) mod splines;
pub(crate) mod tail;

pub(crate) use responses::precise;

use crate::delta_bounds::DeltaBounds;
use crate::watch::StopRequest;
use counterpoint_numerics::Bracket;
use std::fmt;

/// The method that computes the profile of a composition, as users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// The formula of one mechanism, run once. A request for this route also accepts an answer by the five routes that
    /// follow, which once shared this name.
    Closed,
    /// No computation: delta is the leaks' probability, or epsilon is the largest loss.
    Leaks,
    /// Bounds near the largest loss, where few outcomes matter.
    NearLargestLoss,
    /// Gaussians whose combined mu is at most 10^-4: three moments of a normal tail.
    SmallMu,
    /// Laplace noise of one scale: sums of cardinal splines.
    Splines,
    /// Few Laplace losses of several scales: sums of truncated powers.
    TruncatedPowers,
    /// One binomial sum; all epsilons equal. Exact.
    Equal,
    /// A list of all outcomes. If requested for (epsilon, delta) guarantees, it means [`Route::Halves`].
    Outcomes,
    /// Two lists, each of half the outcomes, combined. Exact.
    Halves,
    /// The saddle-point contour. Certified to a tolerance. If requested, either of the next two routes is accepted.
    Contour,
    /// The contour of losses that are blurred by a small normal law.
    BlurredContour,
    /// Several contours, one for each layer of the losses.
    LayeredContour,
    /// Lists of likelihood ratios on graded grids, multiplied one by one. Certified to a tolerance.
    GradedLists,
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
    pub const ALL: [Self; 17] = [
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
        Self::GradedLists,
        Self::Lattice,
        Self::Convolution,
        Self::Renyi,
        Self::Precise,
    ];

    /// The name of the route for users.
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
            Self::GradedLists => "graded-lists",
            Self::Lattice => "lattice",
            Self::Convolution => "convolution",
            Self::Renyi => "renyi",
            Self::Precise => "precise",
        }
    }

    /// The route with a name, or a former name: `grouped` was the name of [`Route::Outcomes`].
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "grouped" { "outcomes" } else { name };
        Self::ALL.into_iter().find(|route| route.name() == name)
    }

    /// The names of some routes, separated by commas.
    #[must_use]
    pub fn names(routes: impl IntoIterator<Item = Self>) -> String {
        let names: Vec<&str> = routes.into_iter().map(Self::name).collect();
        names.join(", ")
    }

    /// True for routes that apply to mechanisms of any kind; the others apply to (epsilon, delta) guarantees alone.
    #[must_use]
    pub fn is_for_mechanisms(self) -> bool {
        !matches!(self, Self::Equal | Self::Halves | Self::Convolution | Self::Precise)
    }

    /// True if a request for this route accepts an answer by the other one.
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

/// Reasons why a method has no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Failure {
    Stopped,
    /// The computation would take too much work.
    TooMuch,
    /// The relative width that was reached when refinement had to stop.
    TooWide(f64),
}

/// The bracket if it is as narrow as the tolerance, else an error.
pub(crate) fn within_tolerance(bracket: Bracket, tolerance: f64) -> Result<Bracket, Failure> {
    match bracket.is_within_tolerance(tolerance) {
        true => Ok(bracket),
        false => Err(Failure::TooWide(bracket.relative_width())),
    }
}

impl From<StopRequest> for Failure {
    fn from(_: StopRequest) -> Self {
        Self::Stopped
    }
}

impl DeltaBounds {
    /// The ends if they are as narrow as the tolerance, else an error.
    pub(crate) fn within_tolerance(self, tolerance: f64) -> Result<Self, Failure> {
        let width = self.relative_width();
        if width <= tolerance { Ok(self) } else { Err(Failure::TooWide(width)) }
    }
}
