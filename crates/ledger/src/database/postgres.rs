//! PostgreSQL, over one connection.

use std::collections::HashMap;
use std::error::Error;

use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Statement};

use super::tls::{Target, described, failed};
use super::{Access, Cell, Database, DatabaseError, Dialect, Row};

/// A ledger on a server.
pub struct Postgres {
    client: Client,
    statements: HashMap<String, Statement>,
    stopped: bool,
}

/// What must be on for a commit to be durable.
const NEEDED: [&str; 2] = ["fsync", "full_page_writes"];

impl Postgres {
    /// Connects.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] saying why it cannot be used.
    pub fn open(url: &str) -> Result<Self, DatabaseError> {
        let failed = |error| failed(&error);
        let mut client = Target::read(url)?.connect()?;
        client
            .batch_execute("SET synchronous_commit = on; SET lock_timeout = '60s'")
            .map_err(failed)?;
        for setting in NEEDED {
            let row = client.query_one(&format!("SHOW {setting}"), &[]).map_err(failed)?;
            let value: String = row.try_get(0).map_err(failed)?;
            if value != "on" {
                let problem = format!("{setting} is {value}; legal: on");
                return Err(DatabaseError::Unusable(problem));
            }
        }
        Ok(Self { client, statements: HashMap::new(), stopped: false })
    }

    fn running(&self) -> Result<(), DatabaseError> {
        if self.stopped { Err(DatabaseError::Stopped) } else { Ok(()) }
    }

    fn failed(&mut self, error: &postgres::Error) -> DatabaseError {
        if error.code() == Some(&postgres::error::SqlState::LOCK_NOT_AVAILABLE) {
            self.rollback();
            return DatabaseError::Busy;
        }
        self.stopped = true;
        let _ = self.client.batch_execute("ROLLBACK");
        DatabaseError::Failed(described(error))
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn rows(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, postgres::Error> {
        let statement = self.statement(sql)?;
        let rows = self.client.query(&statement, &references(parameters))?;
        rows.iter().map(cells).collect()
    }

    fn changed(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, postgres::Error> {
        let statement = self.statement(sql)?;
        self.client.execute(&statement, &references(parameters))
    }
}

impl Database for Postgres {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.running()?;
        let sql = match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // The lock is the head's row, taken before anything else is read.
            Access::Write => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        };
        self.client.batch_execute(sql).map_err(|error| self.failed(&error))
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.running()?;
        self.rows(sql, parameters).map_err(|error| self.failed(&error))
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.running()?;
        self.changed(sql, parameters).map_err(|error| self.failed(&error))
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        self.client.batch_execute("COMMIT").map_err(|error| {
            self.stopped = true;
            DatabaseError::Uncertain(described(&error))
        })
    }

    fn rollback(&mut self) {
        if !self.stopped && self.client.batch_execute("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }
}

fn references(parameters: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    parameters.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect()
}

fn cells(row: &postgres::Row) -> Result<Row, postgres::Error> {
    let cell = |(index, column): (usize, &postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map(Cell::Whole),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Cell::Bytes),
            _ => row.try_get::<_, Option<String>>(index)?.map(Cell::Text),
        }
        .unwrap_or(Cell::Null))
    };
    row.columns().iter().enumerate().map(cell).collect()
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Whole(number) => number.to_sql_checked(kind, out),
            Self::Text(text) => text.to_sql_checked(kind, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
