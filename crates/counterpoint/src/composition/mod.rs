//! What questions are put to: the losses of all releases together, as plain data. Counts are
//! applied here and nowhere else.

mod guarantees;
pub(crate) mod leak;
mod plan;

pub use guarantees::{Composition, CompositionError, Factor, Leak};
pub(crate) use plan::{Part, View};
pub use plan::{Plan, PlanError};
