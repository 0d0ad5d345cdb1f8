//! The one small interface to a database. All statements are in `tables`, in SQL that
//! both databases understand; what differs between the two is here.

mod compare;
mod copy;
mod postgres;
mod schema;
mod sqlite;

use std::str::FromStr;

pub use self::postgres::{Postgres, Target, outside};
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
    /// Nothing.
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
    /// With parameters `$1`, `$2`, ..., in the order in which they first appear.
    pub sql: &'static str,
    /// Their values.
    pub parameters: Vec<Cell>,
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One snapshot of everything.
    Read,
    /// To change something.
    Write,
}

/// Whose SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite's.
    Sqlite,
    /// PostgreSQL's.
    Postgres,
}

/// A connection to a database, or a handle on its file.
///
/// After an error in a transaction the handle stops: what the disk holds is then unknown, and
/// only opening it anew finds out.
#[expect(
    clippy::missing_errors_doc,
    reason = "each of them fails with a DatabaseError, and for no other reason"
)]
pub trait Database: Send {
    /// Begins a transaction. In SQLite a writer has the lock from here on.
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError>;

    /// The rows of a statement with parameters `$1`, `$2`, ..., in the order they first appear.
    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError>;

    /// The rows of several statements, one after the other.
    fn query_all(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>, DatabaseError> {
        reads.iter().map(|read| self.query(read.sql, &read.parameters)).collect()
    }

    /// How many rows a statement changed.
    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError>;

    /// How many rows each of several statements changed, one after the other.
    fn execute_all(&mut self, writes: &[Statement]) -> Result<Vec<u64>, DatabaseError> {
        writes.iter().map(|write| self.execute(write.sql, &write.parameters)).collect()
    }

    /// Makes the transaction durable.
    fn commit(&mut self) -> Result<(), DatabaseError>;

    /// Ends the transaction with statements of which each must change one row: then all is durable. If one does not, the
    /// transaction is forgotten, and its place in the list is returned.
    fn commit_after(&mut self, writes: &[Statement]) -> Result<Option<usize>, DatabaseError> {
        let unlike = self.execute_all(writes)?.iter().position(|changed| *changed != 1);
        match unlike {
            None => self.commit()?,
            Some(_) => self.rollback(),
        }
        Ok(unlike)
    }

    /// Forgets the transaction.
    fn rollback(&mut self);

    /// Writes one snapshot of all tables to a new SQLite file, without secrets with digests in the place of private
    /// states. It is not synced.
    fn copy(&mut self, file: &str, secrets: bool) -> Result<(), DatabaseError>;

    /// Waits until everything that was read is durable, and changes no row: for a handle that only reads.
    fn settle(&mut self) -> Result<(), DatabaseError>;

    /// Whether it stopped at a failure.
    fn is_stopped(&self) -> bool;

    /// Whether its connection was closed by the other side, as far as that is known without asking.
    fn is_lost(&mut self) -> bool {
        false
    }

    /// Whose SQL it speaks.
    fn dialect(&self) -> Dialect;
}

/// Where a ledger is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Url {
    /// A file.
    Sqlite(String),
    /// A server.
    Postgres(String),
}

impl Url {
    /// What may be given, in words.
    pub const LEGAL: &'static str = "sqlite:PATH, or postgres://USER@HOST:PORT/DATABASE";

    /// Opens the database; a file is created only if asked for.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if it cannot be opened.
    pub fn open(&self, create: bool) -> Result<Box<dyn Database>, DatabaseError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(Sqlite::open(path, create)?),
            Self::Postgres(url) => Box::new(Postgres::open(url)?),
        })
    }

    /// Opens the database to read. A server may be a standby then.
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
        // The text may hold a password.
        Err(DatabaseError::Unusable(format!("the URL is no ledger's; legal: {}", Self::LEGAL)))
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
