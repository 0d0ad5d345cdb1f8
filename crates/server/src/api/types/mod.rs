//! Bodies that several paths share, as the OpenAPI document describes them.

pub(super) mod account;
pub(super) mod answer;
pub(super) mod balance;
pub(super) mod question;
