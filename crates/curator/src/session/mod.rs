//! Mechanisms that are held open: debited in full when they are opened, each answer stored with the state after it before it is
//! shown.

mod memory;
mod own;
mod steps;
pub mod table;

pub use memory::{ask, close, open};
pub use own::{About, Own, Step, ask_own, open_own};
pub use steps::{Opened, Reach, Unfinished};
pub use table::Registered;
