//! The errors of questions about data in memory and of sessions. Their content depends on the ledger and the question,
//! never on the data.

use counterpoint_ledger::{LedgerError, MAX_RESPONSE_BYTES};

/// An answer was not shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ledger refused or failed.
    #[error(transparent)]
    Ledger(Box<LedgerError>),
    /// The question does not fit the data's relation or the session, or the system had no randomness.
    #[error(transparent)]
    Mechanism(Box<counterpoint_mechanisms::Error>),
    /// The session was reserved but never begun.
    #[error("session {key:?} has not begun; legal: open it again with the same declaration")]
    NotBegun {
        /// The session's key.
        key: String,
    },
    /// The data are of another part than the session was charged for.
    #[error(
        "the session is about {}, and the data are about {}; legal: the same part",
        words(.session.as_deref()), words(.data.as_deref())
    )]
    OtherPart {
        /// The part that was charged; `None` for all of the data.
        session: Option<String>,
        /// The part of the data; `None` for all of the data.
        data: Option<String>,
    },
    /// Other questions to the session were answered first, too many times.
    #[error(
        "session {key:?} answered other questions first, too many times; nothing was answered, ask again"
    )]
    Busy {
        /// The session's key.
        key: String,
    },
    /// An answer or a declaration may be too long to be stored.
    #[error(
        "{what} may have {length} bytes; legal: at most {MAX_RESPONSE_BYTES}, so fewer bins or recipes"
    )]
    Long {
        /// The thing that is too long.
        what: &'static str,
        /// The largest length that it may have, in bytes.
        length: usize,
    },
    /// A value cannot be written as text.
    #[error("the question cannot be written: {0}")]
    Unwritable(String),
    /// Stored bytes were not written by this program.
    #[error("{what} in the ledger cannot be read; legal: what this program stored")]
    Unreadable {
        /// The thing that was stored.
        what: &'static str,
    },
}

fn words(part: Option<&str>) -> String {
    part.map_or_else(|| "all of the data".to_owned(), |part| format!("part {part:?}"))
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(Box::new(error))
    }
}

impl From<counterpoint_mechanisms::Error> for Error {
    fn from(error: counterpoint_mechanisms::Error) -> Self {
        Self::Mechanism(Box::new(error))
    }
}
