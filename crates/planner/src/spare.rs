//! What dropping or pinning a statistic would buy, about: by estimates, made true where the plan itself is known.

use crate::fit::{PlanningError, Problem, Row, START, Setting};
use crate::root::{Crossing, Search, search};
use crate::study::Wish;
use counterpoint_mechanisms::Error;

/// What would become of a plan. Estimates, to some three digits: no answer rests on them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Spare {
    /// Without this statistic: the factor of the others' errors, or, where no budget was given, epsilon.
    pub dropped: Option<f64>,
    /// With its wanted error, whatever the factor: that of the others.
    pub pinned: Option<f64>,
}

/// So many statistics are looked at one by one; of more, each is a small part of the whole.
const SOME: usize = 60;

/// For each row what it would buy: in factors if there is one, otherwise in epsilon.
pub(crate) fn of(
    problem: &Problem<'_>,
    setting: &Setting,
    (epsilon, factor): (f64, Option<f64>),
) -> Result<Vec<Spare>, PlanningError> {
    let (priced, order) = problem.price(setting, START)?;
    let Some(factor) = factor else {
        let of = |row: usize| {
            let without = problem.price(&less(setting, row), order)?.0;
            // Of the only one nothing is left.
            let left = if problem.rows.len() == 1 { 0.0 } else { epsilon * without / priced };
            Ok(Spare { dropped: Some(left), pinned: None })
        };
        return match problem.rows.len() {
            0..=SOME => (0..problem.rows.len()).map(of).collect(),
            _ => Ok(small(problem, setting, order, |share| Spare {
                dropped: Some(epsilon * (1.0 - share)),
                pinned: None,
            })?),
        };
    };
    if problem.rows.len() > SOME {
        // Costs are about inverse to errors.
        let free = |share: f64| Spare { dropped: Some(factor * (1.0 - share)), pinned: None };
        return Ok(small(problem, setting, order, free)?);
    }
    let find = |choice: &[usize], skip: usize, pin: bool| -> Result<Option<f64>, PlanningError> {
        let place =
            Search { guess: factor, stride: 1.01, range: (1e-9, 1e9), power: 1.0, near: 1e-3 };
        let found = search(place, |trial| {
            let level = |(index, (row, choice)): (usize, (&Row, &usize))| match (
                row.families.get(*choice),
                row.wish,
            ) {
                _ if index == skip && !pin => Ok(NOTHING),
                (Some(family), Wish::Error(error)) => {
                    family.about(if index == skip { error } else { error * trial })
                }
                _ => Ok(setting.levels.get(index).copied().unwrap_or(NOTHING)),
            };
            let rows = problem.rows.iter().zip(choice).enumerate();
            let levels = rows.map(level).collect::<Result<Vec<f64>, Error>>()?;
            let cost = problem.price(&Setting { choice: choice.to_vec(), levels }, order)?.0;
            Ok::<f64, PlanningError>((cost / priced).ln())
        })?;
        Ok(if let Crossing::Between(_, factor) = found { Some(factor) } else { None })
    };
    let rows = problem.rows.iter().enumerate();
    let of = |(index, row): (usize, &Row)| {
        let others = |row: &Row| matches!(row.wish, Wish::Error(_));
        let many = problem.rows.iter().filter(|row| others(row)).count();
        let left = many > usize::from(others(row));
        Ok(Spare {
            dropped: if left { find(&setting.choice, index, false)? } else { None },
            pinned: if left && others(row) { find(&setting.choice, index, true)? } else { None },
        })
    };
    rows.map(of).collect()
}

/// A level that costs as good as nothing.
const NOTHING: f64 = 1e-5;

fn less(setting: &Setting, row: usize) -> Setting {
    let mut less = setting.clone();
    if let Some(level) = less.levels.get_mut(row) {
        *level = NOTHING;
    }
    less
}

/// Each row's share of the price, which is small.
fn small(
    problem: &Problem<'_>,
    setting: &Setting,
    t: f64,
    spare: impl Fn(f64) -> Spare,
) -> Result<Vec<Spare>, Error> {
    let rows = problem.rows.iter().zip(&setting.choice).zip(&setting.levels);
    let price = |((row, choice), level): ((&Row, &usize), &f64)| match row.families.get(*choice) {
        Some(family) => family.cumulant(*level, t),
        None => Ok(0.0),
    };
    let prices = rows.map(price).collect::<Result<Vec<f64>, Error>>()?;
    let all: f64 = prices.iter().sum();
    // Divergences grow with the square of what costs grow with.
    Ok(prices.into_iter().map(|price| spare(1.0 - (1.0 - price / all).max(0.0).sqrt())).collect())
}
