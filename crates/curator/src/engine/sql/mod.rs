//! Engines that are asked in SQL: each is one small trait and a dialect; what is asked of them is written once, in `compile`.

mod compile;
mod dialect;
mod idle;
mod postgres;
#[cfg(feature = "spark")]
mod spark;
mod sqlite;
mod view;

pub use compile::{Compiled, PersonRows};
pub(super) use compile::{Origin, compile};
pub use dialect::{Dialect, Read};
pub use postgres::Postgres;
#[cfg(feature = "spark")]
pub use spark::Spark;
pub use sqlite::Sqlite;
pub(super) use view::{made_up, normal};

use super::failed::{Failed, Found};
use super::location::Location;
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

/// The engine that holds what is there.
///
/// # Errors
/// [`Failed`] if it cannot be reached, or the program was built without it.
pub fn open(location: &Location) -> Result<Arc<dyn Engine>, Failed> {
    Ok(match location {
        Location::Sqlite(file) => Arc::new(Sqlite::open(file)?),
        Location::Postgres(url) => Arc::new(Postgres::open(url)?),
        Location::File(file) => {
            return Err(Failed::new(format!("{} is in no SQL engine", file.display())));
        }
        #[cfg(feature = "spark")]
        Location::Spark(url) => Arc::new(Spark::open(url)?),
        #[cfg(not(feature = "spark"))]
        Location::Spark(_) => {
            let why = "this program was built without Spark; build it with --features spark";
            return Err(Failed::new(why));
        }
    })
}
