//! Mechanisms that answer several queries. The *declaration* ([`InteractiveMechanism`]) states the kind of queries and
//! their number. Under the data's relation it becomes a [`Protocol`], which knows the total cost. A protocol answers
//! step by step: each answer is a function of the data, the previous [`State`] and randomness, and comes with the next
//! state. Nothing is changed in place, so that a state can be stored wherever answers are stored.
//!
//! A [`Session`] holds the state in memory, for any number of threads; [`ConcurrentSessions`] hold many sessions about
//! the same people.

mod concurrent;
mod fingerprint;
mod threshold;
mod protocol;
mod sequence;
mod session;
mod state;
#[cfg(test)]
mod tests;

pub use concurrent::ConcurrentSessions;
pub use protocol::{Protocol, RawAggregate, RequiredAggregate};
pub use sequence::Sequence;
pub use session::Session;
pub use state::State;
pub use threshold::{GuessAndCheck, SparseVector};

use crate::query::{NoisyQuery, Query};
use serde::{Deserialize, Serialize};

/// The declaration of an interactive mechanism: the kind of queries and their number, fixed in advance. A declaration
/// states no neighbouring relation: the relation belongs to the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InteractiveMechanism {
    /// Measurements chosen adaptively, at prices declared in advance.
    Sequence(Sequence),
    /// Reports for each query whether it is approximately above a threshold.
    SparseVector(SparseVector),
    /// Reports for each guess whether it is approximately right, and corrects wrong guesses.
    GuessAndCheck(GuessAndCheck),
}

/// A query to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SessionQuery {
    /// To a [`Sequence`]: run this query.
    Measure(NoisyQuery),
    /// To a [`SparseVector`]: is this query above the threshold?
    Above(Query),
    /// To a [`GuessAndCheck`]: is this query's answer near the guess?
    Check(Query, f64),
}

macro_rules! declarations {
    ($($name:ident),*) => {$(
        impl From<$name> for InteractiveMechanism {
            fn from(declared: $name) -> Self {
                Self::$name(declared)
            }
        }
    )*};
}

declarations!(Sequence, SparseVector, GuessAndCheck);
