//! The first line of a CSV file.

use std::io::Read;

use super::bytes::Bytes;
use crate::text::error::PlanError;

/// The longest header, in bytes.
const MOST_BYTES: u64 = 1 << 20;
const LEGAL: &str = "a first line with the name of every column, separated by commas";

/// Returns the names of the columns. Nothing after the first line is read, not even if a quote is not closed.
pub(super) fn names(source: impl Read) -> Result<Vec<String>, PlanError> {
    let mut bytes = Bytes::new(source, MOST_BYTES);
    let mut next = after_mark(&mut bytes)?;
    if next.is_none() {
        return Err(PlanError::plan(format!("is empty; legal: {LEGAL}")));
    }
    if ends(next) {
        return Err(PlanError::plan(format!("has an empty first line; legal: {LEGAL}")));
    }
    let mut names = Vec::new();
    loop {
        let mut name = Vec::new();
        if next == Some(b'"') {
            next = quoted(&mut bytes, &mut name, names.len() + 1)?;
        } else {
            while !ends(next) && next != Some(b',') {
                name.extend(next);
                next = bytes.next()?;
            }
        }
        let place = names.len() + 1;
        names.push(String::from_utf8(name).map_err(|_| {
            PlanError::plan(format!(
                "has a name that is not UTF-8, of column {place}; legal: UTF-8"
            ))
        })?);
        if ends(next) {
            return separated(names);
        }
        next = bytes.next()?;
    }
}

/// True if the first line ends with this byte.
fn ends(byte: Option<u8>) -> bool {
    matches!(byte, None | Some(b'\n' | b'\r'))
}

/// Returns the first byte after the byte-order mark, if there is one.
fn after_mark(bytes: &mut Bytes<impl Read>) -> Result<Option<u8>, PlanError> {
    let first = bytes.next()?;
    if first != Some(0xef) {
        return Ok(first);
    }
    if (bytes.next()?, bytes.next()?) != (Some(0xbb), Some(0xbf)) {
        return Err(PlanError::plan("has a first line that is not UTF-8; legal: UTF-8"));
    }
    bytes.next()
}

/// Reads a quoted name; returns the byte after its closing quote.
fn quoted(
    bytes: &mut Bytes<impl Read>,
    name: &mut Vec<u8>,
    place: usize,
) -> Result<Option<u8>, PlanError> {
    let wrong = |problem: &str| {
        let legal = "a closing quote at its end, on the first line";
        Err(PlanError::plan(format!("has {problem} in the name of column {place}; legal: {legal}")))
    };
    loop {
        match bytes.next()? {
            Some(b'"') => match bytes.next()? {
                Some(b'"') => name.push(b'"'),
                next if ends(next) || next == Some(b',') => return Ok(next),
                _ => return wrong("text behind a closing quote"),
            },
            end if ends(end) => return wrong("a quote that is not closed"),
            byte => name.extend(byte),
        }
    }
}

/// Refuses a line whose columns are separated by another character.
fn separated(names: Vec<String>) -> Result<Vec<String>, PlanError> {
    match names.as_slice() {
        [one] if one.contains([';', '\t', '|']) => {
            Err(PlanError::plan(format!("has no comma in its first line; legal: {LEGAL}")))
        }
        _ => Ok(names),
    }
}
