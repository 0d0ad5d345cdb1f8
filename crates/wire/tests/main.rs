//! All tests of the crate in one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod catalogue;
mod exactly;
mod ledger;
mod mechanisms;
mod plan;
mod records;
