//! The named theorems: what each says a composition costs, where it was proved and in
//! which setting it holds.
//!
//! Values are rounded up: what a function returns is certified by the theorem it names.

pub mod convert;
pub mod eta;
pub mod lattice;
pub mod noise;
mod sums;
mod compare;

pub use crate::source::{Parameters, Setting, Theorem};
pub use compare::{Bound, Comparison};

use crate::composition::Plan;
use crate::quantity::{Delta, Epsilon};

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
