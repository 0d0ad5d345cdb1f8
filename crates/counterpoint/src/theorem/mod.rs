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
pub use compare::{Bound, Comparison, compare, compare_delta};

use crate::composition::Composition;
use crate::quantity::{Delta, Epsilon};

impl Theorem {
    /// The epsilon a formula certifies at a delta, rounded up.
    ///
    /// # Errors
    /// [`Inapplicable`] where the theorem says nothing at this delta, and for
    /// [`Theorem::Optimal`], which is no formula: ask [`crate::epsilon()`].
    pub fn epsilon(self, composition: &Composition, delta: Delta) -> Result<f64, Inapplicable> {
        sums::epsilon(self, composition, delta.get())
    }

    /// The delta a formula certifies at an epsilon, rounded up.
    ///
    /// # Errors
    /// [`Inapplicable`] where the theorem says nothing at this epsilon, and for
    /// [`Theorem::Optimal`], which is no formula: ask [`crate::delta()`].
    pub fn delta(self, composition: &Composition, epsilon: Epsilon) -> Result<f64, Inapplicable> {
        sums::delta(self, composition, epsilon.get())
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
