//! Where rows are, and what is counted in them: whole numbers, whichever engine holds the rows.

mod choice;
mod dummy;
mod failed;
mod files;
mod held;
mod location;
mod sql;
mod tabulation;

pub(crate) use dummy::{Dice, Dummy};
pub use failed::{Failed, Found};
pub use files::{Inspection, RowSource, Values};
pub use held::Held;
pub(crate) use held::REACH;
pub use location::{Location, Source};
#[cfg(feature = "spark")]
pub use sql::Spark;
pub use sql::{
    About, Compiled, Dialect, Engine, PersonRows, Postgres, Read, Rows, Sqlite, Statement, Value,
    open,
};
pub(crate) use tabulation::not_whole;
pub use tabulation::{Counted, Tabulation, Wanted};
