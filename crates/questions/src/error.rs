//! The error of a question that cannot be asked.

/// A question cannot be asked. The error depends on the question and on the public description alone.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place} {problem}; legal: {legal}")]
pub struct QuestionError {
    /// The part of the question that is wrong, in words.
    pub place: String,
    /// The problem, in words.
    pub problem: String,
    /// The legal values.
    pub legal: String,
}

impl QuestionError {
    /// Creates an error about a part of the question.
    #[must_use]
    pub fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        legal: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), problem: problem.into(), legal: legal.into() }
    }
}
