//! Files that only their owner can read.

use rusqlite::{Connection, ErrorCode};
#[cfg(unix)]
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest wait for the locks of other connections.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The reason why a private file cannot be opened, after its path.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct OpenError(String);

/// Opens a private SQLite file with a write-ahead log and runs `schema` on it. Creates the file if it does not exist.
pub(super) fn open_private(file: &Path, schema: &str) -> Result<Connection, OpenError> {
    let named = |error: &dyn std::fmt::Display| OpenError(format!("{}: {error}", file.display()));
    keep_private(file).map_err(|error| named(&error))?;
    let connection = Connection::open(file).map_err(|error| named(&error))?;
    connection.busy_timeout(LOCK_WAIT).map_err(|error| named(&error))?;
    let deadline = Instant::now() + LOCK_WAIT;
    // Two connections that switch to the log at once could deadlock, so SQLite fails one of them without waiting.
    while let Err(error) = connection
        .execute_batch("PRAGMA journal_mode = WAL")
        .and_then(|()| connection.execute_batch(schema))
    {
        if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || Instant::now() > deadline {
            return Err(named(&error));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(connection)
}

/// Sets mode 600 on a file and on SQLite's files beside it. A new file has the mode from its creation, and SQLite gives
/// log and index the database's mode. Existing files are never opened, as closing one would drop SQLite's locks.
#[cfg(unix)]
fn keep_private(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = std::fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    for end in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        // Log and index may be absent.
        let Ok(metadata) = std::fs::metadata(&name) else { continue };
        if metadata.permissions().mode() & 0o077 == 0 {
            continue;
        }
        match std::fs::set_permissions(&name, PermissionsExt::from_mode(0o600)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_private(_: &Path) -> std::io::Result<()> {
    Ok(())
}
