//! What owners do: open and close data sets and accounts, give quotas, exchange openings, move budget.

mod accounts;
mod quotas;
mod recut;
mod transfers;
