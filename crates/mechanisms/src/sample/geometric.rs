//! Geometric and discrete Laplace noise, digit by digit.
//!
//! Masses proportional to e^(-x/s) on 0, 1, 2, ... factor over the binary digits of x, which are therefore
//! independent: digit i is one with probability 1/(1 + e^(2^i/s)) (theory 10.7).

use super::big::{Bracket, decay, narrowed};
use super::coin::{Coin, settle};
use super::whole::WholeNumber;
use super::words::RandomWords;
use crate::error::Error;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// A coin for each binary digit, and one that says whether there are more digits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Geometric {
    scale: RBig,
    digits: Vec<Coin>,
    far: Coin,
}

impl Geometric {
    /// For scales up to 2^80.
    pub(crate) fn new(scale: &RBig) -> Self {
        // 2^count >= 89 scale, so that e^(-2^count / scale) < 2^-128.
        let reach = (scale * RBig::from(89)).ceil().into_parts().1;
        let count = (reach - UBig::ONE).bit_len();
        // e^(-2^i / scale) by squaring, each of which doubles the error.
        let places = 192 + count;
        let (mut low, mut high) = decay(&(RBig::ONE / scale), places);
        let mut digits = Vec::with_capacity(count);
        for _ in 0..count {
            digits.push(Coin::new(odds((&low, &high), places, 128)));
            low = (&low * &low) >> places;
            high = ((&high * &high) >> places) + UBig::ONE;
        }
        let far = Coin::new(narrowed((low, high), places - 128));
        Self { scale: scale.clone(), digits, far }
    }

    /// The number of digits that have a coin. Numbers whose far coin is zero are below 2^count.
    pub(super) fn count(&self) -> usize {
        self.digits.len()
    }

    pub(super) fn words(&self) -> usize {
        self.digits.len() + 1
    }

    pub(super) fn draw(&self, words: &mut RandomWords<'_>) -> Result<WholeNumber, Error> {
        let again = words.clone();
        let (mut value, mut special) = (0_u128, 0);
        for (place, coin) in self.digits.iter().enumerate() {
            let (digit, open) = coin.toss(words.next()?);
            value |= u128::from(digit) << place;
            special |= open;
        }
        let (far, open) = self.far.toss(words.next()?);
        if special | far | open != 0 {
            return self.slowly(again);
        }
        Ok(WholeNumber::Small(value as i128))
    }

    /// Draws exactly, from the same words, if a coin is undecided or there are more digits.
    fn slowly(&self, mut words: RandomWords<'_>) -> Result<WholeNumber, Error> {
        let mut value = UBig::ZERO;
        for (place, coin) in self.digits.iter().enumerate() {
            if coin.fall(words.next()?, |bits| self.digit(place, bits))? == 1 {
                value += UBig::ONE << place;
            }
        }
        let further = |bits| decay(&self.exponent(self.count()), bits);
        let mut far = self.far.fall(words.next()?, further)? == 1;
        if !far {
            // Below 2^87.
            return Ok(WholeNumber::Small(i128::try_from(value).unwrap_or(i128::MAX)));
        }
        // Given that the number is at least 2^count, the excess has the same law again.
        while far {
            value += UBig::ONE << self.count();
            far = settle(UBig::ZERO, 0, further)?;
        }
        Ok(WholeNumber::Large(IBig::from(value)))
    }

    /// 2^place / scale.
    fn exponent(&self, place: usize) -> RBig {
        RBig::from(UBig::ONE << place) / &self.scale
    }

    /// A bracket of 2^bits times the probability that a digit is one.
    fn digit(&self, place: usize, bits: usize) -> Bracket {
        let (low, high) = decay(&self.exponent(place), bits + 32);
        odds((&low, &high), bits + 32, bits)
    }
}

/// A bracket of 2^bits b/(1 + b), for b in a bracket with `places` bits.
fn odds((low, high): (&UBig, &UBig), places: usize, bits: usize) -> Bracket {
    let one = UBig::ONE << places;
    let share = |b: &UBig| (b << bits) / (&one + b);
    (share(low), share(high) + UBig::ONE)
}

/// Masses proportional to e^(-|x| / scale): the difference of two geometric numbers.
pub(super) fn laplace(law: &Geometric, words: &mut RandomWords<'_>) -> Result<WholeNumber, Error> {
    let first = law.draw(words)?;
    Ok(first.minus(law.draw(words)?))
}
