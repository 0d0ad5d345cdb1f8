//! Lower bounds on the weighted sum of errors, by Lagrange multipliers.

use crate::cost::CostError;
use crate::family::Family;
use crate::fit::{Allocation, PlanningError, Problem, Row};
use crate::plane::Plane;
use crate::root::{RootBracket, Search, search};
use crate::shadow::{Shadow, ShadowKind, ShadowRule, broken_up_to};
use crate::study::{AccuracyTarget, Study};
use crate::sum::{self, SumTerm};
use crate::tangent::{Tangent, directions, tangent, together};
use counterpoint::quantity::NoiseScale as Scale;
use counterpoint::{Bracket, Count, Epsilon, Mechanism, Release, Sensitivity};
use counterpoint_mechanisms::Error;
use std::cell::RefCell;
use std::rc::Rc;

/// A lower bound on the weighted sum of errors of all plans within the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SumBound {
    /// No levels of noise within the budget have a smaller sum.
    Proved {
        /// The bound.
        sum: f64,
        /// True if the bound holds for all kinds of noise, and not only for those of the plan.
        any_noise: bool,
    },
    /// No bound is known.
    Unknown {
        /// The reason.
        reason: &'static str,
    },
}

/// The most directions of a plane.
const MOST_DIRECTIONS: usize = 64;
/// The most choices of kinds of noise that are all tried.
const MOST_CHOICES: usize = 8;
/// The number of planes; each touches where the bound of the one before is reached.
const ROUNDS: usize = 4;
/// The share of epsilon that smoothing takes.
const TAKEN: f64 = 1e-4;

/// Bounds the sums of all allocations within the budget: for these kinds of noise, or for all kinds if there are few
/// choices.
pub(crate) fn of(
    problem: &Problem<'_>,
    study: &Study,
    (budget, allocation): (f64, &Allocation),
) -> Result<SumBound, PlanningError> {
    let terms = sum::terms(problem, study);
    let bound = |allocation: &Allocation| match LagrangeBound::new(
        problem,
        &terms,
        (budget, allocation),
    )? {
        Ok(bound) => bound.best(),
        Err(reason) => Ok(Err(reason)),
    };
    let mut least = match bound(allocation)? {
        Ok(sum) => sum,
        Err(reason) => return Ok(SumBound::Unknown { reason }),
    };
    let ways = problem.rows.iter().map(|row| row.families.len());
    if ways.fold(1_usize, usize::saturating_mul) > MOST_CHOICES {
        return Ok(SumBound::Proved { sum: least, any_noise: false });
    }
    for choice in choices(problem).into_iter().filter(|choice| *choice != allocation.choice) {
        match bound(&sum::about(problem, study, (&choice, budget))?)? {
            Ok(sum) => least = least.min(sum),
            Err(_) => return Ok(SumBound::Proved { sum: least, any_noise: false }),
        }
    }
    Ok(SumBound::Proved { sum: least, any_noise: true })
}

