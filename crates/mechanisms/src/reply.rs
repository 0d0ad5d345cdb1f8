//! What comes back.

use serde::{Deserialize, Serialize};

/// An answer that may be published. Every number in it is finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reply {
    /// A number with noise.
    Number(f64),
    /// A number with noise for each bin or edge, or one for each share.
    Table(Vec<f64>),
    /// The query is about at the threshold or above; with its value, if that was declared.
    Above(Option<f64>),
    /// The query is about below the threshold.
    Below,
    /// The guess is about right.
    Pass,
    /// The guess is wrong, and the value is about this.
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
