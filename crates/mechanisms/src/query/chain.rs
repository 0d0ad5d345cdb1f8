//! Half-widths of cumulative counts (theory 11.16).
//!
//! The error at each edge is a sum of independent noises, and the error at a later edge continues that of an earlier
//! one. Given an error c at the left end of a block of 2^h edges, let F_h(c) be the probability that this error and all
//! errors within the block are at most w: F_h(c) = F_(h-1)(c) E F_(h-1)(c + N), N being the noise of the block's left
//! half. The code stores 1 - F, a sum of positive terms, which is therefore accurate to many digits however small.
//!
//! If the noise is wide, F is computed at every q-th place only. F is log-concave on whole numbers, since the noise is,
//! and products, sums of independent numbers and truncation preserve that. (A staircase of one step is Laplace noise.)
//! Between two places F is at least its log-linear interpolation, which is at least the linear interpolation times
//! e^(-d^2/8), d being the logarithm of the ratio of both ends (Hoeffding's lemma).

use crate::noise::{NoiseLaw, SLACK};

/// Sums of independent noises of one law, on whole numbers.
#[derive(Debug)]
pub(super) struct Chain {
    law: NoiseLaw,
    /// The noise is rounded to the middle of groups of this many whole numbers, an odd number.
    group: f64,
    /// The mean absolute noise in groups.
    mean: f64,
    /// P(noise >= x) in groups, from x = 0 to the largest x that was requested.
    tails: Vec<f64>,
}

/// Places 0, q, 2q, ..., Jq.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    places: usize,
    spacing: usize,
}

/// The effect of noise on even functions that are known on a lattice.
struct Kernel {
    /// For offsets from -2J to 2J: the weight of a place under linear interpolation.
    hat: Vec<f64>,
    /// For offsets from 0 on: the part of that weight from the side nearer to zero, which is the weight of the last
    /// place.
    half: Vec<f64>,
    /// For the cells that begin at offsets from -2J on: the probability that the noise is inside.
    inside: Vec<f64>,
    /// For each place, the probability that the noise goes beyond the last place.
    beyond: Vec<f64>,
}

/// The largest mean absolute noise in groups.
const GROUPS: f64 = 8192.0;

/// The number of places per mean absolute noise: at first, and at last.
const FINENESS: [f64; 2] = [2.0, 8.0];

/// The relative precision of a width, unless whole numbers are coarser.
const WIDTH: f64 = 4e-4;

/// An upper bound on rounding errors: differences of probabilities have lost four digits.
const ROUNDING: f64 = 1e-7;

impl Chain {
    pub(super) fn new(law: NoiseLaw) -> Self {
        let radius = (law.expected() / GROUPS).floor();
        let group = 2.0 * radius + 1.0;
        let mean = law.expected() / group;
        Self { law, group, mean, tails: Vec::new() }
    }

    /// The largest rounding error of one noise.
    fn radius(&self) -> f64 {
        0.5 * (self.group - 1.0)
    }

    /// The least bound on the absolute sum of `count` noises that holds with probability at least 1 - alpha.
    pub(super) fn half_width(&mut self, count: u32, alpha: f64) -> f64 {
        if count <= 1 {
            return self.law.furthest(alpha);
        }
        let chance = |chain: &mut Self, lattice| chain.one_fails(count, lattice);
        self.least(alpha, chance) * self.group + f64::from(count) * self.radius()
    }

    /// The least bound on the errors of all prefixes that holds with probability at least 1 - alpha; each error is a
    /// sum of up to `count` noises.
    pub(super) fn half_width_all(&mut self, prefixes: u64, count: u32, alpha: f64) -> f64 {
        let chance = |chain: &mut Self, lattice| chain.some_fail(prefixes, lattice);
        self.least(alpha, chance) * self.group + f64::from(count) * self.radius()
    }

