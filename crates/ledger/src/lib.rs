//! Privacy budgets that survive crashes, concurrency and clever analysts.
//!
//! A [`Ledger`] keeps data sets, accounts and releases in SQLite or PostgreSQL. A release is
//! debited durably before any noise is drawn ([`Ledger::reserve`]), its response is stored
//! before anybody sees it ([`Ledger::commit`]), and neither is ever undone. The format, the
//! order of writes, every crash and the assumptions are in `docs/ledger.md`.
//!
//! ```
//! use counterpoint::{Adjacency, Relation};
//! use counterpoint_ledger::{Kind, Ledger, NewAccount, NewFilter, Request, Url};
//! use counterpoint_wire::Format;
//! use counterpoint_wire::ledger::{Asked, ExactPlan};
//!
//! let folder = tempfile::tempdir()?;
//! let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse()?;
//! let mut ledger = Ledger::init(&url)?;
//! let budget = |epsilon: &str| -> Result<_, counterpoint_budget::AmountError> {
//!     Ok(NewFilter::new(Kind::Sums, epsilon.parse()?, "1e-6".parse()?))
//! };
//! ledger.dataset("census", Relation::one(Adjacency::AddRemove), &budget("1")?)?;
//! ledger.open_account("team", "census", &NewAccount::Filter(budget("0.3")?))?;
//!
//! let text = br#"{"release": [{"mechanism": "laplace", "scale": 10}]}"#;
//! let asked = Asked::Described(ExactPlan::parse(text, Format::Json)?.releases);
//! let reservation = ledger.reserve(&Request::new("team", "monday", &asked))?;
//! assert!(reservation.response.is_none()); // Now noise may be drawn.
//! let stored = ledger.commit("team", "monday", b"42.17")?;
//! assert_eq!(stored.response, b"42.17"); // Now it may be shown.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod batch;
mod cells;
mod chain;
mod checkpoint;
pub mod database;
mod error;
mod ledger;
mod name;
mod owner;
mod plan;
mod pool;
mod query;
mod read;
mod release;
mod replay;
mod room;
mod rows;
mod rules;
mod session;
mod setup;
mod slots;
mod spent;
mod tables;
mod upgrade;
mod verify;

pub use batch::{Committed, Reservation};
pub use chain::{Hash, Head, HeadError};
pub use checkpoint::Checkpoint;
pub use database::{DatabaseError, Url};
pub use error::{LedgerError, Refusal};
pub use ledger::{Ledger, OpenOptions};
pub use owner::Transfer;
pub use pool::Pool;
pub use read::{Exported, OpenedSession};
pub use release::{Price, Request};
pub use rules::{Kind, NewFilter};
pub use session::{Answer, Answered, NewAnswer, Secret, Session};
pub use setup::{NewAccount, NewQuota};
pub use verify::Verification;

/// The longest response, declaration or state that is stored, in bytes.
pub const MOST_RESPONSE: usize = 1 << 20;

/// The shortest state that is stored, in bytes: it holds that many of salt.
pub const LEAST_STATE: usize = 32;

/// The most releases that are charged together.
pub const MOST_TOGETHER: usize = 1000;

/// The most slots a plan account has.
pub const MOST_SLOTS: usize = 100_000;
