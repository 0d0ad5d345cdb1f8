//! From a description to its privacy loss.

use crate::mechanism::Mechanism;

/// The privacy loss of a worst-case mechanism with a given description.
///
/// An (epsilon, delta) guarantee has one dominating pair, leaky randomized
/// response (MV Lemma 3.2, KOV section IV): with probability `leak` the loss is
/// infinite, otherwise it is `+epsilon` with probability `e^epsilon/(1+e^epsilon)`
/// and `-epsilon` with the rest. The pair is its own mirror image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The finite loss is plus or minus this.
    pub epsilon: f64,
    /// The probability of an infinite loss.
    pub leak: f64,
}

/// The loss of the worst mechanism that fits a description.
#[must_use]
pub fn of(mechanism: Mechanism) -> Loss {
    match mechanism {
        Mechanism::ApproxDp(guarantee) => {
            Loss { epsilon: guarantee.epsilon.get(), leak: guarantee.delta.get() }
        }
    }
}
