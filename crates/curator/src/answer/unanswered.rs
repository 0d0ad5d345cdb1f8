//! Why a question about a table was not answered.

use crate::charge::Error;
use crate::engine::Failed;
use counterpoint_ledger::LedgerError;
use counterpoint_questions::Illegal;

/// Why a question about a table was not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// It is not legal. Nothing was charged.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// The ledger said no, or failed. Nothing was charged, unless it says that this is uncertain.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The engine cannot be reached. Nothing was charged.
    #[error("the table's engine cannot be reached; nothing was charged")]
    Unreachable(#[source] Failed),
    /// What came after the debit failed: it stays charged, and may be asked again. Why is for the operator alone.
    #[error("the question was charged, and failed; asked again it costs nothing more")]
    Charged(#[source] Failed),
    /// The owner's own mechanism failed, and its session is over. Why is for the operator alone.
    #[error("the mechanism failed, and the session is over; nothing is refunded")]
    Ended(#[source] Failed),
    /// Rows could not be made up, or asked. Nothing was charged.
    #[error("the made-up rows gave no answer; nothing was charged")]
    Dummy(#[source] Failed),
    /// A session does not answer it, or is over.
    #[error(transparent)]
    Session(Error),
    /// What was stored cannot be read.
    #[error(transparent)]
    Stored(Error),
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        match error {
            Error::Ledger(error) => Self::Ledger(*error),
            Error::Unreadable { .. } | Error::Unwritable(_) => Self::Stored(error),
            other => Self::Session(other),
        }
    }
}
