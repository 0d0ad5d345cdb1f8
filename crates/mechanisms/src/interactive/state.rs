//! The state of a session: everything that the next answer depends on, except the data and randomness.

use crate::error::Error;
use counterpoint::{Adjacency, Relation};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The state of a session: the noise that was drawn at its start, and its progress. It can be serialized and stored; a
/// [`Protocol`](super::Protocol) continues from it exactly.
///
/// **It is secret**: with the noisy threshold, answers reveal more than they cost.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "StateRecord", try_from = "StateRecord")]
pub struct State {
    pub(super) relation: Relation,
    /// The fingerprint of the declaration.
    pub(super) declared: [u8; 32],
    pub(super) answered: u64,
    pub(super) progress: Progress,
}

/// Omits secrets, since output may end up in a log.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("State");
        shown.field("relation", &self.relation).field("answered", &self.answered);
        shown.finish_non_exhaustive()
    }
}

#[derive(Clone, PartialEq)]
pub(super) enum Progress {
    /// The indices of the declared measurements that have not been used, in increasing order.
    Slots(Vec<usize>),
    Threshold(ThresholdState),
}

/// The noisy threshold, and the remaining number of answers above it.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct ThresholdState {
    pub(super) threshold: i128,
    pub(super) answers: u64,
}

impl ThresholdState {
    /// The progress after one more answer: after an answer above, the next threshold is used.
    pub(super) fn after(self, is_above: bool, next: i128) -> Progress {
        let threshold = if is_above { next } else { self.threshold };
        Progress::Threshold(Self { threshold, answers: self.answers - u64::from(is_above) })
    }
}

impl State {
    /// True if nothing more is answered.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        match &self.progress {
            Progress::Slots(slots) => slots.is_empty(),
            Progress::Threshold(threshold) => threshold.answers == 0,
        }
    }

    /// The number of answers given.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// The neighbouring relation of the data.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> Vec<usize> {
        match &self.progress {
            Progress::Slots(slots) => slots.clone(),
            Progress::Threshold(_) => Vec::new(),
        }
    }

    /// The same state with nothing left to answer.
    pub(super) fn ended(&self) -> Self {
        let progress = match &self.progress {
            Progress::Slots(_) => Progress::Slots(Vec::new()),
            Progress::Threshold(threshold) => {
                Progress::Threshold(ThresholdState { answers: 0, ..*threshold })
            }
        };
        Self { progress, ..*self }
    }
}

/// A state as serialized. Its progress is checked against the declaration where both are available.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRecord {
    adjacency: AdjacencyRecord,
    records: u64,
    #[serde(rename = "of_some", default, skip_serializing_if = "std::ops::Not::not")]
    filtered: bool,
    declared: [u8; 32],
    answered: u64,
    left: ProgressRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AdjacencyRecord {
    AddRemove,
    Replace,
}

/// The threshold is a text, since some formats have no whole numbers of 128 bits.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum ProgressRecord {
    Slots(Vec<usize>),
    #[serde(rename = "gate")]
    Threshold {
        threshold: String,
        answers: u64,
    },
}

impl From<State> for StateRecord {
    fn from(state: State) -> Self {
        Self {
            adjacency: match state.relation.adjacency() {
                Adjacency::AddRemove => AdjacencyRecord::AddRemove,
                Adjacency::Replace => AdjacencyRecord::Replace,
            },
            records: state.relation.records(),
            filtered: state.relation.is_filtered(),
            declared: state.declared,
            answered: state.answered,
            left: match state.progress {
                Progress::Slots(slots) => ProgressRecord::Slots(slots),
                Progress::Threshold(ThresholdState { threshold, answers }) => {
                    ProgressRecord::Threshold { threshold: threshold.to_string(), answers }
                }
            },
        }
    }
}

impl TryFrom<StateRecord> for State {
    type Error = Error;

    fn try_from(read: StateRecord) -> Result<Self, Error> {
        let adjacency = match read.adjacency {
            AdjacencyRecord::AddRemove => Adjacency::AddRemove,
            AdjacencyRecord::Replace => Adjacency::Replace,
        };
        let progress = match read.left {
            ProgressRecord::Slots(slots) => Progress::Slots(slots),
            ProgressRecord::Threshold { threshold, answers } => {
                let problem = "its threshold is not a whole number";
                let threshold = threshold.parse().map_err(|_| Error::State { problem })?;
                Progress::Threshold(ThresholdState { threshold, answers })
            }
        };
        let relation = Relation::new(adjacency, read.records)?;
        let relation = if read.filtered { relation.filtered() } else { relation };
        Ok(Self { relation, declared: read.declared, answered: read.answered, progress })
    }
}
