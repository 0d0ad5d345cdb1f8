//! Checks of the rows before a release is charged and after its numbers are computed.

use super::error::ReleaseError;
use crate::engine::{ColumnInspection, Inspection};
use counterpoint_questions::public::{ColumnKind, Table};
use std::path::Path;
use std::time::SystemTime;

/// The length and modification time of a file; `None` for rows elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp(Option<(u64, SystemTime)>);

impl FileStamp {
    pub(super) fn of(file: Option<&Path>) -> Self {
        let found = file.and_then(|path| std::fs::metadata(path).ok());
        Self(found.and_then(|found| Some((found.len(), found.modified().ok()?))))
    }

    /// Returns an error if the file has changed since the stamp was taken. `then` states the consequence.
    pub(super) fn still(self, file: Option<&Path>, then: &str) -> Result<(), ReleaseError> {
        match file {
            Some(path) if Self::of(file) != self => {
                let path = path.display();
                Err(ReleaseError::Rows(format!("{path} changed while it was read: {then}")))
            }
            _ => Ok(()),
        }
    }
}

/// Returns an error if a column holds values that are neither declared nor missing, unless the column skips these.
pub(super) fn check_declared_values(
    table: &Table,
    file: Option<&Path>,
    found: &Inspection,
) -> Result<(), ReleaseError> {
    let texts = &table.text().columns;
    let mut undeclared = table.columns().iter().zip(texts).zip(&found.columns);
    let is_wrong = |text: &counterpoint_questions::public::ColumnText,
                    values: &ColumnInspection| {
        text.others.is_none() && values.unreadable > 0
    };
    let Some(((column, _), values)) = undeclared.find(|((_, text), values)| is_wrong(text, values))
    else {
        return Ok(());
    };
    let (what, legal) = match column.kind {
        ColumnKind::Number(_) => ("no number", "numbers"),
        ColumnKind::Category(_) => ("no declared category", "categories that are declared"),
    };
    let place = file.map_or_else(String::new, |path| format!("{}: ", path.display()));
    let many = match values.unreadable {
        1 => "a value that is".to_owned(),
        many => format!("{many} values that are"),
    };
    let first = values.example.iter().map(|(row, value)| {
        let value: String = value.chars().take(40).collect();
        format!(" (row {row}: {value:?})")
    });
    let (name, first) = (&column.name, first.collect::<String>());
    Err(ReleaseError::Rows(format!(
        "{place}column {name:?} has {many} {what}{first}; legal: {legal}, missing_codes, or others = \"skip\" in the column to treat \
         these as missing"
    )))
}
