//! Reads of a ledger: verification and reports. Verification derives all rows from the history again, with the
//! functions of `rules`, and compares them with the stored rows.
//!
//! - `replay` (the books that follow from the entries), `verify`, `checkpoint` (where the next verification begins)
//! - `status`, `spent` (odometers), `export`: reports
//! - `backup`, `upgrade`: verified copies

mod backup;
mod checkpoint;
mod export;
mod replay;
mod spent;
mod status;
mod upgrade;
mod verify;

pub use checkpoint::Checkpoint;
pub use export::ExportItem;
pub use status::SessionSummary;
pub use verify::Verification;
