//! Inert descriptions of what was released. A description is data: it says what
//! a mechanism promises, and is interpreted by [`crate::loss`].

use crate::quantity::{Delta, Epsilon, OutOfRange};

/// An (epsilon, delta) differential-privacy guarantee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarantee {
    /// The multiplicative part.
    pub epsilon: Epsilon,
    /// The additive part.
    pub delta: Delta,
}

impl Guarantee {
    /// Checks both parts.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the part that is not legal.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, OutOfRange> {
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }

    /// A guarantee without a delta.
    ///
    /// # Errors
    /// [`OutOfRange`] if epsilon is not legal.
    pub fn pure(epsilon: f64) -> Result<Self, OutOfRange> {
        Self::new(epsilon, 0.0)
    }
}

/// A mechanism, as far as accounting needs to know it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mechanism {
    /// Any mechanism with this guarantee and nothing else known about it.
    ApproxDp(Guarantee),
}

impl From<Guarantee> for Mechanism {
    fn from(guarantee: Guarantee) -> Self {
        Self::ApproxDp(guarantee)
    }
}