    /// The mean absolute sum of `count` noises. With d(c) = E|c + S| - |c|, one more noise N gives E|c + N| - |c| + E
    /// d(c + N). From zero on d is convex and decreasing, so that interpolation gives an upper bound.
    pub(super) fn expected(&mut self, count: u32) -> f64 {
        if count <= 1 {
            return self.law.expected();
        }
        let far = (8.0 + 8.0 * f64::from(count).sqrt()) * self.mean;
        let lattice = self.lattice(far.max(64.0), 8.0);
        let kernel = self.kernel(lattice);
        let one: Vec<f64> = (0..=lattice.places)
            .map(|place| (place * lattice.spacing) as f64 * self.group - self.radius())
            .map(|distance| 2.0 * self.law.excess(distance.max(0.0)) / self.group)
            .collect();
        let mut sum = one.clone();
        for _ in 1..count {
            let least = sum.last().copied().unwrap_or(0.0);
            let mean = kernel.mean(&sum, &[], least);
            sum = mean.iter().zip(&one).map(|(mean, one)| mean + one).collect();
        }
        let first = sum.first().copied().unwrap_or(f64::INFINITY);
        first * self.group * (1.0 + ROUNDING) + f64::from(count) * self.radius()
    }

    /// The least width, in groups, at which a probability is at most alpha; or slightly more than that width.
    fn least(&mut self, alpha: f64, chance: impl Fn(&mut Self, Lattice) -> f64) -> f64 {
        let keeps = |chain: &mut Self, width: f64, fineness: f64| {
            let lattice = chain.lattice(width, fineness);
            let found = (lattice.places * lattice.spacing) as f64;
            (chance(chain, lattice) <= alpha * (1.0 - ROUNDING)).then_some(found)
        };
        let mut high = (self.law.furthest(alpha) / self.group).floor();
        let mut low = -1.0;
        for fineness in FINENESS {
            loop {
                match keeps(self, high, fineness) {
                    Some(found) => break high = found,
                    None if high > 1e7 => return f64::INFINITY,
                    None => (low, high) = (high, 2.0 * high + 1.0),
                }
            }
            while low >= 0.0
                && let Some(found) = keeps(self, low, fineness).filter(|found| *found < high)
            {
                (low, high) = ((0.9 * low).floor() - 1.0, found);
            }
            while high - low > (WIDTH * high).max(1.0) {
                let middle = (0.5 * (low + high)).floor();
                match keeps(self, middle, fineness) {
                    Some(found) if found < high => high = found,
                    Some(_) => break,
                    None => low = middle,
                }
            }
            // With more places a slightly smaller width may suffice.
            low = (0.95 * high).floor() - 1.0;
        }
        high
    }

    /// A lattice up to a width, or slightly more; it has every place if the noise is narrow.
    fn lattice(&self, width: f64, fineness: f64) -> Lattice {
        let most = (self.mean / fineness).floor().max(1.0) as usize;
        let width = width as usize;
        // The spacing whose multiples come nearest to the width.
        let least = (most / 2).max(most.saturating_sub(64)).max(1);
        let nearest = (least..=most).rev().min_by_key(|spacing| width.next_multiple_of(*spacing));
        let spacing = nearest.unwrap_or(1);
        Lattice { places: width.div_ceil(spacing), spacing }
    }

    /// Computes P(noise >= x) up to `up_to`, x in groups and at least one.
    fn list_tails(&mut self, up_to: usize) {
        let (group, radius) = (self.group, self.radius());
        let tail = |x: usize| self.law.above(x as f64 * group - radius - 1.0);
        let more: Vec<f64> = (self.tails.len()..=up_to).map(tail).collect();
        self.tails.extend(more);
    }

