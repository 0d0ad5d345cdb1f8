//! Chooses the counts of rows that several statistics share, and their noise. Estimates choose; the plan is then
//! certified like any other.

use crate::fit::{Allocation, PlanningError, Problem};
use crate::share::{SharedCount, asked, count_of};
use crate::study::{AccuracyTarget, Noise, Population, Study};
use crate::sum;
use std::collections::BTreeMap;

/// A count is shared if estimates improve at least to this ratio.
const WORTH: f64 = 0.98;

/// The ratios of the steps in which levels are searched for.
const RATIOS: [f64; 2] = [1.5, 1.15];
/// The most steps with each ratio.
const MOST_STEPS: usize = 12;
/// The most rows for which both kinds of noise are tried.
const FEW: usize = 12;

/// The counts that are worth sharing, added one after the other, beginning with the one that most statistics name.
pub(crate) fn shared<'a>(
    study: &Study,
    problem: &Problem<'a>,
) -> Result<Vec<SharedCount>, PlanningError> {
    let mut named: BTreeMap<&str, (usize, &Population)> = BTreeMap::new();
    for place in &problem.places {
        let Some(wanted) = asked(study, *place) else { continue };
        if let (Some(name), Some(population), false) = (
            count_of(wanted),
            &wanted.population,
            matches!(wanted.target, AccuracyTarget::PinnedLevel(_)),
        ) {
            named.entry(name).or_insert((0, population)).0 += 1;
        }
    }
    named.retain(|_, (statistics, _)| *statistics > 1);
    let mut named: Vec<_> = named.into_iter().collect();
    named.sort_by_key(|(_, (statistics, _))| std::cmp::Reverse(*statistics));
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let study = &study.with_means()?;
    // A pinned error may be out of reach for a mean, although it is not for the statistic that the mean replaces.
    let Ok(mut now) = Problem::new(study, problem.composer) else { return Ok(Vec::new()) };
    let (mut value, mut allocation) = estimate(&now, study)?;
    for (name, (statistics, population)) in named {
        let found = best_share(&now, study, (name, population, statistics), &allocation)?;
        if let Some((share, better)) = found
            && better < WORTH * value
        {
            now = now.sharing(study, &share)?;
            (value, allocation) = estimate(&now, study)?;
        }
    }
    Ok(now.shares)
}

/// The shared count of a name with the best level of noise, and the estimated value of the study with it. Its kind of
/// noise is that of most of its statistics; if there are few rows, both kinds are tried.
fn best_share(
    problem: &Problem<'_>,
    study: &Study,
    (name, population, statistics): (&str, &Population, usize),
    allocation: &Allocation,
) -> Result<Option<(SharedCount, f64)>, PlanningError> {
    let rows =
        problem.rows.iter().zip(&problem.places).zip(&allocation.choice).zip(&allocation.levels);
    let mut levels: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for (((row, place), choice), level) in rows {
        let is_named = asked(study, *place).is_some_and(|wanted| count_of(wanted) == Some(name));
        match row.families.get(*choice).filter(|_| is_named).map(|family| family.noise) {
            Some(Noise::Laplace) => levels[0].push(*level),
            Some(Noise::Gaussian) => levels[1].push(*level),
            _ => {}
        }
    }
    let mean = |levels: &[f64]| {
        let sum: f64 = levels.iter().map(|level| level.ln()).sum();
        (!levels.is_empty()).then(|| (sum / levels.len() as f64).exp())
    };
    let [laplace, gaussian] = levels.each_ref().map(|levels| mean(levels));
    // A Gaussian level costs about as much as a Laplace level that is this many times larger.
    const TIMES: f64 = 3.0;
    let mut kinds = vec![
        (Noise::Laplace, laplace.or(gaussian.map(|level| TIMES * level))),
        (Noise::Gaussian, gaussian.or(laplace.map(|level| level / TIMES))),
    ];
    if levels[1].len() > levels[0].len() {
        kinds.reverse();
    }
    kinds.retain(|(noise, _)| study.budget().allows(*noise));
    kinds.truncate(if problem.rows.len() <= FEW { 2 } else { 1 });
    let mut best: Option<(SharedCount, f64)> = None;
    for (noise, level) in kinds {
        let Some(level) = level else { continue };
        let like =
            SharedCount { name: name.to_owned(), population: population.clone(), noise, level };
        let (level, value) = best_level(about_right(level, statistics), |level| {
            let share = SharedCount { level, ..like.clone() };
            // No noise has this level, or none meets the pinned errors.
            let Ok(with) = problem.sharing(study, &share) else { return Ok(f64::INFINITY) };
            Ok(estimate(&with, study)?.0)
        })?;
        if best.as_ref().is_none_or(|(_, least)| value < *least) {
            best = Some((SharedCount { level, ..like }, value));
        }
    }
    Ok(best)
}

/// Estimates the best level of a count for k statistics, from the level of one statistic with a count of its own.
///
/// A mean with noise of standard deviation s on its sum and z on its count has an error of about sqrt(s^2 + z^2). k
/// sums and a count cost about k/s^2 + 1/z^2, which is least for z^2 = s^2 / sqrt k. With its own count, a mean spends
/// half of its level, in squares, on each.
fn about_right(level: f64, statistics: usize) -> f64 {
    let root = (statistics as f64).sqrt();
    level * root.sqrt() * (1.0 + 1.0 / root).sqrt() * root / (root + 1.0)
}

/// The level with the least value that is reached by steps from a guess.
fn best_level(
    guess: f64,
    mut value: impl FnMut(f64) -> Result<f64, PlanningError>,
) -> Result<(f64, f64), PlanningError> {
    let mut best = (guess, value(guess)?);
    for ratio in RATIOS {
        for ratio in [ratio, 1.0 / ratio] {
            let mut is_better = false;
            for _ in 0..MOST_STEPS {
                let next = best.0 * ratio;
                let there = value(next)?;
                if there >= best.1 {
                    break;
                }
                (best, is_better) = ((next, there), true);
            }
            if is_better {
                break;
            }
        }
    }
    Ok(best)
}

/// Estimates the value of a study (a factor, a weighted sum or a cost; smaller is better), and its allocation.
fn estimate(problem: &Problem<'_>, study: &Study) -> Result<(f64, Allocation), PlanningError> {
    let any = |is: fn(&AccuracyTarget) -> bool| problem.rows.iter().any(|row| is(&row.target));
    match study.budget().epsilon {
        Some(budget) if any(|target| matches!(target, AccuracyTarget::Weight(_))) => {
            sum::about_sum(problem, study, budget.get())
        }
        Some(budget) if any(|target| matches!(target, AccuracyTarget::Error(_))) => {
            problem.about_factor(budget.get())
        }
        _ => problem.about_cost(),
    }
}
