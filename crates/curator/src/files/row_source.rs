//! Where rows are that no SQL engine holds.

use super::copied::copied;
use crate::engine::Failed;
use crate::format::Format;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where rows are that no SQL engine holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RowSource {
    /// In a file.
    File(PathBuf, Format),
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
        let format = Format::of(path).ok_or_else(|| {
            let legal = "a name that ends with .csv, .parquet, .jsonl or .ndjson";
            Failed::new(format!("{}: the format is not known; legal: {legal}", path.display()))
        })?;
        Ok(Self::File(path.to_owned(), format))
    }

    /// Copies of batches that somebody else may write to, such as those of a data frame; there may be none.
    ///
    /// # Errors
    /// [`Failed`] if a column is not what its type says, such as a text that is not UTF-8.
    pub fn of_frame(batches: &[RecordBatch], schema: &SchemaRef) -> Result<Self, Failed> {
        Ok(Self::Batches(copied(batches, schema)?))
    }
}
