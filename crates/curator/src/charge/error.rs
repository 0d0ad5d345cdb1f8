//! What can go wrong. What an error says depends on the ledger and the question, never on the
//! data.

use counterpoint_ledger::{LedgerError, MOST_RESPONSE};

/// Why nothing was shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ledger said no, or failed.
    #[error(transparent)]
    Ledger(Box<LedgerError>),
    /// The question does not fit the data's relation or the session, or there was no randomness.
    #[error(transparent)]
    Mechanism(Box<counterpoint_mechanisms::Error>),
    /// A session that was reserved and never begun.
    #[error("session {key:?} has not begun; legal: open it again with the same declaration")]
    NotBegun {
        /// Its key.
        key: String,
    },
    /// Data about another part than the session was charged for.
    #[error(
        "the session is about {}, and the data are about {}; legal: the same part",
        words(.session.as_deref()), words(.data.as_deref())
    )]
    OtherPart {
        /// The part that was charged, `None` for all of the data.
        session: Option<String>,
        /// The data's.
        data: Option<String>,
    },
    /// A session that many ask at once: others were always first.
    #[error("session {key:?} is asked by many at once; nothing was answered, try again")]
    Busy {
        /// Its key.
        key: String,
    },
    /// A question whose answer, or a declaration that, may be too long to be stored.
    #[error(
        "{what} may have {length} bytes; legal: at most {MOST_RESPONSE}, so fewer bins or recipes"
    )]
    Long {
        /// What it is.
        what: &'static str,
        /// How many bytes it may have.
        length: usize,
    },
    /// Something that cannot be written as text.
    #[error("the question cannot be written: {0}")]
    Unwritable(String),
    /// Something stored that was not written here.
    #[error("{what} in the ledger cannot be read; legal: what this program stored")]
    Unreadable {
        /// What it is.
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
