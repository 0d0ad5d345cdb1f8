//! Minimizes the weighted sum of errors within a budget.

use crate::family::Family;
use crate::fit::{Allocation, PlanningError, Problem, Row, START};
use crate::root::{Search, search};
use crate::steps::{combinations, ladder};
use crate::study::{AccuracyTarget, Goal, StatisticContent, Study};
use counterpoint::Answer;
use counterpoint_mechanisms::Error;

/// The term of one row in the sum: the weight over the scale, times the error; or both of squares.
#[derive(Clone, Copy)]
pub(crate) struct SumTerm {
    pub(crate) weight: f64,
    power: i32,
}

impl SumTerm {
    pub(crate) fn of(&self, error: f64) -> f64 {
        self.weight * error.powi(self.power)
    }
}

/// Shares out the budget so that the weighted sum of errors is small. Each row gets the kind and the level of noise
/// with the least sum of its term and a multiple of its price. The price is first a Rényi divergence at the order of
/// the saddle point; then, with fixed kinds of noise, this divergence times the ratio of the row's marginal cost to it.
pub(crate) fn best(
    problem: &Problem<'_>,
    study: &Study,
    budget: f64,
) -> Result<(Allocation, Answer, f64), PlanningError> {
    let terms = terms(problem, study);
    let shared = SumProblem { problem, terms: &terms, budget };
    let alike = vec![1.0; problem.rows.len()];
    let mut tried: Vec<SumSolution> = Vec::new();
    let mut least = f64::INFINITY;
    for (choice, guess) in shared.choices(&alike)? {
        match shared.spend(&choice, (&alike, &[]), guess) {
            Err(PlanningError::OverBudget { least: cost, .. }) => least = least.min(cost),
            spent => tried.push(spent?),
        }
    }
    tried.sort_by(|one, other| one.sum.total_cmp(&other.sum));
    let near = tried.first().map_or(0.0, |best| NEARLY * best.sum);
    let mut best: Option<SumSolution> = None;
    for spent in tried.into_iter().take_while(|spent| spent.sum <= near) {
        let spent = shared.stepped(shared.refined(spent)?)?;
        if best.as_ref().is_none_or(|best| spent.sum < best.sum) {
            best = Some(spent);
        }
    }
    let best = best.ok_or(PlanningError::OverBudget { budget, least })?;
    let mut cost = problem.cost(&best.allocation)?;
    // The search found an upper bound within the budget, even if this bracket is wider.
    cost.bracket.upper = cost.bracket.upper.min(best.cost);
    cost.bracket.lower = cost.bracket.lower.min(cost.bracket.upper);
    Ok((best.allocation, cost, best.sum))
}

/// Choices of noise whose sum is at most this ratio above the best are refined.
const NEARLY: f64 = 1.03;
/// The most rounds of refinement.
const ROUNDS: usize = 4;
/// The most rows whose marginal costs are certified, and the most rows whose marginal costs are estimated.
const FEW: usize = 4;
const SOME: usize = 100;

/// Estimates the best allocation with these kinds of noise.
pub(crate) fn about(
    problem: &Problem<'_>,
    study: &Study,
    (choice, budget): (&[usize], f64),
) -> Result<Allocation, PlanningError> {
    let terms = terms(problem, study);
    let shared = SumProblem { problem, terms: &terms, budget };
    let alike = vec![1.0; problem.rows.len()];
    Ok(shared.guess(Some(choice), &alike, (START, 1.0))?.0)
}

/// Estimates the least sum within the budget, and its allocation; infinite if there is none.
pub(crate) fn about_sum(
    problem: &Problem<'_>,
    study: &Study,
    budget: f64,
) -> Result<(f64, Allocation), PlanningError> {
    let terms = terms(problem, study);
    let shared = SumProblem { problem, terms: &terms, budget };
    let alike = vec![1.0; problem.rows.len()];
    let [first, last] = problem.of_one_kind();
    let mut best = (f64::INFINITY, Allocation { choice: Vec::new(), levels: Vec::new() });
    for choice in [None, Some(first.as_slice()), Some(last.as_slice())] {
        let (allocation, order, _) = shared.guess(choice, &alike, (START, 1.0))?;
        let is_within = problem.price(&allocation, order)?.0 <= 1.01 * budget;
        let sum = shared.about_sum(&allocation)?;
        if is_within && sum < best.0 {
            best = (sum, allocation);
        }
    }
    Ok(best)
}

