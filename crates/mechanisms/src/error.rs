//! Errors. No error depends on the data, so errors reveal nothing about them.

use counterpoint::{AskError, OutOfRangeError, PlanError, Relation};

/// The reason why nothing was released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number outside its legal range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRangeError),
    /// Two numbers in the wrong order.
    #[error("{what} is {low} to {high}; legal: finite numbers, the first below the second")]
    Order {
        /// The name of the pair or of the list.
        what: &'static str,
        /// The number that must be smaller.
        low: f64,
        /// The number that must be larger.
        high: f64,
    },
    /// A list that is too short or too long.
    #[error("{what} has {length} entries; legal: {legal}")]
    Length {
        /// The name of the list.
        what: &'static str,
        /// Its number of entries.
        length: usize,
        /// The legal numbers of entries.
        legal: &'static str,
    },
    /// A kind of noise that the query does not support.
    #[error("{noise} for {query}; legal: {legal}")]
    Unsuited {
        /// The kind of noise.
        noise: &'static str,
        /// The kind of query.
        query: &'static str,
        /// The legal alternatives.
        legal: &'static str,
    },
    /// Data whose neighbouring relation is not the measurement's.
    #[error("the data's relation is \"{data}\"; legal: \"{made}\"")]
    Relation {
        /// The relation that the noise is scaled and charged for.
        made: Relation,
        /// The relation of the data.
        data: Relation,
    },
    /// A part of data under a relation whose neighbours may differ in two parts.
    #[error("part {part:?} of data whose relation is \"{data}\"; legal: parts under add-remove")]
    Part {
        /// The part.
        part: String,
        /// The data's relation.
        data: Relation,
    },
    /// A query about another number of columns than the data have.
    #[error("the query is about {asked} columns, the data have {data}; legal: equal numbers")]
    Columns {
        /// The number of columns of the query.
        asked: usize,
        /// The number of columns of the data.
        data: usize,
    },
    /// A query whose sensitivity is larger than declared.
    #[error("the query's sensitivity is {asked} grid steps; legal here: at most {declared}")]
    Sensitivity {
        /// The query's sensitivity, in steps of the session's grid.
        asked: u64,
        /// The sensitivity that the session's noise covers.
        declared: u64,
    },
    /// A query or answer of a kind that is not legal here.
    #[error("the query or answer is of the wrong kind; legal: {legal}")]
    Question {
        /// The legal kinds.
        legal: &'static str,
    },
    /// A measurement whose cost is not among the unused releases of the plan.
    #[error("the measurement's cost equals none of the plan's unused releases")]
    NotDeclared,
    /// A state that this declaration cannot have reached.
    #[error("the state does not belong to this session: {problem}")]
    State {
        /// The reason why the state does not belong to the session.
        problem: &'static str,
    },
    /// The session has given all its answers.
    #[error("the session is exhausted: it answers nothing more")]
    Exhausted,
    /// A session that another process opened. A fork has a copy of its state, and both would answer from that state.
    #[error(
        "process {process} opened this session; legal: that process, or a session kept in a ledger"
    )]
    OtherProcess {
        /// The process that opened it.
        process: u32,
    },
    /// A session name that is unknown or taken.
    #[error("session {name:?} is {problem}")]
    Name {
        /// The name.
        name: String,
        /// The problem with the name.
        problem: &'static str,
    },
    /// The source of secure randomness failed.
    #[error("no secure randomness: {reason}")]
    Randomness {
        /// The message of the source of randomness.
        reason: String,
    },
    /// The releases cannot form a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The accountant cannot answer.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// Returns an [`Error::OutOfRange`] unless `holds`.
pub(crate) fn check(
    holds: bool,
    quantity: &'static str,
    value: f64,
    legal: &'static str,
) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(OutOfRangeError { quantity, value, legal }.into()) }
}
