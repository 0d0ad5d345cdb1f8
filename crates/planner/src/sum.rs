//! The smallest weighted sum of errors within a budget.

use crate::family::Family;
use crate::fit::{PlanningError, Problem, Setting};
use crate::price;
use crate::study::{Ask, Goal, Study, Wish};
use counterpoint::Answer;
use counterpoint_mechanisms::Error;

/// What one row adds to the sum: its weight over its scale, or that of squares.
struct Aim {
    weight: f64,
    power: i32,
}

impl Aim {
    fn of(&self, error: f64) -> f64 {
        self.weight * error.powi(self.power)
    }
}

/// Shares the budget out so that the weighted sum of errors is small: its derivative by each level is the same
/// multiple of what that level costs at the margin. First the margins are those of a Rényi divergence of the order that
/// matters, row by row; then, where there are few rows, those of the certified cost itself.
pub(crate) fn best(
    problem: &Problem<'_>,
    study: &Study,
    budget: f64,
) -> Result<(Setting, Answer, f64), PlanningError> {
    let aims = aims(problem, study);
    let shared = Shared { problem, aims: &aims, budget };
    let mut found: Option<(Setting, f64)> = None;
    for choice in shared.choices() {
        let mut margins = vec![1.0; problem.rows.len()];
        let mut best = shared.spend(&choice, &margins)?;
        if problem.rows.len() <= FEW {
            for _ in 0..ROUNDS {
                margins = shared.margins(&best.0, best.1, best.3)?;
                let next = shared.spend(&choice, &margins)?;
                let gained = best.2 - next.2;
                if gained <= 0.0 {
                    break;
                }
                let enough = gained < 1e-4 * next.2;
                best = next;
                if enough {
                    break;
                }
            }
        }
        if found.as_ref().is_none_or(|(_, least)| best.2 < *least) {
            found = Some((best.0, best.2));
        }
    }
    let (setting, sum) = found.ok_or(PlanningError::OverBudget { budget, least: f64::INFINITY })?;
    let cost = problem.cost(&setting)?;
    Ok((setting, cost, sum))
}

/// So many rows have their margins measured.
const FEW: usize = 40;
/// So often.
const ROUNDS: usize = 4;

