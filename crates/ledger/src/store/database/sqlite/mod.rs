//! SQLite, with its write-ahead log and a sync at every commit.

mod files;
mod mounts;

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, MAIN_DB, OpenFlags, ToSql, params_from_iter,
};

use super::{Access, Cell, Database, DatabaseError, Dialect, Row, WITHOUT_SECRETS};
use files::{FileChangeError, FileLocation, Files, Moment};

pub(crate) use files::{beside, make_private, sync_folder};

/// The first version without the WAL-reset bug: 3.51.3.
const FIRST_SOUND: i32 = 3_051_003;

/// The number of attempts to take a lock, up to 10 ms apart: about a minute.
const MAX_TRIES: i32 = 6000;

/// The number of looks, 5 ms apart, that must all find a database in use without an index.
const MAX_LOOKS: u32 = 400;

/// The reason why a reader may be refused where nobody writes.
const NEEDS_INDEX: &str = "reading a ledger that others may write to needs its files -wal and \
                           -shm, or a folder to make them in; a backup does not";

/// A ledger in a SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    files: Files,
    /// True if no process can write to this file system.
    immutable: bool,
    stopped: bool,
}

impl Sqlite {
    /// Opens the file for reading and writing. A missing file is created only if `create` is true.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] with the reason if the file cannot be used.
    pub fn open(path: &str, create: bool) -> Result<Self, DatabaseError> {
        check_sqlite_version(rusqlite::version_number())?;
        Self::writing(path, create).map_err(|problem| DatabaseError::unusable(path, problem))
    }

    /// Opens the file for reading.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] with the reason if the file cannot be used.
    pub fn open_read_only(path: &str) -> Result<Self, DatabaseError> {
        check_sqlite_version(rusqlite::version_number())?;
        Self::reading(path).map_err(|problem| DatabaseError::unusable(path, problem))
    }

    fn writing(path: &str, create: bool) -> Result<Self, DatabaseError> {
        let place = FileLocation::find(path, create)?;
        if place.marker().exists() {
            return Err(unusable("a process had to stop here; see -stopped in docs/ledger.md"));
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        check_not_in_use_elsewhere(&place)?;
        if create && !place.path.exists() {
            match make_private(&place.path) {
                // Another process created the file in the meantime.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                outcome => outcome.map_err(unusable)?,
            }
        }
        let mut connection = Connection::open_with_flags(&place.path, flags).map_err(unusable)?;
        if connection.is_readonly(MAIN_DB).map_err(unusable)? {
            return Err(unusable("cannot be written to; legal: to read only"));
        }
        prepare(&mut connection, create)?;
        let id: i64 = connection
            .query_row("PRAGMA application_id", [], |row| row.get(0))
            .map_err(unusable)?;
        if id == WITHOUT_SECRETS {
            let problem = "is a copy for auditors, without private states; legal: to read only";
            return Err(unusable(problem));
        }
        write_ahead(&connection)?;
        if create {
            sync_folder(&place.path).map_err(unusable)?;
        }
        let files = place.watch(true).inspect_err(|_| leave_log(&connection))?;
        Ok(Self { connection, files, immutable: false, stopped: false })
    }

    fn reading(path: &str) -> Result<Self, DatabaseError> {
        let place = FileLocation::find(path, false)?;
        let immutable = place.is_read_only()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = if immutable && !place.has_log() {
            // SQLite then needs no other files, and need not look for changes.
            let path =
                place.path.to_str().ok_or_else(|| unusable("its path is not valid UTF-8"))?;
            let url = format!("file:{}?immutable=1", utf8_percent_encode(path, NON_ALPHANUMERIC));
            Connection::open_with_flags(url, flags | OpenFlags::SQLITE_OPEN_URI)
        } else {
            Connection::open_with_flags(&place.path, flags)
        };
        let mut connection = opened.map_err(unusable)?;
        prepare(&mut connection, false)
            .map_err(|problem| unusable(format_args!("{problem} ({NEEDS_INDEX})")))?;
        Ok(Self { connection, files: place.watch(false)?, immutable, stopped: false })
    }

    fn running(&self) -> Result<(), DatabaseError> {
        if self.stopped { Err(DatabaseError::Stopped) } else { Ok(()) }
    }

    /// Checks that the files are the ones that were opened. If they are not, this handle stops. Other processes are
    /// told to stop if the file that is there now has lost entries.
    fn check(&mut self) -> Result<(), FileChangeError> {
        let checked = self.files.check(Moment::now());
        self.stop_unless(checked)
    }

    fn stop_unless(&mut self, checked: Result<(), FileChangeError>) -> Result<(), FileChangeError> {
        checked.inspect_err(|change| {
            self.stopped = true;
            if change.stops_others {
                self.files.stop_others(&change.problem);
            }
        })
    }

    /// Stops this handle. After an I/O error other processes must stop too: the kernel may hold pages that the disk
    /// does not, and would serve them as if they were durable.
    fn stop(&mut self, error: &rusqlite::Error) {
        self.stopped = true;
        if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) {
            self.files.stop_others(&error.to_string());
        }
        let _ = self.connection.execute_batch("ROLLBACK");
    }

