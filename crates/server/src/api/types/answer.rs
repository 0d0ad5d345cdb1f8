//! Answers to questions.

use counterpoint_curator::Number;
use counterpoint_curator::public::Key;
use serde::Serialize;
use utoipa::ToSchema;

use super::balance::{Charge, Remaining};
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
pub(crate) struct One {
    /// The group's keys, in the order of the columns grouped by.
    group: Vec<GroupKey>,
    /// Which aggregate it is of.
    name: String,
    /// The bin that it counts, from the first up to but not including the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Vec<f64>>,
    /// The share that it is the quantile of.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// The edge that it counts the rows below of.
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<f64>,
    /// The coefficient of a regression that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficient: Option<String>,
    /// The number, with noise.
    #[serde(serialize_with = "finite")]
    value: f64,
    /// The number without noise is no further from it, with the confidence; null if nothing is known.
    half_width: Option<f64>,
    /// Within these.
    interval: Option<Vec<f64>>,
    /// With so much probability, for each number on its own.
    confidence: f64,
}

impl From<Number> for One {
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

/// An answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Answered {
    /// One for each group and aggregate, bin or share.
    pub(crate) answers: Vec<One>,
    /// What this call debited: nothing if it had been asked before.
    pub(crate) cost: Charge,
    /// What is left.
    pub(crate) left: Remaining,
    /// The ledger's entry, if this call made one.
    pub(crate) entry: Option<u64>,
    /// Whether the answer had been stored before.
    pub(crate) repeated: bool,
    /// Whether it is of made-up rows.
    pub(crate) dummy: bool,
}
