//! What is checked of rows before a release is charged, and after its numbers were computed.

use super::error::ReleaseError;
use crate::engine::{Inspection, Values};
use counterpoint_questions::public::{Kind, Table};
use std::path::Path;
use std::time::SystemTime;

/// How long a file was, and when it was written last. Of rows elsewhere nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(Option<(u64, SystemTime)>);

impl Stamp {
    pub(super) fn of(file: Option<&Path>) -> Self {
        let found = file.and_then(|path| std::fs::metadata(path).ok());
        Self(found.and_then(|found| Some((found.len(), found.modified().ok()?))))
    }

    /// What is wrong if the file is another one by now; `then` says what that means.
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

/// What is wrong if a column holds values that are neither declared nor missing, unless it says that these are skipped.
pub(super) fn are_declared(
    table: &Table,
    file: Option<&Path>,
    found: &Inspection,
) -> Result<(), ReleaseError> {
    let texts = &table.text().columns;
    let mut undeclared = table.columns().iter().zip(texts).zip(&found.columns);
    let is_wrong = |text: &counterpoint_questions::public::ColumnText, values: &Values| {
        text.others.is_none() && values.unreadable > 0
    };
    let Some(((column, _), values)) = undeclared.find(|((_, text), values)| is_wrong(text, values))
    else {
        return Ok(());
    };
    let (what, legal) = match column.kind {
        Kind::Number(_) => ("no number", "numbers"),
        Kind::Category(_) => ("no declared category", "categories that are declared"),
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
        "{place}column {name:?} has {many} {what}{first}; legal: {legal}, missing_codes, or others = \"skip\" in the column to use none \
         of these"
    )))
}