    fn failed(&mut self, error: &rusqlite::Error) -> DatabaseError {
        self.stop(error);
        DatabaseError::Failed(error.to_string())
    }

    fn changed(&self, sql: &str, parameters: &[Cell]) -> rusqlite::Result<usize> {
        prepared(&self.connection, sql)?.execute(params_from_iter(parameters))
    }
}

impl Database for Sqlite {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.running()?;
        let (looked, sql) = match access {
            Access::Read => (self.files.check(Moment::now()), "BEGIN DEFERRED"),
            // A write is checked again before it is acknowledged.
            Access::Write => (self.files.check_unless_fresh(Moment::now()), "BEGIN IMMEDIATE"),
        };
        self.stop_unless(looked).map_err(|change| DatabaseError::Failed(change.problem))?;
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
        rows(&self.connection, sql, parameters).map_err(|error| self.failed(&error))
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.running()?;
        let changed = self.changed(sql, parameters).map_err(|error| self.failed(&error))?;
        Ok(changed as u64)
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        self.changed("COMMIT", &[]).map_err(|error| {
            self.stop(&error);
            DatabaseError::Uncertain(error.to_string())
        })?;
        // A commit to a file that has lost its name is lost, even if it is durable.
        self.check().map_err(|change| DatabaseError::Uncertain(change.problem))
    }

    fn rollback(&mut self) {
        if !self.stopped && self.connection.execute_batch("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }

    fn copy(&mut self, file: &str, secrets: bool) -> Result<(), DatabaseError> {
        self.running()?;
        if !secrets {
            return super::copy::tables(self, file, false);
        }
        // The cause is not in this ledger; most likely the disk of the copy is full.
        let copied = self.changed("VACUUM INTO $1", &[file.into()]);
        copied.map(drop).map_err(|error| DatabaseError::unusable(file, error))
    }

    fn wait_until_durable(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        if self.immutable {
            return Ok(());
        }
        self.files.sync_log()?;
        self.check().map_err(|change| DatabaseError::Failed(change.problem))
    }

    fn is_stopped(&self) -> bool {
        self.stopped
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if !self.files.may_write_back() {
            leave_log(&self.connection);
        }
    }
}

/// The rows of a statement.
pub(super) fn rows(
    connection: &Connection,
    sql: &str,
    parameters: &[Cell],
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = prepared(connection, sql)?;
    let width = statement.column_count();
    let cells = |row: &rusqlite::Row<'_>| {
        (0..width).map(|column| row.get_ref(column).and_then(cell)).collect()
    };
    statement.query_map(params_from_iter(parameters), cells)?.collect()
}

/// Prepares a statement. SQLite treats `$1` as a name, and numbers names in the order in which they first appear.
fn prepared<'a>(connection: &'a Connection, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
    let statement = connection.prepare_cached(sql)?;
    let is_named = |index| statement.parameter_name(index) == Some(&format!("${index}"));
    debug_assert!((1..=statement.parameter_count()).all(is_named), "{sql}");
    Ok(statement)
}

