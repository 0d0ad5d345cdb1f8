//! Reading plans and other files, or standard input.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use counterpoint_studies::Simulation;
use counterpoint_wire::{Blank, Format, Plan};

/// Enough for a plan of 10^7 releases with short names.
const MAX_BYTES: u64 = 1 << 32;

const LEGAL: &str = "a file that can be read, or - for standard input";

/// Reads a plan, which may leave out the `blank` and name files in its folder; `-` is standard input.
pub(crate) fn plan(path: &str, blank: Option<Blank<'_>>) -> Result<Plan> {
    let (bytes, name) = match path {
        "-" => (read(io::stdin().lock(), 0)?, None),
        _ => (file(path)?, Some(Path::new(path))),
    };
    let folder = name.and_then(Path::parent).unwrap_or(Path::new(""));
    Ok(Plan::parse_in(folder, &bytes, Format::detect(name, &bytes), blank)?)
}

/// Reads a plan with the exact values of its numbers, if it consists of guarantees; `-` is standard input.
pub(crate) fn exact_numbers_plan(path: &str) -> Result<Plan> {
    let (bytes, name) = match path {
        "-" => (read(io::stdin().lock(), 0)?, None),
        _ => (file(path)?, Some(Path::new(path))),
    };
    let folder = name.and_then(Path::parent).unwrap_or(Path::new(""));
    let format = Format::detect(name, &bytes);
    let plan = Plan::parse_in(folder, &bytes, format, None)?;
    Ok(if plan.precise_plan()?.is_some() { Plan::parse_exactly(&bytes, format)? } else { plan })
}

/// Reads a plan with exact amounts; `-` is standard input.
#[cfg(feature = "ledger")]
pub(crate) fn exact_plan(path: &str) -> Result<counterpoint_wire::ledger::ExactPlan> {
    let (bytes, name) = match path {
        "-" => (read(io::stdin().lock(), 0)?, None),
        _ => (file(path)?, Some(Path::new(path))),
    };
    Ok(counterpoint_wire::ledger::ExactPlan::parse(&bytes, Format::detect(name, &bytes))?)
}

/// Reads a simulation file; `-` is standard input.
pub(crate) fn simulation(path: &str) -> Result<Simulation> {
    let bytes = bytes(path)?;
    let name = (path != "-").then(|| Path::new(path));
    Ok(Simulation::parse(&bytes, Format::detect(name, &bytes))?)
}

/// Reads any file; `-` is standard input.
pub(crate) fn bytes(path: &str) -> Result<Vec<u8>> {
    if path == "-" { read(io::stdin().lock(), 0) } else { file(path) }
}

/// The name of an input in errors.
pub(crate) fn input_name(path: &str) -> String {
    if path == "-" { "standard input".to_owned() } else { path.to_owned() }
}

fn file(path: &str) -> Result<Vec<u8>> {
    let about = fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        bail!("is a directory; legal: {LEGAL}");
    }
    read(File::open(path).map_err(unreadable)?, about.len())
}

fn read(source: impl Read, expected: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let expected = usize::try_from(expected.min(MAX_BYTES)).unwrap_or_default();
    bytes.try_reserve(expected).context("does not fit into memory")?;
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("is too long; legal: at most {MAX_BYTES} bytes");
    }
    Ok(bytes)
}

fn unreadable(error: io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot be read: {error}; legal: {LEGAL}")
}
