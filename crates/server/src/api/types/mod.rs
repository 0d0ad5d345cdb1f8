//! What goes in and comes out of more than one path, as the OpenAPI document describes it.

pub(super) mod account;
pub(super) mod answer;
pub(super) mod asking;
pub(super) mod balance;
