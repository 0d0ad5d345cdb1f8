//! Few losses that have densities, by lists of likelihood ratios on graded grids (theory 3.15).
//!
//! A list of outcomes with likelihood ratios r_i and masses q_i under Q has the profile `V(c) = sum q_i (r_i - c)+` at
//! `c = e^epsilon`. Each law becomes a list whose profile is larger, or smaller, everywhere. Two lists multiply; the
//! products are then spread over the ends of a grid's cells, with mass and mean ratio unchanged, which raises V, or merged
//! within each cell, which lowers it, because V is convex in r. The grid's cells are narrow where they matter at the asked
//! epsilon, so that losses of many orders of magnitude need no more places than losses of one.

mod grid;
mod list;

use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::laws::cells::{CellFineness, Domination};
use crate::methods::Failure;
use crate::methods::saddle::Saddle;
use crate::methods::search::{bisect, solve_epsilon};
use crate::watch::Watch;
use counterpoint_numerics::{Bracket, Wide};
use grid::Grid;
use list::{RatioList, RatioProfile};
use std::sync::Arc;

/// The largest number of products of two lists.
const MOST_PRODUCTS: u32 = 16;
/// The largest number of pairs of outcomes in all products of an attempt.
const MOST_PAIRS: f64 = 8e8;
/// The cells of the first and of the longest grid.
const FEWEST_CELLS: f64 = 1500.0;
const MOST_CELLS: f64 = 16_000.0;
/// The number of attempts with finer and finer grids.
const MOST_TRIES: usize = 3;
/// The pieces of each significant cell of a density.
const PIECES: f64 = 128.0;
/// The part of delta that may be cut from the ends of each list, for a bound and for an estimate.
const CUT: f64 = 1e-12;
const ROUGH_CUT: f64 = 1e-3;
/// The least delta for which masses in doubles suffice.
const LEAST_DELTA: f64 = 1e-217;
/// The number of cells of lists for estimates.
const ROUGH_CELLS: f64 = 256.0;
/// A width of delta that counts as zero.
const NOTHING: f64 = 1e-25;
/// The largest epsilon.
const MOST_EPSILON: f64 = 100.0;

/// The power of each part's law in a product.
type Powers = Vec<u64>;

/// A product of powers of the parts' laws.
struct Product {
    list: RatioList,
    powers: Powers,
}

/// A composition with estimates of its laws.
struct GradedProblem<'a> {
    parts: &'a [CountedLoss],
    watch: Watch<'a>,
    rough: Vec<RatioList>,
    /// The number of products of two lists.
    products: u32,
    whole: Powers,
}

/// The answer that is expected: it decides where grids are fine.
#[derive(Clone, Copy)]
struct Estimate {
    epsilon: f64,
    delta: f64,
    /// The slope of ln delta, downwards.
    tilt: f64,
}

/// The number of products in the n-th power of a list, by squaring.
fn products(power: u64) -> u32 {
    if power < 2 { 0 } else { power.ilog2() + power.count_ones() - 1 }
}

/// The powers of the parts in one half of the composition.
fn half(parts: &[CountedLoss], rounded_up: bool) -> Powers {
    parts.iter().map(|part| (part.count + u64::from(rounded_up)) / 2).collect()
}

/// The number of products of two lists, for few losses, one of which has a density; `None` for others.
pub(crate) fn work(parts: &[CountedLoss]) -> Option<u32> {
    let of = |powers: Powers| {
        let positive = powers.iter().filter(|power| **power > 0).count() as u32;
        positive.saturating_sub(1) + powers.into_iter().map(products).sum::<u32>()
    };
    let is_few = has_few_densities(parts);
    let products = || of(half(parts, false)) + of(half(parts, true));
    is_few.then(products).filter(|products| *products <= MOST_PRODUCTS)
}

fn has_few_densities(parts: &[CountedLoss]) -> bool {
    parts.len() <= MOST_PRODUCTS as usize
        && parts.iter().any(|part| !part.law().is_list() && part.law().response_epsilon().is_none())
        && parts.iter().any(|part| part.count > 1 || parts.len() > 1)
}

impl<'a> GradedProblem<'a> {
    fn new(parts: &'a [CountedLoss], watch: Watch<'a>, delta: f64) -> Result<Self, Failure> {
        let products = work(parts).ok_or(Failure::TooMuch)?;
        if delta.is_nan() || delta < LEAST_DELTA {
            return Err(Failure::TooMuch);
        }
        let rough = parts.iter().map(|part| {
            let list = RatioList::of(part.law(), Domination::Above, None)?;
            let cut = ROUGH_CUT * delta / part.count as f64;
            Some(list.without_ends(cut, Domination::Below).thinned(ROUGH_CELLS))
        });
        let rough = rough.collect::<Option<_>>().ok_or(Failure::TooMuch)?;
        Ok(Self {
            parts,
            watch,
            rough,
            products,
            whole: parts.iter().map(|part| part.count).collect(),
        })
    }

