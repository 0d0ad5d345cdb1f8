//! Where rows are: engines that add up whole numbers.

mod idle;
mod postgres;
#[cfg(feature = "spark")]
mod spark;
mod sqlite;

pub use postgres::Postgres;
#[cfg(feature = "spark")]
pub use spark::Spark;
pub use sqlite::Sqlite;

use crate::config::Location;
use std::sync::Arc;
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
    /// Runs a statement, and gives up at the deadline.
    ///
    /// # Errors
    /// [`Failed`], whatever went wrong.
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, Failed>;

    /// Finds out whether the engine can be reached. No table is looked at.
    ///
    /// # Errors
    /// [`Failed`] if it cannot be until the deadline.
    fn reach(&self, _deadline: Instant) -> Result<(), Failed> {
        Ok(())
    }

    /// The columns of a table or view.
    ///
    /// # Errors
    /// [`Failed`] if there is no such table, or no connection.
    fn columns(&self, table: &str) -> Result<Vec<Found>, Failed>;

    /// How its SQL differs from others'.
    fn dialect(&self) -> Dialect;
}

/// The engine that holds what is there. The secret decides which rows are used of people who have too many.
///
/// # Errors
/// [`Failed`] if it cannot be reached, or the program was built without it.
pub fn open(location: &Location, secret: [u8; 32]) -> Result<Arc<dyn Engine>, Failed> {
    Ok(match location {
        Location::Sqlite(file) => Arc::new(Sqlite::open(file, secret)?),
        Location::Postgres(url) => Arc::new(Postgres::open(url, secret)?),
        #[cfg(feature = "spark")]
        Location::Spark(url) => Arc::new(Spark::open(url, secret)?),
        #[cfg(not(feature = "spark"))]
        Location::Spark(_) => {
            let why = "this program was built without Spark; build it with --features spark";
            return Err(Failed::new(why));
        }
    })
}

/// What a column is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A double; nothing, if it is no number.
    Number,
    /// A whole number of 64 bits; nothing, if it is none.
    Whole,
    /// A text; nothing, if it is none.
    Text,
    /// Whose a row is, as a text; nothing, if it is nobody's.
    Person,
}

impl Read {
    /// What it is, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Whole => "a whole number",
            Self::Text => "a text",
            Self::Person => "a whole number or a text",
        }
    }
}

/// A secret that is not printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// As a text of 64 letters.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// How an engine's SQL differs from others'. Everything else that is asked is written once: see [`crate::compile`].
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of a table, as it is written in a statement.
    pub table: fn(&str) -> String,
    /// The text of the parameter with this number, from 1, for such a value.
    pub parameter: fn(usize, &Value) -> String,
    /// A column, whose type the engine calls this, read as something. `None` if such a column cannot be.
    pub read: fn(&str, &str, Read) -> Option<String>,
    /// The whole part of a number that is not negative, as 64 bits.
    pub whole: fn(&str) -> String,
    /// A number as text.
    pub text: fn(&str) -> String,
    /// The lesser of two.
    pub least: &'static str,
    /// The greater of two.
    pub greatest: &'static str,
    /// The SHA-256 of a text, or something in the same order.
    pub hash: fn(&str) -> String,
    /// The type in which sums of whole numbers are exact, if the engine has one; else they are added up in two parts.
    pub exact: Option<&'static str>,
    /// The number at an index, from 1, of a text of numbers with commas between; `None` where that takes long.
    pub listed: Option<fn(&str, &str) -> String>,
    /// A table whose only column, `n`, has the whole numbers from 0 up to but not including this.
    pub series: fn(u64) -> String,
    /// What decides which rows are used of people who have too many.
    pub secret: Secret,
}
