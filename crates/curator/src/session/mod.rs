//! Sessions: interactive mechanisms that are debited in full when they are opened. Each answer is stored together with
//! the next state before it is shown.

mod memory;
mod custom;
mod steps;
pub mod table;

pub use custom::{CustomMechanism, DataScope, Step, ask_custom, open_custom};
pub use memory::{ask, close, open};
pub use steps::{LedgerAccess, SessionReceipt, StepError};
pub use table::RegisteredMechanism;
