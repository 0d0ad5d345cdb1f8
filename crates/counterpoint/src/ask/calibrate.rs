//! How much noise, how small a loss or how many releases a target allows.

use super::{Answer, AskError, Options};
use crate::mechanism::{Adjacency, Release};
use crate::quantity::{Delta, Epsilon, Group};
use crate::view::PlanError;

/// What is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The standard deviation of (discrete) Gaussian releases: the least that will do.
    Sigma,
    /// The scale of Laplace and geometric releases: the least that will do.
    Scale,
    /// The epsilon of releases that have one: the largest that will do.
    Epsilon,
    /// The count: the largest that will do.
    Count,
}

/// A plan with an unknown.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The releases; those that vary all take the same value.
    pub releases: &'a [Release],
    /// Which of them vary, by index; all that have the unknown if empty.
    pub varying: &'a [usize],
    /// What varies.
    pub unknown: Unknown,
    /// The neighbouring relation.
    pub adjacency: Option<Adjacency>,
    /// How many people are protected together.
    pub group: Group,
}

/// A value that meets the target, and the next one on the unsafe side, that does not.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// Meets the target.
    pub value: f64,
    /// What the plan costs at it: epsilon at the target's delta.
    pub cost: Answer,
    /// The neighbouring double (or count) on the unsafe side; `None` if the value is at the
    /// end of the legal range.
    pub beyond: Option<(f64, Answer)>,
    /// The releases with the value filled in.
    pub releases: Vec<Release>,
}

/// Why there is no calibration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// No release has what is to be found.
    #[error("no release has a {unknown}; legal: {legal}")]
    NothingVaries {
        /// What is to be found.
        unknown: &'static str,
        /// Which mechanisms have it.
        legal: &'static str,
    },
    /// A release that was chosen does not have what is to be found.
    #[error("release {} has no {unknown}; legal: {legal}", .index + 1)]
    DoesNotVary {
        /// Which release, from 0.
        index: usize,
        /// What is to be found.
        unknown: &'static str,
        /// Which mechanisms have it.
        legal: &'static str,
    },
    /// Nothing in the legal range meets the target.
    #[error("no {unknown} meets the target: even {value:e} costs epsilon {cost:e}")]
    OutOfReach {
        /// What is to be found.
        unknown: &'static str,
        /// The safest legal value.
        value: f64,
        /// What it costs.
        cost: f64,
    },
    /// The plan has no meaning.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A question found no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// The value that meets (epsilon, delta) with the least noise, the largest epsilon or the
/// largest count.
///
/// # Errors
/// See [`CalibrateError`].
pub fn calibrate(
    _search: &Search<'_>,
    _epsilon: Epsilon,
    _delta: Delta,
    _options: &Options<'_>,
) -> Result<Calibration, CalibrateError> {
    Err(CalibrateError::Ask(AskError::Stopped))
}
