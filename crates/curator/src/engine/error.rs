//! The errors of engines, and the columns that engines report.

/// The engine did not answer. The reason may reveal data and is for the operator's log alone.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the engine failed")]
pub struct EngineError {
    /// The reason. It is never shown to the asker.
    pub why: String,
}

impl EngineError {
    pub(crate) fn new(why: impl ToString) -> Self {
        Self { why: why.to_string() }
    }

    /// The error of an engine whose rows do not fit the question.
    pub(crate) fn unexpected_rows() -> Self {
        Self::new("the engine's rows are not what was asked")
    }
}

/// A column of a source, as its engine reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceColumn {
    /// The column's name.
    pub name: String,
    /// The source's name for the column's type.
    pub kind: String,
}

impl SourceColumn {
    /// Finds a column by its name, without regard to case.
    pub(crate) fn named<'a>(found: &'a [Self], name: &str) -> Option<&'a Self> {
        found.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}
