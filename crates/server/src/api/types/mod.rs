//! What goes in and comes out, as the OpenAPI document describes it.

pub(super) mod question;
pub(super) mod session;
pub(super) mod standing;
