//! Randomized answers: whether to tell the truth, and what else to say, drawn both and always.

use super::big::{Bracket, around, decay};
use super::coin::Coin;
use super::uniform::below;
use super::words;
use crate::error::Error;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// The truth with probability 1/(1 + others e^-epsilon), or one of the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Response {
    epsilon: RBig,
    others: u64,
    truth: Coin,
    /// The truth for certain with this probability.
    leak: RBig,
    leaks: Coin,
}

/// What was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// One if the truth is told for certain, else zero.
    pub(crate) leaked: u64,
    /// One if it is told otherwise, else zero.
    pub(crate) truth: u64,
    /// Which of the other answers would be given.
    pub(crate) other: u64,
}

impl Response {
    pub(crate) fn new(epsilon: RBig, others: u64, leak: RBig) -> Self {
        let truth = Coin::new(truth(&epsilon, others, 128));
        let leaks = Coin::new(around(&leak, 128));
        Self { epsilon, others, truth, leak, leaks }
    }

    pub(super) fn draw(&self) -> Result<Told, Error> {
        words::with(4, |mut words| {
            let leaked = self.leaks.fall(words.next()?, |bits| around(&self.leak, bits))?;
            let truth =
                self.truth.fall(words.next()?, |bits| truth(&self.epsilon, self.others, bits))?;
            Ok(Told { leaked, truth, other: below(self.others, words.pair()?)? })
        })
    }
}

/// Around 2^bits / (1 + others e^-epsilon).
fn truth(epsilon: &RBig, others: u64, bits: usize) -> Bracket {
    let places = bits + 96;
    let (low, high) = decay(epsilon, places);
    let one = UBig::ONE << places;
    let share = |b: UBig| (&one << bits) / (&one + UBig::from(others) * b);
    (share(high), share(low) + UBig::ONE)
}
