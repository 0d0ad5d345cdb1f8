//! What is public about a table, and what may be asked of it.
//!
//! A [`Table`] is described by its owner. A [`Question`] filters, groups and aggregates; it is written as JSON,
//! as a subset of SQL ([`sql`](question::sql)) or as a statistic of a study. [`Question::check`] says whether it is legal and
//! how far one person can move its answer, by what is public alone: no data are looked at here.

mod checked;
mod illegal;
pub mod public;
pub mod question;

pub use checked::{
    Checked, Grouping, MOST_AGGREGATES, MOST_CELLS, MOST_PLACES, Part, Spend, number, part, recipe,
};
pub use illegal::Illegal;
pub use public::Table;
pub use question::Question;
