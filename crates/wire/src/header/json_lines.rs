//! The keys of the first record of JSON lines.

use std::io::Read;

use super::bytes::Bytes;
use crate::text::error::PlanError;

/// The longest first line, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the keys of the object on the first line. Values are skipped, and nothing after the object is read.
pub(super) fn keys(source: impl Read) -> Result<Vec<String>, PlanError> {
    let mut bytes = Bytes::new(source, MOST_BYTES);
    let mut next = bytes.next()?;
    if next.is_none() {
        return Err(PlanError::plan("is empty; legal: an object on each line"));
    }
    while matches!(next, Some(0xef | 0xbb | 0xbf | b' ' | b'\t')) {
        next = bytes.next()?;
    }
    if next != Some(b'{') {
        return Err(wrong());
    }
    let mut keys = Vec::new();
    loop {
        match visible(&mut bytes)? {
            b'}' if keys.is_empty() => return Ok(keys),
            b'"' => keys.push(key(&mut bytes)?),
            _ => return Err(wrong()),
        }
        if visible(&mut bytes)? != b':' {
            return Err(wrong());
        }
        if pass_value(&mut bytes)? == b'}' {
            return Ok(keys);
        }
    }
}

fn wrong() -> PlanError {
    PlanError::plan("has no JSON object as its first line; legal: an object on each line")
}

/// Returns the next byte of the first line.
fn byte(bytes: &mut Bytes<impl Read>) -> Result<u8, PlanError> {
    bytes.next()?.filter(|byte| !matches!(byte, b'\n' | b'\r')).ok_or_else(wrong)
}

fn visible(bytes: &mut Bytes<impl Read>) -> Result<u8, PlanError> {
    loop {
        match byte(bytes)? {
            b' ' | b'\t' => {}
            other => return Ok(other),
        }
    }
}

/// Reads a key whose opening quote has been read.
fn key(bytes: &mut Bytes<impl Read>) -> Result<String, PlanError> {
    let mut raw = vec![b'"'];
    pass_text(bytes, |byte| raw.push(byte))?;
    serde_json::from_slice(&raw).map_err(|_| wrong())
}

/// Skips a text up to its closing quote.
fn pass_text(bytes: &mut Bytes<impl Read>, mut see: impl FnMut(u8)) -> Result<(), PlanError> {
    let mut is_escaped = false;
    loop {
        let byte = byte(bytes)?;
        see(byte);
        match byte {
            b'"' if !is_escaped => return Ok(()),
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
}

/// Skips a value; returns the comma or brace after it.
fn pass_value(bytes: &mut Bytes<impl Read>) -> Result<u8, PlanError> {
    let mut depth = 0_u64;
    loop {
        match byte(bytes)? {
            b'"' => pass_text(bytes, |_| {})?,
            b'{' | b'[' => depth += 1,
            end @ (b',' | b'}') if depth == 0 => return Ok(end),
            b'}' | b']' => depth = depth.checked_sub(1).ok_or_else(wrong)?,
            _ => {}
        }
    }
}
