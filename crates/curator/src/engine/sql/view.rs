//! A table as all engines see it alike.

use super::dialect::{Dialect, Read};
use crate::engine::failed::{Failed, Found};
use counterpoint_questions::public::{Column, Key, Kind, Table};

/// A name of our own, which no declared column can have: whose a row is.
pub(super) const PERSON: &str = "\"~person\"";
/// Another: which of that person's rows it is.
pub(super) const ROW: &str = "\"~row\"";

/// A name in SQL. Names are letters, digits and underscores; see [`crate::public`].
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What a column of categories holds: whole numbers, and texts.
pub(super) fn wholes(column: &str) -> String {
    quoted(&format!("{column}~whole"))
}

pub(super) fn texts(column: &str) -> String {
    quoted(&format!("{column}~text"))
}

/// So many rows that the engine makes up, each of another person: numbers are those of the rows, and each category is the last
/// one that is plain to write, so that it is compared with most of them.
pub(crate) fn made_up(table: &Table, rows: u64, dialect: &Dialect) -> String {
    let read = |read: Read, name: &str| {
        (dialect.read)("\"n\"", "bigint", read).map(|text| format!("{text} AS {name}"))
    };
    let numbers = table.columns().iter().filter(|column| matches!(column.kind, Kind::Number(_)));
    let numbers = numbers.filter_map(|column| read(Read::Number, &quoted(&column.name)));
    let categories = table.columns().iter().flat_map(|column| match &column.kind {
        Kind::Category(keys) => last_keys(&column.name, keys),
        Kind::Number(_) => Vec::new(),
    });
    let columns = read(Read::Person, PERSON).into_iter().chain(numbers).chain(categories);
    let columns: Vec<String> = columns.collect();
    format!("(SELECT {} FROM {}) AS source", columns.join(", "), (dialect.series)(rows))
}

/// The last whole number of a column's categories, and the last plain text.
fn last_keys(column: &str, keys: &[Key]) -> Vec<String> {
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ');
    let whole = keys.iter().rev().find_map(|key| match key {
        Key::Whole(whole) => Some(format!("{whole} AS {}", wholes(column))),
        Key::Text(_) => None,
    });
    let texts_there = keys.iter().any(|key| matches!(key, Key::Text(_)));
    let text = keys.iter().rev().find_map(|key| match key {
        Key::Text(text) if is_plain(text) => Some(text.as_str()),
        _ => None,
    });
    let text = texts_there.then(|| format!("'{}' AS {}", text.unwrap_or_default(), texts(column)));
    whole.into_iter().chain(text).collect()
}

/// A column's number after missing codes and the number that is used instead: [`Column::value`] in SQL.
fn value(column: &Column, read: String) -> String {
    // A number in this form is a double to SQLite and Spark, and is compared as one by PostgreSQL.
    let coded = column.codes.iter().fold(read, |text, code| format!("NULLIF({text}, {code:e})"));
    match column.instead {
        Some(number) => format!("COALESCE({coded}, {number:e})"),
        None => coded,
    }
}

/// A table as all engines see it alike: numbers are doubles, categories whole numbers or texts of their own, and what cannot
/// be read is NULL. All columns that cannot be are told. `from` is its name, with a condition that its rows are read under.
///
/// # Errors
/// [`Failed`], naming the columns.
pub(crate) fn normal(
    table: &Table,
    (from, condition): (&str, Option<&str>),
    found: &[Found],
    dialect: &Dialect,
) -> Result<String, Failed> {
    let (mut columns, mut problems) = (Vec::new(), Vec::new());
    let mut add = |name: &str, read: Read, called: String, then: &dyn Fn(String) -> String| {
        let Some(Found { name: own, kind }) = Found::named(found, name) else {
            return problems.push(format!("the source has no column {name:?}"));
        };
        match (dialect.read)(&quoted(own), kind, read) {
            Some(text) => columns.push(format!("{} AS {called}", then(text))),
            None => problems.push(format!(
                "column {name:?} of the source is of type {kind}, which is not {}",
                read.name()
            )),
        }
    };
    let as_read = |text: String| text;
    for column in table.columns() {
        match &column.kind {
            Kind::Number(_) => {
                add(&column.from, Read::Number, quoted(&column.name), &|text| value(column, text));
            }
            Kind::Category(keys) => {
                if keys.iter().any(|key| matches!(key, Key::Whole(_))) {
                    add(&column.from, Read::Whole, wholes(&column.name), &as_read);
                }
                if keys.iter().any(|key| matches!(key, Key::Text(_))) {
                    add(&column.from, Read::Text, texts(&column.name), &as_read);
                }
            }
        }
    }
    if let Some(person) = table.person() {
        add(person, Read::Person, PERSON.to_owned(), &as_read);
    }
    if let Some(row_number) = table.row_number() {
        add(row_number, Read::Whole, ROW.to_owned(), &as_read);
    }
    if !problems.is_empty() {
        return Err(Failed::new(problems.join("; ")));
    }
    let condition = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
    let table = (dialect.table)(from);
    Ok(format!("(SELECT {} FROM {table}{condition}) AS source", columns.join(", ")))
}
