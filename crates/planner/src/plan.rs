//! Plans a study and certifies the plan.

use crate::cost::{Composer, CostError};
use crate::fit::{Allocation, PlanningError, Problem, Row};
use crate::least::{self, SumBound};
use crate::others::{self, TheoremCost};
use crate::progress::Progress;
use crate::spare::{self, Savings};
use crate::study::{AccuracyTarget, Noise, StatisticContent, Study};
use crate::sum;
use crate::{share, shares};
use counterpoint::quantity::Delta;
use counterpoint::{Answer, AskError, Bracket, Count, Options, Release};
use counterpoint_mechanisms::Measurement;

/// The plan of a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StudyPlan {
    /// The certified cost of the plan: epsilon at the study's delta, with the effect of a secret sample. Without a
    /// budget, the lower end is a lower bound for all noise of these kinds that meets the requested errors, with the
    /// shared counts as planned.
    pub cost: Answer,
    /// The study's delta.
    pub delta: Delta,
    /// The delta at which the releases themselves are composed. It is larger if the data are a secret sample.
    pub delta_within: Delta,
    /// The factor of all requested errors that spends the budget. The upper end keeps the budget. At the lower end,
    /// these kinds of noise are proved to exceed it, with the shared counts as planned.
    pub factor: Option<Bracket>,
    /// The weighted sum of errors, if the study has weights.
    pub sum: Option<WeightedSum>,
    /// If a statistic prescribes its noise: the factor, the sum or, if the study has neither, the epsilon, with the
    /// best noise for every statistic instead.
    pub free_choice: Option<f64>,
    /// The lower bound on the weighted sum, once [`bound_sum`] has computed it.
    pub sum_bound: Option<SumBound>,
    /// The statistics, in order, followed by the counts that some of them share.
    pub statistics: Vec<StatisticPlan>,
    /// The costs of the same study by other theorems.
    pub other_theorems: Vec<TheoremCost>,
}

/// A weighted sum of errors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightedSum {
    /// The sum that the plan minimizes: of errors, or of their squares, relative to the scale of each statistic.
    pub relative: f64,
    /// The same sum of errors in the units of each statistic.
    pub in_units: f64,
}

/// The plan of one statistic.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatisticPlan {
    /// The statistic's name.
    pub name: String,
    /// The measurement that runs; `None` for a held-back share of the budget and for a public number.
    pub answer: Option<PlannedAnswer>,
    /// The releases that the statistic is charged for.
    pub releases: Vec<Release>,
    /// The cost of the statistic alone: epsilon at the study's delta.
    pub epsilon: f64,
    /// The effect of dropping or pinning the statistic.
    pub savings: Savings,
}

/// The measurement of a statistic, with its noise and its error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedAnswer {
    /// The kind of noise.
    pub noise: Noise,
    /// The level of the noise: an epsilon, or one over a Gaussian multiplier.
    pub level: f64,
    /// The measurement itself.
    pub measurement: Measurement,
    /// The half-width of the answer, for all of its numbers at once, at the confidence.
    pub error: f64,
    /// The requested error, if there is one.
    pub wanted: Option<f64>,
    /// The confidence with which the error holds.
    pub confidence: f64,
    /// True if the error or the level is pinned.
    pub pinned: bool,
    /// The largest possible answer, if it is known.
    pub scale: Option<f64>,
    /// A bound, at the same confidence, on the difference between the sample and its population. `None` unless the
    /// people are a simple random sample for which a bound is known.
    pub sampling_error: Option<f64>,
    /// The name of the count that the statistic is computed with, if the count is a release of its own.
    pub count: Option<String>,
}

/// The reason why a statistic will be of little use.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The error is this fraction of the largest possible answer.
    Coarse(f64),
    /// The statistic gets almost nothing of the budget.
    Starved,
}

/// The least error, as a fraction of the largest answer, that causes a warning.
const COARSE: f64 = 1.0 / 3.0;
/// A share of the budget below this fraction of an equal share causes a warning.
const STARVED: f64 = 0.01;

