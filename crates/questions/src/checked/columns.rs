//! Looks up columns by name.

use crate::error::QuestionError;
use crate::public::{Column, ColumnKind, Key, Table};
use counterpoint_mechanisms::Bounds;

fn unknown_column(column: &str, table: &Table) -> QuestionError {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let problem = format!("is not a declared column of table {}", table.name());
    QuestionError::new(format!("{column:?}"), problem, names.join(", "))
}

pub(super) fn find_column<'a>(column: &str, table: &'a Table) -> Result<&'a Column, QuestionError> {
    table.column(column).ok_or_else(|| unknown_column(column, table))
}

/// Returns the declared name and the bounds of a number column.
///
/// # Errors
/// [`QuestionError`] unless the table has such a column.
pub fn number_column(column: &str, table: &Table) -> Result<(String, Bounds), QuestionError> {
    let found = find_column(column, table)?;
    match found.kind {
        ColumnKind::Number(bounds) => Ok((found.name.clone(), bounds)),
        ColumnKind::Category(_) => {
            Err(QuestionError::new(format!("{column:?}"), "has categories", "a column with bounds"))
        }
    }
}

/// Returns the declared name and the keys of a category column.
pub(super) fn category_column<'a>(
    column: &str,
    table: &'a Table,
) -> Result<(&'a str, &'a [Key]), QuestionError> {
    let found = find_column(column, table)?;
    match &found.kind {
        ColumnKind::Category(keys) => Ok((&found.name, keys)),
        ColumnKind::Number(_) => {
            Err(QuestionError::new(format!("{column:?}"), "has bounds", "a column with categories"))
        }
    }
}
