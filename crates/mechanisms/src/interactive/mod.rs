//! Mechanisms that are held open. What is *declared* ([`Interactive`]) says what will be asked
//! and how much of it; under the data's relation it becomes a [`Protocol`], which knows what all
//! of it costs. A protocol is asked step by step: each answer is a function of the data, of the
//! [`State`] before it and of chance, and comes with the state after it. Nothing is changed in
//! place, so that a state can be kept wherever answers are kept.
//!
//! A [`Session`] holds the state in memory, for any number of threads; [`Concurrent`] holds many
//! of them about the same people.

mod concurrent;
mod fingerprint;
mod gate;
mod protocol;
mod sequence;
mod session;
mod state;
#[cfg(test)]
mod tests;

pub use concurrent::Concurrent;
pub use gate::{GuessAndCheck, SparseVector};
pub use protocol::{Found, Needed, Protocol};
pub use sequence::Sequence;
pub use session::Session;
pub use state::State;

use crate::query::{Query, Recipe};
use serde::{Deserialize, Serialize};

/// A declaration: what will be asked, and how much of it, before anything is. It states no
/// neighbouring relation: that is the data's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Interactive {
    /// Measurements chosen as one goes, at prices declared up front.
    Sequence(Sequence),
    /// Which queries are above a threshold.
    SparseVector(SparseVector),
    /// Which guesses are wrong, and what would be right.
    GuessAndCheck(GuessAndCheck),
}

/// What may be asked of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Question {
    /// To a [`Sequence`]: run this.
    Measure(Recipe),
    /// To a [`SparseVector`]: is this above the threshold?
    Above(Query),
    /// To a [`GuessAndCheck`]: is this about right?
    Check(Query, f64),
}

macro_rules! declarations {
    ($($name:ident),*) => {$(
        impl From<$name> for Interactive {
            fn from(declared: $name) -> Self {
                Self::$name(declared)
            }
        }
    )*};
}

declarations!(Sequence, SparseVector, GuessAndCheck);