/// Plans a study.
///
/// # Errors
/// [`PlanningError`] if the errors or the budget cannot be reached, or the cost cannot be certified.
pub fn plan(study: &Study, options: &Options<'_>) -> Result<StudyPlan, PlanningError> {
    let progress = Progress::new(options.watch);
    let composer = Composer::new(study.public(), study.budget(), *options, &progress);
    progress.stage(0.1);
    let alone = Problem::new(study, composer)?;
    progress.stage(0.3);
    let free_choice = || free_choice(study, options, &progress);
    let Some(sharing) = sharing(study, &alone)? else {
        return planned(study, &alone, (&alone, &progress), free_choice);
    };
    match planned(study, &sharing, (&alone, &progress), free_choice) {
        // With pinned errors or levels, the budget may be too small for a shared count.
        Err(PlanningError::OverBudget { .. }) => {
            planned(study, &alone, (&alone, &progress), free_choice)
        }
        found => found,
    }
}

/// The problem with shared counts, if sharing reduces the errors or the cost.
fn sharing<'a>(study: &Study, alone: &Problem<'a>) -> Result<Option<Problem<'a>>, PlanningError> {
    let mut problem: Option<Problem<'a>> = None;
    for share in shares::shared(study, alone)? {
        problem = Some(problem.as_ref().unwrap_or(alone).sharing(study, &share)?);
    }
    Ok(problem)
}

/// Makes the plan of a problem. The comparison with other theorems uses the problem without shared counts.
fn planned(
    study: &Study,
    problem: &Problem<'_>,
    (alone, progress): (&Problem<'_>, &Progress<'_>),
    free_choice: impl Fn() -> Result<Option<f64>, PlanningError>,
) -> Result<StudyPlan, PlanningError> {
    progress.stage(0.7);
    let Solution { allocation, cost, factor, sum } = solve(study, problem)?;
    progress.stage(0.85);
    let mut statistics = lines(study, problem, &allocation)?;
    progress.stage(1.0);
    if sum.is_none() {
        let now = (cost.bracket.upper, factor.map(|factor| factor.upper));
        let spares = spare::of(problem, &allocation, now)?;
        for (place, savings) in problem.places.iter().zip(spares) {
            // A shared count cannot be dropped.
            if *place < study.statistics().len()
                && let Some(line) = statistics.get_mut(*place)
            {
                line.savings = savings;
            }
        }
    }
    let others = others::of(study, alone, others::targets(problem, &allocation));
    let free_choice = free_choice()?;
    progress.look()?;
    let in_units =
        |statistics: &[StatisticPlan]| study.weighted(statistics.iter().map(StatisticPlan::error));
    let sum = sum.map(|relative| WeightedSum { relative, in_units: in_units(&statistics) });
    Ok(StudyPlan {
        cost,
        delta: study.budget().delta,
        delta_within: problem.composer.delta(),
        factor,
        sum,
        free_choice,
        sum_bound: None,
        statistics,
        other_theorems: others,
    })
}

/// A solved problem.
struct Solution {
    allocation: Allocation,
    cost: Answer,
    factor: Option<Bracket>,
    sum: Option<f64>,
}

fn solve(study: &Study, problem: &Problem<'_>) -> Result<Solution, PlanningError> {
    let targets = || problem.rows.iter().map(|row| row.target);
    let weighted = targets().any(|target| matches!(target, AccuracyTarget::Weight(_)));
    let wanted = targets().any(|target| matches!(target, AccuracyTarget::Error(_)));
    match study.budget().epsilon {
        Some(budget) if weighted => {
            let (allocation, cost, sum) = sum::best(problem, study, budget.get())?;
            Ok(Solution { allocation, cost, factor: None, sum: Some(sum) })
        }
        Some(budget) if wanted => {
            let (allocation, cost, factor) = problem.fit(budget.get())?;
            Ok(Solution { allocation, cost, factor: Some(factor), sum: None })
        }
        budget => {
            let (allocation, cost) = problem.meet()?;
            match budget.map(counterpoint::Epsilon::get) {
                Some(budget) if cost.bracket.upper > budget => {
                    Err(PlanningError::OverBudget { budget, least: cost.bracket.lower })
                }
                _ => Ok(Solution { allocation, cost, factor: None, sum: None }),
            }
        }
    }
}

