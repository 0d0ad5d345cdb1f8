//! From a study to a certified plan.

use crate::cost::{Composer, CostError};
use crate::fit::{PlanningError, Problem, Row, Setting};
use crate::least::{self, Least};
use crate::others::{self, Other};
use crate::pace::Pace;
use crate::spare::{self, Spare};
use crate::study::{Ask, Noise, Study, Wish};
use crate::sum;
use crate::{share, shares};
use counterpoint::quantity::Delta;
use counterpoint::{Answer, AskError, Bracket, Count, Options, Release};
use counterpoint_mechanisms::Measurement;

/// A study, planned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Planned {
    /// What all of it costs: epsilon at the study's delta, secrecy of the sample included. Where no budget was given its
    /// lower end is below what any noise of these kinds costs that keeps to the wanted errors, with the shared counts as they
    /// are.
    pub cost: Answer,
    /// The study's delta.
    pub delta: Delta,
    /// The delta at which the releases themselves are composed: larger where the data are a secret sample.
    pub delta_within: Delta,
    /// By how much every wanted error had to be multiplied, or could be: with the upper end the budget is kept, with the
    /// lower end these kinds of noise are proved to break it, with the shared counts as they are.
    pub factor: Option<Bracket>,
    /// The weighted sum of errors that was made small.
    pub sum: Option<WeightedSum>,
    /// Where some statistic says which noise it is to have: the factor, the sum or, if there is neither, the epsilon with
    /// whichever noise is best for it.
    pub free_choice: Option<f64>,
    /// What is proved of the smallest such sum, once [`least`] was asked.
    pub least: Option<Least>,
    /// The statistics, in order, and after them the counts that some of them share.
    pub statistics: Vec<Line>,
    /// What other theorems make of the same wishes.
    pub others: Vec<Other>,
}

/// A weighted sum of errors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightedSum {
    /// Of errors, or their squares, relative to the scale of each statistic: the number that is made small.
    pub relative: f64,
    /// The same of errors in the units of each statistic.
    pub in_units: f64,
}

/// One statistic, planned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Line {
    /// What people call it.
    pub name: String,
    /// What runs; nothing yet where a share is held back, and nothing ever for a number that is public.
    pub runs: Option<Runs>,
    /// What it is charged as.
    pub releases: Vec<Release>,
    /// What it would cost alone: epsilon at the study's delta.
    pub epsilon: f64,
    /// What dropping or pinning it would buy.
    pub spare: Spare,
}

/// What runs for a statistic.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Runs {
    /// The kind of noise.
    pub noise: Noise,
    /// How little of it: an epsilon, or one over a Gaussian multiplier.
    pub level: f64,
    /// The mechanism itself.
    pub measurement: Measurement,
    /// The half-width of its answer, of all its numbers at once, as often as the confidence says.
    pub error: f64,
    /// What was wanted, if an error was.
    pub wanted: Option<f64>,
    /// How often the error is kept.
    pub confidence: f64,
    /// Whether it is pinned.
    pub pinned: bool,
    /// How large its answer can be, if that is known.
    pub scale: Option<f64>,
    /// How far the sample itself may be off from the population it was drawn from, with the same confidence, if the people are a
    /// simple random sample of which that is known.
    pub sampling_error: Option<f64>,
    /// The name of the count that it is computed with, if that is a release of its own.
    pub count: Option<String>,
}

/// Why a statistic will be of little use.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Its error is this part of the largest answer there can be.
    Coarse(f64),
    /// It has next to nothing of the budget.
    Starved,
}

/// An error of this part of the largest answer is warned of.
const COARSE: f64 = 1.0 / 3.0;
/// So small a part of an equal share of the budget is warned of.
const STARVED: f64 = 0.01;

/// Plans a study.
///
/// # Errors
/// [`PlanningError`] if an error or a budget is out of reach, or nothing can be certified.
pub fn plan(study: &Study, options: &Options<'_>) -> Result<Planned, PlanningError> {
    let pace = Pace::new(options.watch);
    let composer = Composer::new(study.public(), study.budget(), *options, &pace);
    pace.stage(0.1);
    let alone = Problem::new(study, composer)?;
    pace.stage(0.3);
    let free_choice = || free_choice(study, options, &pace);
    let Some(sharing) = sharing(study, &alone)? else {
        return planned(study, &alone, (&alone, &pace), free_choice);
    };
    match planned(study, &sharing, (&alone, &pace), free_choice) {
        // What is pinned may leave no room for a count.
        Err(PlanningError::OverBudget { .. }) => {
            planned(study, &alone, (&alone, &pace), free_choice)
        }
        found => found,
    }
}

