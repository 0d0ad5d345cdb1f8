//! The smallest weighted sum of errors within a budget.

use crate::family::Family;
use crate::fit::{PlanningError, Problem, Row, START, Setting};
use crate::root::{Search, search};
use crate::steps::{combinations, ladder};
use crate::study::{Ask, Goal, Study, Wish};
use counterpoint::Answer;
use counterpoint_mechanisms::Error;

/// What one row adds to the sum: its weight over its scale, or that of squares.
#[derive(Clone, Copy)]
pub(crate) struct Aim {
    pub(crate) weight: f64,
    power: i32,
}

impl Aim {
    pub(crate) fn of(&self, error: f64) -> f64 {
        self.weight * error.powi(self.power)
    }
}

/// Shares the budget out so that the weighted sum of errors is small: each row has the kind and the level of noise with
/// the least of its error and a multiple of its price. The price is a Rényi divergence of the order that matters; then,
/// kinds being fixed, that times what the row's cost at the margin is of it.
pub(crate) fn best(
    problem: &Problem<'_>,
    study: &Study,
    budget: f64,
) -> Result<(Setting, Answer, f64), PlanningError> {
    let aims = aims(problem, study);
    let shared = Shared { problem, aims: &aims, budget };
    let alike = vec![1.0; problem.rows.len()];
    let mut tried: Vec<Spent> = Vec::new();
    let mut least = f64::INFINITY;
    for (choice, guess) in shared.choices(&alike)? {
        match shared.spend(&choice, (&alike, &[]), guess) {
            Err(PlanningError::OverBudget { least: cost, .. }) => least = least.min(cost),
            spent => tried.push(spent?),
        }
    }
    tried.sort_by(|one, other| one.sum.total_cmp(&other.sum));
    let near = tried.first().map_or(0.0, |best| NEARLY * best.sum);
    let mut best: Option<Spent> = None;
    for spent in tried.into_iter().take_while(|spent| spent.sum <= near) {
        let spent = shared.stepped(shared.refined(spent)?)?;
        if best.as_ref().is_none_or(|best| spent.sum < best.sum) {
            best = Some(spent);
        }
    }
    let best = best.ok_or(PlanningError::OverBudget { budget, least })?;
    let mut cost = problem.cost(&best.setting)?;
    // It was within the budget, whatever this one says.
    cost.bracket.upper = cost.bracket.upper.min(best.cost);
    cost.bracket.lower = cost.bracket.lower.min(cost.bracket.upper);
    Ok((best.setting, cost, best.sum))
}

/// Choices of noise whose sum is so near to the best are refined.
const NEARLY: f64 = 1.03;
/// So often.
const ROUNDS: usize = 4;
/// So many rows have their margins measured by certified costs, and so many by estimates.
const FEW: usize = 4;
const SOME: usize = 100;

/// About the best setting with these kinds of noise, by estimates.
pub(crate) fn about(
    problem: &Problem<'_>,
    study: &Study,
    (choice, budget): (&[usize], f64),
) -> Result<Setting, PlanningError> {
    let aims = aims(problem, study);
    let shared = Shared { problem, aims: &aims, budget };
    let alike = vec![1.0; problem.rows.len()];
    Ok(shared.guess(Some(choice), &alike, (START, 1.0))?.0)
}

/// About the least sum within the budget, and how; infinitely large where none is.
pub(crate) fn about_sum(
    problem: &Problem<'_>,
    study: &Study,
    budget: f64,
) -> Result<(f64, Setting), PlanningError> {
    let aims = aims(problem, study);
    let shared = Shared { problem, aims: &aims, budget };
    let alike = vec![1.0; problem.rows.len()];
    let [first, last] = problem.of_one_kind();
    let mut best = (f64::INFINITY, Setting { choice: Vec::new(), levels: Vec::new() });
    for choice in [None, Some(first.as_slice()), Some(last.as_slice())] {
        let (setting, order, _) = shared.guess(choice, &alike, (START, 1.0))?;
        let is_within = problem.price(&setting, order)?.0 <= 1.01 * budget;
        let sum = shared.about_sum(&setting)?;
        if is_within && sum < best.0 {
            best = (sum, setting);
        }
    }
    Ok(best)
}

/// What each row adds to the sum.
pub(crate) fn aims(problem: &Problem<'_>, study: &Study) -> Vec<Aim> {
    let power = if study.goal() == Goal::Squared { 2 } else { 1 };
    let of = |place: &usize| match study.statistics().get(*place).map(|statistic| &statistic.ask) {
        Some(Ask::Query(wanted)) => match wanted.wish {
            Wish::Weight(weight) => Aim { weight: weight / wanted.scale.powi(power), power },
            _ => Aim { weight: 0.0, power },
        },
        _ => Aim { weight: 0.0, power },
    };
    problem.places.iter().map(of).collect()
}

struct Shared<'a> {
    problem: &'a Problem<'a>,
    aims: &'a [Aim],
    budget: f64,
}

/// Kinds of noise, with the order and the multiplier that spend the budget by estimates.
type Guess = (Vec<usize>, (f64, f64));

