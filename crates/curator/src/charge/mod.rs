//! What is charged to a ledger, what is stored there, and what of it may be shown.

mod bill;
mod error;
mod shown;
pub(crate) mod text;

pub use bill::Bill;
pub use error::Error;
pub use shown::{Shown, Stored};
