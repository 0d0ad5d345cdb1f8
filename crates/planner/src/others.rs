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
    let of = |(name, theorem): (&'static str, Theorem)| {
        // Who stops gets no plan, and need not wait for this.
        let _ = problem.composer.pace().trial();
        let charge = |factor: f64, from: From| charged(problem, &rows, theorem, (factor, from));
        let factor = budget.filter(|_| fits).and_then(|budget| {
            let guess = needed(budget, (1.0, 1.1), |factor| charge(factor, From::Wanted))?;
            if problem.rows.len() > FEW {
                return Some(guess);
            }
            needed(budget, (guess, 1.001), |factor| charge(factor, From::Near(guess)))
        });
        Other { theorem: name, epsilon: charge(1.0, From::Wanted), factor }
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

/// At which factor levels are found, from which others follow: errors are taken to be inverse to levels, which they are but for
/// whole numbers.
#[derive(Clone, Copy)]
enum From {
    /// At one.
    Wanted,
    /// Next to the factor, and only where half-widths are searched for. Others are found at the factor itself.
    Near(f64),
}

/// The theorem's epsilon, secrecy of the sample included as in the plan's own, where every row has pure noise that keeps to so
/// many times its error.
fn charged(
    problem: &Problem<'_>,
    rows: &[Pure],
    theorem: Theorem,
    (factor, from): (f64, From),
) -> Option<f64> {
    let releases = |row: &Pure| -> Option<Vec<Release>> {
        problem.composer.pace().look().ok()?;
        let family = row.family()?;
        let level = match row.target {
            Target::Wanted(error) => {
                let found = match from {
                    From::Wanted => 1.0,
                    From::Near(near) if family.is_searched() => near,
                    From::Near(_) => factor,
                };
                family.level(error * found).ok()?? * found / factor
            }
            Target::Fixed(error) => family.level(error).ok()??,
            Target::Level(level) => level,
        };
        family.releases(level).ok()
    };
    let mut releases: Vec<Release> =
        rows.iter().map(releases).collect::<Option<Vec<_>>>()?.concat();
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
