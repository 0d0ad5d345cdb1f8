//! The errors of questions about tables.

use crate::charge::Error;
use crate::engine::EngineError;
use counterpoint_ledger::LedgerError;
use counterpoint_questions::QuestionError;

/// A question about a table was not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The question is not legal. Nothing was charged.
    #[error(transparent)]
    Illegal(#[from] QuestionError),
    /// The ledger refused or failed. Nothing was charged, unless the ledger's error says that this is uncertain.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The engine cannot be reached. Nothing was charged.
    #[error("the table's engine cannot be reached; nothing was charged")]
    Unreachable(#[source] EngineError),
    /// A step after the debit failed. The question stays charged and may be asked again. The reason is for the operator
    /// alone.
    #[error("the question was charged, and failed; asked again it costs nothing more")]
    Charged(#[source] EngineError),
    /// The owner's mechanism failed, and its session is over. The reason is for the operator alone.
    #[error("the mechanism failed, and the session is over; nothing is refunded")]
    Ended(#[source] EngineError),
    /// Rows could not be made up or counted. Nothing was charged.
    #[error("the made-up rows could not be counted; nothing was charged")]
    Dummy(#[source] EngineError),
    /// The session does not answer this question, or is over.
    #[error(transparent)]
    Session(Error),
    /// Stored bytes cannot be read.
    #[error(transparent)]
    Stored(Error),
}

impl From<Error> for AnswerError {
    fn from(error: Error) -> Self {
        match error {
            Error::Ledger(error) => Self::Ledger(*error),
            Error::Unreadable { .. } | Error::Unwritable(_) => Self::Stored(error),
            other => Self::Session(other),
        }
    }
}
