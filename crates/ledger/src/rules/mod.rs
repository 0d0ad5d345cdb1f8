//! The rules of a ledger: pure functions of plain rows, without a database, a clock or randomness. The same functions
//! decide when a call is made, and again when the history is verified.
//!
//! - `rows` (accounts, slots, quotas and releases as plain data), `chain` (hashes and heads), `name`, `limits`, `error`
//! - `filter`, `account`, `quota`, `recut`, `transfer`: what owners set up and change
//! - `request`, `query`, `slots`, `debit`: what a release asks for, its charge, and the balances after it
//! - `room`: the largest releases that still fit an account

pub(crate) mod account;
pub(crate) mod chain;
pub(crate) mod debit;
pub(crate) mod error;
pub(crate) mod filter;
pub(crate) mod limits;
pub(crate) mod name;
pub(crate) mod query;
pub(crate) mod quota;
pub(crate) mod recut;
pub(crate) mod request;
pub(crate) mod room;
pub(crate) mod rows;
pub(crate) mod slots;
pub(crate) mod transfer;
