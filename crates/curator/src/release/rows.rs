//! Where the rows of a release are, and what their source is called in what is published.

use super::error::ReleaseError;
use crate::engine::{Held, Location, RowSource, Source};
use counterpoint_questions::public::Table;
use counterpoint_wire::StudyFile;
use std::path::Path;

/// Where the rows of a release are.
#[derive(Clone, Debug)]
pub enum ReleaseRows {
    /// In a file or a database.
    At(Box<Source>),
    /// In memory.
    InMemory(RowSource),
}

impl ReleaseRows {
    /// The rows of a study: in a file, or where the study says. Files that the study names are found from its folder.
    ///
    /// # Errors
    /// [`ReleaseError`] if nothing says where they are, or nobody knows how to read it.
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
        Ok(Self::At(Box::new(Source { public, dataset, location, from, size: None })))
    }

    /// What the source is called in what is published: no path, address or password.
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

    pub(super) fn held(&self, study: &StudyFile, secret: [u8; 32]) -> Result<Held, ReleaseError> {
        let held = match self {
            Self::At(source) => Held::open(source, secret),
            Self::InMemory(rows) => Held::of_rows(table_of(study)?.clone(), rows.clone(), secret),
        };
        held.map_err(ReleaseError::of_rows)
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

    /// What tells these rows from others: of a file and a frame what is in it, of a database where it is.
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

/// The table that a study's rows are read as.
///
/// # Errors
/// [`ReleaseError::NoColumns`] if the study describes none.
pub fn table_of(study: &StudyFile) -> Result<&Table, ReleaseError> {
    study.data.as_ref().map(|source| &source.table).ok_or(ReleaseError::NoColumns)
}
