//! Reading plans in JSON, release by release.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::builder::Builder;
use super::{NumberMode, Plan};
use crate::text::error::PlanError;
use crate::text::value::{Key, Table, Value, push_field};

pub(super) fn read(text: &str, builder: Builder) -> Result<Plan, PlanError> {
    let mut reader = Reader { builder, ..Reader::default() };
    let mut source = serde_json::Deserializer::from_str(text);
    let outcome = ThePlan(&mut reader).deserialize(&mut source).and_then(|()| source.end());
    match (outcome, reader.failure.take()) {
        (Ok(()), _) => reader.builder.finish(),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) => Err(reader.place(syntax(text, &error))),
    }
}

/// Reads a document as one table.
pub(super) fn table(text: &str, numbers: NumberMode) -> Result<Table<'_>, PlanError> {
    let doubles = || serde_json::from_str::<Value<'_>>(text);
    let read = match numbers {
        NumberMode::Doubles => doubles(),
        // The reader of doubles reports what is wrong.
        NumberMode::Exact => doubles().and_then(|_| exact_lists(text, numbers)),
        NumberMode::Texts => exact_lists(text, numbers),
    };
    match read {
        Ok(Value::Table(table)) => Ok(table),
        Ok(other) => Err(PlanError::plan(format!("is {other}; legal: an object"))),
        Err(error) => Err(PlanError::plan(syntax(text, &error))),
    }
}

/// The plan, and the place that is being read.
#[derive(Default)]
struct Reader<'a> {
    builder: Builder,
    /// The name of the release that is being read, once it was read.
    name: Option<Cow<'a, str>>,
    /// True while a release is being read.
    in_release: bool,
    /// The field that is being read.
    field: Option<Cow<'a, str>>,
    /// The error that stopped reading, unless the parser found it.
    failure: Option<PlanError>,
}

impl Reader<'_> {
    /// Stops reading: the parser learns only that something failed.
    fn fail<E: de::Error>(&mut self, failure: PlanError) -> E {
        self.failure = Some(failure);
        E::custom("")
    }

    /// Adds the place to an error of the parser.
    fn place(&self, problem: String) -> PlanError {
        let error = match &self.field {
            Some(field) => PlanError::field(field, problem),
            None => PlanError::plan(problem),
        };
        if self.in_release {
            error.in_release(self.builder.len() + 1, self.name.as_deref())
        } else {
            error
        }
    }
}

/// Words an error of the parser, with the number that it is about.
fn syntax(text: &str, error: &serde_json::Error) -> String {
    let message = error.to_string();
    if !message.starts_with("number out of range") {
        return format!("cannot be read as JSON: {message}");
    }
    let number = Value::TooLarge(number_at(text, error.line(), error.column()).to_owned());
    format!("is {number}, too large for a number; legal: less than 1.8e308 ({message})")
}

/// Returns the number around a position; lines and columns are counted from 1.
fn number_at(text: &str, line: usize, column: usize) -> &str {
    let line = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let in_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let (before, after) = line.split_at_checked(column).unwrap_or((line, ""));
    let start = before.trim_end_matches(in_number).len();
    let end = line.len() - after.trim_start_matches(in_number).len();
    &line[start..end]
}

/// Reads the next value, its numbers as doubles or exactly.
fn next_value<'de, A: MapAccess<'de>>(
    entries: &mut A,
    exact: bool,
) -> Result<Value<'de>, A::Error> {
    if !exact {
        return entries.next_value();
    }
    let raw: &'de RawValue = entries.next_value()?;
    exact_value(raw.get()).map_err(de::Error::custom)
}

/// Reads a value exactly from its text; of a table, such as a target, every field from its own text.
fn exact_value(text: &str) -> Result<Value<'_>, serde_json::Error> {
    if !text.starts_with('{') {
        return Ok(serde_json::from_str::<Value<'_>>(text)?.with_exact_text(text));
    }
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    let field = |(key, raw): (String, _)| Ok((key.into(), exact_value(RawValue::get(raw))?));
    fields.into_iter().map(field).collect::<Result<_, _>>().map(Value::Table)
}

/// Reads a value exactly like [`exact_value`], and every item of a list from its own text too.
fn exact_lists(text: &str, numbers: NumberMode) -> Result<Value<'_>, serde_json::Error> {
    match text.trim_start().chars().next() {
        Some('{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let field = |(key, raw): (String, _)| {
                Ok((key.into(), exact_lists(RawValue::get(raw), numbers)?))
            };
            fields.into_iter().map(field).collect::<Result<_, _>>().map(Value::Table)
        }
        Some('[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            let items = items.into_iter().map(|raw| exact_lists(raw.get(), numbers));
            items.collect::<Result<_, _>>().map(Value::List)
        }
        Some('0'..='9' | '-') if numbers == NumberMode::Texts => {
            Ok(Value::Text(text.trim().into()))
        }
        _ => exact_value(text),
    }
}

struct ThePlan<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for ThePlan<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ThePlan<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan: an object with delta or epsilon, and release")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let reader = self.0;
        while let Some(Key(key)) = entries.next_key()? {
            reader.builder.announce(&key).map_err(|failure| reader.fail(failure))?;
            reader.field = Some(key.clone());
            if key == "release" {
                entries.next_value_seed(Releases(reader))?;
            } else {
                let value = next_value(&mut entries, reader.builder.exact)?;
                reader.builder.set(&key, &value).map_err(|failure| reader.fail(failure))?;
            }
            reader.field = None;
        }
        Ok(())
    }
}

struct Releases<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for Releases<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Releases<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of releases")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let reader = self.0;
        while items.next_element_seed(OneRelease(reader))?.is_some() {}
        Ok(())
    }
}

struct OneRelease<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for OneRelease<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.in_release = true;
        self.0.field = None;
        self.0.name = None;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneRelease<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a release: an object with a mechanism and its fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let reader = self.0;
        let mut table = Table::new();
        while let Some(Key(key)) = entries.next_key()? {
            reader.field = Some(key.clone());
            let value: Value<'de> = next_value(&mut entries, reader.builder.exact)?;
            if let (Value::Text(text), "name") = (&value, &*key) {
                reader.name = Some(text.clone());
            }
            reader.field = None;
            push_field(&mut table, key, value)
                .map_err(|error| reader.fail(reader.place(error.problem)))?;
        }
        let added = reader.builder.release(Value::Table(table));
        added.map_err(|failure| reader.fail(failure))?;
        reader.in_release = false;
        Ok(())
    }
}
