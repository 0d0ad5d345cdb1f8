//! What other theorems make of the same study: tools that add up epsilons have Laplace noise.

use crate::family::Family;
use crate::fit::{Problem, Row, Setting};
use crate::root::{Crossing, Search, search};
use crate::study::{Ask, Noise, Study, Wanted, Wish};
use counterpoint::Release;
use counterpoint::theorem::Theorem;
use std::rc::Rc;

/// What another theorem makes of a study.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Other {
    /// Its name.
    pub theorem: &'static str,
    /// What it says the wanted errors, or those of the plan, cost with Laplace noise.
    pub epsilon: Option<f64>,
    /// By how much it would have had to multiply the wanted errors to keep the budget.
    pub factor: Option<f64>,
}

const THEOREMS: [(&str, Theorem); 3] = [
    ("basic", Theorem::Basic),
    ("advanced", Theorem::Advanced),
    ("kov-closed-form", Theorem::KovClosedForm),
];

/// Levels are found one by one for so many rows.
const FEW: usize = 40;

/// Each theorem's charge for the plan's errors with pure noise alone, and the factor it would have needed.
pub(crate) fn of(study: &Study, problem: &Problem<'_>, targets: Option<Vec<Target>>) -> Vec<Other> {
    let Some(rows) = targets.and_then(|targets| pure(study, problem, targets)) else {
        return Vec::new();
    };
    let budget = study.budget().epsilon.map(counterpoint::Epsilon::get);
    let fits = problem.rows.iter().any(|row| matches!(row.wish, Wish::Error(_)));
    let wanted = found(problem, &rows, 1.0);
    let of = |(name, theorem): (&'static str, Theorem)| {
        // Who stops gets no plan, and need not wait for this.
        let _ = problem.composer.pace().trial();
        let charge = |from: &Found, exactly: bool, factor: f64| {
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
        Other { theorem: name, epsilon, factor }
    };
    THEOREMS.into_iter().map(of).collect()
}

/// A row with pure noise, and what that has to be as good as.
struct Pure {
    families: Rc<Vec<Family>>,
    target: Target,
}

impl Pure {
    fn family(&self) -> Option<&Family> {
        self.families.iter().find(|family| family.noise != Noise::Gaussian)
    }
}

/// What pure noise has to be as good as.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// A half-width, which moves with the factor.
    Wanted(f64),
    /// A half-width that stays.
    Fixed(f64),
    /// Where no half-width holds for all data, as of regressions: noise of the same variance, which has this level.
    Level(f64),
}

/// Each row with pure noise: also where a study prescribes Gaussian noise.
fn pure(study: &Study, problem: &Problem<'_>, targets: Vec<Target>) -> Option<Vec<Pure>> {
    let rows = problem.rows.iter().zip(&problem.places).zip(targets);
    let of = |((row, place), target): ((&Row, &usize), Target)| {
        if row.families.iter().any(|family| family.noise != Noise::Gaussian) {
            return Some(Pure { families: Rc::clone(&row.families), target });
        }
        let Ask::Query(wanted) = &study.statistics().get(*place)?.ask else { return None };
        let wanted = Wanted { noise: Some(Noise::Laplace), ..wanted.clone() };
        let families = Family::all(&wanted, study.public()).ok()?;
        Some(Pure { families: Rc::new(families), target })
    };
    rows.map(of).collect()
}

/// What pure noise has to be as good as, for each row of a setting.
pub(crate) fn targets(problem: &Problem<'_>, setting: &Setting) -> Option<Vec<Target>> {
    let rows = problem.rows.iter().zip(&setting.choice).zip(&setting.levels);
    rows.map(|((row, choice), level)| target(row, *choice, *level)).collect()
}

fn target(row: &Row, choice: usize, level: f64) -> Option<Target> {
    match row.wish {
        Wish::Error(error) => return Some(Target::Wanted(error)),
        Wish::Kept(error) => return Some(Target::Fixed(error)),
        Wish::Level(_) | Wish::Weight(_) => {}
    }
    let family = row.families.get(choice)?;
    let error = family.seen(level).ok()?;
    if error.is_finite() {
        return Some(Target::Fixed(error));
    }
    Some(Target::Level(match family.noise {
        Noise::Gaussian => {
            // k numbers share a multiplier m as k noises of sigma = m k^(1/2), and an epsilon as k scales of k / epsilon, whose
            // deviation is 2^(1/2) as much.
            let numbers = family.measurement(level).ok()?.noises().len();
            level * (2.0 * numbers as f64).sqrt()
        }
        Noise::Laplace | Noise::Exponential => level,
    }))
}

/// The levels of rows at a factor, from which those at others follow: errors are taken to be inverse to levels, which they are but
/// for whole numbers.
struct Found {
    factor: f64,
    levels: Vec<f64>,
}

fn found(problem: &Problem<'_>, rows: &[Pure], factor: f64) -> Option<Found> {
    let level = |row: &Pure| {
        problem.composer.pace().look().ok()?;
        match row.target {
            Target::Wanted(error) => row.family()?.near_level(error * factor).ok()?,
            Target::Fixed(error) => row.family()?.near_level(error).ok()?,
            Target::Level(level) => Some(level),
        }
    };
    Some(Found { factor, levels: rows.iter().map(level).collect::<Option<_>>()? })
}

/// The theorem's epsilon, secrecy of the sample included as in the plan's own, where every row has pure noise that keeps to so
/// many times its error: by levels found at another factor, or, where it is told to and half-widths are not searched for, at this
/// one.
fn charged(
    problem: &Problem<'_>,
    rows: &[Pure],
    theorem: Theorem,
    (from, exactly, factor): (&Found, bool, f64),
) -> Option<f64> {
    let releases = |(row, level): (&Pure, &f64)| -> Option<Vec<Release>> {
        problem.composer.pace().look().ok()?;
        let family = row.family()?;
        let level = match row.target {
            Target::Wanted(error) if exactly && !family.is_searched() => {
                family.level(error * factor).ok()??
            }
            Target::Wanted(_) => level * from.factor / factor,
            Target::Fixed(_) | Target::Level(_) => *level,
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

/// The least factor with which a charge is within the budget.
fn needed(
    budget: f64,
    (guess, stride): (f64, f64),
    charge: impl Fn(f64) -> Option<f64>,
) -> Option<f64> {
    let excess = |factor: f64| charge(factor).map(|cost| (cost / budget).ln()).ok_or(());
    let place = Search { guess, stride, range: (1e-9, 1e9), power: 1.0, near: 3e-4 };
    match search(place, excess) {
        Ok(Crossing::Between(_, factor)) => Some(factor),
        _ => None,
    }
}