/// Checks that no process uses the database under another name. A process that has the database open has the log's
/// index beside it; without an index here, a process that has it open uses another name and another log.
fn check_not_in_use_elsewhere(place: &FileLocation) -> Result<(), DatabaseError> {
    for _ in 0..MAX_LOOKS {
        if !place.path.exists() || place.has_index() || !is_in_use(&place.path)? {
            return Ok(());
        }
        // Another process may just be checking too, or may be the last to close the database.
        std::thread::sleep(Duration::from_millis(5));
    }
    Err(unusable("is in use under another name, with another log; legal: that name"))
}

/// True if any process has a database with a log open. (A database without a log is locked while it is given one.)
fn is_in_use(path: &Path) -> Result<bool, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(unusable)?;
    connection.busy_timeout(Duration::ZERO).map_err(unusable)?;
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE").map_err(unusable)?;
    match connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(true),
        outcome => outcome.map(|()| false).map_err(unusable),
    }
}

/// Keeps a connection from writing the log back to the database as it is closed.
fn leave_log(connection: &Connection) {
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}

/// Sets up a connection, and checks that the database holds a ledger. Another program's database is not changed.
fn prepare(connection: &mut Connection, create: bool) -> Result<(), DatabaseError> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.busy_handler(Some(wait)).map_err(unusable)?;
    // A private state that is deleted is overwritten (secure_delete).
    const PRAGMAS: [&str; 4] =
        ["trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON", "secure_delete = ON"];
    for pragma in PRAGMAS {
        connection.execute_batch(&format!("PRAGMA {pragma}")).map_err(unusable)?;
    }
    // One statement reads both counts, because another process may create the ledger between two statements.
    let sql = "SELECT count(*), count(*) FILTER (WHERE name = 'ledger_version') FROM sqlite_master";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (tables, versions): (i64, i64) = connection.query_row(sql, [], read).map_err(unusable)?;
    if versions == 0 && (!create || tables > 0) {
        return Err(unusable("there is no ledger in it; legal: init with a new file"));
    }
    Ok(())
}

/// Sets the modes that make commits durable, and checks that they are set.
fn write_ahead(connection: &Connection) -> Result<(), DatabaseError> {
    let mode = switch_to_log(connection).map_err(unusable)?;
    if mode != "wal" {
        let problem = format!("journal_mode is {mode}; legal: wal, in a file on a local disk");
        return Err(unusable(problem));
    }
    connection.execute_batch("PRAGMA synchronous = FULL").map_err(unusable)?;
    let level: i64 =
        connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).map_err(unusable)?;
    if level < 2 {
        return Err(unusable(format_args!("synchronous is {level}; legal: 2 (FULL) or 3")));
    }
    // The first connection that reads opens the log and the index, and keeps them until it closes.
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).map_err(unusable)
}

/// Switches to the write-ahead log. Two connections that switch at once could wait for each other, so SQLite calls no
/// busy handler and fails one of them. That one tries again.
fn switch_to_log(connection: &Connection) -> rusqlite::Result<String> {
    let mut tries = 0;
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        let busy = matches!(&switched, Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy));
        if !(busy && wait(tries)) {
            return switched;
        }
        tries += 1;
    }
}

/// Refuses versions of SQLite that may lose committed transactions.
fn check_sqlite_version(version: i32) -> Result<(), DatabaseError> {
    if version >= FIRST_SOUND {
        return Ok(());
    }
    let (major, minor, patch) = (version / 1_000_000, version / 1000 % 1000, version % 1000);
    Err(DatabaseError::Unusable(format!(
        "SQLite is {major}.{minor}.{patch}, which may lose committed transactions; \
         legal: 3.51.3 or later"
    )))
}

fn unusable(problem: impl Display) -> DatabaseError {
    DatabaseError::Unusable(problem.to_string())
}

/// Waits for a lock, a little longer at each attempt.
fn wait(tries: i32) -> bool {
    let milliseconds = 1 + tries.clamp(0, 90) as u64 / 10;
    std::thread::sleep(Duration::from_millis(milliseconds));
    tries < MAX_TRIES
}

fn cell(value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
        // No column of a ledger holds a real number. As text, it is read neither as a number nor as an amount.
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
        assert!(
            check_sqlite_version(3_051_003).is_ok()
                && check_sqlite_version(rusqlite::version_number()).is_ok()
        );
        let error = check_sqlite_version(3_051_002).unwrap_err().to_string();
        assert!(error.starts_with("SQLite is 3.51.2,"), "{error}");
    }
}
