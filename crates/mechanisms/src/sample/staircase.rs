//! Staircase noise. The middle step has uniform masses; the other steps are a level, with masses that fall by
//! e^-epsilon, and a uniform position on it. Both are always drawn, and one of them is selected.

use super::big::{Bracket, decay};
use super::coin::Coin;
use super::fraction::mask;
use super::geometric::Geometric;
use super::uniform::below;
use super::whole::WholeNumber;
use super::words::{self, RandomWords};
use crate::error::Error;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Level 0 is |x| < cut, level n >= 1 is cut + (n-1) period <= |x| < cut + n period.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Staircase {
    inverse_epsilon: RBig,
    period: u64,
    cut: u64,
    /// The coin for level 0.
    core: Coin,
    /// The sampler of n - 1 for the other levels n.
    level: Geometric,
}

impl Staircase {
    pub(crate) fn new(inverse_epsilon: &RBig, period: u64, cut: u64) -> Self {
        let core = Coin::new(core(inverse_epsilon, period, cut, 128));
        let level = Geometric::new(inverse_epsilon);
        Self { inverse_epsilon: inverse_epsilon.clone(), period, cut, core, level }
    }

    pub(super) fn draw(&self) -> Result<WholeNumber, Error> {
        words::with(6 + self.level.words(), |words| self.put_together(words))
    }

    fn put_together(&self, mut words: RandomWords<'_>) -> Result<WholeNumber, Error> {
        let exact = |bits| core(&self.inverse_epsilon, self.period, self.cut, bits);
        let within = self.core.fall(words.next()?, exact)?;
        let near = i128::from(below(2 * self.cut - 1, words.pair()?)?) - i128::from(self.cut - 1);
        let place = i128::from(below(self.period, words.pair()?)?);
        let sign = i128::from(mask(words.next()? as u64 & 1) as i64);
        let signed = |size: i128| (size ^ sign) - sign;
        let (period, start) = (i128::from(self.period), i128::from(self.cut) + place);
        match self.level.draw(&mut words)? {
            // Levels are below 2^27.
            WholeNumber::Small(level) => {
                let far = signed(start + level * period);
                let kept = i128::from(mask(within) as i64);
                Ok(WholeNumber::Small((near & kept) | (far & !kept)))
            }
            WholeNumber::Large(_) if within == 1 => Ok(WholeNumber::Small(near)),
            WholeNumber::Large(level) => {
                let far = IBig::from(start) + level * IBig::from(period);
                Ok(WholeNumber::Large(if sign < 0 { -far } else { far }))
            }
        }
    }
}

/// A bracket of 2^bits times the mass of level 0, which is (2 cut - 1) / (2 cut - 1 + 2 period b/(1-b)) with b =
/// e^-epsilon and falls with b.
fn core(inverse_epsilon: &RBig, period: u64, cut: u64, bits: usize) -> Bracket {
    let places = bits + 128;
    let (low, high) = decay(&(RBig::ONE / inverse_epsilon), places);
    let one = UBig::ONE << places;
    let share = |b: UBig| {
        let near = UBig::from(2 * cut - 1) * (&one - (&b).min(&one));
        (&near << bits) / (&near + UBig::from(2 * u128::from(period)) * b)
    };
    (share(high), share(low) + UBig::ONE)
}