/// The term of each row in the sum.
pub(crate) fn terms(problem: &Problem<'_>, study: &Study) -> Vec<SumTerm> {
    let power = if study.goal() == Goal::Squared { 2 } else { 1 };
    let of =
        |place: &usize| match study.statistics().get(*place).map(|statistic| &statistic.content) {
            Some(StatisticContent::Query(wanted)) => match wanted.target {
                AccuracyTarget::Weight(weight) => {
                    SumTerm { weight: weight / wanted.scale.powi(power), power }
                }
                _ => SumTerm { weight: 0.0, power },
            },
            _ => SumTerm { weight: 0.0, power },
        };
    problem.places.iter().map(of).collect()
}

struct SumProblem<'a> {
    problem: &'a Problem<'a>,
    terms: &'a [SumTerm],
    budget: f64,
}

/// Kinds of noise, with the order and the multiplier that spend the budget by estimates.
type Guess = (Vec<usize>, (f64, f64));

/// An allocation within the budget, with its cost, its sum, and the order and the multiplier that gave it.
struct SumSolution {
    allocation: Allocation,
    cost: f64,
    sum: f64,
    order: f64,
    multiplier: f64,
}

impl SumProblem<'_> {
    /// The choices of noise that are worth trying: one kind for all rows, and the best kind row by row.
    fn choices(&self, margins: &[f64]) -> Result<Vec<Guess>, PlanningError> {
        let mut found: Vec<(Allocation, (f64, f64), f64)> = Vec::new();
        let [first, last] = self.problem.of_one_kind();
        // The choices of one kind come first: their computed errors correct the estimates by which kinds are compared.
        for choice in [Some(first.as_slice()), Some(last.as_slice()), None] {
            let (allocation, order, multiplier) = self.guess(choice, margins, (START, 1.0))?;
            if found.iter().all(|(other, ..)| other.choice != allocation.choice) {
                let sum = self.sum(&allocation)?;
                found.push((allocation, (order, multiplier), sum));
            }
        }
        let least = found.iter().map(|(.., sum)| *sum).fold(f64::INFINITY, f64::min);
        // With pinned errors or levels, one kind of noise may exceed the budget while another keeps it.
        let pinned =
            self.problem.rows.iter().any(|row| !matches!(row.target, AccuracyTarget::Weight(_)));
        let most = if pinned { f64::INFINITY } else { self.problem.doubt() * least };
        let near = found.into_iter().filter(|(.., sum)| *sum <= most);
        Ok(near.map(|(allocation, guess, _)| (allocation.choice, guess)).collect())
    }

    /// The allocation for a multiplier at an order, with these kinds of noise or the best ones. Some rows may have a
    /// fixed level.
    fn shared(
        &self,
        choice: Option<&[usize]>,
        (margins, fixed): (&[f64], &[Option<f64>]),
        (t, multiplier): (f64, f64),
    ) -> Result<Allocation, Error> {
        let rows = self.problem.rows.iter().zip(self.terms).zip(margins).enumerate();
        let of = |(place, ((row, term), margin)): (usize, ((&Row, &SumTerm), &f64))| {
            let only = choice.and_then(|choice| choice.get(place)).copied();
            let mut best = (0, 0.0, f64::INFINITY);
            for (index, family) in row.families.iter().enumerate() {
                if only.is_some_and(|only| only != index) {
                    continue;
                }
                let value =
                    |error: f64, cumulant: f64| term.of(error) + multiplier * margin * cumulant / t;
                let fixed = fixed.get(place).copied().flatten().map(AccuracyTarget::PinnedLevel);
                let (level, found) = match fixed.unwrap_or(row.target) {
                    AccuracyTarget::Weight(_) => family.least(t, value)?,
                    AccuracyTarget::PinnedLevel(level) => (level, family.cumulant(level, t)?),
                    AccuracyTarget::Error(error) | AccuracyTarget::PinnedError(error) => {
                        // Every family of a row can meet its pinned error or level.
                        let level = family.level(error)?.unwrap_or(family.range().1);
                        (level, family.cumulant(level, t)?)
                    }
                };
                if found < best.2 {
                    best = (index, level, found);
                }
            }
            Ok((best.0, best.1))
        };
        let (choice, levels) = rows.map(of).collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
        Ok(Allocation { choice, levels })
    }

    /// The allocation that spends the budget by estimates, with its order and its multiplier.
    fn guess(
        &self,
        choice: Option<&[usize]>,
        margins: &[f64],
        (mut t, mut multiplier): (f64, f64),
    ) -> Result<(Allocation, f64, f64), PlanningError> {
        let mut allocation = self.shared(choice, (margins, &[]), (t, multiplier))?;
        for _ in 0..8 {
            let mut order = t;
            search(self.around(multiplier, 1.3, 1e-3), |trial| {
                allocation = self.shared(choice, (margins, &[]), (t, trial))?;
                multiplier = trial;
                let (cost, next) = self.problem.price(&allocation, order)?;
                order = next;
                Ok::<f64, PlanningError>((cost / self.budget).ln())
            })?;
            let near = (order / t).ln().abs() < 0.01;
            t = order;
            if near {
                break;
            }
        }
        Ok((allocation, t, multiplier))
    }

    /// A search for a multiplier. Costs fall roughly with the third root of the multiplier.
    fn around(&self, guess: f64, stride: f64, near: f64) -> Search {
        Search { guess, stride, range: (1e-100, 1e100), power: 3.0, near }
    }

    /// The allocation that spends the budget by certified costs without exceeding it.
    fn spend(
        &self,
        choice: &[usize],
        rows: (&[f64], &[Option<f64>]),
        (t, guess): (f64, f64),
    ) -> Result<SumSolution, PlanningError> {
        let mut kept: Option<(Allocation, f64, f64)> = None;
        let mut least = f64::INFINITY;
        search(self.around(guess, 1.01, 1e-5), |multiplier| {
            let allocation = self.shared(Some(choice), rows, (t, multiplier))?;
            let cost = self.problem.at_most(&allocation)?;
            least = least.min(cost);
            let more = |(_, before, _): &(Allocation, f64, f64)| cost > *before;
            if cost <= self.budget && kept.as_ref().is_none_or(more) {
                kept = Some((allocation, cost, multiplier));
            }
            Ok::<f64, PlanningError>((cost / self.budget).ln())
        })?;
        let Some((allocation, cost, multiplier)) = kept else {
            return Err(PlanningError::OverBudget { budget: self.budget, least });
        };
        let sum = self.sum(&allocation)?;
        Ok(SumSolution { allocation, cost, sum, order: t, multiplier })
    }

    /// Improves an allocation with the same kinds of noise, by marginal costs.
    fn refined(&self, mut best: SumSolution) -> Result<SumSolution, PlanningError> {
        if self.problem.rows.len() > SOME {
            return Ok(best);
        }
        for _ in 0..ROUNDS {
            let margins = self.margins(&best)?;
            let start = (best.order, best.multiplier);
            let next = self.spend(&best.allocation.choice, (&margins, &[]), start)?;
            let gained = best.sum - next.sum;
            if gained <= 0.0 {
                break;
            }
            best = next;
            if gained < 1e-4 * best.sum {
                break;
            }
        }
        Ok(best)
    }

    /// Improves an allocation with errors that come in steps. Each such error is at the cheapest level of a step; some
    /// errors get a step better or worse, whichever makes the sum least, and the other rows get the rest of the budget.
    fn stepped(&self, mut best: SumSolution) -> Result<SumSolution, PlanningError> {
        if self.problem.rows.len() > FEW {
            return Ok(best);
        }
        for _ in 0..ROUNDS {
            let steps = self.steps(&best.allocation)?;
            if steps.iter().all(|levels| levels.len() < 2) {
                break;
            }
            let next = match steps.iter().any(Vec::is_empty) {
                true => self.with_others(&best, &steps)?,
                false => self.alone(&best, &steps)?,
            };
            match next {
                Some(spent) => best = spent,
                None => break,
            }
        }
        Ok(best)
    }

    /// The best choice of one step for each row with steps, where the other rows get the rest of the budget; `None` if
    /// it is no better.
    fn with_others(
        &self,
        best: &SumSolution,
        steps: &[Vec<f64>],
    ) -> Result<Option<SumSolution>, PlanningError> {
        let margins = self.margins(best)?;
        let mut next: Option<SumSolution> = None;
        for fixed in combinations(steps) {
            let guess = (best.order, best.multiplier);
            let spent = match self.spend(&best.allocation.choice, (&margins, &fixed), guess) {
                Err(PlanningError::OverBudget { .. }) => continue,
                spent => spent?,
            };
            if spent.sum < next.as_ref().map_or(best.sum, |next| next.sum) {
                next = Some(spent);
            }
        }
        Ok(next)
    }

    /// The best choice of steps if all errors come in steps: choices that keep the budget by estimates are certified in
    /// the order of their sums until one keeps it.
    fn alone(
        &self,
        best: &SumSolution,
        steps: &[Vec<f64>],
    ) -> Result<Option<SumSolution>, PlanningError> {
        const TRIALS: usize = 60;
        let estimate = self.problem.price(&best.allocation, best.order)?.0;
        let most = 1.003 * self.budget * estimate / best.cost;
        let mut better: Vec<(f64, Allocation)> = Vec::new();
        for fixed in combinations(steps) {
            let levels = fixed.into_iter().map(|level| level.unwrap_or(0.0)).collect();
            let allocation = Allocation { choice: best.allocation.choice.clone(), levels };
            let sum = self.sum(&allocation)?;
            if sum < best.sum && self.problem.price(&allocation, best.order)?.0 <= most {
                better.push((sum, allocation));
            }
        }
        better.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (sum, allocation) in better.into_iter().take(TRIALS) {
            let cost = self.problem.at_most(&allocation)?;
            if cost <= self.budget {
                let SumSolution { order, multiplier, .. } = *best;
                return Ok(Some(SumSolution { allocation, cost, sum, order, multiplier }));
            }
        }
        Ok(None)
    }

    /// For each row whose error comes in steps, the cheapest levels of some steps around its own; an empty list for
    /// other rows. Pinned rows keep their level.
    fn steps(&self, allocation: &Allocation) -> Result<Vec<Vec<f64>>, Error> {
        let rows = || self.problem.rows.iter().zip(&allocation.choice).zip(&allocation.levels);
        let around = |count: usize| {
            let of = |((row, choice), &level): ((&Row, &usize), &f64)| match (
                row.families.get(*choice),
                row.target,
            ) {
                (Some(family), AccuracyTarget::Weight(_)) => ladder(family, level, count),
                _ => Ok(vec![level]),
            };
            rows().map(of).collect::<Result<Vec<Vec<f64>>, Error>>()
        };
        let one = around(1)?;
        let stepped = one.iter().filter(|levels| levels.len() > 1).count();
        match (stepped, one.iter().any(Vec::is_empty)) {
            (1, true) => around(2),
            (1 | 2, false) => around(12),
            (3, false) => around(3),
            _ => Ok(one),
        }
    }

    fn sum(&self, allocation: &Allocation) -> Result<f64, Error> {
        self.sum_of(allocation, Family::seen)
    }

    /// Estimates the sum of an allocation.
    fn about_sum(&self, allocation: &Allocation) -> Result<f64, Error> {
        self.sum_of(allocation, Family::about_error)
    }

    fn sum_of(
        &self,
        allocation: &Allocation,
        error: impl Fn(&Family, f64) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        let rows = self
            .problem
            .rows
            .iter()
            .zip(&allocation.choice)
            .zip(&allocation.levels)
            .zip(self.terms);
        let of = |(((row, choice), level), term): (((&Row, &usize), &f64), &SumTerm)| match row
            .families
            .get(*choice)
        {
            Some(family) if term.weight > 0.0 => Ok(term.of(error(family, *level)?)),
            _ => Ok(0.0),
        };
        rows.map(of).sum()
    }

    /// The ratio of each level's marginal cost to its marginal divergence. Only the proportions of these ratios matter.
    fn margins(&self, spent: &SumSolution) -> Result<Vec<f64>, PlanningError> {
        const STEP: f64 = 0.02;
        let certified = self.problem.rows.len() <= FEW;
        let cost = |allocation: &Allocation| match certified {
            true => self.problem.at_most(allocation),
            false => Ok(self.problem.price(allocation, spent.order)?.0),
        };
        let SumSolution { allocation, order: t, .. } = spent;
        let here = if certified { spent.cost } else { cost(allocation)? };
        let mut margins = vec![1.0; allocation.levels.len()];
        for (index, row) in self.problem.rows.iter().enumerate() {
            let (Some(slot), Some(&level), Some(&choice)) = (
                margins.get_mut(index),
                allocation.levels.get(index),
                allocation.choice.get(index),
            ) else {
                continue;
            };
            let Some(family) = row.families.get(choice) else { continue };
            if !matches!(row.target, AccuracyTarget::Weight(_)) {
                continue;
            }
            let mut less = allocation.clone();
            if let Some(slot) = less.levels.get_mut(index) {
                *slot = level * (1.0 - STEP);
            }
            let saved = here - cost(&less)?;
            let priced = family.cumulant(level, *t)? - family.cumulant(level * (1.0 - STEP), *t)?;
            if saved > 0.0 && priced > 0.0 {
                *slot = saved * t / priced;
            }
        }
        let mean =
            margins.iter().map(|margin| margin.ln()).sum::<f64>() / margins.len().max(1) as f64;
        Ok(margins.into_iter().map(|margin| (margin.ln() - mean).exp()).collect())
    }
}
