//! The calls of owners: opening and closing data sets and accounts, giving quotas, recutting slots, moving budget.

mod accounts;
mod quotas;
mod recut;
mod transfers;
