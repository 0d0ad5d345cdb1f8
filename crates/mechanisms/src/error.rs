//! What can go wrong. No error depends on the data, so that none of them tells anything
//! about it.

use counterpoint::{AskError, OutOfRange, PlanError, Relation};

/// Why nothing was released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number outside its legal range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Two numbers that have to come in order.
    #[error("{what} is {low} to {high}; legal: finite numbers, the first below the second")]
    Order {
        /// What they are the ends of.
        what: &'static str,
        /// The one that has to be smaller.
        low: f64,
        /// The one that has to be larger.
        high: f64,
    },
    /// A list too short or too long.
    #[error("{what} has {length} entries; legal: {legal}")]
    Length {
        /// Which list.
        what: &'static str,
        /// How many entries it has.
        length: usize,
        /// How many it may have.
        legal: &'static str,
    },
    /// A query answered in a way that does not fit it.
    #[error("{noise} for {query}; legal: {legal}")]
    Unsuited {
        /// The kind of noise.
        noise: &'static str,
        /// The kind of query.
        query: &'static str,
        /// What would be legal.
        legal: &'static str,
    },
    /// Data of another neighbouring relation than something was made for.
    #[error("made for data of {made}; these are of {data}")]
    Relation {
        /// What the noise is scaled and charged for.
        made: Relation,
        /// The data's.
        data: Relation,
    },
    /// A part of data whose neighbours may differ in two parts.
    #[error("part {part:?} of data of {data}; legal: parts of data of add-remove")]
    Part {
        /// The part.
        part: String,
        /// The data's relation.
        data: Relation,
    },
    /// A question about another number of columns than the data have.
    #[error("asked about {asked} columns of data that have {data}; legal: as many as there are")]
    Columns {
        /// How many the question is about.
        asked: usize,
        /// How many there are.
        data: usize,
    },
    /// A query that one person moves further than was declared.
    #[error("the query's sensitivity is {asked} grid units; legal here: at most {declared}")]
    Sensitivity {
        /// The query's, in units of the session's grid.
        asked: u64,
        /// What the session's noise covers.
        declared: u64,
    },
    /// A question of a kind that the session does not answer.
    #[error("the question is of a kind this session does not answer; legal: {legal}")]
    Question {
        /// What it answers.
        legal: &'static str,
    },
    /// A measurement that costs something else than what is left in the plan.
    #[error("the measurement's cost is not among the releases still open in the plan")]
    NotDeclared,
    /// A state that was not reached from this declaration.
    #[error("the state is not one of the session as declared: {problem}")]
    State {
        /// What differs.
        problem: &'static str,
    },
    /// The session has given all the answers it may give.
    #[error("the session is exhausted: it answers nothing more")]
    Exhausted,
    /// A session that was opened by another process, of which this one is a fork: each would answer from the same state.
    #[error(
        "the session belongs to process {process}, which opened it; legal: there, or kept in a ledger"
    )]
    OtherProcess {
        /// The process that opened it.
        process: u32,
    },
    /// A name that no session has, or that two would have.
    #[error("session {name:?} is {problem}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No secure randomness is to be had.
    #[error("no secure randomness: {reason}")]
    Randomness {
        /// What the source of randomness said.
        reason: String,
    },
    /// The releases make no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The accountant has no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// An [`Error::OutOfRange`] unless `holds`.
pub(crate) fn check(
    holds: bool,
    quantity: &'static str,
    value: f64,
    legal: &'static str,
) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(OutOfRange { quantity, value, legal }.into()) }
}
