//! SQL engines. Each implements a small trait and describes its dialect; `compile` writes the statements for all of
//! them.

mod compile;
mod dialect;
mod idle;
mod postgres;
#[cfg(feature = "spark")]
mod spark;
mod sqlite;
mod view;

pub use compile::{BatchStatement, PersonRows};
pub(super) use compile::{Origin, compile_batch};
pub use dialect::{Dialect, ReadType};
pub use postgres::Postgres;
#[cfg(feature = "spark")]
pub use spark::Spark;
pub use sqlite::Sqlite;
pub(super) use view::{made_up_rows, normal_rows};

use super::error::{EngineError, SourceColumn};
use super::location::Location;
use std::sync::Arc;
use std::time::Instant;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
    /// Increasing numbers.
    Reals(Vec<f64>),
    /// Distinct whole numbers.
    Wholes(Vec<i64>),
    /// Distinct texts.
    Texts(Vec<String>),
}

/// A statement with the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// The text, with parameters.
    pub sql: String,
    /// The parameters' values, in order.
    pub values: Vec<SqlValue>,
}

/// Rows of whole numbers.
pub type Rows = Vec<Vec<i128>>;

/// An SQL engine that holds a table.
pub trait Engine: Send + Sync {
    /// Runs a statement. Gives up at the deadline.
    ///
    /// # Errors
    /// [`EngineError`], whatever failed.
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError>;

    /// Checks that the engine can be reached. Reads no table.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot be reached before the deadline.
    fn check_reachable(&self, _deadline: Instant) -> Result<(), EngineError> {
        Ok(())
    }

    /// The columns of a table or view.
    ///
    /// # Errors
    /// [`EngineError`] if the table does not exist or there is no connection.
    fn columns(&self, table: &str) -> Result<Vec<SourceColumn>, EngineError>;

    /// The engine's dialect.
    fn dialect(&self) -> Dialect;

    /// An SQL condition that is true for every row as long as the engine enforces that the values in these columns are
    /// unique. Once the engine no longer does, the condition makes a statement fail. It does not depend on the rows.
    /// `None` if uniqueness is not enforced.
    ///
    /// # Errors
    /// [`EngineError`] if there is no connection.
    fn unique_condition(
        &self,
        _table: &str,
        _columns: &[&str],
    ) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// The catalogue's information about a table, and about the collation of the person column.
    ///
    /// # Errors
    /// [`EngineError`] if there is no connection.
    fn catalogue_info(
        &self,
        _table: &str,
        _person: Option<&str>,
    ) -> Result<CatalogueInfo, EngineError> {
        Ok(CatalogueInfo::default())
    }

    /// Plans a statement without running it.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot run the statement.
    fn plan(&self, _statement: &Statement) -> Result<(), EngineError> {
        Ok(())
    }
}

/// A catalogue's information about a table, for its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueInfo {
    /// The approximate number of rows.
    pub rows: Option<u64>,
    /// Facts that the table's owner should know.
    pub warnings: Vec<String>,
}

impl CatalogueInfo {
    /// The warning for a view: its owner must ensure this.
    pub(crate) const VIEW: &'static str = "it is a view: whatever a row holds, its expressions must not fail (casts, divisions, JSON), and a row must depend on one person";

    pub(crate) fn collated(column: &str, collation: &str) -> String {
        format!(
            "column {column:?} has the collation {collation}: people are compared by bytes here, so that those it calls equal are different people"
        )
    }
}

/// Opens the engine at a location.
///
/// # Errors
/// [`EngineError`] if the engine cannot be reached, or the program was built without it.
pub fn open(location: &Location) -> Result<Arc<dyn Engine>, EngineError> {
    Ok(match location {
        Location::Sqlite(file) => Arc::new(Sqlite::open(file)?),
        Location::Postgres(url) => Arc::new(Postgres::open(url)?),
        Location::File(file) => {
            return Err(EngineError::new(format!(
                "{} is a file, not a table in an SQL engine",
                file.display()
            )));
        }
        #[cfg(feature = "spark")]
        Location::Spark(url) => Arc::new(Spark::open(url)?),
        #[cfg(not(feature = "spark"))]
        Location::Spark(_) => {
            let why = "this program was built without Spark; build it with --features spark";
            return Err(EngineError::new(why));
        }
    })
}
