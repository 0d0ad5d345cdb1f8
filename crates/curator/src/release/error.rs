//! Why a study was not released.

use crate::answer::Unanswered;
use crate::engine::Failed;
use counterpoint_ledger::LedgerError;

/// Why a study was not released.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A statistic that cannot be released.
    #[error("statistic {index} ({name:?}): {problem}")]
    Statistic {
        /// Its place, from 1.
        index: usize,
        /// Its name.
        name: String,
        /// What is wrong, and what would be legal.
        problem: String,
    },
    /// The plan lacks something.
    #[error("the plan has no release {name:?}; legal: a plan of this study")]
    NoSlot {
        /// Its name.
        name: String,
    },
    /// The study does not describe its data.
    #[error("data has no columns; legal: [[data.column]] for each column that a statistic names")]
    NoColumns,
    /// Nothing says where the rows are.
    #[error("data has no source; legal: source in [data], or --data FILE")]
    NoSource,
    /// The rows are others than those of earlier releases.
    #[error(
        "the rows are not those that were released of data set {dataset:?} before, or secret.db is not that of its ledger; if the data \
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
    /// The study was planned otherwise when it was released first.
    #[error(
        "account {account:?} has another plan; legal: the plan that the study was released with"
    )]
    OtherPlan {
        /// Its account.
        account: String,
    },
    /// The ledger said no, or failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Something failed. What was charged stays charged; the same study released again costs nothing more.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    /// The rows could not be made up.
    #[error("no rows could be made up: {0}")]
    MadeUp(String),
    /// A number cannot be told.
    #[error("{0}")]
    Untold(String),
    /// The watcher stopped it.
    #[error("stopped; nothing was charged")]
    Stopped,
    /// The rows cannot be read; why is for the owner of the data alone.
    #[error("{0}")]
    Rows(String),
}

impl ReleaseError {
    pub(super) fn of_rows(failed: Failed) -> Self {
        Self::Rows(failed.why)
    }

    pub(super) fn untold(why: impl ToString) -> Self {
        Self::Untold(why.to_string())
    }

    /// Whether it is a definite no: the budget, or other rows.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Changed { .. }
                | Self::OtherName { .. }
                | Self::OtherPlan { .. }
                | Self::Ledger(LedgerError::Refused { .. })
                | Self::Unanswered(Unanswered::Ledger(LedgerError::Refused { .. }))
        )
    }
}
