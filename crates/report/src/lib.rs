//! Answers as tables, for people.
//!
//! Upper bounds are shown rounded up and lower bounds rounded down, so that what
//! is on the page still holds.

mod calibrate;
mod columns;
mod compare;
mod compose;
pub mod ledger;
mod words;

pub use calibrate::calibrate;
pub use compare::compare;
pub use compose::compose;
