//! What can go wrong, and what is refused.

use std::fmt::Display;

use counterpoint::OutOfRange;
use counterpoint_budget::{Amount, FilterError, OpenError};
use counterpoint_wire::PlanError;
use counterpoint_wire::ledger::{NotCanonical, Room};

use super::chain::Head;
use super::limits::{MOST_RESPONSE, OLDEST, VERSION};

/// What the ledger's functions return.
pub type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// Why the database did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// It cannot be opened, or not used as it is set up.
    #[error("{0}")]
    Unusable(String),
    /// Others kept it locked for too long; nothing was written.
    #[error("the ledger is locked by others for too long; nothing was written, try again")]
    Busy,
    /// A statement failed; the transaction is rolled back and the handle has stopped.
    #[error("the database failed, nothing was written: {0}")]
    Failed(String),
    /// A commit failed: whether it took effect is unknown, and the handle has stopped.
    #[error(
        "the database failed in its commit, which may or may not have taken effect; a retry with the same key finds out: {0}"
    )]
    Uncertain(String),
    /// The handle stopped at an earlier failure.
    #[error("the ledger stopped at an earlier failure; open it again")]
    Stopped,
}

impl DatabaseError {
    /// A file or a server that cannot be used, and why.
    pub(crate) fn unusable(place: impl Display, problem: impl Display) -> Self {
        Self::Unusable(format!("{place}: {problem}"))
    }
}

/// Why a ledger did not do what it was asked. Nothing was written, but for
/// [`DatabaseError::Uncertain`], which says so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A definite no.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// There is no ledger here yet.
    #[error("there is no ledger here; legal: init first")]
    NotLedger,
    /// There is one already.
    #[error("there is a ledger here already; legal: init once")]
    Initialised,
    /// A ledger of another version.
    #[error("the ledger's format is version {found}; legal: {}{}", VERSION, advice(*found))]
    Version {
        /// The version found.
        found: i64,
    },
    /// A word that may not be one.
    #[error("{what} is {value:?}; legal: {legal}")]
    Name {
        /// What it names.
        what: &'static str,
        /// The word, cut short if long.
        value: String,
        /// What is legal.
        legal: &'static str,
    },
    /// A name that is taken.
    #[error("{what} {name:?} is there already; legal: a new name")]
    Exists {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that nothing has.
    #[error("there is no {what} {name:?}; legal: {legal}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// What is legal.
        legal: &'static str,
    },
    /// Something that does not go together with the account it is asked of.
    #[error("{account:?} {problem}; legal: {legal}")]
    Unfit {
        /// The account or data set.
        account: String,
        /// What is wrong.
        problem: String,
        /// What is legal.
        legal: &'static str,
    },
    /// A release about a part or a sample of data in which a person may have several records.
    #[error(
        "{field} is given, and a person may have {records} records in the data set; legal: \
         {field} in a data set with one record a person"
    )]
    SeveralRecords {
        /// The release's field.
        field: &'static str,
        /// How many records a person may have.
        records: u64,
    },
    /// A key that stands for another request.
    #[error("key {key:?} stands for another request; legal: the same request, or a new key")]
    KeyInUse {
        /// The key.
        key: String,
    },
    /// An analyst's own key that stands for another request.
    #[error("the key stands for another question; legal: the same, or a new key")]
    AliasInUse,
    /// A key that this is not asked of.
    #[error("key {key:?} {problem}; legal: {legal}")]
    UnfitKey {
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
        /// What is legal.
        legal: &'static str,
    },
    /// Somebody else answered in a session in between; nothing was written.
    #[error(
        "session {key:?} has {answered} answers by now; nothing was written, read its state again"
    )]
    Moved {
        /// The session's key.
        key: String,
        /// How many answers there are.
        answered: u64,
    },
    /// A session that has ended.
    #[error("session {key:?} is over; legal: what was answered before, or a new session")]
    Over {
        /// The session's key.
        key: String,
    },
    /// Bytes that are too many or too few.
    #[error("the {what} has {length} bytes; legal: {least} to {most}", most = MOST_RESPONSE)]
    Length {
        /// What they are.
        what: &'static str,
        /// How many there are.
        length: usize,
        /// How many there must be.
        least: usize,
    },
    /// A plan or release that cannot be read.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// A rule that cannot be made, or a release it cannot charge.
    #[error(transparent)]
    Rule(Box<FilterError>),
    /// Something that slots of a plan account are not shown to cover.
    #[error("account {account:?}: {error}; try what has more noise, or more openings together")]
    Uncovered {
        /// The account.
        account: String,
        /// Why.
        error: Box<OpenError>,
    },
    /// A plan whose cost cannot be certified.
    #[error("the plan's cost cannot be certified: {0}; try a larger delta, or other releases")]
    Uncertified(String),
    /// A history that does not go on from where it is known to have been.
    #[error(
        "the history is not the one that was known: entry {expected} is not in it (it ends at {head}); \
         nothing was written. Legal: the ledger itself, not an old copy of it"
    )]
    OtherHistory {
        /// The entry that was known.
        expected: Head,
        /// The last entry there is.
        head: Head,
    },
    /// Something that one who only reads cannot do.
    #[error(
        "the ledger is open to read only; legal: what reads: status, history, responses, export, verify, backup"
    )]
    ReadOnly,
    /// A stored row that says nothing a ledger writes; `verify` says more.
    #[error("the ledger is damaged: {0}; try verify, which says more, and a backup")]
    Damaged(String),
    /// A file that is no checkpoint, or not one to rely on.
    #[error("{0}; legal: a checkpoint that verification wrote, mode 600")]
    Checkpoint(String),
}

