//! Files written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that whoever looks, and whenever the program is stopped, sees the old
/// content or the new one: into another file first, which then takes the name.
pub(crate) fn write_whole(path: &Path, content: &str) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = write(&draft, content).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What went wrong before is the better story.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}
