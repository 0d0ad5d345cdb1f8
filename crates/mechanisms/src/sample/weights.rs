//! One of many, with weights e^(-gap / scale): a uniform number is compared with all sums of weights up
//! to each place, so that the time depends on how many there are alone.

use super::big::decay;
use super::fraction::{Fraction, Wide, mask};
use super::words;
use crate::error::Error;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// A weight is less than so many units of 2^-192 off. Its exponent, in units of 128, is less than 3
/// off wherever it is below one.
const OFF: u128 = 3 * 128 + Fraction::OFF as u128;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    /// 1/scale.
    rate: RBig,
    /// rate/128 is this times 2^-lower. Where it is above one all weights but the best score's are
    /// below e^-128, and so is what stands for them.
    each: Fraction,
    lower: u32,
}

impl Weights {
    /// For rates from 2^-100.
    pub(crate) fn new(rate: RBig) -> Self {
        let two = RBig::from(2);
        let half = RBig::ONE / &two;
        let each = &rate / RBig::from(128);
        // Nearly as often as it takes at once: doublings are slow one by one.
        let halvings = -each.to_f64().value().log2() - 2.0;
        let mut lower = halvings.clamp(0.0, 127.0) as u32;
        let mut each = each * RBig::from(UBig::ONE << lower as usize);
        while each < half && lower < 127 {
            each *= &two;
            lower += 1;
        }
        Self { rate, each: Fraction::of(&each), lower }
    }

    pub(crate) fn rate(&self) -> &RBig {
        &self.rate
    }

    pub(super) fn draw(&self, scores: &[i64]) -> Result<usize, Error> {
        let best = best(scores);
        words::with(2, |mut words| {
            let words = words.pair()?;
            let sums = self.sums(scores, best);
            match place(&sums, Fraction::of_words(words)) {
                (found, false) => Ok(found),
                (_, true) => self.settle(scores, best, words),
            }
        })
    }

    /// e^(-gap rate), less than [`OFF`] units off.
    #[inline]
    fn weight(&self, gap: u64) -> Fraction {
        let (exponent, beyond) = self.each.by(gap).lowered(self.lower);
        exponent.decay(beyond)
    }

    /// Sums of the weights up to each place.
    fn sums(&self, scores: &[i64], best: i64) -> Vec<Wide> {
        let mut sum = Wide::default();
        let add = |score: &i64| {
            sum = sum.plus(self.weight(best.wrapping_sub(*score) as u64));
            sum
        };
        scores.iter().map(add).collect()
    }

    /// The place for a uniform number that begins with these words, in numbers of any size and as many bits
    /// as it takes.
    fn settle(
        &self,
        scores: &[i64],
        best: i64,
        [first, second]: [u128; 2],
    ) -> Result<usize, Error> {
        let (mut drawn, mut length) = ((UBig::from(first) << 128) + UBig::from(second), 256);
        loop {
            let weight = |score: &i64| {
                let gap = RBig::from(best.abs_diff(*score));
                decay(&(gap * &self.rate), length)
            };
            let mut sums = (UBig::ZERO, UBig::ZERO);
            let add = |(low, high)| {
                sums = (&sums.0 + low, &sums.1 + high);
                sums.clone()
            };
            let sums: Vec<_> = scores.iter().map(weight).map(add).collect();
            let whole = sums.last().cloned().unwrap_or_default();
            // The uniform number times the whole, with as many bits as the sums have.
            let target = (
                (&drawn * whole.0) >> length,
                (((&drawn + UBig::ONE) * whole.1) >> length) + UBig::ONE,
            );
            let before = sums.len().saturating_sub(1);
            let count = |is: &dyn Fn(&(UBig, UBig)) -> bool| {
                sums.iter().take(before).filter(|sum| is(sum)).count()
            };
            let least = count(&|sum| sum.1 <= target.0);
            if least == count(&|sum| sum.0 <= target.1) {
                return Ok(least);
            }
            drawn = (drawn << 128) + UBig::from(words::more()?);
            length += 128;
        }
    }
}

/// The largest score, found without a branch.
fn best(scores: &[i64]) -> i64 {
    scores.iter().fold(i64::MIN, |best, &score| {
        words::step();
        best ^ ((best ^ score) & mask((best < score).into()) as i64)
    })
}

/// How many sums, the last one apart, are at most u times the last; and whether that is open.
///
/// With n weights a sum is less than n OFF units off. So is u times the last, which more bits of u add
/// less than n units to.
fn place(sums: &[Wide], u: Fraction) -> (usize, bool) {
    let (last, before) =
        sums.split_last().map_or((Wide::default(), sums), |(last, before)| (*last, before));
    let slack = (2 * OFF + 1) * sums.len() as u128 + 2;
    let (low, high) = last.times(u).around(slack);
    let (mut least, mut most) = (0_u64, 0_u64);
    for sum in before {
        least += 1 - low.at_most(*sum);
        most += sum.at_most(high);
    }
    (least as usize, least != most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::big::tests::exp;
    use crate::sample::fraction::tests::units;
    use counterpoint_testing::Random;

    /// For rates from the least that is legal to the largest, and gaps of every size.
    #[test]
    fn weights_are_as_near_as_they_say() {
        let mut random = Random::new(8);
        let mut worst = UBig::ZERO;
        for case in 0..100 {
            let epsilon = random.log_uniform(2.0_f64.powi(-20), 500.0);
            let sensitivity = random.log_whole(1, 1 << 53);
            let rate = match case {
                0 => RBig::try_from(250.0).unwrap(),
                1 => RBig::from(128),
                2 => RBig::try_from(2.0_f64.powi(-74)).unwrap(),
                _ => RBig::try_from(epsilon).unwrap() / RBig::from(2 * sensitivity),
            };
            let law = Weights::new(rate.clone());
            let far = (200.0 / rate.to_f64().value()).min(1.8e19);
            let gaps =
                [0, 1, 2, u64::MAX, (random.unit() * far) as u64, (random.unit() * far) as u64];
            for gap in gaps {
                let (found, exact) = (units(law.weight(gap)), exp(&(RBig::from(gap) * &rate), 192));
                let off = if found > exact { found - exact } else { exact - found };
                assert!(off < UBig::from(OFF), "{rate} {gap}: {off}");
                worst = worst.max(off);
            }
        }
        assert!(worst > UBig::from(20_u8), "{worst}: nothing was tested");
    }
}
