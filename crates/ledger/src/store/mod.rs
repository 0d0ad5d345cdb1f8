//! What is stored, and how: the database, its tables, and every transaction that writes. A transaction reads rows, asks
//! `rules` about them and writes what they say.

pub mod database;
pub(crate) mod entries;
pub(crate) mod find;
pub(crate) mod ledger;
mod owner;
pub(crate) mod pool;
pub(crate) mod release;
pub(crate) mod session;
pub(crate) mod tables;
