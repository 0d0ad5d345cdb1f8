//! The places where tables are stored.

use counterpoint_ledger::Url;
use counterpoint_questions::public::Table;
use counterpoint_wire::DataFormat;
use std::path::{Path, PathBuf};

/// The place where a table is stored. Tables at equal locations share an engine.
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

/// Omits passwords and tokens.
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
    /// Reads a location. Relative paths start at `folder`. `None` if the text has none of the known forms.
    #[must_use]
    pub fn parse(text: &str, folder: &Path) -> Option<Self> {
        if text.starts_with("sc://") {
            return Some(Self::Spark(text.to_owned()));
        }
        match text.parse() {
            Ok(Url::Sqlite(path)) => Some(Self::Sqlite(folder.join(path))),
            Ok(Url::Postgres(url)) => Some(Self::Postgres(url)),
            _ => DataFormat::from_path(Path::new(text)).ok().map(|_| Self::File(folder.join(text))),
        }
    }
}

/// The configuration of a table: its public description, its data set and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConfig {
    /// The public description.
    pub public: Table,
    /// The data set of the ledger that pays for questions about the table.
    pub dataset: String,
    /// The place where the table is stored.
    pub location: Location,
    /// The table's name at its location.
    pub from: String,
    /// The approximate number of rows, if the source's catalogue does not report it.
    pub size: Option<u64>,
}