/// All choices of one kind of noise for each row.
fn choices(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let with = |all: Vec<Vec<usize>>, row: &Row| {
        let next = |before: &Vec<usize>| {
            let kinds = 0..row.families.len();
            kinds.map(|kind| [before.as_slice(), &[kind]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(next).collect()
    };
    problem.rows.iter().fold(vec![Vec::new()], with)
}

/// Equal rows whose level is free.
struct FreeRows<'a> {
    family: &'a Family,
    term: SumTerm,
    many: u64,
    level: f64,
    points: RefCell<Vec<Rc<LevelPoint>>>,
}

/// One level of a row.
#[derive(Debug)]
struct LevelPoint {
    level: f64,
    /// The row's term of the sum at this level.
    value: f64,
    /// A lower bound on the row's term at this level and at every lower one, where there is more noise.
    at_least: f64,
    shadows: Vec<Shadow>,
    /// True if this level exceeds the budget by itself, as every higher level then does.
    breaks: bool,
}

/// A bound for given kinds of noise.
struct LagrangeBound<'a> {
    problem: &'a Problem<'a>,
    shadow_rule: ShadowRule,
    /// The (epsilon, delta) that each release alone must keep to.
    within: (f64, f64),
    /// The epsilon and the delta that all shadows together must keep to.
    epsilon: f64,
    delta: f64,
    /// The number of releases of discrete Gaussian noise that these allow for.
    smoothed: u64,
    free: Vec<FreeRows<'a>>,
    fixed: Vec<Shadow>,
}

impl<'a> LagrangeBound<'a> {
    fn new(
        problem: &'a Problem<'a>,
        terms: &[SumTerm],
        (budget, allocation): (f64, &Allocation),
    ) -> Result<Result<Self, &'static str>, PlanningError> {
        let Some(within) = problem.composer.most_within(budget) else {
            return Ok(Err("all noise keeps to the delta of the sample"));
        };
        let all = problem.all(allocation)?;
        let discrete =
            |release: &&Release| matches!(release.mechanism, Mechanism::DiscreteGaussian { .. });
        let smoothed = all.iter().filter(discrete).map(|release| release.count.get()).sum();
        let delta = without_leaks(problem, within.1);
        let pure = delta <= 0.0;
        let taken = if smoothed > 0 && !pure { TAKEN * within.0 } else { 0.0 };
        let shadow_rule = ShadowRule::new(pure, TAKEN * within.0, smoothed);
        let mut fixed: Vec<Shadow> =
            problem.held_back.iter().map(|release| shadow_rule.of(release)).collect();
        let mut free: Vec<FreeRows<'a>> = Vec::new();
        let rows = problem.rows.iter().zip(&allocation.choice).zip(&allocation.levels).zip(terms);
        for (((row, choice), &level), term) in rows {
            let Some(family) = row.families.get(*choice) else { continue };
            let level = match row.target {
                AccuracyTarget::Weight(_) => {
                    add(&mut free, FreeRows::new(family, *term, level));
                    continue;
                }
                AccuracyTarget::PinnedLevel(level) => level,
                // No lower level meets the pinned error.
                AccuracyTarget::PinnedError(error) | AccuracyTarget::Error(error) => {
                    family.level_below(error)?.unwrap_or(family.range().1)
                }
            };
            fixed.extend(family.releases(level)?.iter().map(|release| shadow_rule.of(release)));
        }
        let mut kinds = free.iter().map(|free| free.family.error(free.level));
        if kinds.any(|error| error.is_ok_and(f64::is_infinite)) {
            return Ok(Err("an error depends on the data"));
        }
        let (epsilon, delta) = (within.0 + taken, delta * taken.exp() * (1.0 + 1e-12));
        Ok(Ok(Self { problem, shadow_rule, within, epsilon, delta, smoothed, free, fixed }))
    }

    /// The best bound of several planes.
    fn best(&self) -> Result<Result<f64, &'static str>, PlanningError> {
        let mut levels: Vec<f64> = self.free.iter().map(|free| free.level).collect();
        let mut best = 0.0;
        for _ in 0..ROUNDS {
            let Some(noises) = self.point(&levels)? else {
                return Ok(Err("no lower bound is known for this noise"));
            };
            if !self.shadow_rule.pure && directions(&noises) > MOST_DIRECTIONS {
                return Ok(Err("there are more than 64 different levels of noise"));
            }
            let smoothed = noises.iter().filter(|noise| noise.smoothed).map(|noise| noise.count);
            if smoothed.sum::<u64>() > self.smoothed {
                break;
            }
            let plane = self.plane(noises)?;
            let (sum, next) = self.dual(&plane)?;
            let gained = sum - best;
            best = sum.max(best);
            if gained < 1e-4 * best {
                break;
            }
            levels = next;
        }
        Ok(Ok(best))
    }

    /// The shadows of the free rows at these levels and of the fixed releases. The levels of the free rows are scaled
    /// until the budget is spent. Every point gives a valid plane. `None` if all levels are zero.
    fn point(&self, levels: &[f64]) -> Result<Option<Vec<Shadow>>, PlanningError> {
        let at = |(free, level): (&FreeRows<'_>, &f64)| -> Result<Vec<Shadow>, Error> {
            let times = |shadow: Shadow| Shadow { count: shadow.count * free.many, ..shadow };
            let shadows = &self.look(free, *level)?.shadows;
            Ok(shadows.iter().copied().map(times).collect())
        };
        let shadows = self.free.iter().zip(levels).map(at).collect::<Result<Vec<_>, Error>>()?;
        let shadows = shadows.concat();
        if shadows.iter().all(|shadow| shadow.level <= 0.0) {
            return Ok(None);
        }
        let scaled = |factor: f64| {
            let times = |shadow: &Shadow| Shadow { level: shadow.level * factor, ..*shadow };
            shadows.iter().map(times).chain(self.fixed.iter().copied()).collect::<Vec<_>>()
        };
        // A point near the budget suffices; once it is found, the search computes no further costs.
        let mut near: Option<f64> = None;
        let short = |factor: f64| {
            if let Some(near) = near {
                return Ok(if factor < near { 1e-3 } else { -1e-3 });
            }
            let spent = self.spent(&scaled(factor))?;
            let short = (self.budget() / spent).ln();
            if short.abs() < 0.01 {
                near = Some(factor);
            }
            Ok::<f64, PlanningError>(short)
        };
        let place =
            Search { guess: 1.0, stride: 1.01, range: (1e-3, 1e3), power: 0.05, near: 1e-10 };
        let found = search(place, short)?;
        let factor = match (near, found) {
            (Some(near), _) => near,
            (None, RootBracket::Between(_, factor)) => factor,
            _ => 1.0,
        };
        Ok(Some(scaled(factor)))
    }

    /// Estimates the part of [`Self::budget`] that noises spend.
    fn spent(&self, noises: &[Shadow]) -> Result<f64, CostError> {
        match self.shadow_rule.pure {
            true => Ok(added(noises)),
            false => Ok(self.delta_of(&together(noises))?.upper),
        }
    }

    fn budget(&self) -> f64 {
        if self.shadow_rule.pure { self.epsilon } else { self.delta }
    }

    /// A plane above the remaining budget: F - ln(1 - delta), or the remaining epsilon where delta is zero.
    fn plane(&self, noises: Vec<Shadow>) -> Result<Plane, CostError> {
        let Tangent { here, slopes } = match self.shadow_rule.pure {
            true => Tangent {
                here: (self.epsilon - added(&noises)) + 1e-12 * self.epsilon,
                slopes: vec![(-1.0, -1.0); noises.len()],
            },
            false => tangent(&noises, &|noises: &[Shadow]| self.delta_of(noises))?,
        };
        let least = if self.shadow_rule.pure { 0.0 } else { (-self.delta).ln_1p() * (1.0 + 1e-14) };
        Ok(Plane { left: here - least, noises, slopes })
    }

    fn delta_of(&self, noises: &[Shadow]) -> Result<Bracket, CostError> {
        let release = |noise: &Shadow| {
            let (scale, sensitivity) = (Scale::new(1.0).ok()?, Sensitivity::new(noise.level).ok()?);
            let mechanism = match noise.kind {
                ShadowKind::Laplace => Mechanism::Laplace { scale, sensitivity },
                ShadowKind::Gaussian => Mechanism::Gaussian { sigma: scale, sensitivity },
            };
            Some(Release::from((mechanism, Count::new(noise.count).ok()?)))
        };
        let releases: Vec<Release> = noises.iter().filter_map(release).collect();
        match Epsilon::new(self.epsilon) {
            Ok(epsilon) => self.problem.composer.delta_at(&releases, epsilon),
            // This bracket gives no bound.
            Err(_) => Ok(Bracket { lower: 0.0, upper: 1.0 }),
        }
    }

    /// The bound of the best multiplier, and the levels at which it is reached. Every multiplier gives a bound, and the
    /// bounds are concave in the multiplier.
    fn dual(&self, plane: &Plane) -> Result<(f64, Vec<f64>), PlanningError> {
        let start = self.multiplier(plane)?;
        let mut looks: Vec<(f64, f64, Vec<f64>)> = Vec::new();
        let look = |power: f64| {
            let (sum, levels) = self.lagrange(plane, start * power.exp(), ROUGHLY)?;
            Ok::<_, PlanningError>((power, sum, levels))
        };
        for power in [-0.5, 0.0, 0.5] {
            looks.push(look(power)?);
        }
        for _ in 0..30 {
            looks.sort_by(|one, other| one.0.total_cmp(&other.0));
            let best = looks.iter().enumerate().max_by(|one, other| one.1.1.total_cmp(&other.1.1));
            let Some((place, &(middle, ..))) = best else { break };
            let beside = |place: Option<usize>| place.and_then(|at| looks.get(at)).map(|at| at.0);
            let (low, high) = (beside(place.checked_sub(1)), beside(Some(place + 1)));
            let next = match (low, high) {
                (None, _) => middle - 1.5,
                (_, None) => middle + 1.5,
                (Some(low), Some(high)) if high - low < 4e-3 => break,
                (Some(low), Some(high)) if middle - low > high - middle => 0.5 * (low + middle),
                (_, Some(high)) => 0.5 * (middle + high),
            };
            if next.abs() > 60.0 {
                break;
            }
            let found = look(next)?;
            looks.push(found);
        }
        let best = looks.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
        let power = best.map_or(0.0, |(power, ..)| power);
        self.lagrange(plane, start * power.exp(), CLOSELY)
    }

    /// Estimates the best multiplier, taking errors to be inverse to levels.
    fn multiplier(&self, plane: &Plane) -> Result<f64, Error> {
        let values =
            self.free.iter().map(|free| Ok(free.many as f64 * self.look(free, free.level)?.value));
        let sum = values.sum::<Result<f64, Error>>()?;
        let fall = plane.noises.iter().zip(&plane.slopes);
        let fall: f64 = fall.map(|(at, slope)| -slope.0 * at.level * at.count as f64).sum();
        Ok(if fall > 0.0 { sum / fall } else { 1.0 })
    }

    /// A lower bound on the sum of every allocation within the budget: for each row the least of its term plus the
    /// multiplier times the budget that it takes by the plane, all added up, less the multiplier times the remaining
    /// budget.
    fn lagrange(
        &self,
        plane: &Plane,
        multiplier: f64,
        near: f64,
    ) -> Result<(f64, Vec<f64>), PlanningError> {
        let (mut sum, mut size, mut levels) = (0.0, 0.0, Vec::with_capacity(self.free.len()));
        let mut from = 0;
        for free in &self.free {
            let many = free.many as f64;
            let width = self.look(free, free.level)?.shadows.len();
            let facet = plane.facet(from, width, free.many);
            from += width;
            let price = |shadows: &[Shadow]| multiplier * facet.taken(shadows);
            let (least, level) = self.least(free, near, price)?;
            sum += many * least;
            size += many * least.abs() + multiplier * facet.size();
            levels.push(level);
        }
        let left = multiplier * plane.left;
        // The subtraction is far larger than any rounding error.
        Ok((sum - left - 1e-10 * (size + left.abs()), levels))
    }

    /// A lower bound on the least of a row's term plus its price over all levels, and about the level where it is
    /// reached.
    ///
    /// Between two levels, the term is at least that of the upper level (less its unevenness), and the price at least
    /// that of the lower level's noise. Such cells are halved until the lowest cell is hardly below the value at a
    /// level.
    fn least(
        &self,
        free: &FreeRows<'_>,
        near: f64,
        price: impl Fn(&[Shadow]) -> f64,
    ) -> Result<(f64, f64), PlanningError> {
        let near = near * self.look(free, free.level)?.value;
        let points: Vec<Rc<LevelPoint>> =
            free.points.borrow().iter().filter(|point| !point.breaks).map(Rc::clone).collect();
        // The first level that exceeds the budget ends the last cell.
        let next = free.points.borrow().get(points.len()).map(Rc::clone);
        let own = |point: &LevelPoint| (point.at_least + price(&point.shadows), point.level);
        let cell = |low: &Rc<LevelPoint>, high: &Rc<LevelPoint>| {
            let value = high.at_least + price(&lesser(&low.shadows, &high.shadows));
            (value, Rc::clone(low), Rc::clone(high))
        };
        let lower = |one: (f64, f64), other: (f64, f64)| if other.0 < one.0 { other } else { one };
        let mut best = points.iter().map(|point| own(point)).fold((f64::INFINITY, 0.0), lower);
        let highs = points.iter().skip(1).chain(&next);
        let mut cells: Vec<_> =
            points.iter().zip(highs).map(|(low, high)| cell(low, high)).collect();
        // Below the least level the noise may have level 0; above the largest level the term may be 0.
        let below = points.first().or(next.as_ref()).map(|first| first.at_least + price(&[]));
        let above = points.last().filter(|_| next.is_none()).map(|last| price(&last.shadows));
        let beyond = below.into_iter().chain(above).fold(f64::INFINITY, f64::min);
        for _ in 0..MOST_LOOKS {
            let lowest =
                cells.iter().enumerate().min_by(|one, other| one.1.0.total_cmp(&other.1.0));
            let Some((place, &(value, ref low, ref high))) = lowest else { break };
            let middle = (low.level * high.level).sqrt();
            if value >= best.0.min(beyond) - near || !(low.level < middle && middle < high.level) {
                break;
            }
            let (low, high) = (Rc::clone(low), Rc::clone(high));
            let middle = self.look(free, middle)?;
            cells.swap_remove(place);
            cells.push(cell(&low, &middle));
            if !middle.breaks {
                best = lower(best, own(&middle));
                cells.push(cell(&middle, &high));
            }
        }
        let least = cells.iter().map(|cell| cell.0).fold(beyond, f64::min);
        Ok((least, best.1))
    }

    /// The point of a level, computed once.
    fn look(&self, free: &FreeRows<'_>, level: f64) -> Result<Rc<LevelPoint>, Error> {
        if free.points.borrow().is_empty() {
            let (least, most) = free.family.range();
            let inner = std::iter::successors(Some(least), |level| Some(level * 1.3));
            let levels = inner.take_while(|level| *level < most).chain([most]);
            let points = levels.map(|level| Ok(Rc::new(self.made(free, level)?)));
            let points = points.collect::<Result<Vec<_>, Error>>()?;
            *free.points.borrow_mut() = points;
        }
        let place = free.points.borrow().partition_point(|point| point.level < level);
        let known = free.points.borrow().get(place).map(Rc::clone);
        if let Some(known) = known.filter(|known| known.level.to_bits() == level.to_bits()) {
            return Ok(known);
        }
        let point = Rc::new(self.made(free, level)?);
        free.points.borrow_mut().insert(place, Rc::clone(&point));
        Ok(point)
    }

    fn made(&self, free: &FreeRows<'_>, level: f64) -> Result<LevelPoint, Error> {
        let releases = free.family.releases(level)?;
        let error = free.family.error(level)?;
        let slack = free.family.slack_at(&releases);
        let breaks = |release: &Release| match &release.mechanism {
            Mechanism::DiscreteGaussian { sigma, sensitivity } if !self.shadow_rule.pure => {
                let most = (8.0 * self.shadow_rule.smooth).sqrt();
                sigma.get() < most * 1.1
                    && sigma.get() * (1.0 + 1e-6)
                        < broken_up_to(sensitivity.get(), self.within, most)
            }
            _ => false,
        };
        Ok(LevelPoint {
            level,
            value: free.term.of(error),
            at_least: free.term.of(error / (1.0 + slack)) * (1.0 - 1e-12),
            shadows: releases.iter().map(|release| self.shadow_rule.of(release)).collect(),
            breaks: releases.iter().any(breaks),
        })
    }
}

