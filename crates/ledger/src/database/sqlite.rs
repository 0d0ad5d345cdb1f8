//! SQLite, with its write-ahead log and a sync at every commit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::{Access, Cell, Database, DatabaseError, Dialect, Row};

/// The first version without the WAL-reset bug: 3.51.3.
const FIRST_SOUND: i32 = 3_051_003;

/// How often a lock is tried, up to 10 ms apart: about a minute.
const MOST_TRIES: i32 = 6000;

/// A ledger in a file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
    stopped: bool,
}

impl Sqlite {
    /// Opens the file; creates it only if asked to.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] saying why it cannot be used.
    pub fn open(path: &str, create: bool) -> Result<Self, DatabaseError> {
        sound(rusqlite::version_number())?;
        let path = PathBuf::from(path);
        if marker(&path).exists() {
            return Err(unusable(
                &path,
                "a write failed here earlier; see -stopped in docs/ledger.md for what to do",
            ));
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let connection = Connection::open_with_flags(&path, flags)
            .map_err(|error| unusable(&path, &error.to_string()))?;
        let mut database = Self { connection, path, stopped: false };
        database.prepare(create).map_err(|error| unusable(&database.path, &error))?;
        if create {
            database.keep_name().map_err(|error| unusable(&database.path, &error))?;
        }
        Ok(database)
    }

    /// Sets what the guarantee rests on, and looks whether it was set. Another program's
    /// database is left as it is.
    fn prepare(&mut self, create: bool) -> Result<(), String> {
        let text = |error: rusqlite::Error| error.to_string();
        let connection = &mut self.connection;
        connection.set_prepared_statement_cache_capacity(64);
        connection.busy_handler(Some(wait)).map_err(text)?;
        for pragma in ["trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON"] {
            connection.execute_batch(&format!("PRAGMA {pragma}")).map_err(text)?;
        }
        let count = |what: &str| {
            let sql = format!("SELECT count(*) FROM sqlite_master WHERE {what}");
            connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).map_err(text)
        };
        if count("name = 'ledger_version'")? == 0 && (!create || count("1 = 1")? > 0) {
            return Err("there is no ledger in it; legal: init with a new file".to_owned());
        }
        let mode: String = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(text)?;
        if mode != "wal" {
            return Err(format!("journal_mode is {mode}; legal: wal, in a file on a local disk"));
        }
        connection.execute_batch("PRAGMA synchronous = FULL").map_err(text)?;
        let level: i64 =
            connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).map_err(text)?;
        if level < 2 {
            return Err(format!("synchronous is {level}; legal: 2 (FULL) or 3"));
        }
        Ok(())
    }

    /// A new file's name is durable only once its folder is synced.
    fn keep_name(&self) -> Result<(), String> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| format!("its folder cannot be synced: {error}"))
    }

    fn running(&self) -> Result<(), DatabaseError> {
        if self.stopped { Err(DatabaseError::Stopped) } else { Ok(()) }
    }

    /// Stops. After an I/O error, other processes are to stop too: the kernel may hold pages
    /// that the disk does not, and would serve them as if they were durable.
    fn stop(&mut self, error: &rusqlite::Error) {
        self.stopped = true;
        if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) {
            // If the disk takes no file either, there is nothing more to be done.
            let _ = std::fs::write(marker(&self.path), format!("{error}\n"));
        }
        let _ = self.connection.execute_batch("ROLLBACK");
    }

    fn failed(&mut self, error: &rusqlite::Error) -> DatabaseError {
        self.stop(error);
        DatabaseError::Failed(error.to_string())
    }

    fn rows(&self, sql: &str, parameters: &[Cell]) -> rusqlite::Result<Vec<Row>> {
        let mut statement = self.connection.prepare_cached(&numbered(sql))?;
        let width = statement.column_count();
        let mut rows = statement.query(params_from_iter(parameters))?;
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..width).map(|column| row.get_ref(column).and_then(cell));
            list.push(cells.collect::<rusqlite::Result<Row>>()?);
        }
        Ok(list)
    }

    fn changed(&self, sql: &str, parameters: &[Cell]) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(&numbered(sql))?.execute(params_from_iter(parameters))
    }
}

impl Database for Sqlite {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.running()?;
        let sql = match access {
            Access::Read => "BEGIN DEFERRED",
            Access::Write => "BEGIN IMMEDIATE",
        };
        match self.changed(sql, &[]) {
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                Err(DatabaseError::Busy)
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.running()?;
        self.rows(sql, parameters).map_err(|error| self.failed(&error))
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.running()?;
        let changed = self.changed(sql, parameters).map_err(|error| self.failed(&error))?;
        Ok(changed as u64)
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        self.changed("COMMIT", &[]).map(drop).map_err(|error| {
            self.stop(&error);
            DatabaseError::Uncertain(error.to_string())
        })
    }

    fn rollback(&mut self) {
        if !self.stopped && self.connection.execute_batch("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }
}

/// Refuses versions that may lose committed transactions.
fn sound(version: i32) -> Result<(), DatabaseError> {
    if version >= FIRST_SOUND {
        return Ok(());
    }
    let (major, minor, patch) = (version / 1_000_000, version / 1000 % 1000, version % 1000);
    Err(DatabaseError::Unusable(format!(
        "SQLite is {major}.{minor}.{patch}, which may lose committed transactions; \
         legal: 3.51.3 or later"
    )))
}

fn unusable(path: &Path, problem: &str) -> DatabaseError {
    DatabaseError::Unusable(format!("{}: {problem}", path.display()))
}

fn marker(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-stopped");
    name.into()
}

/// Waits for a lock a little longer each time.
fn wait(tries: i32) -> bool {
    let milliseconds = 1 + tries.clamp(0, 90) as u64 / 10;
    std::thread::sleep(Duration::from_millis(milliseconds));
    tries < MOST_TRIES
}

/// SQLite numbers its parameters `?1`.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn cell(value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
        // No column holds one: whatever reads it finds neither number nor text.
        ValueRef::Real(number) => Cell::Text(format!("real {number:?}")),
    })
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Whole(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_the_reset_bug_are_refused() {
        assert!(sound(3_051_003).is_ok() && sound(rusqlite::version_number()).is_ok());
        let error = sound(3_051_002).unwrap_err().to_string();
        assert!(error.starts_with("SQLite is 3.51.2,"), "{error}");
    }
}
