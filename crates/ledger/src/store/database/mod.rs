//! The databases: SQLite and PostgreSQL behind the trait [`Database`]. All statements are in `tables`, in SQL that both
//! databases understand; the differences between the two are here.

mod compare;
mod copy;
mod postgres;
mod schema;
mod sqlite;

use std::str::FromStr;

pub use self::postgres::{Postgres, Target, outside_runtime};
pub use self::sqlite::Sqlite;
pub use crate::rules::error::{DatabaseError, Result};
pub(crate) use compare::difference;
pub(crate) use schema::{added, schema};
pub(crate) use sqlite::{beside, make_private, sync_folder};

/// The `application_id` of a file that has digests in the place of private states: "audt".
pub(crate) const WITHOUT_SECRETS: i64 = 0x6175_6474;

/// A value in a row or a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// SQL's NULL.
    Null,
    /// A whole number.
    Whole(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The values of one row.
pub type Row = Vec<Cell>;

/// A statement and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The SQL, with parameters `$1`, `$2`, ... numbered in the order in which they first appear.
    pub sql: &'static str,
    /// The values of the parameters.
    pub parameters: Vec<Cell>,
}

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The transaction reads one snapshot of the whole database.
    Read,
    /// The transaction writes.
    Write,
}

/// The dialect of SQL that a database understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite's.
    Sqlite,
    /// PostgreSQL's.
    Postgres,
}

/// One connection to a PostgreSQL server, or one handle on a SQLite file. It runs one transaction at a time.
///
/// After an error within a transaction the handle stops and refuses every call: the content of the disk is then unknown
/// until the database is opened again.
#[expect(
    clippy::missing_errors_doc,
    reason = "each of them fails with a DatabaseError, and for no other reason"
)]
pub trait Database: Send {
    /// Begins a transaction. In SQLite, a transaction that writes holds the lock from here on.
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError>;

    /// Runs a statement and returns its rows. Parameters `$1`, `$2`, ... are numbered in the order in which they first
    /// appear.
    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError>;

    /// Runs several statements, one after the other, and returns the rows of each.
    fn query_all(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>, DatabaseError> {
        reads.iter().map(|read| self.query(read.sql, &read.parameters)).collect()
    }

    /// Runs a statement and returns the number of rows that it changed.
    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError>;

    /// Runs several statements, one after the other, and returns the number of rows that each changed.
    fn execute_all(&mut self, writes: &[Statement]) -> Result<Vec<u64>, DatabaseError> {
        writes.iter().map(|write| self.execute(write.sql, &write.parameters)).collect()
    }

    /// Commits the transaction. It is durable when this returns without an error.
    fn commit(&mut self) -> Result<(), DatabaseError>;

    /// Runs the last statements of the transaction, each of which must change one row, and commits. If a statement
    /// changes any other number of rows, rolls the transaction back and returns the statement's place in the list.
    fn commit_after(&mut self, writes: &[Statement]) -> Result<Option<usize>, DatabaseError> {
        let unlike = self.execute_all(writes)?.iter().position(|changed| *changed != 1);
        match unlike {
            None => self.commit()?,
            Some(_) => self.rollback(),
        }
        Ok(unlike)
    }

    /// Rolls the transaction back.
    fn rollback(&mut self);

    /// Copies one snapshot of all tables to a new SQLite file, which is not synced. Without `secrets`, the copy has
    /// digests in the place of private states.
    fn copy(&mut self, file: &str, secrets: bool) -> Result<(), DatabaseError>;

    /// Waits until every row that was read is durable, without changing any row. Handles that only read call this.
    fn wait_until_durable(&mut self) -> Result<(), DatabaseError>;

    /// True if the handle stopped at a failure.
    fn is_stopped(&self) -> bool;

    /// True if the server is known to have closed the connection. This sends nothing to the server.
    fn is_lost(&mut self) -> bool {
        false
    }

    /// The dialect of SQL that this database understands.
    fn dialect(&self) -> Dialect;
}

/// The location of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Url {
    /// A SQLite file, by its path.
    Sqlite(String),
    /// A PostgreSQL server, by its URL.
    Postgres(String),
}

impl Url {
    /// The legal URLs, in words.
    pub const LEGAL: &'static str = "sqlite:PATH, or postgres://USER@HOST:PORT/DATABASE";

    /// Opens the database. A missing file is created only if `create` is true.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if it cannot be opened.
    pub fn open(&self, create: bool) -> Result<Box<dyn Database>, DatabaseError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(Sqlite::open(path, create)?),
            Self::Postgres(url) => Box::new(Postgres::open(url)?),
        })
    }

    /// Opens the database for reading. A server may then be a standby.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if it cannot be opened.
    pub fn open_read_only(&self) -> Result<Box<dyn Database>, DatabaseError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(Sqlite::open_read_only(path)?),
            Self::Postgres(url) => Box::new(Postgres::open_read_only(url)?),
        })
    }
}

impl FromStr for Url {
    type Err = DatabaseError;

    fn from_str(text: &str) -> Result<Self, DatabaseError> {
        if let Some(path) = text.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
            return Ok(Self::Sqlite(path.to_owned()));
        }
        if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Ok(Self::Postgres(text.to_owned()));
        }
        // The text may hold a password, so the error does not show it.
        Err(DatabaseError::Unusable(format!("the URL is not a ledger's; legal: {}", Self::LEGAL)))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&[u8]> for Cell {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}
