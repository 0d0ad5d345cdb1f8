//! What is stored, and how: the database, its tables, and every transaction that writes. A transaction reads rows, asks
//! `rules` about them and writes what they say.

mod accounts;
pub(crate) mod batch;
pub(crate) mod cells;
pub mod database;
pub(crate) mod entries;
pub(crate) mod find;
pub(crate) mod ledger;
pub(crate) mod pool;
mod quotas;
mod recut;
pub(crate) mod release;
mod room;
pub(crate) mod session;
mod sortable;
pub(crate) mod tables;
mod transfers;
