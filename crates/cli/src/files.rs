//! Writing files atomically.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use counterpoint_wire::Plan;

/// Writes a plan, as JSON if the file's extension says so; returns a line for the user.
pub(crate) fn write_plan(path: &Path, plan: &Plan) -> Result<String> {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let text = if is_json { plan.to_json()? } else { plan.to_toml()? };
    let written = write_whole(path, text.as_bytes());
    written.with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(format!("the plan was written to {}", path.display()))
}

/// Writes a file atomically: readers see the old content or the new content, even if the program is stopped. First
/// writes a temporary file, and then renames it.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = write(&draft, content).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // An error of writing matters more than an error of removing the temporary file.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}
