//! The storage: the database, its tables, and every transaction that writes. A transaction reads rows, asks `rules` for
//! a decision and writes the result.
//!
//! - `database` (SQLite and PostgreSQL behind one small trait), `tables` (every statement)
//! - `ledger` (a handle and its transactions), `find` (rows by their names), `entries` (the history, page by page)
//! - `owner`, `release`, `session`: everything that writes; `pool`: handles for many threads

pub mod database;
pub(crate) mod entries;
pub(crate) mod find;
pub(crate) mod ledger;
mod owner;
pub(crate) mod pool;
pub(crate) mod release;
pub(crate) mod session;
pub(crate) mod tables;
