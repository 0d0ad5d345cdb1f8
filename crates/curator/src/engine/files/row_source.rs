//! Sources of rows outside of SQL engines.

use crate::engine::error::EngineError;
use arrow_array::RecordBatch;
use counterpoint_wire::DataFormat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source of rows outside of SQL engines.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RowSource {
    /// A file.
    File(PathBuf, DataFormat),
    /// Batches in memory that all have the same columns.
    Batches(Arc<[RecordBatch]>),
    /// Made-up rows: this many, each of another person.
    MadeUp(u64),
}

impl RowSource {
    /// A file, in the format of its name's extension.
    ///
    /// # Errors
    /// [`EngineError`] if the extension is not known.
    pub fn of_file(path: &Path) -> Result<Self, EngineError> {
        let format = DataFormat::from_path(path).map_err(|_| {
            let legal = "a name that ends with .csv, .parquet, .jsonl or .ndjson";
            EngineError::new(format!("{}: the format is not known; legal: {legal}", path.display()))
        })?;
        Ok(Self::File(path.to_owned(), format))
    }
}
