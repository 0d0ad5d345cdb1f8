//! The named theorems: their bounds on compositions, where they were proved and in which setting they hold.
//!
//! Bounds are rounded up: the theorem that a function names certifies its result.

pub mod convert;
pub mod eta;
pub mod lattice;
mod sums;
mod compare;
mod exactly;

pub use crate::citation::{ParameterChoice, Setting, Theorem};
pub use compare::{Bound, Comparison};

use crate::ask::AskError;
use crate::composition::Plan;
use crate::quantity::{Delta, Epsilon};
use crate::watch::Watch;

impl Theorem {
    /// The epsilon that the theorem certifies at a delta, rounded up: a formula in the mechanisms' own (epsilon, delta)
    /// guarantees, or the sum of their Rényi curves.
    ///
    /// # Errors
    /// [`InapplicableError`] if the theorem gives no bound at this delta, and for [`Theorem::Optimal`], which is no formula:
    /// use [`Plan::epsilon`].
    pub fn epsilon(self, plan: &Plan, delta: Delta) -> Result<f64, InapplicableError> {
        compare::TheoremInputs::new(plan).epsilon(self, delta)
    }

    /// The delta that the theorem certifies at an epsilon, rounded up.
    ///
    /// # Errors
    /// [`InapplicableError`] if the theorem gives no bound at this epsilon, and for [`Theorem::Optimal`], which is no
    /// formula: use [`Plan::delta`].
    pub fn delta(self, plan: &Plan, epsilon: Epsilon) -> Result<f64, InapplicableError> {
        compare::TheoremInputs::new(plan).delta(self, epsilon)
    }
}

impl Bound {
    /// Computes the bound of Murtagh and Vadhan's approximation algorithm, with an error of eta.
    ///
    /// # Errors
    /// [`AskError::Stopped`] if the callback stops the work.
    pub fn approximation(
        plan: &Plan,
        delta: Delta,
        eta: eta::Eta,
        watch: Watch<'_>,
    ) -> Result<Self, AskError> {
        let value = match eta::epsilon(plan, delta, eta, watch) {
            Err(AskError::Stopped) => return Err(AskError::Stopped),
            Err(AskError::ToleranceNotMet { .. }) => {
                Err("the algorithm's table would be too large; legal: a larger eta".into())
            }
            Err(AskError::RouteDoesNotApply { .. }) => {
                Err("the theorem applies to (epsilon, delta) guarantees only".into())
            }
            found => found.map_err(|error| InapplicableError::because(error.to_string())),
        };
        Ok(Self { theorem: Theorem::Approximation, value })
    }
}

/// The reason why a theorem certifies no bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct InapplicableError {
    /// The reason in words.
    pub reason: String,
}

impl From<&str> for InapplicableError {
    fn from(reason: &str) -> Self {
        Self::because(reason)
    }
}

impl InapplicableError {
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
