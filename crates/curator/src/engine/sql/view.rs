//! The rows of a table in the form that all engines share.

use super::dialect::{Dialect, ReadType};
use crate::engine::error::{EngineError, SourceColumn};
use counterpoint_questions::public::{Column, ColumnKind, Key, Table};

/// The column of people. No declared column can have this name.
pub(super) const PERSON: &str = "\"~person\"";
/// The column of row numbers. No declared column can have this name.
pub(super) const ROW: &str = "\"~row\"";

/// Quotes a name for SQL. Declared names are letters, digits and underscores; see [`crate::public`].
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The column of a category column's whole numbers. `texts` names that of its texts.
pub(super) fn wholes(column: &str) -> String {
    quoted(&format!("{column}~whole"))
}

pub(super) fn texts(column: &str) -> String {
    quoted(&format!("{column}~text"))
}

/// An SQL expression for rows that the engine makes up, each of another person. Numbers are the row numbers; a category
/// is the last plain key, which takes the most comparisons to find.
pub(crate) fn made_up_rows(table: &Table, rows: u64, dialect: &Dialect) -> String {
    let read = |read: ReadType, name: &str| {
        (dialect.read)("\"n\"", "bigint", read).map(|text| format!("{text} AS {name}"))
    };
    let numbers =
        table.columns().iter().filter(|column| matches!(column.kind, ColumnKind::Number(_)));
    let numbers = numbers.filter_map(|column| read(ReadType::Number, &quoted(&column.name)));
    let categories = table.columns().iter().flat_map(|column| match &column.kind {
        ColumnKind::Category(keys) => last_keys(&column.name, keys),
        ColumnKind::Number(_) => Vec::new(),
    });
    let columns = read(ReadType::Person, PERSON).into_iter().chain(numbers).chain(categories);
    let columns: Vec<String> = columns.collect();
    format!("(SELECT {} FROM {}) AS source", columns.join(", "), (dialect.series)(rows))
}

/// The last whole number and the last plain text of a column's categories.
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

/// Applies missing codes and the replacement for missing values to a column: [`Column::value`] in SQL.
fn value(column: &Column, read: String) -> String {
    // SQLite and Spark read a number of this form as a double, and PostgreSQL compares it as one.
    let coded = column.codes.iter().fold(read, |text, code| format!("NULLIF({text}, {code:e})"));
    match column.instead {
        Some(number) => format!("COALESCE({coded}, {number:e})"),
        None => coded,
    }
}

/// An SQL expression for a table's rows in the form that all engines share: numbers are doubles, categories are columns
/// of whole numbers or texts, and unreadable values are NULL. `from` is the table's name, with a condition under which
/// its rows are read.
///
/// # Errors
/// [`EngineError`], naming all columns that cannot be read.
pub(crate) fn normal_rows(
    table: &Table,
    (from, condition): (&str, Option<&str>),
    found: &[SourceColumn],
    dialect: &Dialect,
) -> Result<String, EngineError> {
    let (mut columns, mut problems) = (Vec::new(), Vec::new());
    let mut add = |name: &str, read: ReadType, called: String, then: &dyn Fn(String) -> String| {
        let Some(SourceColumn { name: own, kind }) = SourceColumn::named(found, name) else {
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
            ColumnKind::Number(_) => {
                add(&column.from, ReadType::Number, quoted(&column.name), &|text| {
                    value(column, text)
                });
            }
            ColumnKind::Category(keys) => {
                if keys.iter().any(|key| matches!(key, Key::Whole(_))) {
                    add(&column.from, ReadType::Whole, wholes(&column.name), &as_read);
                }
                if keys.iter().any(|key| matches!(key, Key::Text(_))) {
                    add(&column.from, ReadType::Text, texts(&column.name), &as_read);
                }
            }
        }
    }
    if let Some(person) = table.person() {
        add(person, ReadType::Person, PERSON.to_owned(), &as_read);
    }
    if let Some(row_number) = table.row_number() {
        add(row_number, ReadType::Whole, ROW.to_owned(), &as_read);
    }
    if !problems.is_empty() {
        return Err(EngineError::new(problems.join("; ")));
    }
    let condition = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
    let table = (dialect.table)(from);
    Ok(format!("(SELECT {} FROM {table}{condition}) AS source", columns.join(", ")))
}
