//! Random interactive systems as trees of whole numbers, and brute force over these trees.

use super::fractions::ratio;
use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::interactive::{Answer, System};
use counterpoint_testing::Random;

/// Every answer's probabilities are multiples of one sixtieth.
pub(crate) const UNIT: u64 = 60;

/// A system as a tree: for each query, its answers with their probabilities in sixtieths under b = 0 and b = 1.
#[derive(Clone, Default)]
pub(crate) struct Tree(pub(crate) Vec<Vec<([u64; 2], Tree)>>);

/// Whole numbers that sum to sixty, some of them zero.
pub(crate) fn sixtieths(random: &mut Random, count: usize) -> Vec<u64> {
    let mut cuts: Vec<u64> = (1..count).map(|_| random.between(0, UNIT)).collect();
    cuts.sort_unstable();
    cuts.push(UNIT);
    let mut last = 0;
    cuts.into_iter().map(|cut| cut - std::mem::replace(&mut last, cut)).collect()
}

impl Tree {
    /// A tree of at most `rounds` rounds and `most` queries and answers. One time in eight it has the largest size.
    pub(crate) fn random(random: &mut Random, rounds: usize, most: usize) -> Self {
        let whole = random.once_in(8);
        Self::grown(random, rounds, most, whole)
    }

    fn grown(random: &mut Random, rounds: usize, most: usize, whole: bool) -> Self {
        if rounds == 0 || (!whole && random.once_in(6)) {
            return Self::default();
        }
        let size = |random: &mut Random| {
            if whole { most } else { random.between(1, most as u64) as usize }
        };
        let queries = size(random);
        let query = |random: &mut Random| {
            let answers = size(random);
            let (zero, one) = (sixtieths(random, answers), sixtieths(random, answers));
            let both = zero.into_iter().zip(one);
            both.map(|(a, b)| ([a, b], Self::grown(random, rounds - 1, most, whole))).collect()
        };
        Self((0..queries).map(|_| query(random)).collect())
    }

    pub(crate) fn system(&self) -> System {
        let answer = |(masses, then): &([u64; 2], Tree)| {
            Answer::new(ratio(masses[0], UNIT), ratio(masses[1], UNIT), then.system())
        };
        let query = |answers: &Vec<_>| answers.iter().map(answer).collect();
        System::new(self.0.iter().map(query).collect()).unwrap()
    }

    /// What each deterministic adversary gains: the sum, over its transcripts, of
    /// (M^b - x M^(1-b))+, in units of 60^-rounds / x's denominator. One entry for every
    /// adversary; no maximum is taken on the way.
    fn gains(&self, masses: [i128; 2], rounds: u32, (up, down): (i128, i128)) -> Vec<i128> {
        if self.0.is_empty() {
            let scale = i128::from(UNIT).pow(rounds);
            return vec![((masses[0] * down - up * masses[1]) * scale).max(0)];
        }
        let mut all = Vec::new();
        for answers in &self.0 {
            let mut sums = vec![0];
            for ([a, b], then) in answers {
                let masses = [masses[0] * i128::from(*a), masses[1] * i128::from(*b)];
                let gains = then.gains(masses, rounds - 1, (up, down));
                sums = sums.iter().flat_map(|sum| gains.iter().map(move |g| sum + g)).collect();
            }
            all.extend(sums);
        }
        all
    }

    /// The best of them.
    pub(crate) fn brute_force(&self, rounds: u32, (up, down): (u64, u64)) -> Ratio {
        let gains = self.gains([1, 1], rounds, (i128::from(up), i128::from(down)));
        let best = gains.into_iter().max().unwrap();
        Ratio::from(best) / Ratio::from(i128::from(UNIT).pow(rounds) * i128::from(down))
    }

    pub(crate) fn swapped(&self) -> Self {
        let swap = |([a, b], then): &([u64; 2], Tree)| ([*b, *a], then.swapped());
        Self(self.0.iter().map(|answers| answers.iter().map(swap).collect()).collect())
    }

    /// Both at once: a query goes to either.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        let mine = self.0.iter().map(|answers| {
            answers.iter().map(|(masses, then)| (*masses, then.beside(other))).collect()
        });
        let its = other.0.iter().map(|answers| {
            answers.iter().map(|(masses, then)| (*masses, self.beside(then))).collect()
        });
        Self(mine.chain(its).collect())
    }
}

/// A ratio above or at one, as two whole numbers.
pub(crate) fn random_ratio(random: &mut Random) -> (u64, u64) {
    let down = random.between(1, 20);
    let extra = if random.once_in(6) { 0 } else { random.between(0, 3 * down) };
    (down + extra, down)
}
