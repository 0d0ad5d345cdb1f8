//! The named theorems: what each says a composition costs, where it was proved and in
//! which setting it holds.
//!
//! Values are rounded up: what a function returns is certified by the theorem it names.

pub mod convert;
pub mod eta;
pub mod lattice;
mod sums;
mod compare;
mod exactly;

pub use crate::source::{Parameters, Setting, Theorem};
pub use compare::{Bound, Comparison};

use crate::ask::AskError;
use crate::composition::Plan;
use crate::quantity::{Delta, Epsilon};
use crate::watch::Watch;

impl Theorem {
    /// The epsilon it certifies at a delta, rounded up: a formula on the mechanisms' own
    /// (epsilon, delta) labels, or the sum of their Rényi curves.
    ///
    /// # Errors
    /// [`Inapplicable`] where the theorem says nothing at this delta, and for the
    /// [`Theorem::Optimal`], which is no formula: ask [`Plan::epsilon`].
    pub fn epsilon(self, plan: &Plan, delta: Delta) -> Result<f64, Inapplicable> {
        compare::Others::new(plan).epsilon(self, delta)
    }

    /// The delta it certifies at an epsilon, rounded up.
    ///
    /// # Errors
    /// [`Inapplicable`] where the theorem says nothing at this epsilon, and for the
    /// [`Theorem::Optimal`], which is no formula: ask [`Plan::delta`].
    pub fn delta(self, plan: &Plan, epsilon: Epsilon) -> Result<f64, Inapplicable> {
        compare::Others::new(plan).delta(self, epsilon)
    }
}

impl Bound {
    /// What Murtagh and Vadhan's approximation algorithm charges, at an eta.
    ///
    /// # Errors
    /// [`AskError::Stopped`] if the watcher stops the work.
    pub fn within(
        plan: &Plan,
        delta: Delta,
        eta: eta::Eta,
        watch: Watch<'_>,
    ) -> Result<Self, AskError> {
        let value = match eta::epsilon(plan, delta, eta, watch) {
            Err(AskError::Stopped) => return Err(AskError::Stopped),
            Err(AskError::ToleranceNotMet { .. }) => {
                Err("its table would be too large; legal: a larger eta".into())
            }
            Err(AskError::RouteDoesNotApply { .. }) => {
                Err("it is for (epsilon, delta) guarantees alone".into())
            }
            found => found.map_err(|error| Inapplicable::because(error.to_string())),
        };
        Ok(Self { theorem: Theorem::Approximation, value })
    }
}

/// Why a theorem certifies nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Inapplicable {
    /// In words.
    pub reason: String,
}

impl From<&str> for Inapplicable {
    fn from(reason: &str) -> Self {
        Self::because(reason)
    }
}

impl Inapplicable {
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