/// What to do with a ledger of another version.
fn advice(found: i64) -> &'static str {
    match found {
        VERSION => "; there is nothing to upgrade",
        OLDEST..VERSION => "; counterpoint ledger --url URL upgrade --backup FILE brings it there",
        ..OLDEST => {
            "; keep this one as a record, with the program that wrote it, and start a new ledger whose \
             data sets have what they had less what was spent"
        }
        _ => "; it was written by a later program; use that",
    }
}

/// A budget that would be exceeded. It depends on nothing but the ledger and the request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "refused by {place}: {asked} of {what} is asked for and {left} is left of {capacity}; legal: at most what is \
     left{}; {}",
    self.fitting(),
    self.remedy()
)]
pub struct Refusal {
    /// Whose budget.
    pub place: String,
    /// Which total, in words.
    pub what: String,
    /// What is asked for.
    pub asked: Amount,
    /// What is left.
    pub left: Amount,
    /// What there was at first.
    pub capacity: Amount,
    /// With so many times the noise what is asked for would fit, where that is known.
    pub noise: Option<Amount>,
    /// What would still fit, where that is known.
    pub room: Option<Room>,
}

impl Refusal {
    /// A budget that does not cover what is asked for: that, what is left, and what there was.
    pub(crate) fn new(place: String, what: String, [asked, left, capacity]: [Amount; 3]) -> Self {
        Self { place, what, asked, left, capacity, noise: None, room: None }
    }

    /// What would still fit, in words.
    fn fitting(&self) -> String {
        let Some(room) = &self.room else { return String::new() };
        let noise =
            self.noise.as_ref().map(|factor| format!("the same with {factor} times the noise"));
        let list: Vec<String> = noise.into_iter().chain(room.words()).collect();
        if list.is_empty() {
            return "; nothing more fits".to_owned();
        }
        format!("; one of these still fits: {}", list.join(", "))
    }

    /// What would help.
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
                "try an account that promises less, or a plan with more noise (calibrate)"
            }
            _ => "try more noise or fewer releases (price says what they cost), or another account",
        }
    }
}

/// Nothing has this name.
pub(crate) fn unknown(what: &'static str, name: &str, legal: &'static str) -> LedgerError {
    LedgerError::Unknown { what, name: name.to_owned(), legal }
}

/// A plan that does not suit what it is for.
pub(crate) fn unfit_plan(problem: String, legal: &'static str) -> LedgerError {
    LedgerError::Unfit { account: "the plan".to_owned(), problem, legal }
}

/// What is stored is not what a ledger writes.
pub(crate) fn damaged(what: impl Display) -> LedgerError {
    LedgerError::Damaged(what.to_string())
}

/// Stored text that no ledger writes.
impl From<NotCanonical> for LedgerError {
    fn from(error: NotCanonical) -> Self {
        damaged(error.problem)
    }
}

impl From<OutOfRange> for LedgerError {
    fn from(error: OutOfRange) -> Self {
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
