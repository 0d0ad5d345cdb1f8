//! The releaser of `serve --data`: releases studies of one data file, as `counterpoint release` does.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use counterpoint::watch::Control;
use counterpoint_curator::ReleaseError;
use counterpoint_ledger::Url;
use counterpoint_report::publication_files;
use counterpoint_server::{ReleaseOutput, ReleaseSource, Releaser};
use counterpoint_studies::read_study_file;
use counterpoint_wire::{DataFormat, Format, Header};

use crate::release::{ReleaseArgs, make_folder, plan_study, publish, write_files};

/// A data file that the page may release.
pub(crate) struct DataFileReleaser {
    data: PathBuf,
    out: PathBuf,
    ledger: Option<Url>,
    source: ReleaseSource,
}

impl DataFileReleaser {
    /// Reads only the header of the file.
    pub(crate) fn new(data: &Path, out: &Path, ledger: Option<&Url>) -> Result<Self> {
        let place = || data.display().to_string();
        let format = DataFormat::from_path(data).with_context(place)?;
        let header =
            Header::read(format, File::open(data).with_context(place)?).with_context(place)?;
        let name = data.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let columns = header.columns.into_iter().map(|(name, _)| name).collect();
        let source = ReleaseSource { name, columns, folder: out.display().to_string() };
        Ok(Self { data: data.to_owned(), out: out.to_owned(), ledger: ledger.cloned(), source })
    }

    fn publish_study(
        &self,
        study: &[u8],
        made_up: bool,
        watch: &dyn Fn(f64) -> Control,
    ) -> Result<ReleaseOutput> {
        let study = read_study_file(study, Format::Json)?;
        let plan = plan_study(&study, watch)??;
        // The study's own source is ignored.
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
        Ok(ReleaseOutput { files })
    }
}

impl Releaser for DataFileReleaser {
    fn source(&self) -> ReleaseSource {
        self.source.clone()
    }

    fn release(
        &self,
        study: &[u8],
        made_up: bool,
        watch: &dyn Fn(f64) -> Control,
    ) -> Result<ReleaseOutput, Box<dyn Error + Send + Sync>> {
        self.publish_study(study, made_up, watch).map_err(|error| {
            match error.downcast_ref::<ReleaseError>() {
                Some(ReleaseError::Changed { .. }) => format!(
                    "{} differs from the file that was released before. counterpoint release --changed releases the changed rows: \
                     people who are in both versions are charged twice",
                    self.source.name
                ),
                _ => format!("{error:#}"),
            }
            .into()
        })
    }
}
