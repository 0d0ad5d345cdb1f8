//! Lists of likelihood ratios: their products, grids and profiles.

use super::grid::{Block, Grid};
use crate::laws::Law;
use crate::laws::cells::{CellAtom, CellFineness, Domination, MASS_ERROR};
use counterpoint_numerics::{Dd, UNIT, Wide, exp_rounded};

/// A product less one, `a + (1 + a) b`: three roundings of each term.
const SUM: f64 = 8.0 * UNIT;
/// A share of a cell: a few roundings of its place in the block, which is at most 2^16 cells long; and the product with a
/// mass.
const SHARE: f64 = 524_288.0 * UNIT;
/// e^epsilon - 1 of a `Dd` as a double, and the exponential of a mass: two roundings and the function's own error.
const EXP: f64 = 8.0 * UNIT;
/// The relative error of a list's masses: [`MASS_ERROR`], a product and an exponential.
const MASS: f64 = MASS_ERROR + 16.0 * UNIT;
/// Outcomes with less mass under Q than this are left out, because products of masses may underflow.
const LEAST_MASS: f64 = 1e-150;
/// Above all that a product of masses loses if it underflows.
const UNDERFLOW: f64 = 1e-300;
/// Outcomes with a larger ratio are left out.
const LARGEST_RATIO: f64 = 1e100;
/// The extension of a grid beyond the largest product, relative to the two ratios.
const BEYOND: f64 = 1e-12;

/// Outcomes in increasing order of their likelihood ratios. The profile `sum of mass (1 + excess - c)+`, with the
/// bounds below, is larger than the law's for every c, or smaller.
#[derive(Clone, Debug)]
pub(super) struct RatioList {
    /// Likelihood ratios less one.
    excess: Vec<f64>,
    /// Masses under Q.
    mass: Vec<f64>,
    /// The relative error of all masses and of all sums of them.
    error: f64,
    /// A bound on the mass under P that is left out.
    omitted: f64,
}

impl RatioList {
    /// The list of a mechanism that reveals nothing.
    pub(super) fn one() -> Self {
        Self { excess: vec![0.0], mass: vec![1.0], error: 0.0, omitted: 0.0 }
    }