fn aims(problem: &Problem<'_>, study: &Study) -> Vec<Aim> {
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

/// A setting, its cost, the sum, and the order at which it was shared out.
type Spent = (Setting, f64, f64, f64);

impl Shared<'_> {
    /// All rows with their first kind of noise, and all with their last: kinds are not mixed here.
    fn choices(&self) -> Vec<Vec<usize>> {
        let last: Vec<usize> =
            self.problem.rows.iter().map(|row| row.families.len().saturating_sub(1)).collect();
        let first = vec![0; last.len()];
        if first == last { vec![first] } else { vec![first, last] }
    }

    /// The levels that a multiplier asks for at an order.
    fn levels(
        &self,
        choice: &[usize],
        margins: &[f64],
        (t, multiplier): (f64, f64),
    ) -> Result<Vec<f64>, Error> {
        let rows = self.problem.rows.iter().zip(choice).zip(self.aims).zip(margins);
        let of = |(((row, choice), aim), margin): (((&crate::fit::Row, &usize), &Aim), &f64)| {
            let Some(family) = row.families.get(*choice) else { return Ok(0.0) };
            match row.wish {
                Wish::Weight(_) => level(family, aim, t, multiplier * margin),
                Wish::Level(level) => Ok(level),
                Wish::Error(error) | Wish::Kept(error) => {
                    Ok(family.level(error)?.unwrap_or(family.range().1))
                }
            }
        };
        rows.map(of).collect()
    }

    /// The setting that spends the budget, and no more.
    fn spend(&self, choice: &[usize], margins: &[f64]) -> Result<Spent, PlanningError> {
        let mut t = 8.0;
        let mut best: Option<Spent> = None;
        for _ in 0..3 {
            let spent = self.spend_at(choice, margins, t)?;
            let next = self.order(&spent.0)?;
            let near = (next / t).ln().abs() < 0.02;
            if best.as_ref().is_none_or(|(_, _, least, _)| spent.2 < *least) {
                best = Some(spent);
            }
            if near {
                break;
            }
            t = next;
        }
        best.ok_or(PlanningError::OverBudget { budget: self.budget, least: f64::INFINITY })
    }

    fn spend_at(&self, choice: &[usize], margins: &[f64], t: f64) -> Result<Spent, PlanningError> {
        let mut kept: Option<(Setting, f64)> = None;
        let mut excess = |multiplier: f64| {
            let levels = self.levels(choice, margins, (t, multiplier))?;
            let setting = Setting { choice: choice.to_vec(), levels };
            let cost = self.problem.at_most(&setting)?;
            let more = |(_, before): &(Setting, f64)| cost > *before;
            if cost <= self.budget && kept.as_ref().is_none_or(more) {
                kept = Some((setting, cost));
            }
            Ok::<f64, PlanningError>((cost / self.budget).ln())
        };
        let (mut low, mut high) = (1.0, 1.0);
        let mut above = excess(low)?;
        let mut below = above;
        // Costs rise with the third root of the multiplier's inverse, about.
        while above <= 0.0 && low > 1e-60 {
            (high, below, low) = (low, above, low * (3.0 * above.max(-5.0)).exp() / 1.3);
            above = excess(low)?;
        }
        while below > 0.0 && high < 1e60 {
            (low, above, high) = (high, below, high * (3.0 * below.min(5.0)).exp() * 1.3);
            below = excess(high)?;
        }
        if above > 0.0 && below <= 0.0 {
            crate::root::crossing((low, above), (high, below), (3e-6, 60), excess)?;
        }
        let Some((setting, cost)) = kept else {
            let levels = self.levels(choice, margins, (t, 1e60))?;
            let least = self.problem.at_most(&Setting { choice: choice.to_vec(), levels })?;
            return Err(PlanningError::OverBudget { budget: self.budget, least });
        };
        let sum = self.sum(&setting)?;
        Ok((setting, cost, sum, t))
    }

    fn sum(&self, setting: &Setting) -> Result<f64, Error> {
        let rows =
            self.problem.rows.iter().zip(&setting.choice).zip(&setting.levels).zip(self.aims);
        let of =
            |(((row, choice), level), aim): (((&crate::fit::Row, &usize), &f64), &Aim)| match row
                .families
                .get(*choice)
            {
                Some(family) if aim.weight > 0.0 => Ok(aim.of(family.error(*level)?)),
                _ => Ok(0.0),
            };
        rows.map(of).sum()
    }

    /// The order at which the divergence says most about the delta: where K(t) - t e is least.
    fn order(&self, setting: &Setting) -> Result<f64, Error> {
        let releases = self.problem.all(setting)?;
        let slope = |t: f64| {
            let h = 1e-4 * t;
            (price::cumulant(&releases, t + h) - price::cumulant(&releases, t - h)) / (2.0 * h)
        };
        let (mut low, mut high) = (1e-2_f64, 1e6_f64);
        for _ in 0..60 {
            let t = (low * high).sqrt();
            if slope(t) > self.budget { high = t } else { low = t }
        }
        Ok(low)
    }

    /// What each level costs at the margin, by certified costs, over what the divergence says.
    fn margins(&self, setting: &Setting, cost: f64, t: f64) -> Result<Vec<f64>, PlanningError> {
        const STEP: f64 = 0.01;
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
            let saved = cost - self.problem.at_most(&less)?;
            let [here, there] = [level, level * (1.0 - STEP)].map(|level| family.releases(level));
            let priced = (price::cumulant(&here?, t) - price::cumulant(&there?, t)) / t;
            if saved > 0.0 && priced > 0.0 {
                *slot = saved / priced;
            }
        }
        // Only their ratios matter.
        let mean =
            margins.iter().map(|margin| margin.ln()).sum::<f64>() / margins.len().max(1) as f64;
        Ok(margins.into_iter().map(|margin| (margin.ln() - mean).exp()).collect())
    }
}

/// The level at which an error falls as fast as its cost rises, times a multiplier: where
/// `d aim / d ln x + multiplier d (K/t) / d ln x` crosses zero.
fn level(family: &Family, aim: &Aim, t: f64, multiplier: f64) -> Result<f64, Error> {
    const WIDE: f64 = 0.05;
    let (least, most) = family.range();
    let balance = |level: f64| {
        let (from, to) = ((level * (1.0 - WIDE)).max(least), (level * (1.0 + WIDE)).min(most));
        let gained = aim.of(family.seen(from)?) - aim.of(family.seen(to)?);
        let priced =
            price::cumulant(&family.releases(to)?, t) - price::cumulant(&family.releases(from)?, t);
        Ok::<f64, Error>((gained.max(1e-300) / (multiplier * priced / t).max(1e-300)).ln())
    };
    let (above, below) = (balance(least * (1.0 + WIDE))?, balance(most * (1.0 - WIDE))?);
    if above <= 0.0 {
        return Ok(least);
    }
    if below > 0.0 {
        return Ok(most);
    }
    let ends = (least * (1.0 + WIDE), most * (1.0 - WIDE));
    let near = if family.is_searched() { 3e-3 } else { 1e-7 };
    crate::root::crossing((ends.0, above), (ends.1, below), (near, 80), balance)
        .map(|(_, level)| level)
}
