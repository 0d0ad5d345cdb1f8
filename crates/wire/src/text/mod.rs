//! The parts of which all formats are made: values, fields, numbers, errors and JSON objects.

pub mod decimal;
pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod object;
pub(crate) mod value;
pub(crate) mod written;
