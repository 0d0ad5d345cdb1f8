//! The errors of releases.

use crate::answer::AnswerError;
use crate::engine::EngineError;
use counterpoint_ledger::LedgerError;

/// A study was not released.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A statistic cannot be released.
    #[error("statistic {index} ({name:?}): {problem}")]
    Statistic {
        /// The statistic's place in the study, from 1.
        index: usize,
        /// The statistic's name.
        name: String,
        /// The problem, and the legal values.
        problem: String,
    },
    /// The plan has no slot for a statistic.
    #[error("the plan has no release {name:?}; legal: a plan of this study")]
    NoSlot {
        /// The statistic's name.
        name: String,
    },
    /// The study does not describe its data.
    #[error("data has no columns; legal: [[data.column]] for each column that a statistic names")]
    NoColumns,
    /// Neither the study nor the caller names the source of the rows.
    #[error("data has no source; legal: source in [data], or --data FILE")]
    NoSource,
    /// The rows differ from those of earlier releases.
    #[error(
        "the rows differ from those that were released of data set {dataset:?} before, or secret.db belongs to another ledger; if the data \
         changed, release them with --changed: people who are in both are charged twice"
    )]
    Changed {
        /// The data set.
        dataset: String,
    },
    /// The rows were released under another name.
    #[error(
        "these rows were released as data set {dataset:?} before, and have one budget; legal: name = {dataset:?} in [data]"
    )]
    OtherName {
        /// The data set that paid.
        dataset: String,
    },
    /// An earlier release of the study had another plan.
    #[error(
        "account {account:?} has another plan; legal: the plan that the study was released with"
    )]
    OtherPlan {
        /// The study's account.
        account: String,
    },
    /// The ledger refused or failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A question failed. A charge stays charged; releasing the same study again costs nothing more.
    #[error(transparent)]
    Unanswered(#[from] AnswerError),
    /// Rows could not be made up.
    #[error("no rows could be made up: {0}")]
    MadeUp(String),
    /// A number could not be computed.
    #[error("{0}")]
    Computation(String),
    /// The caller stopped the release.
    #[error("stopped; nothing was charged")]
    Stopped,
    /// The rows cannot be read. The reason is for the data's owner alone.
    #[error("{0}")]
    Rows(String),
}

impl ReleaseError {
    pub(super) fn of_rows(failed: EngineError) -> Self {
        Self::Rows(failed.why)
    }

    pub(super) fn computation(why: impl ToString) -> Self {
        Self::Computation(why.to_string())
    }

    /// True if the release is refused for good: by the budget, or for other rows or another plan.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Changed { .. }
                | Self::OtherName { .. }
                | Self::OtherPlan { .. }
                | Self::Ledger(LedgerError::Refused { .. })
                | Self::Unanswered(AnswerError::Ledger(LedgerError::Refused { .. }))
        )
    }
}
