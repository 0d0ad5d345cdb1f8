//! Privacy budgets that survive crashes, concurrency and clever analysts.
//!
//! A [`Ledger`] stores data sets, accounts and releases in SQLite or PostgreSQL. A release is
//! debited durably before any noise is drawn ([`Ledger::reserve`]), its response is stored
//! before anybody sees it ([`Ledger::commit`]), and neither is ever undone. `docs/ledger.md`
//! describes the format, the order of writes, the effect of a crash at each point, and the assumptions.
//!
//! ```
//! use counterpoint::{Adjacency, Relation};
//! use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter, Request, Url};
//! use counterpoint_wire::Format;
//! use counterpoint_wire::ledger::{ExactPlan, ReleaseRequest};
//!
//! let folder = tempfile::tempdir()?;
//! let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse()?;
//! let mut ledger = Ledger::init(&url)?;
//! let budget = |epsilon: &str| -> Result<_, counterpoint_budget::AmountError> {
//!     Ok(NewFilter::new(FilterKind::Sums, epsilon.parse()?, "1e-6".parse()?))
//! };
//! ledger.add_dataset("census", Relation::single_record(Adjacency::AddRemove), &budget("1")?)?;
//! ledger.open_account("team", "census", &NewAccount::Filter(budget("0.3")?))?;
//!
//! let text = br#"{"release": [{"mechanism": "laplace", "scale": 10}]}"#;
//! let releases = ReleaseRequest::Described(ExactPlan::parse(text, Format::Json)?.releases);
//! let reservation = ledger.reserve(&Request::new("team", "monday", &releases))?;
//! assert!(reservation.response.is_none()); // Now noise may be drawn.
//! let stored = ledger.commit("team", "monday", b"42.17")?;
//! assert_eq!(stored.response, b"42.17"); // Now it may be shown.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod history;
mod rules;
mod store;

pub use history::{Checkpoint, ExportItem, SessionSummary, Verification};
pub use rules::account::NewAccount;
pub use rules::chain::{Hash, Head, HeadError};
pub use rules::error::{DatabaseError, LedgerError, Refusal, Result};
pub use rules::filter::{FilterKind, NewFilter};
pub use rules::limits::{MAX_RELEASES_PER_KEY, MAX_RESPONSE_BYTES, MAX_SLOTS, MIN_STATE_BYTES};
pub use rules::quota::NewQuota;
pub use rules::request::Request;
pub use rules::transfer::Transfer;
pub use store::database::{self, Url};
pub use store::ledger::{Ledger, OpenOptions};
pub use store::pool::Pool;
pub use store::release::Price;
pub use store::release::steps::{Reservation, StoredResponse};
pub use store::session::{AnswerOutcome, NewAnswer, Secret, Session, SessionAnswer};
