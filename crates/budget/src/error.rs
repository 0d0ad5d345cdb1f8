//! Errors of accounts: exceeded budgets, and queries that an account cannot charge.

use crate::amount::Amount;
use crate::currency::Currency;
use counterpoint::loss::LossError;
use counterpoint::quantity::OutOfRangeError;

/// The error if a charge would exceed an account's capacity.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("refused: {asked} of {what} is asked for and {left} is left of {capacity}")]
pub struct CapacityError {
    /// The total that would be exceeded, in words.
    pub what: &'static str,
    /// The charge of the query.
    pub asked: Amount,
    /// The amount that is left.
    pub left: Amount,
    /// The capacity of the account.
    pub capacity: Amount,
}

/// Reasons why a filter cannot be made, or a query cannot be charged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A number is outside its range.
    #[error(transparent)]
    Range(#[from] OutOfRangeError),
    /// The query has no meaning under the account's terms.
    #[error(transparent)]
    Loss(#[from] LossError),
    /// This kind of account cannot charge the description.
    #[error("{what} has no {needs}; legal in a {currency} account: {legal}")]
    NoCharge {
        /// The query, in words.
        what: String,
        /// The property that the query lacks.
        needs: &'static str,
        /// The account's currency.
        currency: Currency,
        /// The mechanisms that are accepted, in words.
        legal: &'static str,
    },
    /// No account can charge the description.
    #[error("{what} is not charged to accounts, only composed in plans; legal: {legal}")]
    PlansOnly {
        /// The query, in words.
        what: String,
        /// The mechanisms that may be charged instead, in words.
        legal: &'static str,
    },
    /// No theorem covers the query if interactive mechanisms interleave.
    #[error(
        "zcdp has delta {delta}, and no theorem covers such a query in a concurrent account; legal: delta 0, or a sequential account"
    )]
    NotConcurrent {
        /// The query's delta.
        delta: Amount,
    },
    /// The account is about one part of the data, and the query about another part or about all of the data.
    #[error(
        "the account is about part {account:?} of the data and the query about {}; legal: partition {account:?}",
        .asked.as_ref().map_or_else(|| "all of it".to_owned(), |part| format!("part {part:?}"))
    )]
    OtherPart {
        /// The account's part.
        account: String,
        /// The part that the query is about; all of the data if `None`.
        asked: Option<String>,
    },
    /// A share of delta that is not below delta.
    #[error("leaks is {leaks}; legal: from 0 up to but not including delta, {delta}")]
    Leaks {
        /// The share for the queries' own deltas.
        leaks: Amount,
        /// The whole delta.
        delta: Amount,
    },
    /// The promise leaves a budget of zero for queries.
    #[error(
        "epsilon {epsilon} at delta {delta} leaves no budget at {at}; legal: a larger epsilon or delta{hint}"
    )]
    NoBudget {
        /// The promised epsilon.
        epsilon: Amount,
        /// The promised delta.
        delta: Amount,
        /// The order, mu or levels that were tried, in words.
        at: String,
        /// Further advice, or an empty text.
        hint: &'static str,
    },
    /// The query has no known Rényi divergence at this order.
    #[error(
        "{what} has no known Rényi divergence of order {order}; legal: an order that its curve lists"
    )]
    NoDivergence {
        /// The query, in words.
        what: String,
        /// The order.
        order: f64,
    },
    /// The expected queries cost nothing, so no order can be chosen.
    #[error("the expected queries cost nothing; legal: at least one query with a positive cost")]
    NothingExpected,
    /// A number that describes an odometer's levels is not legal.
    #[error("{what} is {value}; legal: {legal}")]
    Levels {
        /// The name of the number.
        what: &'static str,
        /// The number's value.
        value: Amount,
        /// The legal range, in words.
        legal: &'static str,
    },
}