/// The most levels of one row that are computed for one multiplier.
const MOST_LOOKS: usize = 1000;
/// The relative accuracy of a row's bound: while multipliers are compared, and in the end.
const ROUGHLY: f64 = 5e-4;
const CLOSELY: f64 = 5e-5;

impl<'a> FreeRows<'a> {
    fn new(family: &'a Family, term: SumTerm, level: f64) -> Self {
        Self { family, term, many: 1, level, points: RefCell::default() }
    }

    fn is_like(&self, other: &Self) -> bool {
        std::ptr::eq(self.family, other.family)
            && self.level.to_bits() == other.level.to_bits()
            && self.term.weight.to_bits() == other.term.weight.to_bits()
    }
}

/// Adds a row. Rows with equal query, weight and level are counted together.
fn add<'a>(all: &mut Vec<FreeRows<'a>>, free: FreeRows<'a>) {
    match all.iter_mut().find(|other| other.is_like(&free)) {
        Some(same) => same.many += 1,
        None => all.push(free),
    }
}

/// The delta that remains for all releases but the held-back ones' leaks: 1 - delta is the product over both.
fn without_leaks(problem: &Problem<'_>, delta: f64) -> f64 {
    let leak = |release: &Release| match &release.mechanism {
        Mechanism::ApproxDp(guarantee) => guarantee.delta.get(),
        _ => 0.0,
    };
    let without = |delta: f64, leak: f64| (delta - leak).max(0.0) / (1.0 - leak) * (1.0 + 1e-15);
    problem.held_back.iter().map(leak).fold(delta, without)
}

/// The sum of all levels.
fn added(noises: &[Shadow]) -> f64 {
    noises.iter().map(|noise| noise.level * noise.count as f64).sum()
}

/// A lower bound on the noise of both levels; level 0 where their kinds differ.
fn lesser(one: &[Shadow], other: &[Shadow]) -> Vec<Shadow> {
    let of = |(one, other): (&Shadow, &Shadow)| {
        let same = (one.kind, one.smoothed, one.count) == (other.kind, other.smoothed, other.count);
        Shadow { level: if same { one.level.min(other.level) } else { 0.0 }, ..*one }
    };
    one.iter().zip(other).map(of).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
