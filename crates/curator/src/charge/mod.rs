//! Charges to the ledger, and the stored bytes and replies that may be shown.

mod bill;
mod error;
mod stored;
pub(crate) mod text;

pub use bill::Bill;
pub use error::Error;
pub use stored::{StoredBytes, StoredReply};
