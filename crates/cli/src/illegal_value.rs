//! The error for an illegal value on the command line.

/// The legal values; clap shows the illegal value beside them.
#[derive(Debug, thiserror::Error)]
#[error("legal: {0}")]
pub(crate) struct IllegalValueError(pub(crate) String);

impl IllegalValueError {
    pub(crate) fn new(legal: &str) -> Self {
        Self(legal.to_owned())
    }
}
