//! What cannot be asked.

/// Why a question cannot be asked. It depends on the question and on what is public.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place} {problem}; legal: {legal}")]
pub struct Illegal {
    /// Where, in words.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub legal: String,
}

impl Illegal {
    /// What is wrong at a place, and what would be legal.
    #[must_use]
    pub fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        legal: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), problem: problem.into(), legal: legal.into() }
    }
}
