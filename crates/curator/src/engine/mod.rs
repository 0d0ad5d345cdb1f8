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
use sha2::{Digest, Sha256};
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
    /// Numbers, increasing.
    Reals(Vec<f64>),
    /// Different whole numbers.
    Wholes(Vec<i64>),
    /// Different texts.
    Texts(Vec<String>),
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

    /// A condition that holds of every row as long as the engine sees to it that no two rows of a table have the same values
    /// in these columns, and that makes a statement fail afterwards. It does not depend on the rows. `None` if the engine does not.
    ///
    /// # Errors
    /// [`Failed`] if there is no connection.
    fn unique(&self, _table: &str, _columns: &[&str]) -> Result<Option<String>, Failed> {
        Ok(None)
    }

    /// What its catalogue says about a table, and about how the column of people is compared.
    ///
    /// # Errors
    /// [`Failed`] if there is no connection.
    fn about(&self, _table: &str, _person: Option<&str>) -> Result<About, Failed> {
        Ok(About::default())
    }

    /// Plans a statement without running it.
    ///
    /// # Errors
    /// [`Failed`] if it could not be run.
    fn plan(&self, _statement: &Statement) -> Result<(), Failed> {
        Ok(())
    }
}

/// What a catalogue says about a table, for its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// About how many rows it has.
    pub rows: Option<u64>,
    /// What its owner should know.
    pub warnings: Vec<String>,
}

impl About {
    /// What the owner of a view promises.
    pub(crate) const VIEW: &'static str = "it is a view: whatever a row holds, its expressions must not fail (casts, divisions, JSON), and a row must depend on one person";

    pub(crate) fn collated(column: &str, collation: &str) -> String {
        format!(
            "column {column:?} has the collation {collation}: people are compared by bytes here, so that those it calls equal are different people"
        )
    }
}

/// The engine that holds what is there. The secret decides which rows are used of people who have too many.
///
/// # Errors
/// [`Failed`] if it cannot be reached, or the program was built without it.
pub fn open(location: &Location, secret: [u8; 32]) -> Result<Arc<dyn Engine>, Failed> {
    Ok(match location {
        Location::Sqlite(file) => Arc::new(Sqlite::open(file, secret)?),
        Location::Postgres(url) => Arc::new(Postgres::open(url, secret)?),
        Location::File(file) => {
            return Err(Failed::new(format!("{} is in no SQL engine", file.display())));
        }
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
    /// Whose a row is, in a form that is compared by its bytes; nothing, if it is nobody's.
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
    /// The key of hashes.
    pub(crate) fn key(&self) -> i64 {
        let digest = Sha256::digest(self.0);
        digest.iter().take(8).fold(0, |key, byte| (key << 8) | i64::from(*byte))
    }
}

/// How an engine's SQL differs from others'. Everything else that is asked is written once, in `compile`.
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
    /// The lesser of two.
    pub least: &'static str,
    /// The greater of two.
    pub greatest: &'static str,
    /// A hash of 64 bits, under a key, of whole numbers and a person. Which it is is the engine's own affair: it decides which
    /// of a person's rows are used, by that person's rows alone.
    pub hash: fn(&str, &[&str], &str) -> String,
    /// The exact sum of whole numbers of 64 bits, if the engine has one; else they are added up in two parts.
    pub summed: Option<fn(&str) -> String>,
    /// How many of a list of increasing numbers are at most a number, which is none of NULL and NaN.
    pub at_most: fn(&str, &str) -> String,
    /// The place of a value in a list, from 1; 0 or NULL if it is not there.
    pub position: fn(&str, &str) -> String,
    /// The number at an index, from 1, of a list, where that is quicker.
    pub listed: Option<fn(&str, &str) -> String>,
    /// A table whose only column, `n`, has the whole numbers from 0 up to but not including this.
    pub series: fn(u64) -> String,
    /// What decides which rows are used of people who have too many.
    pub secret: Secret,
}
