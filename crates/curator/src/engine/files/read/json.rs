//! Reads JSON lines: each line is an object whose fields are the columns. An absent field is a missing value.

use super::block::Block;
use super::columns::{Cell, Layout};
use super::numbers::unsigned;
use memchr::{memchr_iter, memrchr};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt::Formatter;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};

/// The number of bytes read at a time.
const BLOCK: usize = 1 << 20;
/// The longest line, in bytes.
const LONGEST: usize = 16 << 20;
/// The number of first lines whose objects determine the columns.
const FIRST_LINES: usize = 1_000;

/// A file that is read line by line.
#[derive(Debug)]
pub(super) struct LineReader {
    file: File,
    buffer: Vec<u8>,
    is_at_end: bool,
    line: u64,
}

/// Complete lines, and the number of the first.
#[derive(Debug)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    line: u64,
}

impl LineReader {
    pub(super) fn open(file: File) -> Self {
        Self { file, buffer: Vec::new(), is_at_end: false, line: 1 }
    }

    /// The next lines; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Lines>, Error> {
        loop {
            let end = match memrchr(b'\n', &self.buffer) {
                Some(end) => end + 1,
                // The last line, or the start of a line that is too long; its parts are not objects and so are errors.
                None if self.is_at_end || self.buffer.len() > LONGEST => self.buffer.len(),
                None => 0,
            };
            if end > 0 {
                let rest = self.buffer.split_off(end);
                let bytes = std::mem::replace(&mut self.buffer, rest);
                let line = self.line;
                self.line += memchr_iter(b'\n', &bytes).count() as u64;
                return Ok(Some(Lines { bytes, line }));
            }
            if self.is_at_end {
                return Ok(None);
            }
            let read = (&mut self.file).take(BLOCK as u64).read_to_end(&mut self.buffer)?;
            self.is_at_end = read == 0;
        }
    }

    /// The columns of the first objects.
    pub(super) fn columns(mut self) -> Result<Vec<String>, Error> {
        let mut names = BTreeSet::new();
        if let Some(lines) = self.next()? {
            for (line, _) in lines.iter().take(FIRST_LINES) {
                let object: Result<serde_json::Map<String, serde_json::Value>, _> =
                    serde_json::from_slice(line);
                names.extend(
                    object.into_iter().flat_map(|object| object.into_iter().map(|(name, _)| name)),
                );
            }
        }
        if names.is_empty() {
            let problem = "the file begins with no object; legal: a JSON object on each line";
            return Err(Error::new(ErrorKind::InvalidData, problem));
        }
        Ok(names.into_iter().collect())
    }
}

impl Lines {
    /// The lines that are not blank, with their numbers.
    fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let lines = self.bytes.split(|byte| *byte == b'\n').zip(self.line..);
        lines.filter(|(line, _)| !line.trim_ascii().is_empty())
    }

    pub(super) fn read(&self, layout: &Layout, block: &mut Block<'_>) {
        let mut values: Vec<JsonValue> = Vec::new();
        for (line, number) in self.iter() {
            values.clear();
            values.resize(layout.columns.len(), JsonValue::Missing);
            let mut json = serde_json::Deserializer::from_slice(line);
            let row = Row { layout, values: &mut values };
            if let Err(error) = row.deserialize(&mut json).and_then(|()| json.end()) {
                block.push_unreadable(|| format!("line {number}: {error}"));
                continue;
            }
            for (place, value) in values.iter().enumerate() {
                block.push(place, value.cell());
            }
        }
    }
}

/// The value of a field. Lists and objects count as missing.
#[derive(Clone, Debug, PartialEq)]
enum JsonValue {
    Missing,
    Whole(i64),
    /// A whole number beyond 64 signed bits.
    Long(u64),
    Real(f64),
    Text(String),
}

impl JsonValue {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Whole(whole) => Cell::Whole(*whole),
            Self::Long(long) => unsigned(*long),
            Self::Real(real) => Cell::Real(*real),
            Self::Text(text) => Cell::Text(text.as_bytes()),
        }
    }
}

/// Reads an object into the values of the wanted columns.
struct Row<'a> {
    layout: &'a Layout,
    values: &'a mut Vec<JsonValue>,
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let is_it = |(_, (own, _)): &(usize, &(String, _))| own.eq_ignore_ascii_case(&name);
            let mut places = self.layout.columns.iter().enumerate().filter(is_it);
            let Some((first, _)) = places.next() else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value_seed(AnyValue)?;
            for (place, _) in places {
                if let Some(own) = self.values.get_mut(place) {
                    own.clone_from(&value);
                }
            }
            if let Some(own) = self.values.get_mut(first) {
                *own = value;
            }
        }
        Ok(())
    }
}

/// Reads any value.
struct AnyValue;

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = JsonValue;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<JsonValue, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = JsonValue;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Missing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Whole(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
        Ok(i64::try_from(value).map_or(JsonValue::Long(value), JsonValue::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonValue, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(JsonValue::Missing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(JsonValue::Missing)
    }
}
