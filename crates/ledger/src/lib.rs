//! Privacy budgets that survive crashes, concurrency and clever analysts.
//!
//! A [`Ledger`] keeps data sets, accounts and releases in SQLite or PostgreSQL. A release is
//! debited durably before any noise is drawn ([`Ledger::reserve`]), its response is stored
//! before anybody sees it ([`Ledger::commit`]), and neither is ever undone. The format, the
//! order of writes, every crash and the assumptions are in `docs/ledger.md`.
//!
//! ```
//! use counterpoint::Adjacency;
//! use counterpoint_ledger::{Kind, Ledger, NewAccount, NewFilter, Request, Url};
//! use counterpoint_wire::Format;
//! use counterpoint_wire::ledger::{Asked, ExactPlan};
//!
//! let folder = tempfile::tempdir()?;
//! let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse()?;
//! let mut ledger = Ledger::init(&url)?;
//! let budget = |epsilon: &str| -> Result<_, counterpoint::filter::AmountError> {
//!     Ok(NewFilter::new(Kind::Sums, epsilon.parse()?, "1e-6".parse()?))
//! };
//! ledger.dataset("census", Adjacency::AddRemove, &budget("1")?)?;
//! ledger.open_account("team", "census", &NewAccount::Filter(budget("0.3")?))?;
//!
//! let text = br#"{"release": [{"mechanism": "laplace", "scale": 10}]}"#;
//! let release = ExactPlan::parse(text, Format::Json)?.releases.remove(0);
//! let asked = Asked::Described(release);
//! let reservation = ledger.reserve(&Request::new("team", "monday", &asked))?;
//! assert!(reservation.response.is_none()); // Now noise may be drawn.
//! let stored = ledger.commit("monday", b"42.17")?;
//! assert_eq!(stored.response, b"42.17"); // Now it may be shown.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod cells;
mod chain;
pub mod database;
mod error;
mod ledger;
mod name;
mod plan;
mod pool;
mod read;
mod release;
mod replay;
mod rows;
mod rules;
mod setup;
mod slots;
mod tables;
mod verify;

pub use chain::{Hash, Head, HeadError};
pub use database::{DatabaseError, Url};
pub use error::{LedgerError, Refusal};
pub use ledger::{Ledger, OpenOptions};
pub use pool::Pool;
pub use release::{Committed, Request, Reservation};
pub use rules::{Kind, NewFilter};
pub use setup::{NewAccount, NewQuota};
pub use verify::Verification;

/// The longest response that is stored, in bytes.
pub const MOST_RESPONSE: usize = 1 << 20;

/// The most slots a plan account has.
pub const MOST_SLOTS: usize = 100_000;
