//! Where rows are: engines that add up whole numbers.

mod sqlite;

pub use sqlite::Sqlite;

use std::time::Instant;

/// A value that is given to a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
}

/// A statement with its values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// The text, with parameters.
    pub sql: String,
    /// What they stand for.
    pub values: Vec<Value>,
}

/// Rows of whole numbers.
pub type Rows = Vec<Vec<i128>>;

/// The engine did not answer. Why is for the operator's log alone: it may tell of the data.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the engine failed")]
pub struct Failed {
    /// Why; never shown to whoever asked.
    pub why: String,
}

impl Failed {
    pub(crate) fn new(why: impl ToString) -> Self {
        Self { why: why.to_string() }
    }
}

/// A column of a source, as the engine tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// What the source says it holds.
    pub kind: String,
}

/// An engine that holds a table.
pub trait Engine: Send + Sync {
    /// Runs statements on one snapshot of the data, and gives up at the deadline.
    ///
    /// # Errors
    /// [`Failed`], whatever went wrong.
    fn run(&self, statements: &[Statement], deadline: Instant) -> Result<Vec<Rows>, Failed>;

    /// The columns of a table or view.
    ///
    /// # Errors
    /// [`Failed`] if there is no such table, or no connection.
    fn columns(&self, table: &str) -> Result<Vec<Found>, Failed>;

    /// How its SQL differs from others'.
    fn dialect(&self) -> Dialect;
}

/// How an engine's SQL differs from others'.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The text of the parameter with this number, from 1.
    pub parameter: fn(usize) -> String,
    /// Whether a column holds a number.
    pub is_number: fn(&str) -> String,
    /// Whether a column holds a text.
    pub is_text: fn(&str) -> String,
    /// The whole part of a number that is not negative.
    pub whole: fn(&str) -> String,
    /// The lesser and the greater of two.
    pub least: &'static str,
    /// The greater of two.
    pub greatest: &'static str,
    /// A keyed hash of several columns.
    pub order: fn(&[String]) -> String,
}
