//! What tests in exact fractions share.

use counterpoint_numerics::fractions::Ratio;

/// All cases in the full run, a tenth otherwise.
pub(crate) fn cases(full: usize) -> usize {
    if super::is_full() { full } else { full / 10 }
}

pub(crate) fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::from_parts(numerator.into(), denominator.into())
}
