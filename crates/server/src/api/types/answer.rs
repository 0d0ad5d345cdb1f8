//! Answers to questions.

use counterpoint_curator::Number;
use counterpoint_curator::public::Key;
use serde::Serialize;
use utoipa::ToSchema;

use super::balance::{BalanceView, ChargeView};
use crate::api::json::finite;

/// A key of a group: a text or a whole number.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum GroupKey {
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(String),
}

impl From<Key> for GroupKey {
    fn from(key: Key) -> Self {
        match key {
            Key::Whole(whole) => Self::Whole(whole),
            Key::Text(text) => Self::Text(text),
        }
    }
}

/// One number of an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct NumberView {
    /// The group's keys, in the order of the grouping columns.
    group: Vec<GroupKey>,
    /// The name of the aggregate.
    name: String,
    /// The bin of a histogram: its lower end, and its upper end, which is excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Vec<f64>>,
    /// The share of the rows below, for a quantile.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// The edge, for a count of the rows below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<f64>,
    /// The name of the coefficient, for a regression.
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficient: Option<String>,
    /// The number, with noise.
    #[serde(serialize_with = "finite")]
    value: f64,
    /// The largest distance to the number without noise, at the confidence; null if it is not known.
    half_width: Option<f64>,
    /// The confidence interval for the number without noise.
    interval: Option<Vec<f64>>,
    /// The probability with which the half-width and the interval hold, for each number on its own.
    confidence: f64,
}

impl From<Number> for NumberView {
    fn from(number: Number) -> Self {
        let two = |(one, other): (f64, f64)| vec![one, other];
        Self {
            group: number.group.into_iter().map(GroupKey::from).collect(),
            name: number.name,
            bin: number.bin.map(two),
            share: number.share,
            edge: number.edge,
            coefficient: number.coefficient,
            value: number.value,
            half_width: number.half_width,
            interval: number.interval.map(two),
            confidence: number.confidence,
        }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AnswerResponse {
    /// One number for each group and aggregate, bin or share.
    pub(crate) answers: Vec<NumberView>,
    /// The charge of this call: zero for a repeated question.
    pub(crate) cost: ChargeView,
    /// The remaining budget.
    pub(crate) left: BalanceView,
    /// The ledger's entry, if this call made one.
    pub(crate) entry: Option<u64>,
    /// True if the answer had been stored before.
    pub(crate) repeated: bool,
    /// True if the answer was computed from made-up rows.
    pub(crate) dummy: bool,
}
