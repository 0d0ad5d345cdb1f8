//! Numbers, values and tables as they stand in files, and what is said of those that may not.

pub mod decimal;
pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod object;
pub(crate) mod value;
pub(crate) mod written;
