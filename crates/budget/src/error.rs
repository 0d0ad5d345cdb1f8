//! Why an account says no, and why a question makes no sense to it.

use crate::amount::Amount;
use crate::currency::Currency;
use counterpoint::loss::LossError;
use counterpoint::quantity::OutOfRange;

/// A definite no: the budget would be exceeded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("refused: {asked} of {what} is asked for and {left} is left of {capacity}")]
pub struct Refused {
    /// Which total, in words.
    pub what: &'static str,
    /// What the query costs.
    pub asked: Amount,
    /// What is left.
    pub left: Amount,
    /// What there was at first.
    pub capacity: Amount,
}

/// Why there is no filter, or no charge.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A number outside its range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// The query has no meaning under the account's terms.
    #[error(transparent)]
    Loss(#[from] LossError),
    /// A description this kind of account cannot charge.
    #[error("{what} has no {needs}; legal in a {currency} account: {legal}")]
    NoCharge {
        /// What was asked for.
        what: String,
        /// What it would need.
        needs: &'static str,
        /// The kind of account.
        currency: Currency,
        /// What is accepted, in words.
        legal: &'static str,
    },
    /// A description that no account charges.
    #[error("{what} is not charged to accounts, only composed in plans; legal: {legal}")]
    PlansOnly {
        /// What was asked for.
        what: String,
        /// What may be charged instead, in words.
        legal: &'static str,
    },
    /// No theorem covers it when interactive mechanisms are interleaved.
    #[error(
        "zcdp with delta {delta} is asked of a concurrent account, for which nothing is proved; legal: delta 0, or a sequential account"
    )]
    NotConcurrent {
        /// Its delta.
        delta: Amount,
    },
    /// An account about one part of the data, asked about another or about all of it.
    #[error(
        "the account is about part {account:?} of the data and this is about {}; legal: partition {account:?}",
        .asked.as_ref().map_or_else(|| "all of it".to_owned(), |part| format!("part {part:?}"))
    )]
    OtherPart {
        /// The account's part.
        account: String,
        /// What was asked about; all of the data if `None`.
        asked: Option<String>,
    },
    /// A share of delta that is more than all of it.
    #[error("leaks is {leaks}; legal: from 0 up to but not including delta, {delta}")]
    Leaks {
        /// The share set aside for the queries' own deltas.
        leaks: Amount,
        /// The whole delta.
        delta: Amount,
    },
    /// A budget that no query fits in.
    #[error(
        "epsilon {epsilon} at delta {delta} leaves no budget at {at}; legal: a larger epsilon or delta{hint}"
    )]
    NoBudget {
        /// The promised epsilon.
        epsilon: Amount,
        /// The promised delta.
        delta: Amount,
        /// Where, in words.
        at: String,
        /// What else would help.
        hint: &'static str,
    },
    /// The Rényi divergence cannot be had at this order.
    #[error(
        "{what} has no known Rényi divergence of order {order}; legal: an order it is listed for"
    )]
    NoDivergence {
        /// What was asked for.
        what: String,
        /// The order.
        order: f64,
    },
    /// Nothing to choose an order by.
    #[error("the expected use costs nothing; legal: at least one query that does")]
    NothingExpected,
    /// An odometer without levels, or with too many.
    #[error("{what} is {value}; legal: {legal}")]
    Levels {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: Amount,
        /// The legal range, in words.
        legal: &'static str,
    },
}
