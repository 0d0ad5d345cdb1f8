//! The same study by other theorems: their bounds on the cost, with Laplace noise, as in tools that add up epsilons.

use crate::family::Family;
use crate::fit::{Allocation, Problem, Row};
use crate::root::{RootBracket, Search, search};
use crate::study::{AccuracyTarget, Noise, QueryRequest, StatisticContent, Study};
use counterpoint::Release;
use counterpoint::theorem::Theorem;
use std::rc::Rc;

/// The cost of a study by another theorem.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TheoremCost {
    /// The theorem's name.
    pub theorem: &'static str,
    /// The theorem's epsilon for the requested errors, or for those of the plan, with Laplace noise.
    pub epsilon: Option<f64>,
    /// The factor by which the requested errors must be multiplied to keep the budget by this theorem.
    pub factor: Option<f64>,
}

const THEOREMS: [(&str, Theorem); 3] = [
    ("basic", Theorem::Basic),
    ("advanced", Theorem::Advanced),
    ("kov-closed-form", Theorem::KovClosedForm),
];

/// The most rows whose levels are found one by one.
const FEW: usize = 40;

/// For each theorem, its cost of the plan's errors with pure noise alone, and the factor that it needs.
pub(crate) fn of(
    study: &Study,
    problem: &Problem<'_>,
    targets: Option<Vec<PureTarget>>,
) -> Vec<TheoremCost> {
    let Some(rows) = targets.and_then(|targets| pure(study, problem, targets)) else {
        return Vec::new();
    };
    let budget = study.budget().epsilon.map(counterpoint::Epsilon::get);
    let fits = problem.rows.iter().any(|row| matches!(row.target, AccuracyTarget::Error(_)));
    let wanted = found(problem, &rows, 1.0);
    let of = |(name, theorem): (&'static str, Theorem)| {
        // If the watcher stops here, there is no plan, and this result is not used.
        let _ = problem.composer.progress().trial();
        let charge = |from: &RowLevels, exactly: bool, factor: f64| {
            charged(problem, &rows, theorem, (from, exactly, factor))
        };
        let factor = budget.filter(|_| fits).zip(wanted.as_ref()).and_then(|(budget, wanted)| {
            let guess = needed(budget, (1.0, 1.1), |factor| charge(wanted, false, factor))?;
            if problem.rows.len() > FEW {
                return Some(guess);
            }
            let near = found(problem, &rows, guess)?;
            needed(budget, (guess, 1.001), |factor| charge(&near, true, factor))
        });
        let epsilon = wanted.as_ref().and_then(|wanted| charge(wanted, false, 1.0));
        TheoremCost { theorem: name, epsilon, factor }
    };
    THEOREMS.into_iter().map(of).collect()
}

/// A row with pure noise, and its target.
struct PureRow {
    families: Rc<Vec<Family>>,
    target: PureTarget,
}

impl PureRow {
    fn family(&self) -> Option<&Family> {
        self.families.iter().find(|family| family.noise != Noise::Gaussian)
    }
}

/// The accuracy that pure noise must match.
#[derive(Clone, Copy)]
pub(crate) enum PureTarget {
    /// A half-width that is multiplied by the factor.
    Scaled(f64),
    /// A half-width that does not depend on the factor.
    Fixed(f64),
    /// The level of pure noise with the same variance. It is used where no half-width holds for all data, as for
    /// regressions.
    Level(f64),
}

/// Each row with pure noise, even where the study prescribes Gaussian noise.
fn pure(study: &Study, problem: &Problem<'_>, targets: Vec<PureTarget>) -> Option<Vec<PureRow>> {
    let rows = problem.rows.iter().zip(&problem.places).zip(targets);
    let of = |((row, place), target): ((&Row, &usize), PureTarget)| {
        if row.families.iter().any(|family| family.noise != Noise::Gaussian) {
            return Some(PureRow { families: Rc::clone(&row.families), target });
        }
        let StatisticContent::Query(wanted) = &study.statistics().get(*place)?.content else {
            return None;
        };
        let wanted = QueryRequest { noise: Some(Noise::Laplace), ..wanted.clone() };
        let families = Family::all(&wanted, study.public()).ok()?;
        Some(PureRow { families: Rc::new(families), target })
    };
    rows.map(of).collect()
}

