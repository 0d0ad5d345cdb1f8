//! Releases of planned studies: the checks, the account that pays, the answers and the publication.

mod account;
mod checks;
mod cost;
mod entries;
mod error;
mod job;
mod publication;
mod publish;
mod rows;

pub use account::ReleasePayer;
pub use entries::{StudyRelease, check_release};
pub use error::ReleaseError;
pub use job::{ReleaseJob, release_ledger, run_release};
pub use publish::{rehearse_release, release};
pub use rows::{ReleaseRows, table_of};
