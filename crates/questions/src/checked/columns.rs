//! Columns by their names.

use crate::illegal::Illegal;
use crate::public::{Column, Key, Kind, Table};
use counterpoint_mechanisms::Bounds;

fn unknown(column: &str, table: &Table) -> Illegal {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let problem = format!("is no declared column of {}", table.name());
    Illegal::new(format!("{column:?}"), problem, names.join(", "))
}

pub(super) fn find<'a>(column: &str, table: &'a Table) -> Result<&'a Column, Illegal> {
    table.column(column).ok_or_else(|| unknown(column, table))
}

/// A column of numbers, by its name.
///
/// # Errors
/// [`Illegal`] unless the table has such a column.
pub fn number(column: &str, table: &Table) -> Result<(String, Bounds), Illegal> {
    let found = find(column, table)?;
    match found.kind {
        Kind::Number(bounds) => Ok((found.name.clone(), bounds)),
        Kind::Category(_) => {
            Err(Illegal::new(format!("{column:?}"), "has categories", "a column with bounds"))
        }
    }
}

/// A column of categories.
pub(super) fn category<'a>(
    column: &str,
    table: &'a Table,
) -> Result<(&'a str, &'a [Key]), Illegal> {
    let found = find(column, table)?;
    match &found.kind {
        Kind::Category(keys) => Ok((&found.name, keys)),
        Kind::Number(_) => {
            Err(Illegal::new(format!("{column:?}"), "has bounds", "a column with categories"))
        }
    }
}
