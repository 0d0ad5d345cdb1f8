//! Files written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use counterpoint_wire::Plan;

/// Writes a plan, in JSON if that is the file's extension; what to say of it.
pub(crate) fn write_plan(path: &Path, plan: &Plan) -> Result<String> {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let text = if is_json { plan.to_json()? } else { plan.to_toml()? };
    let written = write_whole(path, text.as_bytes());
    written.with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(format!("the plan is in {}", path.display()))
}

/// Writes a file so that whoever looks, and whenever the program is stopped, sees the old
/// content or the new one: into another file first, which then takes the name.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = write(&draft, content).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What went wrong before is the better story.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}