    fn kernel(&mut self, lattice: Lattice) -> Kernel {
        let Lattice { places, spacing } = lattice;
        self.list_tails((2 * places + 1) * spacing + 2);
        let tail = |x: usize| self.tails.get(x).copied().unwrap_or(0.0);
        let mass =
            |x: usize| if x == 0 { 1.0 - 2.0 * tail(1) } else { (tail(x) - tail(x + 1)).max(0.0) };
        // The contribution of noise between a place and the place after or before it.
        let share = |near: usize| 1.0 - near as f64 / spacing as f64;
        let side = |place: usize, after: bool| {
            let at = place * spacing;
            let one = |near: usize| {
                let x = if after { at + near } else { at.abs_diff(near) };
                mass(x) * share(near)
            };
            (1..spacing).map(one).sum::<f64>()
        };
        let offsets = 0..=2 * places;
        let half: Vec<f64> =
            offsets.clone().map(|place| mass(place * spacing) + side(place, false)).collect();
        let hat: Vec<f64> =
            half.iter().zip(offsets).map(|(half, place)| half + side(place, true)).collect();
        let inside = |place: &usize| {
            if spacing == 1 { 0.0 } else { tail(place * spacing + 1) - tail((place + 1) * spacing) }
        };
        let inside: Vec<f64> = (0..2 * places).map(|place| inside(&place).max(0.0)).collect();
        let beyond = (0..=places)
            .map(|place| [places - place, places + place].map(|left| tail(left * spacing + 1)))
            .map(|[one, other]| one + other)
            .collect();
        let mirrored = |list: &[f64], skip: usize| {
            list.iter().skip(skip).rev().chain(list).copied().collect::<Vec<f64>>()
        };
        Kernel { hat: mirrored(&hat, 1), half, inside: mirrored(&inside, 0), beyond }
    }

    /// The probability that the sum of two or more noises is beyond the width, on a lattice of twice as many places.
    fn one_fails(&mut self, count: u32, within: Lattice) -> f64 {
        let Lattice { places, spacing } = within;
        let kernel = self.kernel(Lattice { places: 2 * places + 1, spacing });
        let (width, tail) =
            (places * spacing, |x: usize| self.tails.get(x).copied().unwrap_or(0.0));
        // The probability for one noise is exact.
        let one = |c: usize| match (width + 1).checked_sub(c) {
            Some(left) if left > 0 => tail(left) + tail(width + c + 1),
            _ => 1.0 - (tail(c - width) - tail(c + width + 1)),
        };
        let mut fails: Vec<f64> = (0..2 * places + 2).map(|place| one(place * spacing)).collect();
        for _ in 1..count {
            fails = kernel.fails(&fails, spacing);
        }
        fails.first().copied().unwrap_or(1.0) * (1.0 + SLACK)
    }

    /// The probability that the error of a prefix is beyond the width of a lattice. The prefixes, preceded by the empty
    /// prefix without error, form blocks of powers of two, the widest first. Each block begins with noise on the
    /// beginning of the previous block.
    fn some_fail(&mut self, prefixes: u64, lattice: Lattice) -> f64 {
        let kernel = self.kernel(lattice);
        let count = prefixes + 1;
        let mut block = vec![0.0; lattice.places + 1];
        let mut all: Option<Vec<f64>> = None;
        for height in 0..=count.ilog2() {
            if count >> height & 1 == 1 {
                all = Some(match &all {
                    None => block.clone(),
                    Some(later) => either(&block, &kernel.fails(later, lattice.spacing)),
                });
            }
            block = either(&block, &kernel.fails(&block, lattice.spacing));
        }
        all.and_then(|all| all.first().copied()).unwrap_or(1.0) * (1.0 + SLACK)
    }
}

/// The probability of the union of two independent events, at each place.
fn either(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a + (1.0 - a) * b).collect()
}

impl Kernel {
    /// The mean of a function of a number with noise, at each place from zero on, from its values at the places, upper
    /// bounds on its excess over interpolation inside the cells, and an upper bound beyond the last place.
    fn mean(&self, values: &[f64], more: &[f64], beyond: f64) -> Vec<f64> {
        let places = values.len().saturating_sub(1);
        let last = values.last().copied().unwrap_or(0.0);
        let inner = values.get(..places).unwrap_or_default();
        let whole: Vec<f64> = inner.iter().skip(1).rev().chain(inner).copied().collect();
        let cells: Vec<f64> = more.iter().rev().chain(more).copied().collect();
        // For a place, the offset of the first value is -J + 1 - place, and that of the first cell is -J - place.
        let from = |list: &[f64], start: usize, other: &[f64]| {
            dot(list.get(start..).unwrap_or_default(), other)
        };
        let at = |place: usize| {
            let ends = [places - place, places + place].map(|offset| self.half.get(offset));
            // If zero is the only place, both ends are the same place.
            let ends = if places == 0 { [ends[0], None] } else { ends };
            let ends = ends.into_iter().flatten().sum::<f64>();
            let numbers = from(&self.hat, (places + 1).saturating_sub(place), &whole);
            let inside = from(&self.inside, places.saturating_sub(place), &cells);
            let out = self.beyond.get(place).copied().unwrap_or(1.0);
            last * ends + numbers + inside + beyond * out
        };
        (0..=places).map(at).collect()
    }

