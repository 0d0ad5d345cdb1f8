//! The history: what is told of it, and everything derived from it once more by the functions of `rules`, and compared
//! with what is stored.
//!
//! - `replay` (the books that follow from the entries), `verify`, `checkpoint` (where the next verification begins)
//! - `status`, `spent` (odometers), `export`: what is told
//! - `backup`, `upgrade`: copies that are verified

mod backup;
mod checkpoint;
mod export;
mod replay;
mod spent;
mod status;
mod upgrade;
mod verify;

pub use checkpoint::Checkpoint;
pub use export::Exported;
pub use status::OpenedSession;
pub use verify::Verification;
