//! The submissions of analysts to the curator, and the curator's results.

use crate::answer::{AnswerError, Number};
use crate::session::table::{SessionMechanism, SessionSpec};
use counterpoint_ledger::{LedgerError, Refusal};
use counterpoint_questions::question::Question;
use counterpoint_questions::{QuestionError, Spend};
use counterpoint_wire::ledger::{AccountStatus, Cost};

/// The text of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionText {
    /// SQL.
    Sql(String),
    /// The algebra, as in JSON.
    Question(Box<Question>),
}

impl QuestionText {
    /// The text that is noted for the owner's history.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Sql(sql) => sql.clone(),
            Self::Question(question) => serde_json::to_string(question).unwrap_or_default(),
        }
    }
}

/// The requested cost of an answer, or the requested error.
#[derive(Clone, Debug, PartialEq)]
pub enum CostTarget {
    /// An epsilon of pure differential privacy.
    Epsilon(f64),
    /// A rho of zero-concentrated differential privacy.
    Rho(f64),
    /// The size of this slot of the account's plan.
    Slot(String),
    /// The least cost at which every number has at most this half-width.
    Error(f64),
}

/// A question as an analyst submits it.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The account that pays.
    pub account: String,
    /// The question's text.
    pub question: QuestionText,
    /// The requested cost or error.
    pub cost: CostTarget,
    /// The confidence of the intervals, and of a requested error.
    pub confidence: f64,
    /// The asker's own key for the question. From the debit on the key stands for this question alone.
    pub key: Option<String>,
}

/// A request to the curator failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CuratorError {
    /// The account, mechanism or session is not the asker's. The error does not reveal if it exists.
    #[error("{what} {name:?} does not exist, or is not yours")]
    NotYours {
        /// The kind of thing.
        what: &'static str,
        /// The thing's name.
        name: String,
    },
    /// The question was not answered.
    #[error(transparent)]
    Unanswered(#[from] AnswerError),
}

impl CuratorError {
    pub(super) fn not_yours(what: &'static str, name: &str) -> Self {
        Self::NotYours { what, name: name.chars().take(100).collect() }
    }
}

impl From<QuestionError> for CuratorError {
    fn from(error: QuestionError) -> Self {
        Self::Unanswered(error.into())
    }
}

impl From<LedgerError> for CuratorError {
    fn from(error: LedgerError) -> Self {
        Self::Unanswered(error.into())
    }
}

/// The price of a question.
#[derive(Clone, Debug)]
pub struct Quote {
    /// The cost that asking would debit.
    pub charge: Cost,
    /// The budget that is too small for the cost, if one is.
    pub refusal: Option<Refusal>,
    /// The privacy loss that the answer may spend.
    pub spend: Spend,
    /// True if the question has a stored answer, so that asking costs nothing.
    pub is_free: bool,
    /// The name and half-width of each aggregate, for the table's number of people; `None` if it depends on a number
    /// that is not public. In ranks for quantiles.
    pub half_widths: Vec<(String, Option<f64>)>,
}

/// An answer for an analyst.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The numbers, with intervals.
    pub numbers: Vec<Number>,
    /// The cost that this call debited; `None` if it debited nothing.
    pub charge: Option<Cost>,
    /// The number of the ledger's entry that stored or charged the answer.
    pub entry: Option<u64>,
    /// True if the answer had been stored before.
    pub is_repeated: bool,
    /// True if this call ran the engine.
    pub engine_ran: bool,
}

/// A session to be opened, of a built-in mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// The account that pays.
    pub account: String,
    /// The asker's key for the session.
    pub key: String,
    /// The table that the session is about.
    pub table: String,
    /// The session's mechanism and its parameters.
    pub spec: SessionSpec,
    /// The slot that pays, in a plan account.
    pub slot: Option<String>,
}

/// A session of an analyst.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// The account that paid.
    pub account: String,
    /// The asker's key for the session.
    pub key: String,
    /// The table that the session is about.
    pub table: String,
    /// The mechanism that the session runs.
    pub mechanism: SessionMechanism,
    /// The number of the ledger's entry that began the session.
    pub begun: u64,
    /// The number of answers that the session has given.
    pub answered: u64,
    /// True if the session gives no more answers.
    pub is_over: bool,
}

/// A question to a session of a built-in mechanism, as an analyst submits it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSubmission {
    /// The account that paid.
    pub account: String,
    /// The asker's key for the session.
    pub key: String,
    /// The asker's name for the question.
    pub name: String,
    /// The question's text.
    pub question: QuestionText,
    /// The guess to check, for guess-and-check.
    pub guess: Option<f64>,
    /// The cost to spend, for a sequence.
    pub spend: Option<Spend>,
}

/// A session to be opened, of a mechanism that the owner registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCustomSession {
    /// The account that pays.
    pub account: String,
    /// The asker's key for the session.
    pub key: String,
    /// The table that the session is about.
    pub table: String,
    /// The mechanism's name.
    pub mechanism: String,
    /// The slot that pays, in a plan account.
    pub slot: Option<String>,
}

/// A question to a session of a registered mechanism, as an analyst submits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomSubmission {
    /// The account that paid.
    pub account: String,
    /// The asker's key for the session.
    pub key: String,
    /// The asker's name for the question.
    pub name: String,
    /// The question, as JSON.
    pub question: String,
}

/// The balance of an account for one analyst.
#[derive(Clone, Debug)]
pub struct AccountBalance {
    /// The account's status in the ledger, with the analyst's quota alone.
    pub status: AccountStatus,
    /// The approximate number of further questions of the given cost.
    pub more: Option<u64>,
}
