//! The best of a random number of runs, as in a search for hyperparameters.

use super::{Mechanism, Release};
use crate::quantity::{MeanRuns, OutOfRangeError, RunShape};
use std::sync::Arc;

/// Releases that are run a random number of times, of which only the run with the best score is published. The score is
/// a function of a run's outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateSelection {
    runs: RunLaw,
    mean: MeanRuns,
    inner: Arc<[Release]>,
}

/// The distribution of the number of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunLaw {
    /// The negative binomial law of this shape, given that there is a run: geometric with shape 1, logarithmic with
    /// shape 0.
    NegativeBinomial(RunShape),
    /// The Poisson law. Without a run, nothing but this fact is published.
    Poisson,
}

/// The reason why a private selection is not legal.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// A mean that the distribution of the number of runs cannot have.
    #[error(transparent)]
    Mean(#[from] OutOfRangeError),
    /// Inner releases for which no bound is proved.
    #[error(
        "inner {problem}; legal: 1 to 1000 releases, none with a partition or a selection of its own"
    )]
    Inner {
        /// What is wrong with them.
        problem: &'static str,
    },
}

impl SelectionError {
    /// The field that the error is about; the message begins with it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        match self {
            Self::Mean(_) => "mean",
            Self::Inner { .. } => "inner",
        }
    }
}

impl PrivateSelection {
    /// The largest number of inner releases.
    const MOST: usize = 1000;

    /// Checks the mean and the releases that make up one run.
    ///
    /// # Errors
    /// [`SelectionError`] naming what is not legal.
    pub fn new(
        runs: RunLaw,
        mean: MeanRuns,
        inner: impl Into<Arc<[Release]>>,
    ) -> Result<Self, SelectionError> {
        let inner = inner.into();
        if runs != RunLaw::Poisson && mean.get() < 1.0 {
            let legal = "a number from 1 to 1e9, or any number from 1e-6 with poisson";
            return Err(OutOfRangeError { quantity: "mean", value: mean.get(), legal }.into());
        }
        let is_nested = |one: &Release| matches!(one.mechanism, Mechanism::PrivateSelection(_));
        let problem = match () {
            () if inner.is_empty() => "is empty",
            () if inner.len() > Self::MOST => "has too many releases",
            () if inner.iter().any(|one| one.part.is_some()) => "has a partition",
            () if inner.iter().any(is_nested) => "has a private-selection",
            () => return Ok(Self { runs, mean, inner }),
        };
        Err(SelectionError::Inner { problem })
    }

    /// The distribution of the number of runs.
    #[must_use]
    pub fn runs(&self) -> RunLaw {
        self.runs
    }

    /// The expected number of runs.
    #[must_use]
    pub fn mean(&self) -> MeanRuns {
        self.mean
    }

    /// The releases that make up one run.
    #[must_use]
    pub fn inner(&self) -> &[Release] {
        &self.inner
    }

    /// The same selection of other releases.
    pub(crate) fn with_inner(&self, inner: Vec<Release>) -> Self {
        Self { inner: inner.into(), ..self.clone() }
    }
}
