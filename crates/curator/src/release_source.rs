//! Where the rows of a release are, and what their source is called in what is published.

use crate::config::{Location, Source};
use crate::release::{ReleaseError, ReleaseRows, table_of};
use counterpoint_ledger::Url;
use counterpoint_wire::StudyFile;
use std::path::{Path, PathBuf};

/// The file of the default ledger.
const LEDGER: &str = "ledger.db";
/// The file of the key that fingerprints are made with. Nobody but the owner of the data may read it.
const SECRET: &str = "secret.db";

/// The ledger that a release is charged to, in the folder of what is published unless another is given, and the file of the owner's
/// key: beside a ledger that is a file, so that all who charge it have the same key. Nothing if nothing says where they are.
#[must_use]
pub fn release_ledger(ledger: Option<&Url>, folder: Option<&Path>) -> Option<(Url, PathBuf)> {
    let own = || Some(Url::Sqlite(folder?.join(LEDGER).display().to_string()));
    let ledger = ledger.cloned().or_else(own)?;
    let secret = match &ledger {
        Url::Sqlite(path) => Path::new(path).with_file_name(SECRET),
        _ => folder?.join(SECRET),
    };
    Some((ledger, secret))
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
}
