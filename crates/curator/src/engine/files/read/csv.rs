//! Reads comma-separated values according to RFC 4180: fields in quotes may hold commas, doubled quotes and line ends.
//! Lines end with LF or CRLF. A byte-order mark and blank lines are skipped.

use super::block::Block;
use super::columns::Cell;
use memchr::{memchr, memchr_iter, memchr3};
use std::fs::File;
use std::io::{Error, ErrorKind, Read};

/// The number of bytes read at a time.
const BLOCK: usize = 1 << 20;
/// The longest record, in bytes. A longer one most likely has a quote that is not closed.
const LONGEST: usize = 16 << 20;
/// The largest number of columns in a header.
const MOST_COLUMNS: usize = 10_000;

/// The byte-order mark of UTF-8.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The first bytes of common files that are not UTF-8 text, with the error for each.
const NO_TEXT: [(&[u8], &str); 4] = [
    (&[0x1f, 0x8b], "is compressed (gzip); legal: the file that gunzip makes of it"),
    (b"PK\x03", "is a ZIP archive or a spreadsheet; legal: the table, saved as CSV"),
    (&[0xff, 0xfe], "is in UTF-16; legal: UTF-8"),
    (&[0xfe, 0xff], "is in UTF-16; legal: UTF-8"),
];

/// A file that is read record by record.
#[derive(Debug)]
pub(super) struct CsvReader {
    file: File,
    buffer: Vec<u8>,
    is_at_end: bool,
    /// The number of the buffer's first line, from 1.
    line: u64,
    /// The number of fields of a record.
    width: usize,
}

/// Complete records, with the bytes of their wanted fields.
#[derive(Debug, Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    line: u64,
    /// The start and end of each field, record by record.
    fields: Vec<(usize, usize)>,
    /// The records that cannot be read: their index, their start and the problem.
    problems: Vec<(usize, usize, Problem)>,
    rows: usize,
}

/// The problem of a record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Problem {
    Quote,
    AfterQuote,
    Unclosed,
    Fields(usize, usize),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Quote => f.write_str("a quote is inside a field that does not begin with one"),
            Self::AfterQuote => f.write_str("text follows the closing quote of a field"),
            Self::Unclosed => f.write_str("a quoted field is not closed"),
            Self::Fields(own, width) => {
                write!(f, "the row has {own} fields, and the header {width}")
            }
        }
    }
}

impl CsvReader {
    /// Opens a file and reads its header. Returns the names of the columns.
    pub(super) fn open(mut file: File) -> Result<(Self, Vec<String>), Error> {
        let mut buffer = Vec::new();
        (&mut file).take(MARK.len() as u64).read_to_end(&mut buffer)?;
        if buffer == MARK {
            buffer.clear();
        }
        if let Some((_, problem)) = NO_TEXT.iter().find(|(first, _)| buffer.starts_with(first)) {
            return Err(Error::new(ErrorKind::InvalidData, *problem));
        }
        let mut reader = Self { file, buffer, is_at_end: false, line: 1, width: 0 };
        let header = reader.header()?;
        reader.width = header.len();
        Ok((reader, header))
    }

