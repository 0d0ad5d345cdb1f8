//! SQLite, embedded: files that are opened to read alone.

use super::idle::Idle;
use super::{Dialect, Engine, Failed, Found, Read, Rows, Secret, Statement, Value};
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OpenFlags, ToSql};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How many steps of SQLite's machine are between two looks at the clock: about a tenth of a millisecond.
const STEPS: i32 = 10_000;

/// Tables in an SQLite file.
pub struct Sqlite {
    file: PathBuf,
    secret: [u8; 32],
    idle: Idle<Connection>,
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Sqlite {
    /// Opens a file to read. The secret decides which rows are used of people who have too many.
    ///
    /// # Errors
    /// [`Failed`] if it cannot be opened.
    pub fn open(file: &Path, secret: [u8; 32]) -> Result<Self, Failed> {
        let engine = Self { file: file.to_owned(), secret, idle: Idle::new() };
        engine.idle.keep(engine.connect()?);
        Ok(engine)
    }

    fn connect(&self) -> Result<Connection, Failed> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags).map_err(Failed::new)?;
        // A column that is not there is an error, not a text.
        for text in [DbConfig::SQLITE_DBCONFIG_DQS_DML, DbConfig::SQLITE_DBCONFIG_DQS_DDL] {
            connection.set_db_config(text, false).map_err(Failed::new)?;
        }
        let busy = std::time::Duration::from_secs(5);
        connection.busy_timeout(busy).map_err(Failed::new)?;
        let flags = FunctionFlags::SQLITE_UTF8
            | FunctionFlags::SQLITE_DETERMINISTIC
            | FunctionFlags::SQLITE_DIRECTONLY;
        let hash = |context: &rusqlite::functions::Context<'_>| {
            let text = context.get_raw(0).as_bytes_or_null().ok().flatten();
            Ok(text.map(|text| Sha256::digest(text).to_vec()))
        };
        connection
            .create_scalar_function("counterpoint_sha256", 1, flags, hash)
            .map_err(Failed::new)?;
        Ok(connection)
    }

    fn lend(&self) -> Result<Connection, Failed> {
        self.idle.take().map_or_else(|| self.connect(), Ok)
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Whole(whole) => ToSqlOutput::from(*whole),
            Self::Real(real) => ToSqlOutput::from(*real),
            Self::Text(text) => ToSqlOutput::from(text.as_str()),
        })
    }
}

impl Engine for Sqlite {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, Failed> {
        let mut connection = self.lend()?;
        let late = move || Instant::now() >= deadline;
        connection.progress_handler(STEPS, Some(late)).map_err(Failed::new)?;
        let outcome = rows(&connection, statement).map_err(Failed::new);
        connection.progress_handler(0, None::<fn() -> bool>).map_err(Failed::new)?;
        if outcome.is_ok() {
            self.idle.keep(connection);
        }
        outcome
    }

    fn reach(&self, _deadline: Instant) -> Result<(), Failed> {
        let connection = self.lend()?;
        let found = std::fs::metadata(&self.file).map_err(Failed::new);
        let read = connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()));
        found.and_then(|_| read.map_err(Failed::new))?;
        self.idle.keep(connection);
        Ok(())
    }

    fn columns(&self, table: &str) -> Result<Vec<Found>, Failed> {
        let connection = self.lend()?;
        let sql = "SELECT name, type FROM pragma_table_info(?1)";
        let mut statement = connection.prepare(sql).map_err(Failed::new)?;
        let found =
            statement.query_map([table], |row| Ok(Found { name: row.get(0)?, kind: row.get(1)? }));
        let found = found.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(Failed::new)?;
        if found.is_empty() {
            Err(Failed::new(format!("there is no table {table:?}")))
        } else {
            Ok(found)
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            table: |name| format!("\"{}\"", name.replace('"', "\"\"")),
            parameter: |number, _| format!("?{number}"),
            read: |column, _, read| Some(normal(column, read)),
            whole: |number| format!("CAST({number} AS INTEGER)"),
            text: |number| format!("CAST({number} AS TEXT)"),
            least: "MIN",
            greatest: "MAX",
            hash: |text| format!("counterpoint_sha256({text})"),
            exact: None,
            listed: None,
            series: |count| {
                format!(
                    "(WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series LIMIT {count}) \
                     SELECT n FROM series) AS series"
                )
            },
            secret: Secret(self.secret),
        }
    }
}

/// What a column may hold is up to each row here.
fn normal(column: &str, read: Read) -> String {
    match read {
        Read::Number => {
            format!(
                "CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS REAL) END"
            )
        }
        Read::Whole => format!(
            "CASE WHEN typeof({column}) = 'integer' THEN {column} \
             WHEN typeof({column}) = 'real' AND CAST({column} AS INTEGER) = {column} THEN CAST({column} AS INTEGER) END"
        ),
        Read::Text => {
            format!("CASE WHEN typeof({column}) = 'text' THEN CAST({column} AS TEXT) END")
        }
        Read::Person => format!("CAST({column} AS TEXT)"),
    }
}

fn rows(connection: &Connection, statement: &Statement) -> rusqlite::Result<Rows> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let width = prepared.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let number = |at: usize| Ok(i128::from(row.get::<_, Option<i64>>(at)?.unwrap_or_default()));
        (0..width).map(number).collect::<rusqlite::Result<Vec<i128>>>()
    };
    let rows = prepared.query_map(rusqlite::params_from_iter(&statement.values), row)?;
    rows.collect()
}
