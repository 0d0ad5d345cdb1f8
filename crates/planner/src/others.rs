//! What other theorems make of the same study: tools that add up epsilons have Laplace noise.

use crate::fit::{Problem, Setting};
use crate::root::{Crossing, Search, search};
use crate::study::{Noise, Study, Wish};
use counterpoint::Release;
use counterpoint::theorem::Theorem;

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
pub(crate) fn of(study: &Study, problem: &Problem<'_>, errors: Option<Vec<Error>>) -> Vec<Other> {
    let Some(errors) = errors else { return Vec::new() };
    let budget = study.budget().epsilon.map(counterpoint::Epsilon::get);
    let fits = problem.rows.iter().any(|row| matches!(row.wish, Wish::Error(_)));
    let of = |(name, theorem): (&'static str, Theorem)| {
        // Who stops gets no plan, and need not wait for this.
        let _ = problem.composer.pace().trial();
        let charge = |factor: f64| charged(problem, &errors, theorem, (factor, 1.0));
        let scaled = |factor: f64| charged(problem, &errors, theorem, (1.0, factor));
        let factor = budget.filter(|_| fits).and_then(|budget| {
            let guess = needed(budget, (1.0, 1.1), scaled)?;
            if problem.rows.len() > FEW {
                return Some(guess);
            }
            needed(budget, (guess, 1.001), charge)
        });
        Other { theorem: name, epsilon: charge(1.0), factor }
    };
    THEOREMS.into_iter().map(of).collect()
}

/// What a row's error is, and whether it moves with the factor.
type Error = (f64, bool);

/// The error of each row of a setting.
pub(crate) fn errors(problem: &Problem<'_>, setting: &Setting) -> Option<Vec<Error>> {
    let rows = problem.rows.iter().zip(&setting.choice).zip(&setting.levels);
    let of = |((row, choice), level): ((&crate::fit::Row, &usize), &f64)| match row.wish {
        Wish::Error(error) => Some((error, true)),
        Wish::Kept(error) => Some((error, false)),
        Wish::Level(_) | Wish::Weight(_) => {
            Some((row.families.get(*choice)?.error(*level).ok()?, false))
        }
    };
    rows.map(of).collect()
}

/// The theorem's epsilon where every row has pure noise that keeps to so many times its error, and then so many times
/// that: errors are taken to be inverse to levels, which they are but for whole numbers.
fn charged(
    problem: &Problem<'_>,
    errors: &[Error],
    theorem: Theorem,
    (factor, scaled): (f64, f64),
) -> Option<f64> {
    let pure = |(row, (error, moves)): (&crate::fit::Row, &Error)| -> Option<Vec<Release>> {
        problem.composer.pace().look().ok()?;
        let family = row.families.iter().find(|family| family.noise != Noise::Gaussian)?;
        let (factor, scaled) = if *moves { (factor, scaled) } else { (1.0, 1.0) };
        family.releases(family.level(error * factor).ok()?? / scaled).ok()
    };
    let mut releases: Vec<Release> =
        problem.rows.iter().zip(errors).map(pure).collect::<Option<Vec<_>>>()?.concat();
    releases.extend(problem.held_back.iter().cloned());
    let plan = problem.composer.plan(&releases).ok()?;
    theorem.epsilon(&plan, problem.composer.delta()).ok()
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
