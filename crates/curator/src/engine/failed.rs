//! What an engine says beside numbers: that it failed, and which columns a source has.

/// The engine did not answer. Why is for the operator's log alone: it may tell of the data.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the engine failed")]
pub struct Failed {
    /// Why; never shown to whoever asked.
    pub why: String,
}

impl Failed {
    pub(crate) fn new(why: impl ToString) -> Self {
        Self { why: why.to_string() }
    }

    /// What an engine answered is not what it was asked.
    pub(crate) fn unlike() -> Self {
        Self::new("the engine's rows are not what was asked")
    }
}

/// A column of a source, as the engine tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// What the source says it holds.
    pub kind: String,
}

impl Found {
    /// A column by its name. Case does not matter.
    pub(crate) fn named<'a>(found: &'a [Self], name: &str) -> Option<&'a Self> {
        found.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}