    /// The mean of a failure probability that is one beyond the last place and whose complement is log-concave.
    fn fails(&self, fails: &[f64], spacing: usize) -> Vec<f64> {
        let more = |(a, b): (&f64, &f64)| {
            let ratio = (-a).ln_1p() - (-b).ln_1p();
            // The excess is also at most the difference of both ends.
            (0.125 * ratio * ratio).min((a - b).abs())
        };
        let cells = fails.iter().zip(fails.iter().skip(1));
        let more = if spacing == 1 { Vec::new() } else { cells.map(more).collect() };
        self.mean(fails, &more, 1.0).into_iter().map(|chance| chance.min(1.0)).collect()
    }
}

/// The scalar product, in eight parallel sums.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let length = one.len().min(other.len());
    let [one, other] = [one, other].map(|list| list.get(..length).unwrap_or_default());
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in one.iter().zip(other) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    let rest = one_rest.iter().zip(other_rest).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    /// Masses of noise from -far to far, by definition.
    fn masses(weight: impl Fn(f64) -> f64, far: i32) -> Vec<(i32, f64)> {
        let total: f64 = (-far..=far).map(|x| weight(x.into())).sum();
        (-far..=far).map(|x| (x, weight(x.into()) / total)).collect()
    }

    /// The law of the greatest error over all edges, by enumerating the noises of all nodes.
    fn brute(
        masses: &[(i32, f64)],
        edges: usize,
        noises: &mut Vec<i32>,
        most: &mut Vec<f64>,
        chance: f64,
    ) {
        if noises.len() == edges {
            // Node i covers the gaps that end with i; a prefix is the sum of the widest nodes that fit.
            let error = |edge: usize| {
                let (mut left, mut sum) = (edge, 0);
                while left > 0 {
                    sum += noises[left - 1];
                    left &= left - 1;
                }
                sum.unsigned_abs() as usize
            };
            let error = (1..=edges).map(error).max().unwrap();
            most.resize(most.len().max(error + 1), 0.0);
            most[error] += chance;
            return;
        }
        for &(noise, mass) in masses {
            noises.push(noise);
            brute(masses, edges, noises, most, chance * mass);
            noises.pop();
        }
    }

    #[test]
    fn all_edges_at_once_by_enumeration() {
        let narrow = [
            (Noise::geometric(0.6, 1), masses(|x| (-x.abs() / 0.6).exp(), 8)),
            (Noise::discrete_gaussian(0.9, 1), masses(|x| (-0.5 * (x / 0.9).powi(2)).exp(), 6)),
        ];
        for (noise, masses) in narrow {
            let law = NoiseLaw::new(&noise.unwrap());
            for edges in 1..=5 {
                let mut most = Vec::new();
                brute(&masses, edges, &mut Vec::new(), &mut most, 1.0);
                for confidence in [0.05, 0.5, 0.9, 0.99, 0.9999] {
                    let mut within = 0.0;
                    let truth = most.iter().position(|chance| {
                        within += chance;
                        within >= confidence
                    });
                    let found =
                        Chain::new(law.clone()).half_width_all(edges as u64, 3, 1.0 - confidence);
                    assert_eq!(found as usize, truth.unwrap(), "{edges} {confidence}");
                }
            }
        }
    }

    /// The probability of a failure by the definition of the recursion, at every whole number.
    fn some_fail(masses: &[f64], count: usize, w: usize) -> f64 {
        // The probabilities that all of `count` positions are within the width, given the error of the first.
        fn all(masses: &[f64], count: usize, w: usize) -> Vec<f64> {
            if count == 1 {
                return vec![1.0; 2 * w + 1];
            }
            let first = if count.is_power_of_two() { count / 2 } else { 1 << count.ilog2() };
            let (left, right) = (all(masses, first, w), all(masses, count - first, w));
            let far = masses.len() / 2;
            let at = |c: usize| {
                let places = c.saturating_sub(far)..=(c + far).min(2 * w);
                let right: f64 = places.map(|x| masses[far + x - c] * right[x]).sum();
                left[c] * right
            };
            (0..=2 * w).map(at).collect()
        }
        1.0 - all(masses, count, w)[w]
    }

    /// The law of the sum of `count` noises, mass by mass.
    fn convolved(masses: &[f64], count: u32) -> Vec<f64> {
        let mut sum = vec![1.0];
        for _ in 0..count {
            let mut next = vec![0.0; sum.len() + masses.len() - 1];
            for (i, a) in sum.iter().enumerate() {
                masses.iter().enumerate().for_each(|(j, b)| next[i + j] += a * b);
            }
            sum = next;
        }
        sum
    }

    /// Wide noise is computed at few places: at most half a percent above the truth, and never below.
    #[test]
    fn wide_noise_is_as_far_off_as_at_every_place() {
        let wide = [
            (Noise::geometric(40.0, 1), masses(|x| (-x.abs() / 40.0).exp(), 1200)),
            (Noise::discrete_gaussian(40.0, 1), masses(|x| (-0.5 * (x / 40.0).powi(2)).exp(), 400)),
        ];
        for (noise, masses) in wide {
            let masses: Vec<f64> = masses.into_iter().map(|(_, mass)| mass).collect();
            let mut chain = Chain::new(NoiseLaw::new(&noise.unwrap()));
            for (edges, alpha) in [(1, 0.05), (6, 0.3), (100, 1e-3)] {
                let found = chain.half_width_all(edges, 7, alpha);
                let fails = |w: f64| some_fail(&masses, edges as usize + 1, w as usize);
                let context = format!("{edges} {alpha}: {found}");
                assert!(fails(found) <= alpha, "{context}");
                assert!(fails((found * 0.993).floor() - 1.0) > alpha, "{context}");
            }
            for count in [2, 5] {
                let sum = convolved(&masses, count);
                let middle = sum.len() / 2;
                let fails = |w: f64| {
                    1.0 - sum[middle - w as usize..=middle + w as usize].iter().sum::<f64>()
                };
                for alpha in [0.4, 0.05, 1e-3] {
                    let found = chain.half_width(count, alpha);
                    assert!(fails(found) <= alpha, "{count} {alpha}: {found}");
                    assert!(
                        fails((found * 0.993).floor() - 1.0) > alpha,
                        "{count} {alpha}: {found}"
                    );
                }
                let truth: f64 =
                    sum.iter().enumerate().map(|(x, p)| p * x.abs_diff(middle) as f64).sum();
                let found = chain.expected(count);
                assert!(found >= truth * (1.0 - 1e-9) && found <= 1.003 * truth, "{found} {truth}");
            }
        }
    }

    /// Widths scale with the noise: a thousand times the scale gives a thousand times the width.
    #[test]
    fn the_widest_noise_is_as_fast() {
        let ends = [(1_000_000, 19, [1e3, 1e15]), (1000, 9, [1e3, 1e6])];
        for (edges, count, scales) in ends {
            let width = |scale: f64| {
                let law = NoiseLaw::new(&Noise::geometric(scale, 1).unwrap());
                let mut chain = Chain::new(law);
                let [all, one] =
                    [chain.half_width_all(edges, count, 0.05), chain.half_width(count, 1e-9)];
                [all, one, chain.expected(count)].map(|width| width / scale)
            };
            let [near, far] = scales.map(width);
            for (near, far) in near.into_iter().zip(far) {
                assert!((far / near - 1.0).abs() < 3e-3, "{edges}: {near} {far}");
            }
        }
    }
}