/// A setting within the budget: its cost, the sum, and the order and the multiplier at which it was shared out.
struct Spent {
    setting: Setting,
    cost: f64,
    sum: f64,
    order: f64,
    multiplier: f64,
}

impl Shared<'_> {
    /// The kinds of noise worth trying, of one kind and whichever is best row by row.
    fn choices(&self, margins: &[f64]) -> Result<Vec<Guess>, PlanningError> {
        let mut found: Vec<(Setting, (f64, f64), f64)> = Vec::new();
        let [first, last] = self.problem.of_one_kind();
        // Those of one kind first: their errors make the estimates right by which kinds are compared.
        for choice in [Some(first.as_slice()), Some(last.as_slice()), None] {
            let (setting, order, multiplier) = self.guess(choice, margins, (START, 1.0))?;
            if found.iter().all(|(other, ..)| other.choice != setting.choice) {
                let sum = self.sum(&setting)?;
                found.push((setting, (order, multiplier), sum));
            }
        }
        let least = found.iter().map(|(.., sum)| *sum).fold(f64::INFINITY, f64::min);
        // What is pinned may break the budget with one kind of noise and keep it with another.
        let pinned = self.problem.rows.iter().any(|row| !matches!(row.wish, Wish::Weight(_)));
        let most = if pinned { f64::INFINITY } else { self.problem.doubt() * least };
        let near = found.into_iter().filter(|(.., sum)| *sum <= most);
        Ok(near.map(|(setting, guess, _)| (setting.choice, guess)).collect())
    }

    /// What a multiplier asks for at an order: of these kinds of noise, or of the best. Some rows may have a level.
    fn shared(
        &self,
        choice: Option<&[usize]>,
        (margins, fixed): (&[f64], &[Option<f64>]),
        (t, multiplier): (f64, f64),
    ) -> Result<Setting, Error> {
        let rows = self.problem.rows.iter().zip(self.aims).zip(margins).enumerate();
        let of = |(place, ((row, aim), margin)): (usize, ((&Row, &Aim), &f64))| {
            let only = choice.and_then(|choice| choice.get(place)).copied();
            let mut best = (0, 0.0, f64::INFINITY);
            for (index, family) in row.families.iter().enumerate() {
                if only.is_some_and(|only| only != index) {
                    continue;
                }
                let value =
                    |error: f64, cumulant: f64| aim.of(error) + multiplier * margin * cumulant / t;
                let fixed = fixed.get(place).copied().flatten().map(Wish::Level);
                let (level, found) = match fixed.unwrap_or(row.wish) {
                    Wish::Weight(_) => family.least(t, value)?,
                    Wish::Level(level) => (level, family.cumulant(level, t)?),
                    Wish::Error(error) | Wish::Kept(error) => {
                        // A row has no families that cannot keep to what is pinned.
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
        Ok(Setting { choice, levels })
    }

    /// The setting that spends the budget by estimates, its order and its multiplier.
    fn guess(
        &self,
        choice: Option<&[usize]>,
        margins: &[f64],
        (mut t, mut multiplier): (f64, f64),
    ) -> Result<(Setting, f64, f64), PlanningError> {
        let mut setting = self.shared(choice, (margins, &[]), (t, multiplier))?;
        for _ in 0..8 {
            let mut order = t;
            search(self.around(multiplier, 1.3, 1e-3), |trial| {
                setting = self.shared(choice, (margins, &[]), (t, trial))?;
                multiplier = trial;
                let (cost, next) = self.problem.price(&setting, order)?;
                order = next;
                Ok::<f64, PlanningError>((cost / self.budget).ln())
            })?;
            let near = (order / t).ln().abs() < 0.01;
            t = order;
            if near {
                break;
            }
        }
        Ok((setting, t, multiplier))
    }

    /// Where multipliers are looked for: costs fall with their third root, about.
    fn around(&self, guess: f64, stride: f64, near: f64) -> Search {
        Search { guess, stride, range: (1e-100, 1e100), power: 3.0, near }
    }

    /// The setting that spends the budget, and no more, by certified costs.
    fn spend(
        &self,
        choice: &[usize],
        rows: (&[f64], &[Option<f64>]),
        (t, guess): (f64, f64),
    ) -> Result<Spent, PlanningError> {
        let mut kept: Option<(Setting, f64, f64)> = None;
        let mut least = f64::INFINITY;
        search(self.around(guess, 1.01, 1e-5), |multiplier| {
            let setting = self.shared(Some(choice), rows, (t, multiplier))?;
            let cost = self.problem.at_most(&setting)?;
            least = least.min(cost);
            let more = |(_, before, _): &(Setting, f64, f64)| cost > *before;
            if cost <= self.budget && kept.as_ref().is_none_or(more) {
                kept = Some((setting, cost, multiplier));
            }
            Ok::<f64, PlanningError>((cost / self.budget).ln())
        })?;
        let Some((setting, cost, multiplier)) = kept else {
            return Err(PlanningError::OverBudget { budget: self.budget, least });
        };
        let sum = self.sum(&setting)?;
        Ok(Spent { setting, cost, sum, order: t, multiplier })
    }

    /// The same kinds of noise, shared out by what they cost at the margin.
    fn refined(&self, mut best: Spent) -> Result<Spent, PlanningError> {
        if self.problem.rows.len() > SOME {
            return Ok(best);
        }
        for _ in 0..ROUNDS {
            let margins = self.margins(&best)?;
            let start = (best.order, best.multiplier);
            let next = self.spend(&best.setting.choice, (&margins, &[]), start)?;
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

    /// Errors that come in steps: each at a step's cheapest level, some steps better or worse, whichever way the sum is
    /// least, what is left going to the others.
    fn stepped(&self, mut best: Spent) -> Result<Spent, PlanningError> {
        if self.problem.rows.len() > FEW {
            return Ok(best);
        }
        for _ in 0..ROUNDS {
            let steps = self.steps(&best.setting)?;
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

    /// The best way to take one step each, what is left going to the others, if it is better.
    fn with_others(
        &self,
        best: &Spent,
        steps: &[Vec<f64>],
    ) -> Result<Option<Spent>, PlanningError> {
        let margins = self.margins(best)?;
        let mut next: Option<Spent> = None;
        for fixed in combinations(steps) {
            let guess = (best.order, best.multiplier);
            let spent = match self.spend(&best.setting.choice, (&margins, &fixed), guess) {
                Err(PlanningError::OverBudget { .. }) => continue,
                spent => spent?,
            };
            if spent.sum < next.as_ref().map_or(best.sum, |next| next.sum) {
                next = Some(spent);
            }
        }
        Ok(next)
    }

    /// The same where all errors come in steps: those that seem to keep the budget, by rising sums, until one does.
    fn alone(&self, best: &Spent, steps: &[Vec<f64>]) -> Result<Option<Spent>, PlanningError> {
        const TRIALS: usize = 60;
        let estimate = self.problem.price(&best.setting, best.order)?.0;
        let most = 1.003 * self.budget * estimate / best.cost;
        let mut better: Vec<(f64, Setting)> = Vec::new();
        for fixed in combinations(steps) {
            let levels = fixed.into_iter().map(|level| level.unwrap_or(0.0)).collect();
            let setting = Setting { choice: best.setting.choice.clone(), levels };
            let sum = self.sum(&setting)?;
            if sum < best.sum && self.problem.price(&setting, best.order)?.0 <= most {
                better.push((sum, setting));
            }
        }
        better.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (sum, setting) in better.into_iter().take(TRIALS) {
            let cost = self.problem.at_most(&setting)?;
            if cost <= self.budget {
                let Spent { order, multiplier, .. } = *best;
                return Ok(Some(Spent { setting, cost, sum, order, multiplier }));
            }
        }
        Ok(None)
    }

    /// For each row whose error comes in steps the cheapest levels of some of them around its own. Nothing for others;
    /// what is pinned stays.
    fn steps(&self, setting: &Setting) -> Result<Vec<Vec<f64>>, Error> {
        let rows = || self.problem.rows.iter().zip(&setting.choice).zip(&setting.levels);
        let around = |count: usize| {
            let of = |((row, choice), &level): ((&Row, &usize), &f64)| match (
                row.families.get(*choice),
                row.wish,
            ) {
                (Some(family), Wish::Weight(_)) => ladder(family, level, count),
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

    fn sum(&self, setting: &Setting) -> Result<f64, Error> {
        self.sum_of(setting, Family::seen)
    }

    /// The same by estimates.
    fn about_sum(&self, setting: &Setting) -> Result<f64, Error> {
        self.sum_of(setting, Family::about_error)
    }

    fn sum_of(
        &self,
        setting: &Setting,
        error: impl Fn(&Family, f64) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        let rows =
            self.problem.rows.iter().zip(&setting.choice).zip(&setting.levels).zip(self.aims);
        let of = |(((row, choice), level), aim): (((&Row, &usize), &f64), &Aim)| match row
            .families
            .get(*choice)
        {
            Some(family) if aim.weight > 0.0 => Ok(aim.of(error(family, *level)?)),
            _ => Ok(0.0),
        };
        rows.map(of).sum()
    }

    /// What each level costs at the margin over what its divergence says; only the ratios matter.
    fn margins(&self, spent: &Spent) -> Result<Vec<f64>, PlanningError> {
        const STEP: f64 = 0.02;
        let certified = self.problem.rows.len() <= FEW;
        let cost = |setting: &Setting| match certified {
            true => self.problem.at_most(setting),
            false => Ok(self.problem.price(setting, spent.order)?.0),
        };
        let Spent { setting, order: t, .. } = spent;
        let here = if certified { spent.cost } else { cost(setting)? };
        let mut margins = vec![1.0; setting.levels.len()];
        for (index, row) in self.problem.rows.iter().enumerate() {
            let (Some(slot), Some(&level), Some(&choice)) =
                (margins.get_mut(index), setting.levels.get(index), setting.choice.get(index))
            else {
                continue;
            };
            let Some(family) = row.families.get(choice) else { continue };
            if !matches!(row.wish, Wish::Weight(_)) {
                continue;
            }
            let mut less = setting.clone();
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