    fn header(&mut self) -> Result<Vec<String>, Error> {
        let invalid = |problem: String| Error::new(ErrorKind::InvalidData, problem);
        loop {
            let mut fields = Vec::new();
            let last = self.is_at_end || self.buffer.len() > LONGEST;
            let found = record(&self.buffer, 0, last, |_, start, end| fields.push((start, end)));
            let Some((next, problem)) = found else {
                self.fill()?;
                continue;
            };
            let is_blank = matches!(fields.as_slice(), [(start, end)] if start == end);
            if self.buffer.is_empty() || is_blank && next == self.buffer.len() && last {
                let problem = "the file is empty; legal: a header, then a row on each line";
                return Err(invalid(problem.to_owned()));
            }
            if let Some(problem) = problem {
                return Err(invalid(format!("the header, line {}: {problem}", self.line)));
            }
            if is_blank {
                let problem = "the header is empty; legal: the names of the columns";
                return Err(invalid(problem.to_owned()));
            }
            if fields.len() > MOST_COLUMNS {
                let many = fields.len();
                let problem =
                    format!("the header has {many} columns; legal: at most {MOST_COLUMNS}");
                return Err(invalid(problem));
            }
            let name = |(start, end): &(usize, usize)| {
                let mut room = Vec::new();
                let text = unquoted(self.buffer.get(*start..*end).unwrap_or_default(), &mut room);
                String::from_utf8_lossy(text).trim().to_owned()
            };
            let names: Vec<String> = fields.iter().map(name).collect();
            self.skip(next);
            return Ok(names);
        }
    }

    /// Reads more bytes, if there are more.
    fn fill(&mut self) -> Result<(), Error> {
        let read = (&mut self.file).take(BLOCK as u64).read_to_end(&mut self.buffer)?;
        self.is_at_end = read == 0;
        Ok(())
    }

    /// Drops bytes that have been read.
    fn skip(&mut self, bytes: usize) {
        let rest = self.buffer.split_off(bytes.min(self.buffer.len()));
        self.line += lines(&self.buffer, bytes);
        self.buffer = rest;
    }

    /// The next records; `None` at the end. `wanted` maps each field of the file to its index among the wanted fields.
    pub(super) fn next(
        &mut self,
        wanted: &[Option<usize>],
        many: usize,
    ) -> Result<Option<Records>, Error> {
        loop {
            if self.buffer.len() < BLOCK && !self.is_at_end {
                self.fill()?;
            }
            let mut found = Records { line: self.line, ..Records::default() };
            let mut at = 0;
            while at < self.buffer.len() {
                let last = self.is_at_end || self.buffer.len() - at > LONGEST;
                let Some(next) = self.record(at, last, wanted, many, &mut found) else { break };
                at = next;
            }
            if at > 0 {
                let rest = self.buffer.get(at..).unwrap_or_default().to_vec();
                self.line += lines(&self.buffer, at);
                found.bytes = std::mem::replace(&mut self.buffer, rest);
                if found.rows > 0 {
                    return Ok(Some(found));
                }
            } else if self.is_at_end {
                return Ok(None);
            } else {
                self.fill()?;
            }
        }
    }

    /// Reads one record and returns the start of the next; `None` if the record is incomplete.
    fn record(
        &self,
        at: usize,
        last: bool,
        wanted: &[Option<usize>],
        many: usize,
        found: &mut Records,
    ) -> Option<usize> {
        let (first, mut fields, mut is_blank) = (found.fields.len(), 0, false);
        found.fields.resize(first + many, NOTHING);
        let (next, problem) = record(&self.buffer, at, last, |number, start, end| {
            fields = number + 1;
            is_blank = number == 0 && start == at && end == at;
            if let Some(Some(place)) = wanted.get(number)
                && let Some(field) = found.fields.get_mut(first + place)
            {
                *field = (start, end);
            }
        })
        .or_else(|| {
            found.fields.truncate(first);
            None
        })?;
        if is_blank && fields == 1 && problem.is_none() {
            found.fields.truncate(first);
            return Some(next);
        }
        let ragged = (fields != self.width).then_some(Problem::Fields(fields, self.width));
        if let Some(problem) = problem.or(ragged) {
            found.problems.push((found.rows, at, problem));
        }
        found.rows += 1;
        Some(next)
    }
}

/// The range of a field that is missing.
const NOTHING: (usize, usize) = (usize::MAX, usize::MAX);

