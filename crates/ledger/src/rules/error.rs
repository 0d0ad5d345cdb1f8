//! The errors of the ledger, and refusals.

use std::fmt::Display;

use counterpoint::OutOfRangeError;
use counterpoint_budget::{Amount, FilterError, OpenError};
use counterpoint_wire::PlanError;
use counterpoint_wire::ledger::{CanonicalError, Headroom};

use super::chain::Head;
use super::limits::{MAX_RESPONSE_BYTES, OLDEST, VERSION};

/// The result of a ledger function.
pub type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// An error of the database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The database cannot be opened, or its settings do not make commits durable.
    #[error("{0}")]
    Unusable(String),
    /// The lock could not be taken in time, because others held it; nothing was written.
    #[error("the ledger was locked by others for too long; nothing was written, try again")]
    Busy,
    /// A statement failed. The transaction is rolled back and the handle has stopped.
    #[error("the database failed, nothing was written: {0}")]
    Failed(String),
    /// A commit failed. It is unknown whether the commit took effect, and the handle has stopped.
    #[error(
        "the database failed during a commit, which may or may not have taken effect; \
         retry with the same key to find out: {0}"
    )]
    Uncertain(String),
    /// The handle stopped at an earlier failure and refuses every call.
    #[error("this handle stopped at an earlier failure; open the ledger again")]
    Stopped,
}

impl DatabaseError {
    /// The error for a file or a server that cannot be used, with the reason.
    pub(crate) fn unusable(place: impl Display, problem: impl Display) -> Self {
        Self::Unusable(format!("{place}: {problem}"))
    }
}

/// An error of a [`Ledger`](crate::Ledger). Nothing was written, except perhaps after [`DatabaseError::Uncertain`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A budget does not allow the charge.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database holds no ledger yet.
    #[error("the database holds no ledger; run init first")]
    NotLedger,
    /// The database holds a ledger already.
    #[error("the database holds a ledger already; run init only once")]
    Initialised,
    /// The ledger's format is of another version.
    #[error("the ledger's format is version {found}; legal: {}{}", VERSION, advice(*found))]
    Version {
        /// The version of the ledger.
        found: i64,
    },
    /// A name is not legal.
    #[error("{what} is {value:?}; legal: {legal}")]
    Name {
        /// The kind of thing that the name is for.
        what: &'static str,
        /// The name, cut short if long.
        value: String,
        /// The legal names, in words.
        legal: &'static str,
    },
    /// A name is taken.
    #[error("{what} {name:?} exists already; legal: a new name")]
    Exists {
        /// The kind of thing that has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// No such thing has this name.
    #[error("there is no {what} {name:?}; legal: {legal}")]
    Unknown {
        /// The kind of thing that was looked for.
        what: &'static str,
        /// The name that was looked for.
        name: String,
        /// The legal names, in words.
        legal: &'static str,
    },
    /// The call does not suit the account.
    #[error("{account:?} {problem}; legal: {legal}")]
    Unfit {
        /// The account or data set.
        account: String,
        /// The reason, as a predicate of the account.
        problem: String,
        /// The legal alternative, in words.
        legal: &'static str,
    },
    /// The release is about a part or a sample of the data, and a person may have several records.
    #[error(
        "{field} is given, but a person may have {records} records in the data set; legal: \
         {field} in a data set with one record per person"
    )]
    SeveralRecords {
        /// The field that names the part or the sampling.
        field: &'static str,
        /// The number of records that a person may have.
        records: u64,
    },
    /// The key stands for another request.
    #[error("key {key:?} stands for another request; legal: the same request, or a new key")]
    KeyInUse {
        /// The key.
        key: String,
    },
    /// The analyst's own key stands for another request.
    #[error("the key stands for another question; legal: the same question, or a new key")]
    AliasInUse,
    /// The call does not suit the key.
    #[error("key {key:?} {problem}; legal: {legal}")]
    UnfitKey {
        /// The key.
        key: String,
        /// The reason, as a predicate of the key.
        problem: String,
        /// The legal alternative, in words.
        legal: &'static str,
    },
    /// Another caller stored an answer in the session since its state was read; nothing was written.
    #[error(
        "session {key:?} has {answered} answers now, because another caller was answered; nothing was written, \
         read its state again"
    )]
    SessionAdvanced {
        /// The session's key.
        key: String,
        /// The number of answers that the session has now.
        answered: u64,
    },
    /// The session has ended.
    #[error("session {key:?} has ended; legal: a question that it has answered, or a new session")]
    SessionEnded {
        /// The session's key.
        key: String,
    },
    /// A response, declaration or state is too long or too short.
    #[error("the {what} has {length} bytes; legal: {least} to {most}", most = MAX_RESPONSE_BYTES)]
    Length {
        /// The kind of bytes: response, declaration or state.
        what: &'static str,
        /// Their number.
        length: usize,
        /// The least legal number.
        least: usize,
    },
    /// A plan or release cannot be read.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// A filter cannot be made, or cannot charge a release.
    #[error(transparent)]
    Rule(Box<FilterError>),
    /// The slots of a plan account are not shown to cover the release, account or new slots.
    #[error("account {account:?}: {error}; try more noise, or more openings together")]
    Uncovered {
        /// The account.
        account: String,
        /// The reason.
        error: Box<OpenError>,
    },
    /// The cost of a plan cannot be certified.
    #[error("the plan's cost cannot be certified: {0}; try a larger delta, or other releases")]
    Uncertified(String),
    /// An entry that was acknowledged or expected is not in the history.
    #[error(
        "entry {expected}, which was acknowledged or expected, is not in the history (it ends at {head}); \
         nothing was written. Legal: the ledger itself, not an old copy of it"
    )]
    OtherHistory {
        /// The entry that is missing.
        expected: Head,
        /// The last entry of the history.
        head: Head,
    },
    /// The ledger is open for reading only.
    #[error(
        "the ledger is open for reading only; legal: status, history, responses, export, verify, backup"
    )]
    ReadOnly,
    /// A stored row is not what a ledger writes; [`Ledger::verify`](crate::Ledger::verify) says more.
    #[error("the ledger is damaged: {0}; run verify for details; a backup may help")]
    Damaged(String),
    /// A file is not a checkpoint, or others can write to it.
    #[error("{0}; legal: a checkpoint that verification wrote, mode 600")]
    Checkpoint(String),
}