    /// An estimate of a product of the laws.
    fn rough(&self, powers: &Powers) -> Result<RatioList, Failure> {
        let times = |a: &RatioList, b: &RatioList| Ok(a.times(b, None).thinned(ROUGH_CELLS));
        let mut product = RatioList::one();
        for (list, &power) in self.rough.iter().zip(powers) {
            if let Some(list) = self.power(list, power, &times)? {
                product = times(&product, &list)?;
            }
        }
        Ok(product)
    }

    /// The answer as the estimates have it; `find` finds it from a profile.
    fn estimate(&self, find: impl Fn(&RatioProfile) -> f64) -> Result<Estimate, Failure> {
        let halves = [false, true].map(|rounded_up| self.rough(&half(self.parts, rounded_up)));
        let [first, second] = halves;
        let profile = RatioProfile::new(first?, &second?, Domination::Below);
        let epsilon = find(&profile);
        let delta = profile.at(epsilon).estimate();
        let step = 1e-3 * epsilon.max(1e-300);
        let beyond = profile.at(epsilon + step).estimate();
        let tilt =
            if beyond > 0.0 && beyond < delta { (1.0 - beyond / delta) / step } else { 1.0 / step };
        if delta > LEAST_DELTA {
            Ok(Estimate { epsilon, delta, tilt })
        } else {
            Err(Failure::TooMuch)
        }
    }

    /// A grid for a product, whose ratios lie between two ends.
    fn grid(
        &self,
        powers: &Powers,
        ends: (f64, f64),
        (estimate, cells): (&Estimate, f64),
    ) -> Result<Grid, Failure> {
        let others = self.whole.iter().zip(powers).map(|(all, power)| all - power).collect();
        let rest = RatioProfile::new(RatioList::one(), &self.rough(&others)?, Domination::Below);
        let points = rest.weights(&self.rough(powers)?, ends, estimate.epsilon);
        Ok(Grid::new(&points, cells))
    }

    /// The product of two products, on a grid of its own.
    fn times(
        &self,
        first: &Product,
        second: &Product,
        side: Domination,
        aim: (&Estimate, f64),
    ) -> Result<Product, Failure> {
        self.watch.check(0.5)?;
        let powers = first.powers.iter().zip(&second.powers).map(|(a, b)| a + b).collect();
        let ends = first.list.ends_of_product(&second.list);
        let grid = self.grid(&powers, ends, aim)?;
        Ok(Product { list: first.list.times(&second.list, Some((&grid, side))), powers })
    }

    /// The n-th power of a list by squaring; `None` for the power zero.
    fn power<T: Clone>(
        &self,
        base: &T,
        power: u64,
        times: &impl Fn(&T, &T) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let (mut square, mut rest) = (base.clone(), power);
        let mut product: Option<T> = None;
        while rest > 0 {
            if rest % 2 == 1 {
                product = Some(match &product {
                    None => square.clone(),
                    Some(before) => times(before, &square)?,
                });
            }
            rest /= 2;
            if rest > 0 {
                square = times(&square, &square)?;
            }
        }
        Ok(product)
    }

    /// The list of one part's law.
    fn list(&self, part: &CountedLoss, side: Domination, estimate: &Estimate) -> Option<RatioList> {
        let fineness = CellFineness {
            width: f64::INFINITY,
            pieces: PIECES,
            tilt: 0.0,
            cumulant: Wide::from(estimate.delta).ln_estimate(),
            watch: self.watch,
        };
        let list = RatioList::of(part.law(), side, Some(&fineness))?;
        Some(list.without_ends(CUT * estimate.delta / part.count as f64, side))
    }

