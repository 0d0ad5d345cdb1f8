//! Certified composition for differential privacy.
//!
//! Read the modules in order; data flows one way through them: a description
//! becomes a loss, losses a composition, a composition answers questions.

pub mod ask;
pub mod bracket;
pub mod composition;
mod leak;
pub mod loss;
pub mod mechanism;
pub mod quantity;
pub mod rounding;
pub mod route;
pub mod theorem;
pub mod watch;

pub use ask::{Answer, AskError, Options, compare, delta, epsilon};
pub use bracket::Bracket;
pub use composition::Composition;
pub use mechanism::{Guarantee, Mechanism};
pub use quantity::{Count, Delta, Epsilon, OutOfRange, Sensitivity, Tolerance};
