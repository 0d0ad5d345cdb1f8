//! Random pairs, including degenerate ones.

use super::fractions::ratio;
use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::pair::Pair;
use counterpoint_testing::Random;

/// Weights that are not all zero. Many of them are zero or equal.
pub(crate) fn weights(random: &mut Random, count: usize) -> Vec<u64> {
    let most = random.of(&[1, 2, 5, 30, 1_000_000_007]);
    loop {
        let mut one = || if random.once_in(4) { 0 } else { random.between(0, most) };
        let list: Vec<u64> = (0..count).map(|_| one()).collect();
        if list.iter().any(|&weight| weight > 0) {
            return list;
        }
    }
}

pub(crate) fn distribution(random: &mut Random, count: usize) -> Vec<Ratio> {
    let list = weights(random, count);
    let sum = list.iter().sum::<u64>();
    list.into_iter().map(|weight| ratio(weight, sum)).collect()
}

/// A pair of 1 to 6 outcomes; sometimes with outcomes repeated, so that ratios are equal.
pub(crate) fn random_pair(random: &mut Random) -> Pair {
    let count = random.between(1, 6) as usize;
    let (mut p, mut q) = (distribution(random, count), distribution(random, count));
    if random.once_in(8) {
        q.clone_from(&p);
    }
    if random.once_in(3) {
        let parts = random.between(2, 4);
        let at = random.below(count as u64) as usize;
        for list in [&mut p, &mut q] {
            let piece = &list[at] / Ratio::from(parts);
            list[at].clone_from(&piece);
            list.extend((1..parts).map(|_| piece.clone()));
        }
    }
    Pair::new(p, q).unwrap()
}