/// Reads a record. Calls `field` with the index, start and end of each field, and returns the start of the next record
/// and the record's problem. `None` if the record may continue beyond the bytes. A record that cannot be read ends with
/// its line.
fn record(
    bytes: &[u8],
    from: usize,
    last: bool,
    mut field: impl FnMut(usize, usize, usize),
) -> Option<(usize, Option<Problem>)> {
    let after = |at: usize| bytes.get(at..).unwrap_or_default();
    let line_end = |at: usize, problem: Problem| match memchr(b'\n', after(at)) {
        Some(end) => Some((at + end + 1, Some(problem))),
        None if last => Some((bytes.len(), Some(problem))),
        None => None,
    };
    let (mut at, mut number) = (from, 0);
    loop {
        if bytes.get(at) == Some(&b'"') {
            let mut look = at + 1;
            let close = loop {
                let Some(quote) = memchr(b'"', after(look)) else {
                    return if last { line_end(from, Problem::Unclosed) } else { None };
                };
                match bytes.get(look + quote + 1) {
                    Some(b'"') => look += quote + 2,
                    None if !last => return None,
                    _ => break look + quote,
                }
            };
            field(number, at + 1, close);
            at = close + 1;
            match (bytes.get(at), bytes.get(at + 1)) {
                (Some(b','), _) => at += 1,
                (Some(b'\n'), _) => return Some((at + 1, None)),
                (Some(b'\r'), Some(b'\n')) => return Some((at + 2, None)),
                (Some(b'\r'), None) if last => return Some((at + 1, None)),
                (None, _) if last => return Some((at, None)),
                (None, _) | (Some(b'\r'), None) => return None,
                _ => return line_end(at, Problem::AfterQuote),
            }
        } else {
            let Some(length) = memchr3(b',', b'\n', b'"', after(at)) else {
                if !last {
                    return None;
                }
                field(number, at, bytes.len());
                return Some((bytes.len(), None));
            };
            let end = at + length;
            match bytes.get(end) {
                Some(b',') => field(number, at, end),
                Some(b'\n') => {
                    let is_return = end > at && bytes.get(end - 1) == Some(&b'\r');
                    field(number, at, if is_return { end - 1 } else { end });
                    return Some((end + 1, None));
                }
                _ => return line_end(at, Problem::Quote),
            }
            at = end + 1;
        }
        number += 1;
    }
}

/// A field's text, with doubled quotes replaced by single ones.
fn unquoted<'a>(field: &'a [u8], room: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr(b'"', field).is_none() {
        return field;
    }
    room.clear();
    let mut is_doubled = false;
    for byte in field {
        is_doubled = *byte == b'"' && !is_doubled;
        if *byte != b'"' || is_doubled {
            room.push(*byte);
        }
    }
    room
}

/// The number of line ends before a place.
fn lines(bytes: &[u8], before: usize) -> u64 {
    memchr_iter(b'\n', bytes.get(..before).unwrap_or(bytes)).count() as u64
}

impl Records {
    /// The number of the line at a place.
    fn line_at(&self, place: usize) -> u64 {
        self.line + lines(&self.bytes, place)
    }

    /// Reads the wanted fields into a block. `places` maps each column of the block to its index among the wanted
    /// fields.
    pub(super) fn read(&self, places: &[usize], many: usize, block: &mut Block<'_>) {
        let mut problems = self.problems.iter().peekable();
        let mut room = Vec::new();
        for row in 0..self.rows {
            if let Some((_, at, problem)) = problems.next_if(|(bad, ..)| *bad == row) {
                block.push_unreadable(|| format!("line {}: {problem}", self.line_at(*at)));
                continue;
            }
            for (place, field) in places.iter().enumerate() {
                let field = self.fields.get(row * many + field).copied().unwrap_or(NOTHING);
                let text = self.bytes.get(field.0..field.1).unwrap_or_default();
                if block.is_watched() && std::str::from_utf8(text).is_err() {
                    let line = self.line_at(field.0);
                    block.complain(|| format!("line {line}: a field is not in UTF-8"));
                }
                block.push(place, Cell::Written(unquoted(text, &mut room)));
            }
        }
    }
}
