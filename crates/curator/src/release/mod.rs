//! A planned study, released: what is refused, the account that pays, each statistic told once, and what is published.

mod account;
mod checks;
mod composed;
mod entries;
mod error;
mod job;
mod publish;
mod released;
mod rows;

pub use account::Charged;
pub use entries::{Release, check_release};
pub use error::ReleaseError;
pub use job::{Job, release_ledger, run_release};
pub use released::{rehearse_release, release};
pub use rows::{ReleaseRows, table_of};
