//! Estimates the effect of dropping or pinning a statistic, scaled by the known values of the plan itself.

use crate::fit::{Allocation, PlanningError, Problem, Row, START};
use crate::root::{RootBracket, Search, search};
use crate::study::AccuracyTarget;
use counterpoint_mechanisms::Error;

/// The plan's factor or epsilon without a statistic, or with the statistic pinned. These are estimates with about three
/// correct digits; no answer rests on them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Savings {
    /// Without this statistic: the factor of the others' errors or, without a budget, epsilon.
    pub dropped: Option<f64>,
    /// With this statistic pinned to its requested error: the factor of the others' errors.
    pub pinned: Option<f64>,
}

/// The most statistics that are estimated one by one. If there are more, each is a small part of the whole.
const SOME: usize = 60;

/// The effect for each row: on the factor if there is one, otherwise on epsilon.
pub(crate) fn of(
    problem: &Problem<'_>,
    allocation: &Allocation,
    (epsilon, factor): (f64, Option<f64>),
) -> Result<Vec<Savings>, PlanningError> {
    let (priced, order) = problem.price(allocation, START)?;
    let Some(factor) = factor else {
        let of = |row: usize| {
            let without = problem.price(&less(allocation, row), order)?.0;
            // Without its only row a study costs nothing.
            let left = if problem.rows.len() == 1 { 0.0 } else { epsilon * without / priced };
            Ok(Savings { dropped: Some(left), pinned: None })
        };
        return match problem.rows.len() {
            0..=SOME => (0..problem.rows.len()).map(of).collect(),
            _ => Ok(small(problem, allocation, order, |share| Savings {
                dropped: Some(epsilon * (1.0 - share)),
                pinned: None,
            })?),
        };
    };
    if problem.rows.len() > SOME {
        // Costs are nearly inverse to errors.
        let free = |share: f64| Savings { dropped: Some(factor * (1.0 - share)), pinned: None };
        return Ok(small(problem, allocation, order, free)?);
    }
    let find = |choice: &[usize], skip: usize, pin: bool| -> Result<Option<f64>, PlanningError> {
        let place =
            Search { guess: factor, stride: 1.01, range: (1e-9, 1e9), power: 1.0, near: 1e-3 };
        let found = search(place, |trial| {
            let level = |(index, (row, choice)): (usize, (&Row, &usize))| match (
                row.families.get(*choice),
                row.target,
            ) {
                _ if index == skip && !pin => Ok(NOTHING),
                (Some(family), AccuracyTarget::Error(error)) => {
                    family.about(if index == skip { error } else { error * trial })
                }
                _ => Ok(allocation.levels.get(index).copied().unwrap_or(NOTHING)),
            };
            let rows = problem.rows.iter().zip(choice).enumerate();
            let levels = rows.map(level).collect::<Result<Vec<f64>, Error>>()?;
            let cost = problem.price(&Allocation { choice: choice.to_vec(), levels }, order)?.0;
            Ok::<f64, PlanningError>((cost / priced).ln())
        })?;
        Ok(if let RootBracket::Between(_, factor) = found { Some(factor) } else { None })
    };
    let rows = problem.rows.iter().enumerate();
    let of = |(index, row): (usize, &Row)| {
        let others = |row: &Row| matches!(row.target, AccuracyTarget::Error(_));
        let many = problem.rows.iter().filter(|row| others(row)).count();
        let left = many > usize::from(others(row));
        Ok(Savings {
            dropped: if left { find(&allocation.choice, index, false)? } else { None },
            pinned: if left && others(row) { find(&allocation.choice, index, true)? } else { None },
        })
    };
    rows.map(of).collect()
}

/// A level whose cost is negligible.
const NOTHING: f64 = 1e-5;

fn less(allocation: &Allocation, row: usize) -> Allocation {
    let mut less = allocation.clone();
    if let Some(level) = less.levels.get_mut(row) {
        *level = NOTHING;
    }
    less
}

/// The effect for each row, computed from the row's small share of the total cost.
fn small(
    problem: &Problem<'_>,
    allocation: &Allocation,
    t: f64,
    spare: impl Fn(f64) -> Savings,
) -> Result<Vec<Savings>, Error> {
    let rows = problem.rows.iter().zip(&allocation.choice).zip(&allocation.levels);
    let price = |((row, choice), level): ((&Row, &usize), &f64)| match row.families.get(*choice) {
        Some(family) => family.cumulant(*level, t),
        None => Ok(0.0),
    };
    let prices = rows.map(price).collect::<Result<Vec<f64>, Error>>()?;
    let all: f64 = prices.iter().sum();
    // Divergences grow with the square of levels; costs grow with levels.
    Ok(prices.into_iter().map(|price| spare(1.0 - (1.0 - price / all).max(0.0).sqrt())).collect())
}
