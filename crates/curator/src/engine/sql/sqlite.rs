//! SQLite, embedded. Files are opened read-only.

use super::idle::IdleConnections;
use super::view::quoted;
use super::{CatalogueInfo, Dialect, Engine, ReadType, Rows, SqlValue, Statement};
use crate::engine::choice::first_64_bits;
use crate::engine::error::{EngineError, SourceColumn};
use rusqlite::config::DbConfig;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{FromSqlError, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension, ToSql};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number of SQLite's virtual machine steps between two checks of the deadline: about a tenth of a millisecond.
const STEPS: i32 = 10_000;

/// Tables in an SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    file: PathBuf,
    idle: IdleConnections<Connection>,
}

impl Sqlite {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// [`EngineError`] if the file cannot be opened.
    pub fn open(file: &Path) -> Result<Self, EngineError> {
        let engine = Self { file: file.to_owned(), idle: IdleConnections::new() };
        engine.idle.keep(engine.connect()?);
        Ok(engine)
    }

    fn connect(&self) -> Result<Connection, EngineError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(&self.file, flags).map_err(EngineError::new)?;
        // A quoted name of an absent column is an error instead of a text.
        for text in [DbConfig::SQLITE_DBCONFIG_DQS_DML, DbConfig::SQLITE_DBCONFIG_DQS_DDL] {
            connection.set_db_config(text, false).map_err(EngineError::new)?;
        }
        let busy = std::time::Duration::from_secs(5);
        connection.busy_timeout(busy).map_err(EngineError::new)?;
        functions(&connection).map_err(EngineError::new)?;
        Ok(connection)
    }

    fn lend(&self) -> Result<Connection, EngineError> {
        self.idle.take().map_or_else(|| self.connect(), Ok)
    }
}

/// Defines the SQL functions that statements use.
fn functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    let person = |context: &Context<'_>| Ok(person(context.get_raw(0)));
    connection.create_scalar_function("counterpoint_person", 1, flags, person)?;
    let hash = |context: &Context<'_>| Ok(hash((0..context.len()).map(|at| context.get_raw(at))));
    connection.create_scalar_function("counterpoint_hash", -1, flags, hash)?;
    connection.create_scalar_function("counterpoint_at_most", 2, flags, at_most)?;
    connection.create_scalar_function("counterpoint_position", 2, flags, position)
}

/// The separator between the texts of a list.
const BETWEEN: &str = "\u{1f}";

/// The place of a whole number or text in a list. SQLite decodes the list once for each statement.
fn position(context: &Context<'_>) -> rusqlite::Result<Option<i64>> {
    let read = |list: ValueRef<'_>| -> Result<BTreeMap<Vec<u8>, i64>, FromSqlError> {
        let parts: Vec<Vec<u8>> = match list {
            ValueRef::Text(texts) => {
                texts.split(|byte| BETWEEN.as_bytes().contains(byte)).map(<[u8]>::to_vec).collect()
            }
            wholes => wholes.as_blob()?.as_chunks::<8>().0.iter().map(|one| one.to_vec()).collect(),
        };
        Ok(parts.into_iter().zip(1..).collect())
    };
    let list = context.get_or_create_aux(0, read)?;
    Ok(match context.get_raw(1) {
        ValueRef::Integer(whole) => list.get(whole.to_le_bytes().as_slice()).copied(),
        ValueRef::Text(text) => list.get(text).copied(),
        _ => None,
    })
}

/// The number of elements of a list that are at most a number. SQLite decodes the list once for each statement.
fn at_most(context: &Context<'_>) -> rusqlite::Result<i64> {
    let list = context.get_or_create_aux(0, |list| -> Result<Vec<f64>, FromSqlError> {
        let (reals, _) = list.as_blob()?.as_chunks::<8>();
        Ok(reals.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    })?;
    let number: f64 = context.get(1)?;
    Ok(list.partition_point(|place| *place <= number) as i64)
}

/// The bound on whole numbers, 2^63.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// The person of a row, as bytes that no collation changes: a whole number of any storage class as its decimal digits,
/// another number as its shortest exact digits, and a text or blob as its bytes.
fn person(value: ValueRef<'_>) -> Option<Vec<u8>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(whole) => Some(whole.to_string().into_bytes()),
        ValueRef::Real(real) if real.fract() == 0.0 && (-LIMIT..LIMIT).contains(&real) => {
            Some((real as i64).to_string().into_bytes())
        }
        ValueRef::Real(real) => Some(format!("{real:e}").into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
    }
}

/// The first 64 bits of the SHA-256 of all values, each with its length.
fn hash<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> i64 {
    let mut sum = Sha256::new();
    for value in values {
        match value {
            ValueRef::Integer(whole) => sum.update(whole.to_be_bytes()),
            other => {
                let bytes = other.as_bytes_or_null().ok().flatten().unwrap_or_default();
                sum.update((bytes.len() as u64).to_be_bytes());
                sum.update(bytes);
            }
        }
    }
    first_64_bits(sum.finalize())
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Whole(whole) => ToSqlOutput::from(*whole),
            Self::Real(real) => ToSqlOutput::from(*real),
            Self::Text(text) => ToSqlOutput::from(text.as_str()),
            Self::Reals(list) => {
                let bytes: Vec<u8> = list.iter().flat_map(|real| real.to_le_bytes()).collect();
                ToSqlOutput::from(bytes)
            }
            Self::Wholes(list) => {
                let bytes: Vec<u8> = list.iter().flat_map(|whole| whole.to_le_bytes()).collect();
                ToSqlOutput::from(bytes)
            }
            // Categories contain no control characters, so the separator is safe.
            Self::Texts(list) => ToSqlOutput::from(list.join(BETWEEN)),
        })
    }
}

