//! Simulated errors of answers on public example data: with the laws of the noises, in doubles, and always the same
//! draws.

use super::summand::Summand;
use crate::error::{Error, check};
use crate::noise::{Noise, SimulatedNoise};

/// The number of draws in all trials together, and the least and the largest number of trials that it gives.
const DRAWS: f64 = 2e6;
const FEW: f64 = 50_000.0;
const ENOUGH: f64 = 150_000.0;
/// The largest number of trials, for high confidences.
const MANY: f64 = 200_000.0;

/// A result is below the truth with probability at most e^-21 < 10^-9.
const SURE: f64 = 21.0;

/// The simulated errors of each number of an answer, in increasing order.
pub(super) struct Trials {
    distances: Vec<Vec<f64>>,
}

impl Trials {
    /// From sums without noise, and a function that answers from sums.
    pub(super) fn new(
        sums: &[(Summand, Noise)],
        exact: &[f64],
        count: usize,
        answer: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Self {
        let laws: Vec<SimulatedNoise> =
            sums.iter().map(|(_, noise)| SimulatedNoise::new(noise)).collect();
        let truth = answer(exact);
        let mut distances = vec![Vec::with_capacity(count); truth.len()];
        let mut words = TrialRandom(SEED);
        for _ in 0..count {
            let draw = |(law, sum): (&SimulatedNoise, &f64)| sum + law.draw(|| words.unit());
            let noisy: Vec<f64> = laws.iter().zip(exact).map(draw).collect();
            let found = answer(&noisy);
            for ((list, found), truth) in distances.iter_mut().zip(found).zip(&truth) {
                list.push((found - truth).abs());
            }
        }
        distances.iter_mut().for_each(|list| list.sort_unstable_by(f64::total_cmp));
        Self { distances }
    }

    /// For each number, an upper bound on the distance that errors exceed with probability 1 - confidence. If each of R
    /// trials is below the true distance with probability c, the r-th smallest is below it with probability at most
    /// exp(-R d(r/R, c)), for r > cR.
    pub(super) fn half_widths(&self, confidence: f64) -> Vec<f64> {
        let place = |list: &Vec<f64>| {
            let place = rank(list.len() as f64, confidence) as usize;
            list.get(place.saturating_sub(1)).or(list.last()).copied().unwrap_or_default()
        };
        self.distances.iter().map(place).collect()
    }

    /// The mean error of each number.
    pub(super) fn expected(&self) -> Vec<f64> {
        let mean = |list: &Vec<f64>| list.iter().sum::<f64>() / list.len().max(1) as f64;
        self.distances.iter().map(mean).collect()
    }
}

/// The number of trials for a confidence, with `draws` draws each.
///
/// # Errors
/// [`Error::OutOfRange`] if the confidence would take too many trials.
pub(super) fn count(confidence: f64, draws: usize) -> Result<usize, Error> {
    let legal = "at most 0.9998 where answers are simulated";
    check(confidence <= 0.9998, "confidence", confidence, legal)?;
    let enough = (DRAWS / draws.max(1) as f64).clamp(FEW, ENOUGH);
    Ok((40.0 * SURE / (1.0 - confidence)).clamp(enough, MANY) as usize)
}

/// The least r with R d(r/R, c) >= SURE and r > cR.
fn rank(trials: f64, confidence: f64) -> f64 {
    let keeps = |rank: f64| {
        rank > confidence * trials && trials * divergence(rank / trials, confidence) >= SURE
    };
    let (mut low, mut high) = (0.0, trials);
    while high - low > 1.0 {
        let middle = ((low + high) / 2.0_f64).floor();
        if keeps(middle) { high = middle } else { low = middle }
    }
    high
}

/// x ln(x/p) + (1 - x) ln((1 - x)/(1 - p)).
fn divergence(x: f64, p: f64) -> f64 {
    let part = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    part(x, p) + part(1.0 - x, 1.0 - p)
}

const SEED: u64 = 0x636f_756e_7465_7270;

/// The generator of Steele, Lea and Flood (SplitMix64): no secret depends on it.
struct TrialRandom(u64);

impl TrialRandom {
    /// A number above 0 and at most 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * 2.0_f64.powi(-53) + 2.0_f64.powi(-53)
    }
}
