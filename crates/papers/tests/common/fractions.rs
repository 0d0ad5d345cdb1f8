//! Helpers of tests in exact fractions.

use counterpoint_numerics::fractions::Ratio;

/// The number of cases: all of them in a full run, otherwise a tenth.
pub(crate) fn cases(full: usize) -> usize {
    if super::is_full() { full } else { full / 10 }
}

pub(crate) fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::from(numerator) / Ratio::from(denominator)
}