/// The problem in which counts are shared, if that is worth while.
fn sharing<'a>(study: &Study, alone: &Problem<'a>) -> Result<Option<Problem<'a>>, PlanningError> {
    let mut problem: Option<Problem<'a>> = None;
    for share in shares::shared(study, alone)? {
        problem = Some(problem.as_ref().unwrap_or(alone).sharing(study, &share)?);
    }
    Ok(problem)
}

/// The plan of a problem. Other theorems are asked about the one in which nothing is shared.
fn planned(
    study: &Study,
    problem: &Problem<'_>,
    (alone, pace): (&Problem<'_>, &Pace<'_>),
    free_choice: impl Fn() -> Result<Option<f64>, PlanningError>,
) -> Result<Planned, PlanningError> {
    pace.stage(0.7);
    let Solved { setting, cost, factor, sum } = solve(study, problem)?;
    pace.stage(0.85);
    let mut statistics = lines(study, problem, &setting)?;
    pace.stage(1.0);
    if sum.is_none() {
        let now = (cost.bracket.upper, factor.map(|factor| factor.upper));
        let spares = spare::of(problem, &setting, now)?;
        for (place, spare) in problem.places.iter().zip(spares) {
            // A count that others share cannot be dropped.
            if *place < study.statistics().len()
                && let Some(line) = statistics.get_mut(*place)
            {
                line.spare = spare;
            }
        }
    }
    let others = others::of(study, alone, others::targets(problem, &setting));
    let free_choice = free_choice()?;
    pace.look()?;
    let in_units = |statistics: &[Line]| study.weighted(statistics.iter().map(Line::error));
    let sum = sum.map(|relative| WeightedSum { relative, in_units: in_units(&statistics) });
    Ok(Planned {
        cost,
        delta: study.budget().delta,
        delta_within: problem.composer.delta(),
        factor,
        sum,
        free_choice,
        least: None,
        statistics,
        others,
    })
}

/// A budget, shared out.
struct Solved {
    setting: Setting,
    cost: Answer,
    factor: Option<Bracket>,
    sum: Option<f64>,
}

fn solve(study: &Study, problem: &Problem<'_>) -> Result<Solved, PlanningError> {
    let wishes = || problem.rows.iter().map(|row| row.wish);
    let weighted = wishes().any(|wish| matches!(wish, Wish::Weight(_)));
    let wanted = wishes().any(|wish| matches!(wish, Wish::Error(_)));
    match study.budget().epsilon {
        Some(budget) if weighted => {
            let (setting, cost, sum) = sum::best(problem, study, budget.get())?;
            Ok(Solved { setting, cost, factor: None, sum: Some(sum) })
        }
        Some(budget) if wanted => {
            let (setting, cost, factor) = problem.fit(budget.get())?;
            Ok(Solved { setting, cost, factor: Some(factor), sum: None })
        }
        budget => {
            let (setting, cost) = problem.meet()?;
            match budget.map(counterpoint::Epsilon::get) {
                Some(budget) if cost.bracket.upper > budget => {
                    Err(PlanningError::OverBudget { budget, least: cost.bracket.lower })
                }
                _ => Ok(Solved { setting, cost, factor: None, sum: None }),
            }
        }
    }
}

/// The factor, the sum or the epsilon that the study would have if no statistic said which noise it is to have; `None` if none
/// does.
fn free_choice(
    study: &Study,
    options: &Options<'_>,
    pace: &Pace<'_>,
) -> Result<Option<f64>, PlanningError> {
    let Some(free) = study.without_noises() else { return Ok(None) };
    let composer = Composer::new(free.public(), free.budget(), *options, pace);
    let alone = Problem::new(&free, composer)?;
    let sharing = sharing(&free, &alone)?;
    match solve(&free, sharing.as_ref().unwrap_or(&alone)) {
        Ok(Solved { cost, factor, sum, .. }) => {
            Ok(Some(sum.or(factor.map(|factor| factor.upper)).unwrap_or(cost.bracket.upper)))
        }
        Err(PlanningError::Cost(CostError::Ask(AskError::Stopped))) => {
            Err(CostError::Ask(AskError::Stopped).into())
        }
        // The plan stands without it.
        Err(_) => Ok(None),
    }
}