    /// The outcomes of a law, with ratios rounded up for the pair that dominates and down for the other.
    pub(super) fn of(
        law: &dyn Law,
        side: Domination,
        fineness: Option<&CellFineness<'_>>,
    ) -> Option<Self> {
        let mut points = Vec::new();
        let mut dropped = 0.0;
        let left = law.points(side, fineness, &mut |atom| match outcome(&atom, side) {
            Some(point) => points.push(point),
            None => dropped += atom.p * exp_rounded(atom.scale),
        })?;
        if points.is_empty() {
            return None;
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (excess, mass): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let beside = Wide::from(law.omitted_mass().mass) + Wide::from(dropped);
        let error = MASS + mass.len() as f64 * UNIT;
        let omitted = (left + beside).upper(error);
        Some(Self { excess, mass, error, omitted })
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.excess.iter().copied().zip(self.mass.iter().copied())
    }

    /// Leaves out outcomes at both ends whose mass under P is at most `cut` on each. The list from above counts that
    /// mass as omitted; the one from below does without.
    pub(super) fn without_ends(mut self, cut: f64, side: Domination) -> Self {
        let under_p = |(excess, mass): (f64, f64)| mass * (1.0 + excess).max(0.0);
        let count = |points: &mut dyn Iterator<Item = (f64, f64)>| {
            let mut sum = 0.0;
            points
                .take_while(|&point| {
                    sum += under_p(point);
                    sum <= cut
                })
                .count()
        };
        let low = count(&mut self.points()).min(self.mass.len() - 1);
        let backwards = &mut self.excess.iter().rev().zip(self.mass.iter().rev());
        let high = count(&mut backwards.map(|(&excess, &mass)| (excess, mass)));
        let to = (self.mass.len() - high).max(low + 1);
        self.excess = self.excess[low..to].to_vec();
        self.mass = self.mass[low..to].to_vec();
        if side == Domination::Above {
            self.omitted += 2.0 * cut * (1.0 + self.error);
        }
        self
    }

    /// At most about so many outcomes, merged evenly along the list: an estimate.
    pub(super) fn thinned(&self, cells: f64) -> Self {
        let size = (self.mass.len() as f64 / cells).ceil().max(1.0) as usize;
        let (mut excess, mut mass) = (Vec::new(), Vec::new());
        for (ratios, masses) in self.excess.chunks(size).zip(self.mass.chunks(size)) {
            let sum: f64 = masses.iter().sum();
            let moment: f64 = ratios.iter().zip(masses).map(|(ratio, mass)| ratio * mass).sum();
            if sum > 0.0 {
                excess.push(moment / sum);
                mass.push(sum);
            }
        }
        Self { excess, mass, ..*self }
    }

    /// Spreads the outcomes over the grid's places, or merges them within its cells.
    pub(super) fn regrouped(&self, grid: &Grid, side: Domination) -> Self {
        if self.mass.len() <= grid.cells {
            return self.clone();
        }
        self.times(&Self::one(), Some((grid, side)))
    }

    /// The ends of a grid that contains all products of two outcomes, rounding included.
    pub(super) fn ends_of_product(&self, other: &Self) -> (f64, f64) {
        let product = |a: Option<&f64>, b: Option<&f64>, beyond: f64| {
            let (a, b) = (a.copied().unwrap_or(0.0), b.copied().unwrap_or(0.0));
            a + (1.0 + a) * b + beyond * (1.0 + a.abs()) * (1.0 + b.abs())
        };
        let low = product(self.excess.first(), other.excess.first(), -BEYOND);
        let high = product(self.excess.last(), other.excess.last(), BEYOND);
        (low, high)
    }

    /// All products of two outcomes, spread over a grid or merged within its cells; without a grid, an estimate.
    pub(super) fn times(&self, other: &Self, grid: Option<(&Grid, Domination)>) -> Self {
        let pairs = (self.mass.len() * other.mass.len()) as f64;
        let error = self.error + other.error + (pairs + 16.0) * UNIT;
        let lost = pairs * UNDERFLOW * (2.0 + self.ends_of_product(other).1.abs());
        let omitted = (self.omitted + other.omitted + lost) * (1.0 + SUM);
        let (excess, mass) = match grid {
            None => listed(self, other),
            Some((grid, Domination::Above)) => spread(self, other, grid),
            Some((grid, Domination::Below)) => merge(self, other, grid),
        };
        Self { excess, mass, error, omitted }
    }
}

/// The ratio less one, from above or from below, and the mass under Q of an atom; `None` if the mass is too small.
///
/// Both masses of a merged cell derive from the same quadrature, so their ratio differs from the true one by the relative
/// error of the rise alone.
fn outcome(atom: &CellAtom, side: Domination) -> Option<(f64, f64)> {
    let mass = atom.q * exp_rounded(atom.scale - atom.loss);
    let ratio = atom.loss.expm1();
    if !(mass >= LEAST_MASS && ratio.hi < LARGEST_RATIO) {
        return None;
    }
    Some(match side {
        Domination::Above => {
            let d = ratio + Dd::from(atom.error) * (Dd::ONE + ratio);
            (d.upper() + EXP * d.hi.abs(), mass)
        }
        Domination::Below => {
            // (1 + d)(1 + m) - 1 with m = p/q - 1.
            let m = (atom.p - atom.q) / atom.q;
            let error = atom.error + 4.0 * MASS_ERROR * m.abs() + SUM;
            let d = ratio + (Dd::ONE + ratio) * Dd::from(m - error);
            ((d.lower() - EXP * d.hi.abs()).max(-1.0), mass)
        }
    })
}

/// All products, in order: an estimate.
fn listed(first: &RatioList, second: &RatioList) -> (Vec<f64>, Vec<f64>) {
    let pair = |(a, p): (f64, f64), (b, q): (f64, f64)| (a + (1.0 + a) * b, p * q);
    let mut all: Vec<(f64, f64)> =
        first.points().flat_map(|a| second.points().map(move |b| pair(a, b))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().unzip()
}

/// Passes all products to `sink`, with the masses times their multiplicity: those of a square come once for each pair.
/// `sink` gets the block, the ratio less one, rounded to the side of the bound, and the mass.
fn products(
    (first, second): (&RatioList, &RatioList),
    grid: &Grid,
    side: Domination,
    mut sink: impl FnMut(&Block, f64, f64),
) {
    let error = if side == Domination::Above { SUM } else { -SUM };
    let is_square = std::ptr::eq(first, second);
    let Some((last, blocks)) = grid.blocks.split_last() else { return };
    let mut from = 0;
    for (index, (a, p)) in first.points().enumerate() {
        let skipped = if is_square { index } else { 0 };
        let mut pairs = second.excess.iter().zip(&second.mass).skip(skipped).peekable();
        let mut weight = p;
        let scale = 1.0 + a;
        let product = |b: f64| {
            let moved = scale * b;
            a + moved + error * (a.abs() + moved.abs())
        };
        let mut put = |block: &Block, excess: f64, q: f64| {
            sink(block, excess, weight * q);
            if is_square {
                weight = 2.0 * p;
            }
        };
        // The least products of the rows increase, but for rounding, which the first block allows for.
        let least = pairs.peek().map_or(0.0, |(b, _)| product(**b));
        while blocks.get(from).is_some_and(|block| block.to < least) {
            from += 1;
        }
        for block in blocks.get(from..).unwrap_or(&[]) {
            while let Some((&b, &q)) = pairs.next_if(|(b, _)| product(**b) <= block.to) {
                put(block, product(b), q);
            }
        }
        for (&b, &q) in pairs {
            put(last, product(b), q);
        }
    }
}

/// Spreads every product over the two places around it, with its mass and its mean ratio, rounded up, unchanged.
fn spread(first: &RatioList, second: &RatioList, grid: &Grid) -> (Vec<f64>, Vec<f64>) {
    let mut mass = vec![0.0; grid.cells + 1];
    products((first, second), grid, Domination::Above, |block, excess, both| {
        let place = ((excess - block.from) * block.inverse).clamp(0.0, block.cells);
        let cell = (place as usize).min(block.most);
        let share = place - cell as f64;
        let low = block.first + cell;
        mass[low] += both * (1.0 - share + SHARE);
        mass[low + 1] += both * (share + SHARE);
    });
    (grid.places(), mass)
}

/// Merges the products in each cell: their mass, and their mean ratio, rounded down.
fn merge(first: &RatioList, second: &RatioList, grid: &Grid) -> (Vec<f64>, Vec<f64>) {
    let mut sums = vec![[0.0; 4]; grid.cells];
    products((first, second), grid, Domination::Below, |block, excess, both| {
        let place = (excess - block.from) * block.inverse;
        let cell = (place as usize).min(block.most);
        let [mass, moment, size, count] = &mut sums[block.first + cell];
        *mass += both;
        *moment += both * excess;
        *size += both * excess.abs();
        *count += 1.0;
    });
    let merged = sums.into_iter().filter(|[mass, ..]| *mass > 0.0);
    let merged = merged.map(|[mass, moment, size, count]| {
        // Each of the three sums has at most `count` roundings of its size.
        let mean = (moment - 4.0 * (count + 4.0) * UNIT * size) / mass;
        (mean - SUM * mean.abs(), mass)
    });
    let mut merged: Vec<(f64, f64)> = merged.collect();
    merged.sort_by(|a, b| a.0.total_cmp(&b.0));
    merged.into_iter().unzip()
}

/// The profile of the product of two lists.
pub(super) struct RatioProfile {
    first: RatioList,
    /// For each ratio of the second list: the ratio less one, the list's profile there, and the mass from there on.
    second: Vec<[f64; 3]>,
    side: Domination,
    error: f64,
    omitted: f64,
}

impl RatioProfile {
    pub(super) fn new(first: RatioList, second: &RatioList, side: Domination) -> Self {
        let mut table = Vec::with_capacity(second.mass.len());
        let (mut value, mut mass, mut above) = (0.0, 0.0, None);
        for (&excess, &own) in second.excess.iter().zip(&second.mass).rev() {
            // Between two ratios the profile is a line whose slope is the mass above.
            value += above.map_or(0.0, |above: f64| mass * (above - excess));
            mass += own;
            above = Some(excess);
            table.push([excess, value, mass]);
        }
        table.reverse();
        let roundings = 8.0 * second.mass.len() as f64 + first.mass.len() as f64 + 32.0;
        let error = (first.error + second.error + roundings * UNIT) * 1.01;
        let omitted = (first.omitted + second.omitted) * 1.01;
        Self { first, second: table, side, error, omitted }
    }

    /// The outcomes of a list between two ends, and the ends, each with the weight of the square of a cell's width there:
    /// an estimate. With D the profile of the rest of the composition at c/r, an outcome contributes q r D to delta, and the
    /// width counts by the second derivative of D in the logarithm of r, which is about D times the square of the slope of
    /// ln D.
    pub(super) fn weights(
        &self,
        list: &RatioList,
        (low, high): (f64, f64),
        epsilon: f64,
    ) -> Vec<(f64, f64)> {
        let excess = Dd::from(epsilon).expm1().hi;
        let weight = |(own, mass): (f64, f64)| {
            let place = (excess - own) / (1.0 + own);
            let at = self.second.partition_point(|[next, ..]| *next < place);
            let weight = self.second.get(at).map_or(0.0, |[next, value, above]| {
                mass * above * above / ((value + above * (next - place)) * (1.0 + own))
            });
            (own, if weight.is_finite() { weight } else { 0.0 })
        };
        let inside = list.points().filter(|(own, _)| *own > low && *own < high).map(weight);
        std::iter::once((low, 0.0)).chain(inside).chain([(high, 0.0)]).collect()
    }

    /// A bound on the pure delta at an epsilon of at least zero.
    pub(super) fn at(&self, epsilon: f64) -> Wide {
        let excess = Dd::from(epsilon).expm1().hi;
        if !excess.is_finite() {
            let is_above = self.side == Domination::Above;
            return if is_above { Wide::ONE } else { Wide::ZERO };
        }
        let sign = if self.side == Domination::Above { -1.0 } else { 1.0 };
        let mut at = self.second.len();
        let mut sum = 0.0;
        for (own, mass) in self.first.points() {
            let ratio = 1.0 + own;
            if ratio <= 0.0 {
                continue;
            }
            // (r s - c)+ = r (s - c/r)+, and c/r - 1 = (c - 1 - excess)/r, which falls from outcome to outcome.
            let place = (excess - own) / ratio;
            let slack = EXP * ((excess.abs() + own.abs()) / ratio + place.abs());
            let place = place + sign * slack;
            while at > 0 && self.second.get(at - 1).is_some_and(|[next, ..]| *next >= place) {
                at -= 1;
            }
            if let Some([next, value, above]) = self.second.get(at) {
                sum += mass * ratio * (value + above * (next - place));
            }
        }
        match self.side {
            Domination::Above => Wide::from(sum * (1.0 + self.error) + self.omitted),
            Domination::Below => Wide::from((sum * (1.0 - self.error)).max(0.0)),
        }
    }
}
