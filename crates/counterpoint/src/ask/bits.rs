use super::{Answer, AskError};
use crate::composition::Composition;
use crate::quantity::{Delta, Epsilon, OutOfRange};
use crate::theorem::Theorem;
use crate::watch::Watch;

/// How many correct bits are wanted: MV section 2's q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(u32);

impl Bits {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "a whole number from 8 to 100000";

    /// Checks the range.
    ///
    /// # Errors
    /// [`OutOfRange`] if outside it.
    pub fn new(value: u64) -> Result<Self, OutOfRange> {
        match u32::try_from(value) {
            Ok(bits @ 8..=100_000) => Ok(Self(bits)),
            _ => Err(OutOfRange { quantity: "bits", value: value as f64, legal: Self::LEGAL }),
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// An answer in arbitrary precision, as decimal text rounded outward.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreciseAnswer {
    /// Never above the truth.
    pub lower: String,
    /// Never below the truth.
    pub upper: String,
    /// Which theorem licenses it.
    pub theorem: Theorem,
}

/// The least epsilon at a delta, to an absolute width of 2^-bits.
///
/// # Errors
/// See [`AskError`].
pub fn epsilon_to_bits(
    _composition: &Composition,
    _delta: Delta,
    _bits: Bits,
    _watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    Err(AskError::Stopped)
}

/// The least delta at an epsilon, to a width of 2^-bits times itself.
///
/// # Errors
/// See [`AskError`].
pub fn delta_to_bits(
    _composition: &Composition,
    _epsilon: Epsilon,
    _bits: Bits,
    _watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    Err(AskError::Stopped)
}

/// The least epsilon as a bracket of doubles.
pub(super) fn epsilon_bracket(
    _composition: &Composition,
    _delta: Delta,
    _watch: Watch<'_>,
) -> Result<Answer, AskError> {
    Err(AskError::Stopped)
}

/// The least delta as a bracket of doubles.
pub(super) fn delta_bracket(
    _composition: &Composition,
    _epsilon: Epsilon,
    _watch: Watch<'_>,
) -> Result<Answer, AskError> {
    Err(AskError::Stopped)
}