/// The advice for a ledger of another version.
fn advice(found: i64) -> &'static str {
    match found {
        VERSION => "; there is nothing to upgrade",
        OLDEST..VERSION => "; counterpoint ledger --url URL upgrade --backup FILE brings it there",
        ..OLDEST => {
            "; keep this one as a record, with the program that wrote it, and start a new ledger whose \
             data sets have the old budgets less the spent amounts"
        }
        _ => "; it was written by a later program; use that",
    }
}

/// A budget that would be exceeded. A refusal depends on nothing but the ledger and the request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "refused by {place}: {asked} of {what} is asked for and {left} is left of {capacity}; legal: at most what is \
     left{}; {}",
    self.fitting(),
    self.remedy()
)]
pub struct Refusal {
    /// The budget: that of an account, a quota, a slot or a data set.
    pub place: String,
    /// The total that would be exceeded, in words.
    pub what: String,
    /// The amount that is asked for.
    pub asked: Amount,
    /// The amount that is left.
    pub left: Amount,
    /// The capacity of the budget.
    pub capacity: Amount,
    /// The factor of noise with which the same request would fit, where it is known.
    pub noise: Option<Amount>,
    /// The largest releases that still fit, where they are known.
    pub room: Option<Headroom>,
}

impl Refusal {
    /// A refusal with the amount that is asked for, the amount that is left and the capacity.
    pub(crate) fn new(place: String, what: String, [asked, left, capacity]: [Amount; 3]) -> Self {
        Self { place, what, asked, left, capacity, noise: None, room: None }
    }

    /// The releases that still fit, in words.
    fn fitting(&self) -> String {
        let Some(room) = &self.room else { return String::new() };
        let noise =
            self.noise.as_ref().map(|factor| format!("the same with {factor} times the noise"));
        let list: Vec<String> = noise.into_iter().chain(room.phrases()).collect();
        if list.is_empty() {
            return "; nothing more fits".to_owned();
        }
        format!("; one of these still fits: {}", list.join(", "))
    }

    /// A remedy, in words.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        let by_dataset = self.place.starts_with("data set");
        match self.what.as_str() {
            "uses" | "releases" => "try another slot, or exchange unused ones (recut)",
            "delta" if !by_dataset && self.capacity.is_zero() => {
                "try releases without a delta of their own, or an account that sets some of its delta aside for them \
                 (leaks)"
            }
            _ if by_dataset => {
                "try an account that promises less, or a plan with more noise: calibrate finds it, and a study has a smaller \
                 epsilon or larger errors"
            }
            _ => "try more noise or fewer releases (price says what they cost), or another account",
        }
    }
}

/// The error for a name that nothing has.
pub(crate) fn unknown(what: &'static str, name: &str, legal: &'static str) -> LedgerError {
    LedgerError::Unknown { what, name: name.to_owned(), legal }
}

/// The error for a plan that does not suit its purpose.
pub(crate) fn unfit_plan(problem: String, legal: &'static str) -> LedgerError {
    LedgerError::Unfit { account: "the plan".to_owned(), problem, legal }
}

/// The error for a stored row that no ledger writes.
pub(crate) fn damaged(what: impl Display) -> LedgerError {
    LedgerError::Damaged(what.to_string())
}

/// Stored text that no ledger writes is damage.
impl From<CanonicalError> for LedgerError {
    fn from(error: CanonicalError) -> Self {
        damaged(error.problem)
    }
}

impl From<OutOfRangeError> for LedgerError {
    fn from(error: OutOfRangeError) -> Self {
        FilterError::from(error).into()
    }
}

macro_rules! boxed {
    ($($from:ident => $variant:ident),*) => {$(
        impl From<$from> for LedgerError {
            fn from(error: $from) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )*};
}

boxed!(Refusal => Refused, PlanError => Plan, FilterError => Rule);