    /// A profile that is above, or below, the composition's at every epsilon.
    fn profile(
        &self,
        (lists, side): (&[RatioList], Domination),
        aim: (&Estimate, f64),
    ) -> Result<RatioProfile, Failure> {
        let times = |a: &Arc<Product>, b: &Arc<Product>| Ok(Arc::new(self.times(a, b, side, aim)?));
        let mut halves: [Option<Arc<Product>>; 2] = [None, None];
        for (index, list) in lists.iter().enumerate() {
            let powers: Powers = (0..self.parts.len()).map(|at| u64::from(at == index)).collect();
            let grid = self.grid(&powers, list.ends_of_product(&RatioList::one()), aim)?;
            let coarse = Product { list: list.regrouped(&grid, side), powers: powers.clone() };
            let [fine, coarse] =
                [Arc::new(Product { list: list.clone(), powers }), Arc::new(coarse)];
            for (product, up) in halves.iter_mut().zip([false, true]) {
                let power = half(self.parts, up).get(index).copied().unwrap_or(0);
                // A half that is one law alone needs no grid.
                let is_alone = power == 1 && self.parts.len() == 1;
                let base = if is_alone { &fine } else { &coarse };
                if let Some(power) = self.power(base, power, &times)? {
                    *product = Some(match product.take() {
                        None => power,
                        Some(before) => times(&before, &power)?,
                    });
                }
            }
        }
        let [first, second] =
            halves.map(|half| half.map_or_else(RatioList::one, |half| half.list.clone()));
        Ok(RatioProfile::new(first, &second, side))
    }

    /// Tries finer and finer grids until the answer is narrow enough. `answer` returns it with its width relative to the
    /// wanted one.
    fn refine<T>(
        &self,
        estimate: &Estimate,
        answer: impl Fn(&dyn Fn(f64) -> DeltaBounds) -> Result<(T, f64, f64), Failure>,
    ) -> Result<T, Failure> {
        let lists = |side| -> Result<Vec<RatioList>, Failure> {
            let list = |part| self.list(part, side, estimate).ok_or(Failure::TooMuch);
            self.parts.iter().map(list).collect()
        };
        let (above, below) = (lists(Domination::Above)?, lists(Domination::Below)?);
        let (mut cells, mut best) = (FEWEST_CELLS, f64::INFINITY);
        let products = f64::from(2 * self.products + 1);
        let most = MOST_CELLS.min((MOST_PAIRS / products).sqrt());
        for _ in 0..MOST_TRIES {
            let above = self.profile((&above, Domination::Above), (estimate, cells))?;
            let below = self.profile((&below, Domination::Below), (estimate, cells))?;
            let ends = |epsilon: f64| DeltaBounds::new(below.at(epsilon), above.at(epsilon));
            let (answer, width, excess) = answer(&ends)?;
            if excess <= 1.0 {
                return Ok(answer);
            }
            // The width falls with the square of the number of cells.
            let falls = width < 0.8 * best;
            best = best.min(width);
            let next = (cells * (1.5 * excess).sqrt()).min(most);
            if !falls || next < 1.2 * cells {
                break;
            }
            cells = next;
        }
        Err(Failure::TooWide(best))
    }
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Bracket, Failure> {
    let goal = target.lower.estimate();
    let problem = GradedProblem::new(parts, watch, goal)?;
    let whole = Bracket { lower: 0.0, upper: MOST_EPSILON };
    let estimate = problem.estimate(|profile| {
        let within = |epsilon: f64| Ok::<_, Failure>(profile.at(epsilon).estimate() <= goal);
        bisect(whole, (1000, 1e-4), within).map_or(MOST_EPSILON, |bracket| bracket.upper)
    })?;
    let Estimate { epsilon, delta, tilt } = estimate;
    let saddle = Saddle { tilt, epsilon, ln_delta: Wide::from(delta).ln_estimate(), variance: 0.0 };
    problem.refine(&estimate, |ends| {
        let answer = if ends(0.0).upper <= target.lower {
            Bracket::exact(0.0)
        } else {
            let near = solve_epsilon(ends, target, &saddle, &watch)?;
            let exceeds = |epsilon| Ok::<_, Failure>(ends(epsilon).lower <= target.upper);
            let Bracket { lower, .. } = bisect(near, (60, 0.01 * tolerance), exceeds)?;
            Bracket { lower, ..near }
        };
        let within = answer.is_within_tolerance(tolerance);
        let width = answer.relative_width();
        Ok((answer, width, if within { 0.0 } else { width / tolerance.max(1e-14) }))
    })
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<DeltaBounds, Failure> {
    let mut delta = LEAST_DELTA;
    // The first estimate decides where the lists of the second end.
    for _ in 0..2 {
        let problem = GradedProblem::new(parts, watch, delta)?;
        delta = problem.estimate(|_| epsilon)?.delta;
    }
    let problem = GradedProblem::new(parts, watch, delta)?;
    let estimate = problem.estimate(|_| epsilon)?;
    problem.refine(&estimate, |ends| {
        let ends = ends(epsilon);
        let is_nothing = ends.width() <= Wide::from(NOTHING);
        let width = if is_nothing { 0.0 } else { ends.relative_width() };
        Ok((ends, width, width / tolerance.max(1e-14)))
    })
}
