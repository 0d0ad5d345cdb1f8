//! What the time of a draw tells: `cargo bench -p counterpoint-bench --bench latency`, with a word that
//! is in the names of those wanted, or without.
//!
//! Each case is drawn 40,000 times, and each draw is timed. An observer learns from one half which side of which
//! time to bet on, and bets on the other half: the advantage is how much more often the bet is made on draws
//! where the secret is so than on those where it is not, which is 0 for whoever knows nothing and 1 for whoever
//! knows all. The samplers of opendp are there to show that the observer sees what there is to be seen.
#![allow(clippy::unwrap_used)]

use counterpoint_mechanisms::{Exponential, Grid, Noise, RandomizedResponse};
use dashu_int::IBig;
use dashu_ratio::RBig;
use opendp::traits::samplers::{
    sample_discrete_gaussian, sample_discrete_laplace, sample_uniform_uint_below,
};
use std::hint::black_box;
use std::time::Instant;

const DRAWS: usize = 40_000;

/// How long it took, and the secret.
type Seen = (u64, bool);

fn timed<T>(draw: impl FnOnce() -> T) -> (u64, T) {
    let start = Instant::now();
    let drawn = black_box(draw());
    (start.elapsed().as_nanos() as u64, drawn)
}

/// Draws of which the secret is known at once.
fn known(mut draw: impl FnMut() -> (u64, bool)) -> Vec<Seen> {
    (0..DRAWS / 20).for_each(|_| _ = draw());
    (0..DRAWS).map(|_| draw()).collect()
}

/// Draws of which the secret is whether they are above the median.
fn above_median(mut draw: impl FnMut() -> (u64, u128)) -> Vec<Seen> {
    (0..DRAWS / 20).for_each(|_| _ = draw());
    let all: Vec<(u64, u128)> = (0..DRAWS).map(|_| draw()).collect();
    let mut sizes: Vec<u128> = all.iter().map(|(_, size)| *size).collect();
    sizes.sort_unstable();
    let median = sizes[DRAWS / 2];
    all.into_iter().map(|(time, size)| (time, size > median)).collect()
}

/// The share of bets on either side of the secret, for those who bet on times above this one.
fn bets(seen: &[Seen], time: u64) -> [f64; 2] {
    [true, false].map(|secret| {
        let side = seen.iter().filter(|(_, is)| *is == secret);
        let bets = side.clone().filter(|(took, _)| *took > time).count();
        bets as f64 / side.count().max(1) as f64
    })
}

/// The time and the side on which the training half has the largest advantage.
fn learn(seen: &[Seen]) -> (u64, f64) {
    let mut sorted = seen.to_vec();
    sorted.sort_unstable();
    let whole =
        [true, false].map(|secret| seen.iter().filter(|(_, is)| *is == secret).count() as f64);
    let (mut below, mut best) = ([0.0; 2], (0, 0.0_f64));
    for pair in sorted.windows(2) {
        below[usize::from(!pair[0].1)] += 1.0;
        let advantage = below[1] / whole[1] - below[0] / whole[0];
        if pair[0].0 < pair[1].0 && advantage.abs() > best.1.abs() {
            best = (pair[0].0, advantage);
        }
    }
    (best.0, best.1.signum())
}

/// Unless it is not among those asked for.
fn report(name: &str, draw: impl FnOnce() -> Vec<Seen>) {
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if !asked.is_empty() && !asked.iter().any(|word| name.contains(word)) {
        return;
    }
    let seen = draw();
    // The halves are drawn in turns, so that both see the machine as it is.
    let half = |odd: usize| seen.iter().skip(odd).step_by(2).copied().collect::<Vec<Seen>>();
    let (train, test) = (half(0), half(1));
    let (time, side) = learn(&train);
    let [so, not] = bets(&test, time);
    let sides =
        [true, false].map(|secret| test.iter().filter(|(_, is)| *is == secret).count() as f64);
    let error = (so * (1.0 - so) / sides[0] + not * (1.0 - not) / sides[1]).sqrt();
    let mut times: Vec<u64> = seen.iter().map(|(took, _)| *took).collect();
    times.sort_unstable();
    println!("{name:48} {:7} ns   {:+.4} ± {error:.4}", times[times.len() / 2], side * (so - not));
}

