//! What is asked of a curator, and what comes back.

use crate::answer::{Number, Unanswered};
use crate::session::table::{Declared, Runs};
use counterpoint_ledger::{LedgerError, Refusal};
use counterpoint_questions::question::Question;
use counterpoint_questions::{Illegal, Spend};
use counterpoint_wire::ledger::{AccountStatus, Cost};

/// A question as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// As SQL.
    Sql(String),
    /// As the algebra.
    Question(Box<Question>),
}

impl Written {
    /// What is noted of it for the owner.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Sql(sql) => sql.clone(),
            Self::Question(question) => serde_json::to_string(question).unwrap_or_default(),
        }
    }
}

/// What an answer is to cost, or to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Pay {
    /// So much pure differential privacy.
    Epsilon(f64),
    /// So much zero-concentrated differential privacy.
    Rho(f64),
    /// What a slot of the account's plan declares.
    Slot(String),
    /// As little as gives every number this half-width.
    Error(f64),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The account that pays.
    pub account: String,
    /// The question.
    pub written: Written,
    /// What it may cost.
    pub pay: Pay,
    /// The confidence of intervals, and of an error that is asked for.
    pub confidence: f64,
    /// The asker's own key for the question. From the debit on it stands for that question, and for no other.
    pub key: Option<String>,
}

/// Why something was not done.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// The asker has no business with it. It does not tell what there is.
    #[error("{what} {name:?} is not yours, or not there")]
    NotYours {
        /// What it is.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Not answered.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
}

impl Denied {
    pub(super) fn not_yours(what: &'static str, name: &str) -> Self {
        Self::NotYours { what, name: name.chars().take(100).collect() }
    }
}

impl From<Illegal> for Denied {
    fn from(error: Illegal) -> Self {
        Self::Unanswered(error.into())
    }
}

impl From<LedgerError> for Denied {
    fn from(error: LedgerError) -> Self {
        Self::Unanswered(error.into())
    }
}

/// What a question would cost.
#[derive(Clone, Debug)]
pub struct Priced {
    /// What it would cost.
    pub charge: Cost,
    /// Whose budget is too short for it, if one is.
    pub refusal: Option<Refusal>,
    /// What it may spend.
    pub spend: Spend,
    /// Whether it was answered before, so that it would cost nothing.
    pub is_free: bool,
    /// For each aggregate its name, and the half-width that all data have, for as many rows as the table says, if that is
    /// public or does not matter; in ranks for quantiles.
    pub half_widths: Vec<(String, Option<f64>)>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The numbers.
    pub numbers: Vec<Number>,
    /// What this call debited; `None` if nothing.
    pub charge: Option<Cost>,
    /// The ledger's entry.
    pub entry: Option<u64>,
    /// Whether it had been answered before.
    pub is_repeated: bool,
    /// Whether the engine was asked.
    pub ran: bool,
}

/// A session that is to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// The account that pays.
    pub account: String,
    /// What the asker calls it.
    pub key: String,
    /// The table that it is about.
    pub table: String,
    /// What is declared.
    pub declared: Declared,
    /// The slot that it opens, in a plan account.
    pub slot: Option<String>,
}

/// A session of the asker's.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The account that paid.
    pub account: String,
    /// What the asker calls it.
    pub key: String,
    /// The table that it is about.
    pub table: String,
    /// What was declared.
    pub declared: Runs,
    /// The ledger's entry that began it.
    pub begun: u64,
    /// How many answers it has given.
    pub answered: u64,
    /// Whether it gives no more.
    pub is_over: bool,
}

/// A question to a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// The account that paid.
    pub account: String,
    /// What the asker calls the session.
    pub key: String,
    /// What the asker calls the question.
    pub name: String,
    /// The question.
    pub written: Written,
    /// The guess that is checked.
    pub guess: Option<f64>,
    /// What it costs of a sequence.
    pub spend: Option<Spend>,
}

/// A session of a registered mechanism that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnOpening {
    /// The account that pays.
    pub account: String,
    /// What the asker calls it.
    pub key: String,
    /// The table that it is about.
    pub table: String,
    /// The mechanism's name.
    pub mechanism: String,
    /// The slot that it opens, in a plan account.
    pub slot: Option<String>,
}

/// A question to a session of a registered mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnAsking {
    /// The account that paid.
    pub account: String,
    /// What the asker calls the session.
    pub key: String,
    /// What the asker calls the question.
    pub name: String,
    /// The question, as JSON.
    pub question: String,
}

/// What is left of an account for somebody.
#[derive(Clone, Debug)]
pub struct Left {
    /// The account as the ledger has it, with the asker's quota alone.
    pub status: AccountStatus,
    /// About how many more questions of such a cost.
    pub more: Option<u64>,
}
