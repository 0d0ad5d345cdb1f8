//! Randomized responses: every draw decides both whether the answer is true and which other answer replaces it.

use super::big::{Bracket, around, decay};
use super::coin::Coin;
use super::uniform::below;
use super::words;
use crate::error::Error;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// Tells the truth with probability 1/(1 + others e^-epsilon), otherwise one of the other answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResponseSampler {
    epsilon: RBig,
    others: u64,
    truth: Coin,
    /// The probability that the answer is leaked, that is, true for certain.
    leak: RBig,
    leaks: Coin,
}

/// The random choices of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResponseDraw {
    /// One if the true answer is leaked, else zero.
    pub(crate) leaked: u64,
    /// One if the answer is true when it is not leaked, else zero.
    pub(crate) truth: u64,
    /// The index among the other answers, used if the answer is not true.
    pub(crate) other: u64,
}

impl ResponseSampler {
    pub(crate) fn new(epsilon: RBig, others: u64, leak: RBig) -> Self {
        let truth = Coin::new(truth(&epsilon, others, 128));
        let leaks = Coin::new(around(&leak, 128));
        Self { epsilon, others, truth, leak, leaks }
    }

    pub(super) fn draw(&self) -> Result<ResponseDraw, Error> {
        words::with(4, |mut words| {
            let leaked = self.leaks.fall(words.next()?, |bits| around(&self.leak, bits))?;
            let truth =
                self.truth.fall(words.next()?, |bits| truth(&self.epsilon, self.others, bits))?;
            Ok(ResponseDraw { leaked, truth, other: below(self.others, words.pair()?)? })
        })
    }
}

/// A bracket of 2^bits / (1 + others e^-epsilon).
fn truth(epsilon: &RBig, others: u64, bits: usize) -> Bracket {
    let places = bits + 96;
    let (low, high) = decay(epsilon, places);
    let one = UBig::ONE << places;
    let share = |b: UBig| (&one << bits) / (&one + UBig::from(others) * b);
    (share(high), share(low) + UBig::ONE)
}
