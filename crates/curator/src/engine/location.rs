//! Where a table's rows are.

use counterpoint_ledger::Url;
use counterpoint_questions::public::Table;
use counterpoint_wire::DataFormat;
use std::path::{Path, PathBuf};

/// Where rows are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Location {
    /// In an SQLite file.
    Sqlite(PathBuf),
    /// On a PostgreSQL server.
    Postgres(String),
    /// On a Spark cluster.
    Spark(String),
    /// In a file of CSV, Parquet or JSON lines.
    File(PathBuf),
}

/// Without passwords and tokens.
impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(file) => f.debug_tuple("Sqlite").field(file).finish(),
            Self::Postgres(_) => f.write_str("Postgres"),
            Self::Spark(_) => f.write_str("Spark"),
            Self::File(file) => f.debug_tuple("File").field(file).finish(),
        }
    }
}

impl Location {
    /// Reads where rows are. Files are beside `folder`, if they are not absolute. `None` if it is none of these.
    #[must_use]
    pub fn parse(text: &str, folder: &Path) -> Option<Self> {
        if text.starts_with("sc://") {
            return Some(Self::Spark(text.to_owned()));
        }
        match text.parse() {
            Ok(Url::Sqlite(path)) => Some(Self::Sqlite(folder.join(path))),
            Ok(Url::Postgres(url)) => Some(Self::Postgres(url)),
            _ => DataFormat::of(Path::new(text)).ok().map(|_| Self::File(folder.join(text))),
        }
    }
}

/// A table, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What is public about it.
    pub public: Table,
    /// The data set of the ledger whose budget it is charged to.
    pub dataset: String,
    /// Where it is.
    pub location: Location,
    /// What it is called there.
    pub from: String,
    /// About how many rows it has, where the source's catalogue does not say it.
    pub size: Option<u64>,
}