/// The factor, the sum or the epsilon of the study with the best noise for every statistic; `None` if no statistic
/// prescribes its noise.
fn free_choice(
    study: &Study,
    options: &Options<'_>,
    progress: &Progress<'_>,
) -> Result<Option<f64>, PlanningError> {
    let Some(free) = study.without_noises() else { return Ok(None) };
    let composer = Composer::new(free.public(), free.budget(), *options, progress);
    let alone = Problem::new(&free, composer)?;
    let sharing = sharing(&free, &alone)?;
    match solve(&free, sharing.as_ref().unwrap_or(&alone)) {
        Ok(Solution { cost, factor, sum, .. }) => {
            Ok(Some(sum.or(factor.map(|factor| factor.upper)).unwrap_or(cost.bracket.upper)))
        }
        Err(PlanningError::Cost(CostError::Ask(AskError::Stopped))) => {
            Err(CostError::Ask(AskError::Stopped).into())
        }
        // The plan is valid without this number.
        Err(_) => Ok(None),
    }
}

/// Proves a lower bound on the weighted sum of errors of all plans within the budget, so that it is known how far this
/// plan can be from the best. `None` if the study has no weights. This takes longer than planning.
///
/// # Errors
/// [`PlanningError`] if the watcher stops the computation.
pub fn bound_sum(
    study: &Study,
    planned: &StudyPlan,
    options: &Options<'_>,
) -> Result<Option<SumBound>, PlanningError> {
    let (Some(_), Some(budget)) = (planned.sum, study.budget().epsilon) else { return Ok(None) };
    let shares =
        |line: &StatisticPlan| line.answer.as_ref().is_some_and(|answer| answer.count.is_some());
    if planned.statistics.iter().any(shares) {
        // A bound for separate counts does not hold for shared counts.
        return Ok(Some(SumBound::Unknown { reason: "statistics share a count" }));
    }
    let progress = Progress::new(options.watch);
    let composer = Composer::new(study.public(), study.budget(), *options, &progress);
    let problem = Problem::new(study, composer)?;
    let answer = planned.statistics.iter().filter_map(|line| line.answer.as_ref());
    let place = |(row, answer): (&Row, &PlannedAnswer)| {
        let place = row.families.iter().position(|family| family.noise == answer.noise);
        (place.unwrap_or(usize::MAX), answer.level)
    };
    let (choice, levels) = problem.rows.iter().zip(answer).map(place).unzip();
    match least::of(&problem, study, (budget.get(), &Allocation { choice, levels })) {
        Ok(SumBound::Proved { sum, .. }) if sum <= 0.0 => {
            Ok(Some(SumBound::Unknown { reason: "the best proved bound is zero" }))
        }
        Ok(found) => Ok(Some(found)),
        Err(PlanningError::Cost(CostError::Ask(AskError::Stopped))) => {
            Err(CostError::Ask(AskError::Stopped).into())
        }
        // The plan is valid without a bound.
        Err(_) => Ok(Some(SumBound::Unknown { reason: "the bound could not be certified" })),
    }
}

impl StatisticPlan {
    /// The error, if it holds for all data.
    fn error(&self) -> Option<f64> {
        self.answer.as_ref().map(|answer| answer.error).filter(|error| error.is_finite())
    }
}

