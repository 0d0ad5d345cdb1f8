//! Replies to queries.

use serde::{Deserialize, Serialize};

/// An answer that may be published. Every number in it is finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reply {
    /// A number with noise.
    Number(f64),
    /// Numbers with noise: one for each bin, edge, share or coefficient.
    Table(Vec<f64>),
    /// The query is approximately at or above the threshold; with its noisy value if the session gives values.
    Above(Option<f64>),
    /// The query is approximately below the threshold.
    Below,
    /// The guess is approximately right.
    Pass,
    /// The guess is wrong; with the noisy value.
    Wrong(f64),
}

impl Reply {
    /// The number in the reply, if there is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) | Self::Wrong(x) | Self::Above(Some(x)) => Some(*x),
            _ => None,
        }
    }
}