fn size(noise: &Noise) -> Vec<Seen> {
    above_median(|| {
        let (took, noise) = timed(|| noise.add(0).unwrap());
        (took, noise.unsigned_abs())
    })
}

fn library(draw: impl Fn() -> IBig) -> Vec<Seen> {
    above_median(|| {
        let (took, noise) = timed(&draw);
        (took, u128::try_from(noise.into_parts().1).unwrap())
    })
}

fn told(buckets: u64) -> Vec<Seen> {
    let response = RandomizedResponse::new(1.0, buckets).unwrap();
    known(|| {
        let (took, answer) = timed(|| response.release(black_box(1)).unwrap());
        (took, answer == 1)
    })
}

/// Another answer is drawn only if it is a lie, with a sampler by others.
fn told_by_library() -> Vec<Seen> {
    let scale = RBig::ONE;
    known(|| {
        timed(|| {
            let truth = sample_discrete_laplace(scale.clone()).unwrap() <= IBig::ZERO;
            if !truth {
                black_box(sample_uniform_uint_below::<u64, 8>(3).unwrap());
            }
            truth
        })
    })
}

/// Whether the best score won.
fn winner() -> Vec<Seen> {
    let choice = Exponential::new(1.0, 1).unwrap();
    let scores: Vec<i64> = (0..100).map(|place| if place == 50 { 9 } else { place % 3 }).collect();
    known(|| {
        let (took, place) = timed(|| choice.release(black_box(&scores)).unwrap());
        (took, place == 50)
    })
}

/// Which of two lists of scores was given.
fn neighbours(far: i64) -> Vec<Seen> {
    let choice = Exponential::new(1.0, 1).unwrap();
    let one: Vec<i64> = (0..100).map(|place| place % 7).collect();
    let other: Vec<i64> =
        one.iter().map(|score| score + if score % 2 == 0 { far } else { 0 }).collect();
    let coin = RandomizedResponse::new(1e-6, 2).unwrap();
    known(|| {
        let which = coin.release(0).unwrap() == 1;
        let scores = if which { &other } else { &one };
        let (took, _) = timed(|| choice.release(black_box(scores)).unwrap());
        (took, which)
    })
}

fn ahead() -> Vec<Seen> {
    let mut ahead = Noise::geometric(10.5, 1).unwrap().predraw(2 * DRAWS).unwrap();
    above_median(|| {
        let (took, noise) = timed(|| ahead.add(0).unwrap());
        (took, noise.unsigned_abs())
    })
}

fn main() {
    println!("{:48} {:>10}   advantage", "secret", "median");
    for buckets in [2, 4] {
        report(&format!("response of {buckets}: told the truth"), || told(buckets));
    }
    for scale in [1.0, 10.5, 1e9] {
        let noise = Noise::geometric(scale, 1).unwrap();
        report(&format!("geometric {scale}: |noise| above its median"), || size(&noise));
    }
    for sigma in [1.0, 10.5, 1_234.567_890_123] {
        let noise = Noise::discrete_gaussian(sigma, 1).unwrap();
        report(&format!("gaussian {sigma}: |noise| above its median"), || size(&noise));
    }
    for epsilon in [0.5, 2.0] {
        let noise = Noise::staircase(epsilon, None, 100.0, Grid::WHOLE).unwrap();
        report(&format!("staircase {epsilon}: |noise| above its median"), || size(&noise));
    }
    report("geometric 10.5, drawn ahead: |noise|", ahead);
    report("exponential of 100: the best score won", winner);
    report("exponential of 100: neighbouring scores", || neighbours(1));
    report("exponential of 100: scores far apart", || neighbours(1_000_000));
    let scale = RBig::try_from(10.5).unwrap();
    report("opendp, response of 4: told the truth", told_by_library);
    report("opendp, geometric 10.5: |noise|", || {
        library(|| sample_discrete_laplace(scale.clone()).unwrap())
    });
    report("opendp, gaussian 10.5: |noise|", || {
        library(|| sample_discrete_gaussian(scale.clone()).unwrap())
    });
}
