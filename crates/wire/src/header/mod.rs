//! Headers of data files: the names of the columns, and nothing about the data.

mod bytes;
mod csv;
mod json_lines;
mod parquet;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use crate::codebook::ColumnContent;
use crate::text::error::PlanError;

/// The columns of a data file.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The format of the file.
    pub format: DataFormat,
    /// The names of the columns, in order, with the contents that the file's schema gives them.
    pub columns: Vec<(String, ColumnContent)>,
}

/// The formats of data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// Comma-separated values, with names in the first line.
    Csv,
    /// A JSON object on each line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
}

impl DataFormat {
    /// Returns the format of a file by its extension.
    ///
    /// # Errors
    /// [`PlanError`] if the extension is not known.
    pub fn from_path(path: &Path) -> Result<Self, PlanError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(PlanError::plan(
                "has none of the known extensions; legal: .csv, .jsonl, .parquet",
            )),
        }
    }
}

impl Header {
    /// Reads the header of a file: the first line of CSV, the keys of the first line of JSON lines, the schema in the
    /// footer of Parquet. The first 16 KiB are read byte by byte. After these, the last block of 4 KiB may reach into
    /// the data, and is dropped.
    ///
    /// # Errors
    /// [`PlanError`], one line: the problem and the legal contents.
    pub fn read(format: DataFormat, source: impl Read + Seek) -> Result<Self, PlanError> {
        let unknown =
            |names: Vec<String>| names.into_iter().map(|name| (name, ColumnContent::Unknown));
        let columns = match format {
            DataFormat::Csv => unknown(csv::names(source)?).collect(),
            DataFormat::JsonLines => unknown(json_lines::keys(source)?).collect(),
            DataFormat::Parquet => parquet::columns(source)?,
        };
        Ok(Self { format, columns })
    }
}

/// Opens a file that is not a directory.
///
/// # Errors
/// [`PlanError`] if the file cannot be opened, or is a directory.
pub fn open_file(path: &Path) -> Result<File, PlanError> {
    let file = File::open(path).map_err(|error| bytes::unreadable(&error))?;
    let about = file.metadata().map_err(|error| bytes::unreadable(&error))?;
    if about.is_dir() {
        return Err(PlanError::plan("is a directory; legal: a file"));
    }
    Ok(file)
}
