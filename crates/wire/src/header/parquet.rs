//! The schema in the footer of a Parquet file.
//!
//! The footer is a `FileMetaData` of Thrift's compact protocol. Its second field is the schema. The fields after it,
//! such as the number of rows and the statistics of columns, describe the data and are not read.
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>

use std::io::{Read, Seek, SeekFrom};

use super::bytes::{Bytes, unreadable};
use crate::codebook::ColumnContent;
use crate::text::error::PlanError;

/// The longest schema, in bytes.
const MOST_BYTES: u64 = 1 << 24;
/// The deepest nesting of a value that is skipped.
const DEEPEST: u32 = 32;

/// Returns the columns at the top of the schema, with their contents.
pub(super) fn columns(
    mut source: impl Read + Seek,
) -> Result<Vec<(String, ColumnContent)>, PlanError> {
    let mut end = [0; 8];
    source.seek(SeekFrom::End(-8)).map_err(|_| wrong())?;
    source.read_exact(&mut end).map_err(|error| unreadable(&error))?;
    let [a, b, c, d, magic @ ..] = end;
    match &magic {
        b"PAR1" => {}
        b"PARE" => {
            let problem = "has an encrypted footer; legal: a Parquet file with a plain footer";
            return Err(PlanError::plan(problem));
        }
        _ => return Err(wrong()),
    }
    let length = u32::from_le_bytes([a, b, c, d]);
    source.seek(SeekFrom::End(-8 - i64::from(length))).map_err(|_| wrong())?;
    let limit = MOST_BYTES.min(u64::from(length));
    Thrift { bytes: Bytes::new(source, limit) }.schema()
}

fn wrong() -> PlanError {
    PlanError::plan("is not a Parquet file; legal: one with its schema in its footer")
}

struct Thrift<R> {
    bytes: Bytes<R>,
}

/// An element of a schema, as far as it is used.
#[derive(Default)]
struct Element {
    name: Vec<u8>,
    physical: Option<i64>,
    converted: Option<i64>,
    repetition: Option<i64>,
    children: i64,
}

impl<R: Read> Thrift<R> {
    fn schema(&mut self) -> Result<Vec<(String, ColumnContent)>, PlanError> {
        let mut field = 0;
        loop {
            match self.field(&mut field)? {
                None => return Err(wrong()),
                Some(9) if field == 2 => break,
                Some(kind) => self.pass(kind, 0)?,
            }
        }
        let (elements, kind) = self.list()?;
        if kind != 12 || elements == 0 {
            return Err(wrong());
        }
        let root = self.element()?;
        let mut columns = Vec::new();
        for _ in 0..root.children {
            let element = self.element()?;
            let mut beneath = element.children;
            while beneath > 0 {
                beneath = beneath.saturating_sub(1).saturating_add(self.element()?.children);
            }
            let holds = holds(&element);
            let name = String::from_utf8(element.name)
                .map_err(|_| PlanError::plan("has a name that is not UTF-8; legal: UTF-8"))?;
            columns.push((name, holds));
        }
        Ok(columns)
    }

    fn element(&mut self) -> Result<Element, PlanError> {
        let mut element = Element::default();
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1, 5) => element.physical = Some(self.whole()?),
                (3, 5) => element.repetition = Some(self.whole()?),
                (4, 8) => element.name = self.binary()?,
                (5, 5) => element.children = self.whole()?.max(0),
                (6, 5) => element.converted = Some(self.whole()?),
                _ => self.pass(kind, 0)?,
            }
        }
        Ok(element)
    }

    fn byte(&mut self) -> Result<u8, PlanError> {
        self.bytes.next()?.ok_or_else(wrong)
    }

    fn varint(&mut self) -> Result<u64, PlanError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(wrong())
    }

    fn whole(&mut self) -> Result<i64, PlanError> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn binary(&mut self) -> Result<Vec<u8>, PlanError> {
        let length = self.varint()?;
        (0..length).map(|_| self.byte()).collect()
    }

    /// Returns the type of the next field, or `None` at the end of the structure; the field's number goes to `field`.
    fn field(&mut self, field: &mut i64) -> Result<Option<u8>, PlanError> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *field = match i64::from(head >> 4) {
            0 => self.whole()?,
            step => field.saturating_add(step),
        };
        Ok(Some(head & 0x0f))
    }

    /// Returns the length of a list, and the type of its items.
    fn list(&mut self) -> Result<(u64, u8), PlanError> {
        let head = self.byte()?;
        let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Ok((length, head & 0x0f))
    }

    /// Skips a value.
    fn pass(&mut self, kind: u8, depth: u32) -> Result<(), PlanError> {
        if depth > DEEPEST {
            return Err(wrong());
        }
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => (0..8).try_for_each(|_| self.byte().map(drop))?,
            8 => drop(self.binary()?),
            9 | 10 => {
                let (length, kind) = self.list()?;
                for _ in 0..length {
                    self.pass_entry(kind, depth)?;
                }
            }
            11 => {
                let length = self.varint()?;
                let kinds = if length == 0 { 0 } else { self.byte()? };
                for _ in 0..length {
                    self.pass_entry(kinds >> 4, depth)?;
                    self.pass_entry(kinds & 0x0f, depth)?;
                }
            }
            12 => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.pass(kind, depth + 1)?;
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Skips an entry of a list or a map, where a truth value takes one byte.
    fn pass_entry(&mut self, kind: u8, depth: u32) -> Result<(), PlanError> {
        if matches!(kind, 1 | 2) { self.byte().map(drop) } else { self.pass(kind, depth + 1) }
    }
}

/// Returns the content of a column, by its physical and converted type.
fn holds(element: &Element) -> ColumnContent {
    const REPEATED: i64 = 2;
    if element.children > 0 || element.repetition == Some(REPEATED) {
        return ColumnContent::Nested;
    }
    const DECIMAL: i64 = 5;
    let numbers = ColumnContent::Numbers { low: None, high: None };
    match (element.physical, element.converted) {
        (Some(0), _) => ColumnContent::Truths,
        (Some(3), _) | (_, Some(6..=10)) => ColumnContent::Dates,
        (_, Some(DECIMAL)) | (Some(1 | 2 | 4 | 5), _) => numbers,
        (Some(6 | 7), _) => ColumnContent::Texts,
        _ => ColumnContent::Unknown,
    }
}
