//! Where rows are that no SQL engine holds.

use crate::engine::failed::Failed;
use arrow_array::RecordBatch;
use counterpoint_wire::DataFormat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where rows are that no SQL engine holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RowSource {
    /// In a file.
    File(PathBuf, DataFormat),
    /// In memory, in batches that all have the same columns.
    Batches(Arc<[RecordBatch]>),
    /// Nowhere: so many rows are made up, each of another person, of what is public alone.
    MadeUp(u64),
}

impl RowSource {
    /// A file, in the format that its name ends with.
    ///
    /// # Errors
    /// [`Failed`] if it ends with none that is known.
    pub fn of_file(path: &Path) -> Result<Self, Failed> {
        let format = DataFormat::of(path).map_err(|_| {
            let legal = "a name that ends with .csv, .parquet, .jsonl or .ndjson";
            Failed::new(format!("{}: the format is not known; legal: {legal}", path.display()))
        })?;
        Ok(Self::File(path.to_owned(), format))
    }
}
