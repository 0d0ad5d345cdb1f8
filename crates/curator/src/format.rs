//! What a file of rows is written in.

use std::path::Path;

/// What a file of rows is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header, as RFC 4180 has them.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// A JSON object on each line.
    JsonLines,
}

impl Format {
    /// The format that a file's name ends with; `None` if it is no other than these.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}
