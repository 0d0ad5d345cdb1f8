//! Where a session stands: all that the next answer depends on, but for data and chance.

use crate::error::Error;
use counterpoint::{Adjacency, Relation};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a session stands: what was drawn when it began, and what is left of it. To be kept, it
/// can be written down and read back; a [`Protocol`](super::Protocol) goes on from it exactly
/// where it was left.
///
/// **It is secret**: whoever knows the noisy threshold learns more from answers than they cost.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct State {
    pub(super) relation: Relation,
    /// The fingerprint of what was declared.
    pub(super) declared: [u8; 32],
    pub(super) answered: u64,
    pub(super) left: Left,
}

/// Without what is secret: what is printed may end up in a log.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("State");
        shown.field("relation", &self.relation).field("answered", &self.answered);
        shown.finish_non_exhaustive()
    }
}

#[derive(Clone, PartialEq)]
pub(super) enum Left {
    /// Which of the declared measurements have not been paid for, in order.
    Slots(Vec<usize>),
    Gate(GateLeft),
}

/// The threshold with its noise, and how many answers above it are left.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct GateLeft {
    pub(super) threshold: i128,
    pub(super) answers: u64,
}

impl GateLeft {
    /// What is left after one more answer: one above is followed by the next threshold.
    pub(super) fn after(self, is_above: bool, next: i128) -> Left {
        let threshold = if is_above { next } else { self.threshold };
        Left::Gate(Self { threshold, answers: self.answers - u64::from(is_above) })
    }
}

impl State {
    /// Whether nothing more is answered.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        match &self.left {
            Left::Slots(slots) => slots.is_empty(),
            Left::Gate(gate) => gate.answers == 0,
        }
    }

    /// How many answers have been given.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// The relation of the data it is about.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> Vec<usize> {
        match &self.left {
            Left::Slots(slots) => slots.clone(),
            Left::Gate(_) => Vec::new(),
        }
    }

    /// The same with nothing left.
    pub(super) fn ended(&self) -> Self {
        let left = match &self.left {
            Left::Slots(_) => Left::Slots(Vec::new()),
            Left::Gate(gate) => Left::Gate(GateLeft { answers: 0, ..*gate }),
        };
        Self { left, ..*self }
    }
}

/// A state in plain words. What is left of what was declared is checked where both are at hand.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    adjacency: WrittenAdjacency,
    records: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    of_some: bool,
    declared: [u8; 32],
    answered: u64,
    left: WrittenLeft,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenAdjacency {
    AddRemove,
    Replace,
}

/// The threshold as text: not every format has whole numbers of 128 bits.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum WrittenLeft {
    Slots(Vec<usize>),
    Gate { threshold: String, answers: u64 },
}

impl From<State> for Written {
    fn from(state: State) -> Self {
        Self {
            adjacency: match state.relation.adjacency() {
                Adjacency::AddRemove => WrittenAdjacency::AddRemove,
                Adjacency::Replace => WrittenAdjacency::Replace,
            },
            records: state.relation.records(),
            of_some: state.relation.is_of_some(),
            declared: state.declared,
            answered: state.answered,
            left: match state.left {
                Left::Slots(slots) => WrittenLeft::Slots(slots),
                Left::Gate(GateLeft { threshold, answers }) => {
                    WrittenLeft::Gate { threshold: threshold.to_string(), answers }
                }
            },
        }
    }
}

impl TryFrom<Written> for State {
    type Error = Error;

    fn try_from(read: Written) -> Result<Self, Error> {
        let adjacency = match read.adjacency {
            WrittenAdjacency::AddRemove => Adjacency::AddRemove,
            WrittenAdjacency::Replace => Adjacency::Replace,
        };
        let left = match read.left {
            WrittenLeft::Slots(slots) => Left::Slots(slots),
            WrittenLeft::Gate { threshold, answers } => {
                let problem = "the threshold is no whole number";
                let threshold = threshold.parse().map_err(|_| Error::State { problem })?;
                Left::Gate(GateLeft { threshold, answers })
            }
        };
        let relation = Relation::new(adjacency, read.records)?;
        let relation = if read.of_some { relation.of_some() } else { relation };
        Ok(Self { relation, declared: read.declared, answered: read.answered, left })
    }
}
