//! What one statistic reveals about an allocation to several steps: lower bounds (theory 6.14).
//!
//! The statistic is the sum over all steps of the logarithm of the ratio of a Poisson sample, ln(1 - c + c X_i), rounded
//! to whole multiples of a bin. It is symmetric in the steps, so its law does not depend on which steps a person is in.

use super::super::PairLoss;
use super::super::partial_lists::dominated_loss;
use crate::laws::Atom;
use counterpoint_numerics::{
    Dd, UNIT, Wide, down, expm1, ln_1p_rounded, ln_rounded, normal_tail, up,
};

/// The rate of the Poisson sample, relative to the part of the steps that each person is in: the bound is best near this.
const SHARE: f64 = 0.8;
/// The number of bins to a standard deviation of the statistic of one step: rounding adds noise, which costs tightness.
const FINE: f64 = 8.0;
/// The least and the largest number of bins to a standard deviation of the whole statistic.
const BINS: (f64, f64) = (128.0, 1024.0);
/// The largest number of bins between zero and the largest value of one step.
const MOST_BINS: f64 = 1e4;
/// The distance from zero, and from mu, at which outcomes are cut.
const REACH: f64 = 11.5;
/// Masses below this at the ends of a law are left out.
const NOTHING: f64 = 1e-32;
/// The mass at either end of the statistic that makes one outcome.
const ENDS: [f64; 2] = [1e-6, 1e-15];
/// The largest number of outcomes, approximately.
const MOST_OUTCOMES: usize = 4000;
/// The relative error of a mass because mu is rounded to a double.
const MEAN: f64 = 1e-14;
/// The largest relative error of masses for which the bound is used.
const MOST_ERROR: f64 = 1e-6;
/// The error of a logarithm, of a quotient of masses and of the sum of an interval's masses.
const LOGARITHM: f64 = 1e-12;

/// Masses of whole numbers from `first` on, each with a relative error, except for mass that is left out.
#[derive(Clone)]
struct WholeLaw {
    first: i64,
    masses: Vec<f64>,
    error: f64,
    omitted: f64,
}

/// Returns the losses in both directions, or `None` where the bound would be too imprecise.
pub(super) fn losses(mu: f64, steps: u64, each: u64) -> Option<[PairLoss; 2]> {
    let bins = Bins::new(mu, steps, each);
    let (absent, present) = (bins.law(0.0)?, bins.law(mu)?);
    let others = absent.power(steps - each);
    let without = others.plus(&absent.power(each));
    let with = others.plus(&present.power(each));
    let list = joined(&with, &without);
    let error = with.error.max(without.error);
    if error > MOST_ERROR || list.is_empty() {
        return None;
    }
    // The mass from below, and the loss with one mass from below and the other from above.
    let atom = |p: f64, q: f64, omitted: f64| {
        let loss = ln_rounded(p * (1.0 - error)) - ln_rounded((q + omitted) * (1.0 + error));
        let slack = LOGARITHM * (1.0 + ln_rounded(p).abs() + ln_rounded(q + omitted).abs());
        Atom { loss: Dd::from(loss - slack), mass: Dd::from(p * (1.0 - error)) }
    };
    let remove = list.iter().filter(|(p, _)| *p > 0.0).map(|&(p, q)| atom(p, q, without.omitted));
    let add = list.iter().filter(|(_, q)| *q > 0.0).map(|&(p, q)| atom(q, p, with.omitted));
    Some([remove.collect(), add.collect()].map(|atoms| dominated_loss(atoms, 0.0)))
}

/// The places at which the rounded statistic of one step changes.
struct Bins {
    first: i64,
    places: Vec<f64>,
}

impl Bins {
    /// Chooses bins; every choice is sound.
    fn new(mu: f64, steps: u64, each: u64) -> Self {
        let rate = SHARE * each as f64 / steps as f64;
        let deviation = rate * (steps as f64 * expm1(mu * mu)).sqrt();
        let largest = mu * (0.5 * mu + REACH);
        let largest = ln_1p_rounded(rate * expm1(largest.min(600.0)));
        let fine = (FINE * (steps as f64).sqrt()).clamp(BINS.0, BINS.1);
        let bin = (deviation / fine).max(largest / MOST_BINS);
        let number = |value: f64| (value / bin).round() as i64;
        let first = number(ln_1p_rounded(-rate));
        let place = |number: i64| {
            let ratio = (expm1((number as f64 - 0.5) * bin) + rate) / rate;
            (ln_rounded(ratio.max(1e-300)) / mu + 0.5 * mu).clamp(-REACH, mu + REACH)
        };
        let inner = (first + 1..=number(largest)).map(place);
        let places = std::iter::once(-REACH).chain(inner).chain([mu + REACH]).collect();
        Self { first, places }
    }

