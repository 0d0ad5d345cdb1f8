//! A choice with weights e^(-gap / scale). A uniform number is compared with every partial sum of the weights, so that
//! the time depends on the number of weights only.

use super::big::decay;
use super::fraction::{Fraction, Wide, mask};
use super::words;
use crate::error::Error;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// An upper bound on the error of a weight in units of 2^-192. The error of its exponent, in units of 128, is below 3
/// wherever the exponent is below one.
const OFF: u128 = 3 * 128 + Fraction::OFF as u128;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    /// 1/scale.
    rate: RBig,
    /// rate/128 is this number times 2^-lower. If it is above one, all weights except the best score's are below
    /// e^-128, and so are the values that represent them.
    each: Fraction,
    lower: u32,
}

impl Weights {
    /// For rates from 2^-100.
    pub(crate) fn new(rate: RBig) -> Self {
        let two = RBig::from(2);
        let half = RBig::ONE / &two;
        let each = &rate / RBig::from(128);
        // Starts near the required number of doublings, since doubling ratios one by one is slow.
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

    /// e^(-gap rate), with an error below [`OFF`] units.
    #[inline]
    fn weight(&self, gap: u64) -> Fraction {
        let (exponent, beyond) = self.each.by(gap).lowered(self.lower);
        exponent.decay(beyond)
    }

    /// The partial sums of the weights.
    fn sums(&self, scores: &[i64], best: i64) -> Vec<Wide> {
        let mut sum = Wide::default();
        let add = |score: &i64| {
            sum = sum.plus(self.weight(best.wrapping_sub(*score) as u64));
            sum
        };
        scores.iter().map(add).collect()
    }

    /// The index for a uniform number that begins with these words, with numbers of any size and as many bits as
    /// needed.
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
            // The uniform number times the total, with as many bits as the sums have.
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

/// The largest score, without a branch.
fn best(scores: &[i64]) -> i64 {
    scores.iter().fold(i64::MIN, |best, &score| {
        words::step();
        best ^ ((best ^ score) & mask((best < score).into()) as i64)
    })
}

/// The number of partial sums, except the last, that are at most u times the last; and true if that number is
/// undecided.
///
/// With n weights the error of a sum is below n OFF units. The error of u times the last sum is the same, and further
/// bits of u add less than n units.
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

    /// For rates from the smallest legal to the largest, and gaps of every size.
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