impl Engine for Sqlite {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError> {
        let mut connection = self.lend()?;
        let late = move || Instant::now() >= deadline;
        connection.progress_handler(STEPS, Some(late)).map_err(EngineError::new)?;
        let outcome = rows(&connection, statement).map_err(EngineError::new);
        connection.progress_handler(0, None::<fn() -> bool>).map_err(EngineError::new)?;
        if outcome.is_ok() {
            self.idle.keep(connection);
        }
        outcome
    }

    fn check_reachable(&self, _deadline: Instant) -> Result<(), EngineError> {
        let connection = self.lend()?;
        let found = std::fs::metadata(&self.file).map_err(EngineError::new);
        let read = connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()));
        found.and_then(|_| read.map_err(EngineError::new))?;
        self.idle.keep(connection);
        Ok(())
    }

    fn columns(&self, table: &str) -> Result<Vec<SourceColumn>, EngineError> {
        let connection = self.lend()?;
        let sql = "SELECT name, type FROM pragma_table_info(?1)";
        let mut statement = connection.prepare(sql).map_err(EngineError::new)?;
        let found = statement
            .query_map([table], |row| Ok(SourceColumn { name: row.get(0)?, kind: row.get(1)? }));
        let found =
            found.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(EngineError::new)?;
        if found.is_empty() {
            Err(EngineError::new(format!("there is no table {table:?}")))
        } else {
            Ok(found)
        }
    }

    fn catalogue_info(
        &self,
        table: &str,
        person: Option<&str>,
    ) -> Result<CatalogueInfo, EngineError> {
        let connection = self.lend()?;
        let kind = "SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE";
        let kind = connection.query_row(kind, [table], |row| row.get::<_, String>(0));
        // The catalogue does not list itself.
        let is_view = kind.optional().map_err(EngineError::new)?.as_deref() == Some("view");
        // The last row number; `None` if the table has no row numbers.
        let last = format!("SELECT MAX(rowid) FROM {}", quoted(table));
        let last = connection.query_row(&last, [], |row| row.get::<_, Option<i64>>(0));
        let rows = last.ok().flatten().filter(|_| !is_view);
        let rows = rows.and_then(|rows| u64::try_from(rows).ok());
        let mut warnings: Vec<String> =
            is_view.then(|| CatalogueInfo::VIEW.to_owned()).into_iter().collect();
        if let Some(person) = person {
            let collation = collation(&connection, &quoted(table), &quoted(person));
            warnings.extend(collation.map(|collation| CatalogueInfo::collated(person, &collation)));
        }
        Ok(CatalogueInfo { rows, warnings })
    }

    fn plan(&self, statement: &Statement) -> Result<(), EngineError> {
        self.lend()?.prepare(&statement.sql).map(drop).map_err(EngineError::new)
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            table: quoted,
            parameter: |number, _| format!("?{number}"),
            read: |column, _, read| Some(normal(column, read)),
            whole: |number| format!("CAST({number} AS INTEGER)"),
            least: "MIN",
            greatest: "MAX",
            hash: |key, numbers, person| {
                format!("counterpoint_hash({key}, {}, {person})", numbers.join(", "))
            },
            exact_sum: None,
            at_most: |list, number| format!("counterpoint_at_most({list}, {number})"),
            position: |list, value| format!("counterpoint_position({list}, {value})"),
            element_at: None,
            series: |count| {
                format!(
                    "(WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series LIMIT {count}) \
                     SELECT n FROM series) AS series"
                )
            },
        }
    }
}

/// A column's collation if it does not compare by bytes. A query plan for a sort by the column names it.
fn collation(connection: &Connection, table: &str, column: &str) -> Option<String> {
    let sql = format!("EXPLAIN SELECT 1 FROM {table} ORDER BY +{column}");
    let sorter =
        |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(1)?, row.get::<_, Option<String>>(5)?));
    let found = connection.prepare(&sql).and_then(|mut statement| {
        statement.query_map([], sorter)?.collect::<rusqlite::Result<Vec<_>>>()
    });
    match found {
        Ok(found) => {
            let key = found.into_iter().find(|(step, _)| step == "SorterOpen")?.1?;
            let name = key.strip_prefix("k(1,")?.trim_end_matches(')').trim_start_matches('-');
            (name != "B").then(|| name.to_owned())
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Reads a column whose rows may each hold another type. SQLite keeps a column's collation through casts, so
/// comparisons state their own.
fn normal(column: &str, read: ReadType) -> String {
    match read {
        ReadType::Number => {
            format!(
                "CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS REAL) END"
            )
        }
        ReadType::Whole => format!(
            "CASE WHEN typeof({column}) = 'integer' THEN {column} \
             WHEN typeof({column}) = 'real' AND CAST({column} AS INTEGER) = {column} COLLATE BINARY \
             THEN CAST({column} AS INTEGER) END"
        ),
        ReadType::Text => {
            format!("CASE WHEN typeof({column}) = 'text' THEN {column} END COLLATE BINARY")
        }
        ReadType::Person => format!("counterpoint_person({column})"),
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