    /// The law of the statistic of one step, whose outcome is normal with a mean.
    fn law(&self, mean: f64) -> Option<WholeLaw> {
        let mut law = WholeLaw { first: self.first, masses: Vec::new(), error: MEAN, omitted: 0.0 };
        for ends in self.places.windows(2) {
            let &[from, to] = ends else { continue };
            let (low, high) = between(from - mean, to - mean);
            let mass = low.max(0.0);
            if high > NOTHING {
                law.error = law.error.max((high - mass) / mass.max(1e-300));
            } else {
                law.omitted += high;
            }
            law.masses.push(if high > NOTHING { mass } else { 0.0 });
        }
        for end in [REACH + mean, REACH] {
            law.omitted += normal_tail(down(end)).1.upper(UNIT);
        }
        (law.error < MOST_ERROR).then_some(law)
    }
}

/// Bounds on the normal mass between two places, which are known up to rounding.
fn between(from: f64, to: f64) -> (f64, f64) {
    let (from, to) = if from + to > 0.0 { (from, to) } else { (-to, -from) };
    let least = normal_tail(up(from)).0 - normal_tail(down(to)).1;
    let most = normal_tail(down(from)).1 - normal_tail(up(to)).0;
    if to <= from || !most.is_positive() {
        return (0.0, 0.0);
    }
    let least = if least.is_positive() { least } else { Wide::ZERO };
    (least.lower(UNIT), most.upper(UNIT))
}

impl WholeLaw {
    fn power(&self, count: u64) -> Self {
        let zero = Self { first: 0, masses: vec![1.0], error: 0.0, omitted: 0.0 };
        let Some(bits) = count.checked_ilog2() else { return zero };
        let mut sum = self.clone();
        for bit in (0..bits).rev() {
            sum = sum.plus(&sum);
            if count >> bit & 1 == 1 {
                sum = sum.plus(self);
            }
        }
        sum
    }

    /// The law of the sum of two independent numbers.
    fn plus(&self, other: &Self) -> Self {
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        let (short, long) = match self.masses.len() < other.masses.len() {
            true => (&self.masses, &other.masses),
            false => (&other.masses, &self.masses),
        };
        for (place, &mass) in short.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            for (sum, other) in masses.iter_mut().skip(place).zip(long) {
                *sum += mass * other;
            }
        }
        let error = self.error + other.error + (short.len() + 8) as f64 * UNIT;
        let omitted = (self.omitted + other.omitted) * (1.0 + 8.0 * UNIT);
        let first = self.first + other.first;
        Self { first, masses, error, omitted }.without_ends()
    }

    fn without_ends(mut self) -> Self {
        let small = |mass: &&f64| **mass < NOTHING;
        let high = self.masses.iter().rev().take_while(small).count();
        let low = self.masses.iter().take_while(small).count();
        let kept = self.masses.len().saturating_sub(high);
        let low = low.min(kept);
        self.omitted += (low + high) as f64 * NOTHING * 1.01;
        self.masses.truncate(kept);
        self.masses.drain(..low);
        self.first += low as i64;
        self
    }

    fn at(&self, number: i64) -> f64 {
        let place = usize::try_from(number - self.first).ok();
        place.and_then(|place| self.masses.get(place)).copied().unwrap_or(0.0)
    }
}

/// The masses under both laws of intervals of numbers: one at each end, and equally long ones between.
fn joined(with: &WholeLaw, without: &WholeLaw) -> Vec<(f64, f64)> {
    let end = |law: &WholeLaw| law.first + law.masses.len() as i64;
    let numbers = with.first.min(without.first)..end(with).max(end(without));
    let all: Vec<(f64, f64)> = numbers.map(|n| (with.at(n), without.at(n))).collect();
    let sum = |list: &[(f64, f64)]| list.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let count = |list: &mut dyn Iterator<Item = &(f64, f64)>, most: f64| {
        let mut mass = 0.0;
        list.take_while(|(p, q)| {
            mass += p.max(*q);
            mass <= most
        })
        .count()
    };
    let [low, high] = ENDS;
    let low = count(&mut all.iter(), low);
    let high = all.len().saturating_sub(count(&mut all.iter().rev(), high)).max(low);
    let (below, rest) = all.split_at(low);
    let (middle, above) = rest.split_at(high - low);
    let size = middle.len().div_ceil(MOST_OUTCOMES).max(1);
    let mut list = vec![sum(below)];
    list.extend(middle.chunks(size).map(sum));
    list.push(sum(above));
    list
}
