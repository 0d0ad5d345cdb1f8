//! Questions that are hard to answer: at the ends, at the leak, at and beside atoms.

use super::{Question, Release, groups};
use crate::reference::{Reference, loss, near_loss};
use counterpoint_testing::Random;

/// A question about a composition.
pub(crate) fn question(
    random: &mut Random,
    releases: &[Release],
    reference: &Reference,
) -> Question {
    if random.once_in(2) {
        Question::Epsilon(some_delta(random, releases, reference).clamp(0.0, 0.99))
    } else {
        let epsilon = some_epsilon(random, releases, reference).min(1e6);
        // Smaller ones but zero are not legal.
        Question::Delta(if epsilon < 1e-100 { 0.0 } else { epsilon })
    }
}

fn some_delta(random: &mut Random, releases: &[Release], reference: &Reference) -> f64 {
    let leak = reference.leak().low.near().max(0.0);
    match random.below(10) {
        0 => random.beside(leak),
        1 => random.log_uniform(1e-300, 0.5),
        2 => random.beside(reference.delta(0.0).low.near()),
        3 => reference.delta(0.0).low.near() * (1.0 + random.of(&[1e-9, -1e-9, 1e-4, -1e-2])),
        4..=6 => {
            let epsilon = some_epsilon(random, releases, reference);
            random.beside(reference.delta(epsilon).low.near())
        }
        _ => leak + (0.5 - leak).max(1e-3) * random.log_uniform(1e-300, 1.0),
    }
}

fn some_epsilon(random: &mut Random, releases: &[Release], reference: &Reference) -> f64 {
    let largest = near_loss(reference.largest);
    match random.below(10) {
        0 => random.of(&[0.0, 1e-100, 1e-20, 1e-9]),
        1 => random.beside(largest),
        2 => largest * (1.0 - random.log_uniform(1e-15, 0.5)),
        3 => random.log_uniform(1e-12, 1.0) * largest,
        4..=6 => {
            let atom = near_loss(some_atom(random, releases));
            random.beside(atom.abs())
        }
        _ => random.uniform(0.0, 1.05) * largest,
    }
}

/// The loss of a random pattern, likelier near the top.
fn some_atom(random: &mut Random, releases: &[Release]) -> i128 {
    let near_top = random.once_in(2);
    let one = |&(epsilon, count): &(f64, u64)| {
        let most = if near_top { count.min(2) } else { count };
        let minuses = random.between(0, most) as i128;
        (i128::from(count) - 2 * minuses) * loss(epsilon)
    };
    groups(releases).iter().map(one).sum()
}