/// The targets of pure noise, for each row of an allocation.
pub(crate) fn targets(problem: &Problem<'_>, allocation: &Allocation) -> Option<Vec<PureTarget>> {
    let rows = problem.rows.iter().zip(&allocation.choice).zip(&allocation.levels);
    rows.map(|((row, choice), level)| target(row, *choice, *level)).collect()
}

fn target(row: &Row, choice: usize, level: f64) -> Option<PureTarget> {
    match row.target {
        AccuracyTarget::Error(error) => return Some(PureTarget::Scaled(error)),
        AccuracyTarget::PinnedError(error) => return Some(PureTarget::Fixed(error)),
        AccuracyTarget::PinnedLevel(_) | AccuracyTarget::Weight(_) => {}
    }
    let family = row.families.get(choice)?;
    let error = family.seen(level).ok()?;
    if error.is_finite() {
        return Some(PureTarget::Fixed(error));
    }
    Some(PureTarget::Level(match family.noise {
        Noise::Gaussian => {
            // k numbers share a multiplier m as k noises of sigma = m k^(1/2). They share an epsilon as k scales of k /
            // epsilon, each with a deviation of 2^(1/2) times the scale.
            let numbers = family.measurement(level).ok()?.noises().len();
            level * (2.0 * numbers as f64).sqrt()
        }
        Noise::Laplace | Noise::Exponential => level,
    }))
}

/// The levels of rows at a factor. Levels at other factors follow, since errors are inverse to levels, except where
/// they are whole numbers.
struct RowLevels {
    factor: f64,
    levels: Vec<f64>,
}

fn found(problem: &Problem<'_>, rows: &[PureRow], factor: f64) -> Option<RowLevels> {
    let level = |row: &PureRow| {
        problem.composer.progress().look().ok()?;
        match row.target {
            PureTarget::Scaled(error) => row.family()?.near_level(error * factor).ok()?,
            PureTarget::Fixed(error) => row.family()?.near_level(error).ok()?,
            PureTarget::Level(level) => Some(level),
        }
    };
    Some(RowLevels { factor, levels: rows.iter().map(level).collect::<Option<_>>()? })
}

/// The theorem's epsilon, with the effect of a secret sample as in the plan's own cost, where pure noise meets the
/// targets of all rows at `factor`. The levels are scaled from those at another factor. If `exactly`, they are computed
/// for this factor, unless half-widths are found by a search.
fn charged(
    problem: &Problem<'_>,
    rows: &[PureRow],
    theorem: Theorem,
    (from, exactly, factor): (&RowLevels, bool, f64),
) -> Option<f64> {
    let releases = |(row, level): (&PureRow, &f64)| -> Option<Vec<Release>> {
        problem.composer.progress().look().ok()?;
        let family = row.family()?;
        let level = match row.target {
            PureTarget::Scaled(error) if exactly && !family.is_searched() => {
                family.level(error * factor).ok()??
            }
            PureTarget::Scaled(_) => level * from.factor / factor,
            PureTarget::Fixed(_) | PureTarget::Level(_) => *level,
        };
        family.releases(level).ok()
    };
    let mut releases: Vec<Release> =
        rows.iter().zip(&from.levels).map(releases).collect::<Option<Vec<_>>>()?.concat();
    releases.extend(problem.held_back.iter().cloned());
    let plan = problem.composer.plan(&releases).ok()?;
    let within = theorem.epsilon(&plan, problem.composer.delta()).ok()?;
    Some(problem.composer.outside(within))
}

/// The least factor with which the cost is within the budget.
fn needed(
    budget: f64,
    (guess, stride): (f64, f64),
    charge: impl Fn(f64) -> Option<f64>,
) -> Option<f64> {
    let excess = |factor: f64| charge(factor).map(|cost| (cost / budget).ln()).ok_or(());
    let place = Search { guess, stride, range: (1e-9, 1e9), power: 1.0, near: 3e-4 };
    match search(place, excess) {
        Ok(RootBracket::Between(_, factor)) => Some(factor),
        _ => None,
    }
}
