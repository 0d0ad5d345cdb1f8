//! Discrete Gaussian noise by rejection (Canonne, Kamath and Steinke 2020, Algorithm 3): discrete Laplace noise y of
//! scale t = floor(sigma) + 1 is accepted with probability e^-E, E = (|y| - sigma^2/t)^2 / (2 sigma^2).
//!
//! A trial uses the same number of words and steps whatever it draws. The number of trials is independent of the
//! accepted value, as in all rejection sampling, so the time reveals nothing about the noise.

use super::big::decay;
use super::coin::{Coin, settle};
use super::fraction::Fraction;
use super::geometric::{Geometric, laplace};
use super::whole::WholeNumber;
use super::words::{self, RandomWords};
use crate::error::Error;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// The sampler: E = A v^2 with A = t^2 / (2 sigma^2) and v = | |y|/t - sigma^2/t^2 |.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gaussian {
    sigma: RBig,
    proposal: Geometric,
    /// 2^count / (2^8 t): the factor that takes |y| / 2^count to |y|/t, in units of 2^8.
    per_step: Fraction,
    /// sigma^2 / t^2, in units of 2^8.
    centre: Fraction,
    /// The number of bits by which v, in units of 2^8, is raised. If the result is one or more, E is at least 128.
    raise: u32,
    /// E/512 for the v that is one after raising.
    steep: Fraction,
}

impl Gaussian {
    /// For sigma from 2^-20 to 2^79.
    pub(crate) fn new(sigma: &RBig) -> Self {
        let t = RBig::from(sigma.floor()) + RBig::ONE;
        let proposal = Geometric::new(&t);
        let two = |power: usize| RBig::from(UBig::ONE << power);
        let (ratio, unit) = (sigma / &t, two(8));
        let square = &ratio * &ratio;
        let centre = Fraction::of(&(&square / &unit));
        let per_step = Fraction::of(&(two(proposal.count()) / (&unit * &t)));
        // A 4^(8 - raise) is from 128 to 512; A is above 1/2, and at most 2^39.
        let (mut steep, mut raise) = (two(16) / (RBig::from(2) * square), 0);
        while steep >= two(9) {
            steep /= RBig::from(4);
            raise += 1;
        }
        let steep = Fraction::of(&(steep / two(9)));
        Self { sigma: sigma.clone(), proposal, per_step, centre, raise, steep }
    }

    fn words(&self) -> usize {
        2 * self.proposal.words() + 1
    }

    pub(super) fn draw(&self) -> Result<WholeNumber, Error> {
        loop {
            if let Some(noise) = words::with(self.words(), |words| self.trial(words))? {
                return Ok(noise);
            }
        }
    }

    fn trial(&self, mut words: RandomWords<'_>) -> Result<Option<WholeNumber>, Error> {
        let noise = laplace(&self.proposal, &mut words)?;
        let word = words.next()?;
        let exact = |noise: &WholeNumber| {
            let exponent = self.exponent(noise);
            move |bits| decay(&exponent, bits)
        };
        let kept = match &noise {
            WholeNumber::Small(y) => match self.coin(y.unsigned_abs()).toss(word) {
                (below, 0) => below == 1,
                _ => settle(word.into(), 128, exact(&noise))?,
            },
            WholeNumber::Large(_) => settle(word.into(), 128, exact(&noise))?,
        };
        Ok(kept.then_some(noise))
    }

    /// A coin with probability e^-E, for |y| below 2^count.
    fn coin(&self, y: u128) -> Coin {
        let (low, high) = self.kept(y);
        Coin::between(low.word(), high.word())
    }

    /// A bracket of e^-E. The distance v has an error below 2 units of 2^-192; raised, for the smallest sigma, below
    /// 2^25. E is 512 times a product that contains v twice, so its error is below 2^36 units where e^-E is not below
    /// 2^-184.
    fn kept(&self, y: u128) -> (Fraction, Fraction) {
        let share = Fraction::of_word(y << (128 - self.proposal.count()));
        let distance = self.per_step.times(share).apart(self.centre);
        let (distance, beyond) = distance.raised(self.raise);
        // E/128.
        let (exponent, further) = distance.times(self.steep.times(distance)).raised(2);
        exponent.decay(beyond | further).around(1 << 40)
    }

    /// E, exactly.
    fn exponent(&self, noise: &WholeNumber) -> RBig {
        let size = RBig::from(noise.clone().big().into_parts().1);
        let t = RBig::from(self.sigma.floor()) + RBig::ONE;
        let square = &self.sigma * &self.sigma;
        let apart = size - &square / t;
        &apart * &apart / (RBig::from(2) * square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::big::tests::exp;
    use crate::sample::fraction::tests::units;
    use counterpoint_testing::Random;

    /// The brackets hold the probability, computed with the library's exponential to 192 bits, with a wide margin.
    #[test]
    fn brackets_hold_the_probability() {
        let mut random = Random::new(7);
        let ends = [2.0_f64.powi(-20), 1.0_f64.next_down(), 1.0, 2.0_f64.powi(79).next_down()];
        let any = (0..60).map(|_| random.log_uniform(2.0_f64.powi(-20), 2.0_f64.powi(60)));
        let sigmas: Vec<f64> = ends.into_iter().chain(any).collect();
        let mut kept = 0;
        for sigma in sigmas {
            let law = Gaussian::new(&RBig::try_from(sigma).unwrap());
            for case in 0..8 {
                let y = match case {
                    0 | 1 => case,
                    2 => (1 << law.proposal.count()) - 1,
                    _ => (sigma.max(1.0) * random.uniform(0.0, 14.0)) as u128,
                };
                let exact = exp(&law.exponent(&WholeNumber::Small(y as i128)), 192);
                let (low, high) = law.kept(y);
                let (low, high) = (units(low), units(high));
                assert!(low <= exact && exact <= &high + UBig::ONE, "{sigma} {y}");
                assert!(&high - &low <= UBig::ONE << 41, "{sigma} {y}");
                // The middle is off by less than 2^36 units.
                if low > UBig::ZERO {
                    let middle = low + (UBig::ONE << 40);
                    let off = if middle > exact { middle - exact } else { exact - middle };
                    assert!(off < UBig::ONE << 36, "{sigma} {y}: {off}");
                    kept += 1;
                }
            }
        }
        assert!(kept > 300, "{kept}");
    }
}
