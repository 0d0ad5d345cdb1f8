use super::{Answer, AskError, Options};
use crate::composition::Composition;
use crate::quantity::{Delta, Epsilon};
use crate::theorem::Theorem;

/// What one theorem charges.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The theorem.
    pub theorem: Theorem,
    /// The epsilon (or delta) it certifies, rounded up, or why it certifies none.
    pub value: Result<f64, String>,
}

/// The optimum beside what the named theorems charge.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The certified optimum.
    pub optimal: Answer,
    /// The named theorems, in the order basic, advanced, strong, KOV closed form.
    pub others: Vec<Bound>,
}

/// Epsilon at a delta: the optimum and the named theorems.
///
/// # Errors
/// See [`AskError`].
pub fn compare(
    _composition: &Composition,
    _delta: Delta,
    _options: &Options<'_>,
) -> Result<Comparison, AskError> {
    Err(AskError::Stopped)
}

/// Delta at an epsilon: the optimum and the named theorems.
///
/// # Errors
/// See [`AskError`].
pub fn compare_delta(
    _composition: &Composition,
    _epsilon: Epsilon,
    _options: &Options<'_>,
) -> Result<Comparison, AskError> {
    Err(AskError::Stopped)
}
