use super::{Answer, AskError, Options};
use crate::composition::Composition;
use crate::quantity::Epsilon;

/// The least delta at which the composition is (epsilon, delta)-private.
///
/// # Errors
/// See [`AskError`].
pub fn delta(
    _composition: &Composition,
    _epsilon: Epsilon,
    _options: &Options<'_>,
) -> Result<Answer, AskError> {
    Err(AskError::Stopped)
}
