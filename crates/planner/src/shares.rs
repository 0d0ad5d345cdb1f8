//! Counts of rows that several statistics share: which, and with how much noise. Estimates choose; what comes of them is
//! certified as any other plan.

use crate::fit::{PlanningError, Problem, Setting};
use crate::share::{Share, asked, count_of};
use crate::study::{Noise, Population, Study, Wish};
use crate::sum;
use std::collections::BTreeMap;

/// A count is shared if that is better by so much at least, by estimates.
const WORTH: f64 = 0.98;

/// Levels are looked for in steps of these ratios.
const RATIOS: [f64; 2] = [1.5, 1.15];
/// So many steps of each at most.
const MOST_STEPS: usize = 12;
/// Both kinds of noise are tried among so many rows.
const FEW: usize = 12;

/// The problem with the counts shared that seem worth it, one after the other from that which most statistics name.
pub(crate) fn shared<'a>(
    study: &Study,
    problem: &Problem<'a>,
) -> Result<Vec<Share>, PlanningError> {
    let mut named: BTreeMap<&str, (usize, &Population)> = BTreeMap::new();
    for place in &problem.places {
        let Some(wanted) = asked(study, *place) else { continue };
        if let (Some(name), Some(population), false) =
            (count_of(wanted), &wanted.population, matches!(wanted.wish, Wish::Level(_)))
        {
            named.entry(name).or_insert((0, population)).0 += 1;
        }
    }
    named.retain(|_, (statistics, _)| *statistics > 1);
    let mut named: Vec<_> = named.into_iter().collect();
    named.sort_by_key(|(_, (statistics, _))| std::cmp::Reverse(*statistics));
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let study = &study.of_like_means()?;
    // An error that no mean has may be pinned for a statistic that is not quite like one.
    let Ok(mut now) = Problem::new(study, problem.composer) else { return Ok(Vec::new()) };
    let (mut value, mut setting) = estimate(&now, study)?;
    for (name, (statistics, population)) in named {
        let found = best_share(&now, study, (name, population, statistics), &setting)?;
        if let Some((share, better)) = found
            && better < WORTH * value
        {
            now = now.sharing(study, &share)?;
            (value, setting) = estimate(&now, study)?;
        }
    }
    Ok(now.shares)
}

/// The share of a name with the best level of noise, and what it makes of the study; of the kind of noise that most of its
/// statistics have, or of either where there are few.
fn best_share(
    problem: &Problem<'_>,
    study: &Study,
    (name, population, statistics): (&str, &Population, usize),
    setting: &Setting,
) -> Result<Option<(Share, f64)>, PlanningError> {
    let rows = problem.rows.iter().zip(&problem.places).zip(&setting.choice).zip(&setting.levels);
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
    // A Gaussian level costs about as much as a Laplace level that is so many times larger.
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
    let mut best: Option<(Share, f64)> = None;
    for (noise, level) in kinds {
        let Some(level) = level else { continue };
        let like = Share { name: name.to_owned(), population: population.clone(), noise, level };
        let (level, value) = best_level(about_right(level, statistics), |level| {
            let share = Share { level, ..like.clone() };
            // No noise of some level, or none that keeps to what is pinned.
            let Ok(with) = problem.sharing(study, &share) else { return Ok(f64::INFINITY) };
            Ok(estimate(&with, study)?.0)
        })?;
        if best.as_ref().is_none_or(|(_, least)| value < *least) {
            best = Some((Share { level, ..like }, value));
        }
    }
    Ok(best)
}

/// About the best level of a count for k statistics that now have this one for themselves.
///
/// A mean with noise of a standard deviation s on its sum and z on its count is off by about the root of s^2 + z^2, and k
/// sums and a count cost about k/s^2 + 1/z^2, which is least for z^2 = s^2 / sqrt k; of its own level a mean has now
/// half, in squares, for each.
fn about_right(level: f64, statistics: usize) -> f64 {
    let root = (statistics as f64).sqrt();
    level * root.sqrt() * (1.0 + 1.0 / root).sqrt() * root / (root + 1.0)
}

/// The level with the least value that steps from a guess lead to.
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

/// About what a study comes to, the smaller the better: a factor, a weighted sum or a cost; and how.
fn estimate(problem: &Problem<'_>, study: &Study) -> Result<(f64, Setting), PlanningError> {
    let any = |is: fn(&Wish) -> bool| problem.rows.iter().any(|row| is(&row.wish));
    match study.budget().epsilon {
        Some(budget) if any(|wish| matches!(wish, Wish::Weight(_))) => {
            sum::about_sum(problem, study, budget.get())
        }
        Some(budget) if any(|wish| matches!(wish, Wish::Error(_))) => {
            problem.about_factor(budget.get())
        }
        _ => problem.about_cost(),
    }
}