impl StudyPlan {
    /// The reason why a statistic of this plan will be of little use, if there is one.
    #[must_use]
    pub fn warning(&self, line: &StatisticPlan) -> Option<Warning> {
        let answer = line.answer.as_ref()?;
        let part = answer.scale.map(|scale| answer.error / scale);
        let equal = self.cost.bracket.upper / self.statistics.len() as f64;
        match part {
            Some(part) if part >= COARSE && part.is_finite() => Some(Warning::Coarse(part)),
            _ if line.epsilon < STARVED * equal => Some(Warning::Starved),
            _ => None,
        }
    }

    /// All releases, in order.
    pub fn releases(&self) -> impl Iterator<Item = &Release> {
        self.statistics.iter().flat_map(|line| &line.releases)
    }
}

fn lines(
    study: &Study,
    problem: &Problem<'_>,
    allocation: &Allocation,
) -> Result<Vec<StatisticPlan>, PlanningError> {
    let mut rows = problem.rows.iter().zip(&allocation.choice).zip(&allocation.levels);
    let mut lines: Vec<StatisticPlan> = Vec::with_capacity(study.statistics().len());
    for statistic in study.statistics() {
        problem.composer.progress().part(lines.len(), study.statistics().len())?;
        let (releases, answer) = match &statistic.content {
            StatisticContent::Public(_) => (Vec::new(), None),
            StatisticContent::HeldBack(guarantee) => {
                (vec![Release::from((*guarantee, Count::ONE))], None)
            }
            StatisticContent::Query(wanted) => {
                let Some(((row, choice), &level)) = rows.next() else { continue };
                let Some(family) = row.families.get(*choice) else { continue };
                let measurement = family.measurement(level)?;
                let answer = PlannedAnswer {
                    noise: family.noise,
                    level,
                    error: family.seen(level)?,
                    wanted: match wanted.target {
                        AccuracyTarget::Error(error) | AccuracyTarget::PinnedError(error) => {
                            Some(error)
                        }
                        AccuracyTarget::PinnedLevel(_) | AccuracyTarget::Weight(_) => None,
                    },
                    confidence: wanted.confidence,
                    pinned: matches!(
                        wanted.target,
                        AccuracyTarget::PinnedError(_) | AccuracyTarget::PinnedLevel(_)
                    ),
                    scale: study.rows_of(wanted).map(|_| wanted.scale),
                    sampling_error: study.sampling_error(wanted),
                    count: row.count.clone(),
                    measurement,
                };
                (answer.measurement.releases().to_vec(), Some(answer))
            }
        };
        let line = line(problem, (&statistic.name, answer, releases), &lines)?;
        lines.push(line);
    }
    for (((row, _), &level), share) in rows.zip(&problem.shares) {
        let Some(family) = row.families.first() else { continue };
        let measurement = family.measurement(level)?;
        let releases = measurement.releases().to_vec();
        let (noise, error, confidence) = (family.noise, family.seen(level)?, share::CONFIDENCE);
        let (wanted, pinned, count) = (None, false, None);
        let (scale, sampling_error) = (None, None);
        let answer = PlannedAnswer {
            noise,
            level,
            measurement,
            error,
            wanted,
            confidence,
            pinned,
            scale,
            sampling_error,
            count,
        };
        let line = line(problem, (&share.name, Some(answer), releases), &lines)?;
        lines.push(line);
    }
    Ok(lines)
}

/// The plan of a statistic, with its cost alone. Statistics with the same releases have the same cost.
fn line(
    problem: &Problem<'_>,
    (name, answer, releases): (&str, Option<PlannedAnswer>, Vec<Release>),
    lines: &[StatisticPlan],
) -> Result<StatisticPlan, PlanningError> {
    let same = lines.iter().rev().take(64).find(|line| line.releases == releases);
    let epsilon = match same {
        Some(line) => line.epsilon,
        // The statistic is a public number.
        None if releases.is_empty() => 0.0,
        None => problem.composer.epsilon(&releases)?.bracket.upper,
    };
    let (name, savings) = (name.to_owned(), Savings::default());
    Ok(StatisticPlan { name, answer, releases, epsilon, savings })
}
