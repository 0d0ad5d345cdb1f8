use super::{Answer, AskError, Options};
use crate::composition::Composition;
use crate::quantity::Delta;

/// The least epsilon at which the composition is (epsilon, delta)-private.
///
/// # Errors
/// See [`AskError`].
pub fn epsilon(
    _composition: &Composition,
    _delta: Delta,
    _options: &Options<'_>,
) -> Result<Answer, AskError> {
    Err(AskError::Stopped)
}