/// What is proved of the smallest weighted sum of errors within the budget, if a study is about one: how far from it the
/// plan may be. It takes longer than the plan.
///
/// # Errors
/// [`PlanningError`] if it was stopped.
pub fn least(
    study: &Study,
    planned: &Planned,
    options: &Options<'_>,
) -> Result<Option<Least>, PlanningError> {
    let (Some(_), Some(budget)) = (planned.sum, study.budget().epsilon) else { return Ok(None) };
    let shares = |line: &Line| line.runs.as_ref().is_some_and(|runs| runs.count.is_some());
    if planned.statistics.iter().any(shares) {
        // What is proved of separate counts does not hold for shared ones.
        return Ok(Some(Least::Unknown { reason: "statistics share a count" }));
    }
    let pace = Pace::new(options.watch);
    let composer = Composer::new(study.public(), study.budget(), *options, &pace);
    let problem = Problem::new(study, composer)?;
    let runs = planned.statistics.iter().filter_map(|line| line.runs.as_ref());
    let place = |(row, runs): (&Row, &Runs)| {
        let place = row.families.iter().position(|family| family.noise == runs.noise);
        (place.unwrap_or(usize::MAX), runs.level)
    };
    let (choice, levels) = problem.rows.iter().zip(runs).map(place).unzip();
    match least::of(&problem, study, (budget.get(), &Setting { choice, levels })) {
        Ok(Least::Proved { sum, .. }) if sum <= 0.0 => {
            Ok(Some(Least::Unknown { reason: "no number above zero was found" }))
        }
        Ok(found) => Ok(Some(found)),
        Err(PlanningError::Cost(CostError::Ask(AskError::Stopped))) => {
            Err(CostError::Ask(AskError::Stopped).into())
        }
        // The plan stands without it.
        Err(_) => Ok(Some(Least::Unknown { reason: "nothing could be certified" })),
    }
}

impl Line {
    /// Its error, if it has one that holds for all data.
    fn error(&self) -> Option<f64> {
        self.runs.as_ref().map(|runs| runs.error).filter(|error| error.is_finite())
    }
}

impl Planned {
    /// Why a statistic of this plan will be of little use, if it will.
    #[must_use]
    pub fn warning(&self, line: &Line) -> Option<Warning> {
        let runs = line.runs.as_ref()?;
        let part = runs.scale.map(|scale| runs.error / scale);
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
    setting: &Setting,
) -> Result<Vec<Line>, PlanningError> {
    let mut rows = problem.rows.iter().zip(&setting.choice).zip(&setting.levels);
    let mut lines: Vec<Line> = Vec::with_capacity(study.statistics().len());
    for statistic in study.statistics() {
        problem.composer.pace().part(lines.len(), study.statistics().len())?;
        let (releases, runs) = match &statistic.ask {
            Ask::Public(_) => (Vec::new(), None),
            Ask::HeldBack(guarantee) => (vec![Release::from((*guarantee, Count::ONE))], None),
            Ask::Query(wanted) => {
                let Some(((row, choice), &level)) = rows.next() else { continue };
                let Some(family) = row.families.get(*choice) else { continue };
                let measurement = family.measurement(level)?;
                let runs = Runs {
                    noise: family.noise,
                    level,
                    error: family.seen(level)?,
                    wanted: match wanted.wish {
                        Wish::Error(error) | Wish::Kept(error) => Some(error),
                        Wish::Level(_) | Wish::Weight(_) => None,
                    },
                    confidence: wanted.confidence,
                    pinned: matches!(wanted.wish, Wish::Kept(_) | Wish::Level(_)),
                    scale: study.rows_of(wanted).map(|_| wanted.scale),
                    sampling_error: study.sampling_error(wanted),
                    count: row.count.clone(),
                    measurement,
                };
                (runs.measurement.releases().to_vec(), Some(runs))
            }
        };
        let line = line(problem, (&statistic.name, runs, releases), &lines)?;
        lines.push(line);
    }
    for (((row, _), &level), share) in rows.zip(&problem.shares) {
        let Some(family) = row.families.first() else { continue };
        let measurement = family.measurement(level)?;
        let releases = measurement.releases().to_vec();
        let (noise, error, confidence) = (family.noise, family.seen(level)?, share::CONFIDENCE);
        let (wanted, pinned, count) = (None, false, None);
        let (scale, sampling_error) = (None, None);
        let runs = Runs {
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
        let line = line(problem, (&share.name, Some(runs), releases), &lines)?;
        lines.push(line);
    }
    Ok(lines)
}

/// A statistic, and what it would cost alone: those that are charged the same cost the same.
fn line(
    problem: &Problem<'_>,
    (name, runs, releases): (&str, Option<Runs>, Vec<Release>),
    lines: &[Line],
) -> Result<Line, PlanningError> {
    let same = lines.iter().rev().take(64).find(|line| line.releases == releases);
    let epsilon = match same {
        Some(line) => line.epsilon,
        // A public number.
        None if releases.is_empty() => 0.0,
        None => problem.composer.epsilon(&releases)?.bracket.upper,
    };
    let (name, spare) = (name.to_owned(), Spare::default());
    Ok(Line { name, runs, releases, epsilon, spare })
}
