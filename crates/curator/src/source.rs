//! A table as all engines see it alike.

use crate::engine::{Dialect, Failed, Found, Read};
use crate::public::{Key, Kind, Table};

/// A name of our own, which no declared column can have: whose a row is.
pub(crate) const PERSON: &str = "\"~person\"";

/// A name in SQL. Names are letters, digits and underscores; see [`crate::public`].
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What a column of categories holds: whole numbers, and texts.
pub(crate) fn wholes(column: &str) -> String {
    quoted(&format!("{column}~whole"))
}

pub(crate) fn texts(column: &str) -> String {
    quoted(&format!("{column}~text"))
}

/// A table as all engines see it alike: numbers are doubles, categories whole numbers or texts of their own, and what cannot
/// be read is NULL. The first column that cannot be is told.
///
/// # Errors
/// [`Failed`], naming the column.
pub(crate) fn normal(
    table: &Table,
    from: &str,
    found: &[Found],
    dialect: &Dialect,
) -> Result<String, Failed> {
    let mut columns = Vec::new();
    let mut add = |name: &str, read: Read, called: String| {
        let column = found.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        let column =
            column.ok_or_else(|| Failed::new(format!("the source has no column {name:?}")))?;
        let text = (dialect.read)(&quoted(&column.name), &column.kind, read).ok_or_else(|| {
            let (kind, what) = (&column.kind, read.name());
            Failed::new(format!(
                "column {name:?} of the source is of type {kind}, which is not {what}"
            ))
        })?;
        columns.push(format!("{text} AS {called}"));
        Ok(())
    };
    for column in table.columns() {
        match &column.kind {
            Kind::Number(_) => add(&column.name, Read::Number, quoted(&column.name))?,
            Kind::Category(keys) => {
                if keys.iter().any(|key| matches!(key, Key::Whole(_))) {
                    add(&column.name, Read::Whole, wholes(&column.name))?;
                }
                if keys.iter().any(|key| matches!(key, Key::Text(_))) {
                    add(&column.name, Read::Text, texts(&column.name))?;
                }
            }
        }
    }
    if let Some(person) = table.person() {
        add(person, Read::Person, PERSON.to_owned())?;
    }
    Ok(format!("(SELECT {} FROM {}) AS source", columns.join(", "), (dialect.table)(from)))
}
