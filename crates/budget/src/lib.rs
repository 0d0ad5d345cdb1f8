//! Privacy budgets for queries that are chosen one after the other: the rules, without storage.
//!
//! The core composes plans whose parameters are fixed in advance. If parameters are chosen from earlier answers, the
//! optimal composition of the queries that happened to be asked is no bound. These are sound:
//!
//! - a [`Filter`]: a budget that is fixed first, in a currency in which the sum of the charges is a bound whatever is
//!   asked;
//! - a [`PlanAccount`]: slots that are fixed first and opened in any order, at the cost of the optimal composition of
//!   all slots;
//! - an [`Odometer`]: no budget, but a bound on the loss that holds at all times at once.
//!
//! Amounts are exact decimals ([`Amount`]). A state is a few totals, so admission costs the same after a million
//! queries. Nothing here depends on the data.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod amount;
mod charge;
mod convert;
mod cover;
mod currency;
mod curves;
mod error;
mod filter;
mod odometer;
mod order;
mod plan;
mod profile;
mod query;
mod roc;
mod terms;

pub use amount::{Amount, AmountError, GRID_PLACES};
pub use cover::{Basis, CoverError, NotCoveredError, covers};
pub use error::{CapacityError, FilterError};
pub use filter::Filter;
pub use odometer::{Level, Odometer, OdometerTotals};
pub use plan::{DeclareError, OpenError, PlanAccount, Slot};
pub use query::{Description, Query, is_within_part};
pub use terms::{Charge, Concurrency, Currency, Promise, Terms};
