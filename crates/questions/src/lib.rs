//! The public description of a table, and the questions that may be asked of it.
//!
//! The owner describes a [`Table`]. A [`Question`] filters, groups and aggregates its rows; it is written as JSON, as a
//! subset of SQL ([`sql`](question::sql)) or as a statistic of a study. [`Question::check`] decides from the public
//! description alone whether the question is legal and how far one person can move its answer. This crate reads no
//! data.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod checked;
mod error;
pub mod public;
pub mod question;

pub use checked::{
    CheckedAggregate, CheckedQuestion, GroupColumn, MOST_AGGREGATES, MOST_CELLS, MOST_PLACES,
    Spend, check_aggregate, noisy_query, number_column,
};
pub use error::QuestionError;
pub use public::Table;
pub use question::Question;
