//! What the page of `serve --data` releases: studies of one file, as `counterpoint release` does.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use counterpoint::watch::Go;
use counterpoint_curator::ReleaseError;
use counterpoint_ledger::Url;
use counterpoint_report::publication_files;
use counterpoint_server::{ReleaseSource, Released, Releaser};
use counterpoint_wire::{DataFormat, Format, Header, read_study_file};

use crate::release::{ReleaseArgs, make_folder, planned, publish, write_files};

/// A file whose studies may be released.
pub(crate) struct ReleasedFile {
    data: PathBuf,
    out: PathBuf,
    ledger: Option<Url>,
    source: ReleaseSource,
}

impl ReleasedFile {
    /// Reads the header of the file, and no rows.
    pub(crate) fn new(data: &Path, out: &Path, ledger: Option<&Url>) -> Result<Self> {
        let place = || data.display().to_string();
        let format = DataFormat::of(data).with_context(place)?;
        let header =
            Header::read(format, File::open(data).with_context(place)?).with_context(place)?;
        let name = data.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let columns = header.columns.into_iter().map(|(name, _)| name).collect();
        let source = ReleaseSource { name, columns, folder: out.display().to_string() };
        Ok(Self { data: data.to_owned(), out: out.to_owned(), ledger: ledger.cloned(), source })
    }

    fn released(&self, study: &[u8], made_up: bool, watch: &dyn Fn(f64) -> Go) -> Result<Released> {
        let study = read_study_file(study, Format::Json)?;
        let plan = planned(&study, watch)??;
        // Whatever source the study names: this one.
        let args = ReleaseArgs {
            study: String::new(),
            data: Some(self.data.clone()),
            plan: None,
            ledger: self.ledger.clone(),
            dry_run: made_up,
            changed: false,
            out: self.out.clone(),
        };
        let title = self.data.file_stem().unwrap_or_default().to_string_lossy();
        let published = publish(&args, &study, &plan, &title)?;
        let files = publication_files(&published)?.to_vec();
        if !made_up {
            make_folder(&self.out)?;
            write_files(&self.out, &published)?;
        }
        Ok(Released { files })
    }
}

impl Releaser for ReleasedFile {
    fn source(&self) -> ReleaseSource {
        self.source.clone()
    }

    fn release(
        &self,
        study: &[u8],
        made_up: bool,
        watch: &dyn Fn(f64) -> Go,
    ) -> Result<Released, String> {
        self.released(study, made_up, watch).map_err(|error| {
            match error.downcast_ref::<ReleaseError>() {
                Some(ReleaseError::Changed { .. }) => format!(
                    "{} is not the file that was released before; if its rows changed, counterpoint release --changed releases them: \
                     people who are in both are charged twice",
                    self.source.name
                ),
                _ => format!("{error:#}"),
            }
        })
    }
}
