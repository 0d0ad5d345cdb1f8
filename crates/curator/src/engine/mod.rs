//! Engines: they hold the rows and count them. All of them return the same whole numbers.

mod choice;
mod dummy;
mod error;
mod files;
mod table;
mod location;
mod sql;
mod tabulation;

pub(crate) use dummy::{Dice, DummyTable};
pub use error::{EngineError, SourceColumn};
pub use files::{ColumnInspection, Inspection, RowSource};
pub use location::{Location, TableConfig};
#[cfg(feature = "spark")]
pub use sql::Spark;
pub use sql::{
    BatchStatement, CatalogueInfo, Dialect, Engine, PersonRows, Postgres, ReadType, Rows, SqlValue,
    Sqlite, Statement, open,
};
pub use table::OpenTable;
pub(crate) use table::REACH;
pub(crate) use tabulation::not_countable;
pub use tabulation::{RawGroup, Tabulation, TallySpec};
