//! Reading plans in TOML. A parsed document takes ten to several hundred times the memory of its text, so a long file
//! is cut between releases and parsed in pieces.

use std::borrow::Cow;
use std::ops::Range;

use toml::de::{DeFloat, DeInteger, DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::builder::Builder;
use super::{NumberMode, Plan};
use crate::text::error::{PlanError, quoted};
use crate::text::value::{Table, Value};

/// Pieces this long parse fastest.
const PIECE_BYTES: usize = 16_000;

/// The longest piece that is parsed.
const MOST_BYTES: usize = 1 << 23;

pub(super) fn read(text: &str, builder: Builder) -> Result<Plan, PlanError> {
    read_in_pieces(text, PIECE_BYTES, builder)
}

/// Reads a document as one table.
pub(super) fn table(text: &str, numbers: NumberMode) -> Result<Table<'_>, PlanError> {
    let parsed = match numbers {
        // A plan that was read in pieces may be longer than [`MOST_BYTES`].
        NumberMode::Texts => DeTable::parse(text)
            .map(|table| table.into_inner())
            .map_err(|error| PlanError::plan(error.message()))?,
        _ => parse(text, 0..text.len(), &Builder::default())?,
    };
    match value(DeValue::Table(parsed), numbers) {
        Value::Table(table) => Ok(table),
        other => Err(PlanError::plan(format!("is {other}; legal: a table"))),
    }
}

/// Reads the part before the first `[[release]]` header, then the releases in pieces of about this many bytes.
///
/// Every piece begins with a header, so as a document of its own it has the meaning that it has in its place, unless
/// the first part defines `release` too, in another way. Then the text is read as a whole.
pub(crate) fn read_in_pieces(
    text: &str,
    bytes: usize,
    mut builder: Builder,
) -> Result<Plan, PlanError> {
    let mut headers = headers(text).peekable();
    let first = headers.peek().copied().unwrap_or(text.len());
    let head = parse(text, 0..first, &builder)?;
    if head.get("release").is_some() && first < text.len() {
        let whole = parse(text, 0..text.len(), &builder)?;
        add(&mut builder, whole)?;
        return builder.finish();
    }
    add(&mut builder, head)?;
    let mut start = first;
    while start < text.len() {
        let end = headers.find(|&at| at >= start.saturating_add(bytes)).unwrap_or(text.len());
        let piece = parse(text, start..end, &builder)?;
        add(&mut builder, piece)?;
        start = end;
    }
    builder.finish()
}

/// Returns the positions of the lines that are `[[release]]` headers. If the text may have strings of several lines,
/// the lexer skips such lines within strings. Within a list there is no such line, since a bare word is not a value.
fn headers(text: &str) -> Box<dyn Iterator<Item = usize> + '_> {
    let begins = |at: &usize| is_header(&text[*at..]);
    if !text.contains("\"\"\"") && !text.contains("'''") {
        let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        return Box::new(std::iter::once(0).chain(after_newlines).filter(begins));
    }
    let after_newlines = Source::new(text)
        .lex()
        .filter(|token| token.kind() == TokenKind::Newline)
        .map(|token| token.span().end());
    Box::new(std::iter::once(0).chain(after_newlines).filter(begins))
}

fn is_header(line: &str) -> bool {
    let space = [' ', '\t'];
    line.trim_start_matches(space)
        .strip_prefix("[[")
        .and_then(|rest| rest.trim_start_matches(space).strip_prefix("release"))
        .is_some_and(|rest| rest.trim_start_matches(space).starts_with("]]"))
}

/// Parses part of a text as a document of its own.
fn parse<'a>(
    text: &'a str,
    part: Range<usize>,
    before: &Builder,
) -> Result<DeTable<'a>, PlanError> {
    if part.len() > MOST_BYTES {
        return Err(PlanError::plan(format!(
            "from line {} on there is no [[release]] header for {} bytes; legal: one at least \
             every {MOST_BYTES} bytes, or JSON",
            line_and_column(text, part.start).0,
            part.len(),
        )));
    }
    let parsed = DeTable::parse(&text[part.clone()]);
    parsed.map(|table| table.into_inner()).map_err(|error| syntax(text, &part, before, &error))
}

/// Adds the place in the whole text to an error of the parser.
fn syntax(text: &str, part: &Range<usize>, before: &Builder, error: &toml::de::Error) -> PlanError {
    let span = error.span().unwrap_or(0..0);
    let at = part.start + span.start;
    let near = text.get(at..part.start + span.end).unwrap_or_default().trim();
    let near = if near.is_empty() { String::new() } else { format!(" near {}", quoted(near)) };
    let (line, column) = line_and_column(text, at);
    let error = PlanError::plan(format!(
        "cannot be read as TOML: {}{near} at line {line} column {column}",
        error.message()
    ));
    let within = text.get(part.start..at).map_or(0, |text| headers(text).count());
    if within > 0 { error.in_release(before.len() + within, None) } else { error }
}

/// The line and the column of a position, counted from 1.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line, column)
}

/// Adds a document's fields to the plan, the version first: the other fields depend on it.
fn add(builder: &mut Builder, mut table: DeTable<'_>) -> Result<(), PlanError> {
    let numbers = if builder.exact { NumberMode::Exact } else { NumberMode::Doubles };
    if let Some(version) = table.remove("version") {
        builder.announce("version")?;
        builder.set("version", &value(version.into_inner(), numbers))?;
    }
    for (key, item) in table {
        match (key.get_ref().as_ref(), item.into_inner()) {
            ("release", DeValue::Array(releases)) => {
                for release in releases {
                    builder.release(value(release.into_inner(), numbers))?;
                }
            }
            (key, item) => {
                builder.announce(key)?;
                builder.set(key, &value(item, numbers))?;
            }
        }
    }
    Ok(())
}

fn value(item: DeValue<'_>, numbers: NumberMode) -> Value<'_> {
    match item {
        DeValue::String(text) => Value::Text(text),
        DeValue::Integer(number) => whole(&number),
        DeValue::Float(number) => match numbers {
            NumberMode::Doubles => real(&number),
            NumberMode::Exact => real(&number).with_exact_text(number.as_str()),
            NumberMode::Texts => Value::Text(number.as_str().to_owned().into()),
        },
        DeValue::Boolean(truth) => Value::Bool(truth),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            Value::List(items.into_iter().map(|item| value(item.into_inner(), numbers)).collect())
        }
        DeValue::Table(table) => Value::Table(
            table
                .into_iter()
                .map(|(key, item)| -> (Cow<'_, str>, _) {
                    (key.into_inner(), value(item.into_inner(), numbers))
                })
                .collect(),
        ),
    }
}

fn whole(number: &DeInteger<'_>) -> Value<'static> {
    i128::from_str_radix(number.as_str(), number.radix())
        .map_or_else(|_| Value::TooLarge(number.to_string()), Value::Whole)
}

fn real(number: &DeFloat<'_>) -> Value<'static> {
    let text = number.as_str();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() || text.contains(['n', 'N']) => Value::Real(number),
        _ => Value::TooLarge(text.to_owned()),
    }
}
