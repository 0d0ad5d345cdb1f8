//! Budgets that are spent as one goes: the rules, without storage.
//!
//! The core speaks of parameters fixed up front. Where *they* are
//! chosen from earlier answers, optimal composition of what happened to be asked is no
//! bound; what is sound is one of these:
//!
//! - an open account, [`Filter`]: a budget fixed first, in a currency whose sums hold
//!   whatever is asked;
//! - a declared plan, [`PlanAccount`]: slots fixed first, opened in any order, covered by
//!   optimal composition of all of them;
//! - an [`Odometer`]: no budget, but a bound on the loss that holds at all times at once.
//!
//! Amounts are exact decimals ([`Amount`]), and a state is a few totals, so that admission
//! costs the same after a million queries. Nothing here depends on the data.

mod amount;
mod charge;
mod convert;
mod currency;
mod curves;
mod dominate;
mod error;
mod odometer;
mod order;
mod plan;
mod profile;
mod query;
mod roc;
mod rule;
mod terms;

pub use amount::{Amount, AmountError, GRID_PLACES};
pub use dominate::{Basis, CoverError, NotCovered, covers};
pub use error::{FilterError, Refused};
pub use odometer::{Level, Mileage, Odometer};
pub use plan::{DeclareError, OpenError, PlanAccount, Slot};
pub use query::{Description, Query, is_within_part};
pub use rule::Filter;
pub use terms::{Charge, Currency, Interleaving, Promise, Terms};
