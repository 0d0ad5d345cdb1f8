//! The rows of a release, and the published name of their source.

use super::error::ReleaseError;
use crate::engine::{Location, OpenTable, RowSource, TableConfig};
use counterpoint_questions::public::Table;
use counterpoint_studies::StudyFile;
use std::path::Path;

/// The rows of a release.
#[derive(Clone, Debug)]
pub enum ReleaseRows {
    /// A file or a database.
    At(Box<TableConfig>),
    /// Rows in memory.
    InMemory(RowSource),
}

impl ReleaseRows {
    /// The rows of a study: in the file `data`, or else at the source that the study names. Relative paths start at
    /// `folder`.
    ///
    /// # Errors
    /// [`ReleaseError`] if no source is named, or its format is not known.
    pub fn of(study: &StudyFile, folder: &Path, data: Option<&Path>) -> Result<Self, ReleaseError> {
        let public = table_of(study)?.clone();
        let described = study.data.as_ref();
        let location = match (data, described.and_then(|data| data.source.as_deref())) {
            (Some(file), _) => Location::File(file.to_owned()),
            (None, Some(text)) => Location::parse(text, folder).ok_or_else(|| {
                ReleaseError::Rows(format!(
                    "source is {text:?}; legal: a file (.csv, .parquet, .jsonl), sqlite:PATH, postgres://... or sc://..."
                ))
            })?,
            (None, None) => return Err(ReleaseError::NoSource),
        };
        let from = described.and_then(|data| data.from.clone());
        let from = from.unwrap_or_else(|| public.name().to_owned());
        let dataset = public.name().to_owned();
        Ok(Self::At(Box::new(TableConfig { public, dataset, location, from, size: None })))
    }

    /// The published name of the source: without folders, addresses and passwords.
    #[must_use]
    pub fn name(&self) -> String {
        let Self::At(source) = self else { return "a data frame".to_owned() };
        match &source.location {
            Location::File(file) | Location::Sqlite(file) => file
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            Location::Postgres(_) => "PostgreSQL".to_owned(),
            Location::Spark(_) => "Spark".to_owned(),
        }
    }

    pub(super) fn table(
        &self,
        study: &StudyFile,
        secret: [u8; 32],
    ) -> Result<OpenTable, ReleaseError> {
        let table = match self {
            Self::At(source) => OpenTable::open(source, secret),
            Self::InMemory(rows) => {
                OpenTable::of_rows(table_of(study)?.clone(), rows.clone(), secret)
            }
        };
        table.map_err(ReleaseError::of_rows)
    }

    /// The file of the rows, if they are in one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::At(source) => match &source.location {
                Location::File(path) => Some(path),
                _ => None,
            },
            Self::InMemory(_) => None,
        }
    }

    /// The digest that distinguishes these rows from others: of a file's or frame's content, or of a database's
    /// location.
    pub(super) fn digest(&self) -> Result<Vec<u8>, ReleaseError> {
        let rows = match self {
            Self::InMemory(rows) => rows.fingerprint(),
            Self::At(source) => match &source.location {
                Location::File(path) => {
                    RowSource::of_file(path).and_then(|rows| rows.fingerprint())
                }
                other => return Ok(format!("{other:?} {}", source.from).into_bytes()),
            },
        };
        Ok(rows.map_err(ReleaseError::of_rows)?.to_vec())
    }
}

/// The public description of the table that a study's rows form.
///
/// # Errors
/// [`ReleaseError::NoColumns`] if the study has none.
pub fn table_of(study: &StudyFile) -> Result<&Table, ReleaseError> {
    study.data.as_ref().map(|source| &source.table).ok_or(ReleaseError::NoColumns)
}
