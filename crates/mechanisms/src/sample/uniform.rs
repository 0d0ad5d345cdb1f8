//! Uniform whole numbers.

use super::fraction::Fraction;
use super::words;
use crate::error::Error;
use dashu_int::UBig;

/// Draws from 0 to n - 1 uniformly: floor(u n), for a uniform number u that begins with these words.
pub(super) fn below(n: u64, words: [u128; 2]) -> Result<u64, Error> {
    let (found, rest) = Fraction::of_words(words).by(n).parts();
    // More bits of u add less than n units to the rest: the probability that they matter is at most about 2^-128.
    if rest.put(n).1 { settle(n, words) } else { Ok(found) }
}

/// The same result from all bits of the two words, and as many more as needed.
fn settle(n: u64, [first, second]: [u128; 2]) -> Result<u64, Error> {
    let (mut drawn, mut length) = ((UBig::from(first) << 128) + UBig::from(second), 256);
    loop {
        let low = (&drawn * UBig::from(n)) >> length;
        let high = ((&drawn + UBig::ONE) * UBig::from(n) - UBig::ONE) >> length;
        if low == high {
            return Ok(u64::try_from(low).unwrap_or(u64::MAX));
        }
        drawn = (drawn << 128) + UBig::from(words::more()?);
        length += 128;
    }
}
