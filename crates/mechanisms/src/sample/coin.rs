//! A coin with a real probability: one fair word decides it, except with probability at most about 2^-126.

use super::big::Bracket;
use super::words;
use crate::error::Error;
use dashu_int::UBig;
use std::hint::black_box;

/// A bracket of p 2^128. A uniform word is below it (heads), above it (tails), or within it (undecided).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coin {
    low: u128,
    /// The number of words that leave the toss undecided.
    open: u128,
}

impl Coin {
    /// From a bracket of p 2^128.
    pub(super) fn new((low, high): Bracket) -> Self {
        let low = u128::try_from(low).unwrap_or(u128::MAX);
        let most = (UBig::ONE << 128) - UBig::from(low);
        let open = (high - UBig::from(low)).min(most);
        Self { low, open: u128::try_from(open).unwrap_or(u128::MAX) }
    }

    /// From the first 128 bits of two numbers around p.
    pub(super) fn between(low: u128, high: u128) -> Self {
        // The sum cannot wrap to zero: the brackets never leave all 2^128 words open.
        Self { low, open: high.wrapping_sub(low).wrapping_add(1) }
    }

    /// Returns one if the word is below p, else zero; and one if the word leaves that open, else zero. Both come from
    /// subtractions, hidden from the compiler, which could turn them into a branch.
    #[inline]
    pub(super) fn toss(self, word: u128) -> (u64, u64) {
        words::step();
        let (over, below) = word.overflowing_sub(self.low);
        let open = u64::from(!below) & u64::from(over.overflowing_sub(self.open).1);
        (black_box(below.into()), black_box(open))
    }

    /// Returns one if a uniform number that begins with this word is below p, else zero, given `bracket(n)` of p 2^n
    /// for every n.
    pub(super) fn fall(self, word: u128, bracket: impl Fn(usize) -> Bracket) -> Result<u64, Error> {
        let (below, open) = self.toss(word);
        if open == 1 { settle(word.into(), 128, bracket).map(u64::from) } else { Ok(below) }
    }
}

/// True if a uniform number that begins with the `length` bits of `drawn` is below p. Draws more bits of the number
/// until the brackets decide.
pub(super) fn settle(
    mut drawn: UBig,
    mut length: usize,
    bracket: impl Fn(usize) -> Bracket,
) -> Result<bool, Error> {
    loop {
        let (low, high) = bracket(length);
        if drawn < low {
            return Ok(true);
        }
        if drawn >= high {
            return Ok(false);
        }
        drawn = (drawn << 128) + UBig::from(words::more()?);
        length += 128;
    }
}
