//! What a ledger writes down: events, releases with exact amounts, and the objects that tell
//! people and programs about them.

mod described;
mod event;
mod record;

pub use described::{Described, ExactPlan};
pub use event::{Asked, Event, NotCanonical, Quota, Rule};
pub use record::{Cost, FilterRecord, PlanRecord, Slot};
