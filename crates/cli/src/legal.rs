//! What the command line says of a value that is not legal.

/// What would be legal; the value stands beside it.
#[derive(Debug, thiserror::Error)]
#[error("legal: {0}")]
pub(crate) struct NotLegal(pub(crate) String);

impl NotLegal {
    pub(crate) fn unless(legal: &str) -> Self {
        Self(legal.to_owned())
    }
}
