//! Files that nobody but their owner can read.

#[cfg(unix)]
use std::io::ErrorKind;
use std::path::Path;

/// Gives a file, and what SQLite keeps beside it, mode 600. A new file has it from its creation on, and SQLite gives log and
/// index the mode of the database. Files that are there are never opened: closing one would drop SQLite's locks.
#[cfg(unix)]
pub(super) fn keep_private(file: &Path) -> std::io::Result<()> {
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
        // Log and index may be gone by now, or not be there.
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
pub(super) fn keep_private(_: &Path) -> std::io::Result<()> {
    Ok(())
}
