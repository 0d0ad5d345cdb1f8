//! What a question may spend: what a slot declares, what an error takes, and how often it fits what is left.

use super::numbers::half_widths;
use crate::engine::Held;
use counterpoint::{Count, Mechanism};
use counterpoint_budget::{Query, Terms, covers};
use counterpoint_mechanisms::Measurement;
use counterpoint_questions::Illegal;
use counterpoint_questions::question::Question;
use counterpoint_questions::{Checked, Spend};
use counterpoint_wire::ledger::{Cost, Described};

/// What a question may spend in a slot: the first of what the slot's size suggests that the slot is shown to cover. If none is,
/// the first, and the ledger says why not: it decides on its own whether the slot covers what is run.
pub(crate) fn spend_in(
    slot: &str,
    declared: &Described,
    checked: &Checked,
) -> Result<Spend, Illegal> {
    // What was planned is what is drawn.
    if let (Some(recipe), [part]) = (declared.recipe(), checked.parts())
        && recipe.query() == &part.query
    {
        return Ok(Spend::Style(recipe.style()));
    }
    let query = declared.query().ok();
    let spends = query.as_ref().map(|query| spends_of(&query.release().mechanism));
    let spends = spends.unwrap_or_default();
    let (Some(first), Some(declared)) = (spends.first(), query) else {
        let problem = "declares nothing that a question could be answered with";
        let legal = "approx-dp, laplace, geometric, gaussian, discrete-gaussian, exponential, staircase, zcdp or gdp";
        return Err(Illegal::new(format!("slot {slot:?}"), problem, legal));
    };
    let declared = [declared.times(Count::ONE)];
    let terms = Terms::new(checked.relation().adjacency());
    let is_covered = |spend: &&Spend| {
        checked.measured_in_slot(**spend).is_ok_and(|measured| {
            let run = measured.iter().flat_map(Measurement::releases).cloned().map(Query::from);
            covers(&declared, &run.collect::<Vec<_>>(), terms).is_ok()
        })
    };
    Ok(*spends.iter().find(is_covered).unwrap_or(first))
}

/// So much of a slot's size is left where doubles are rounded up.
const ALL_BUT_ROUNDING: f64 = 1.0 - 1.0 / (1_u64 << 40) as f64;

/// What a slot's size suggests: all of it, or all but what is rounded. Discrete Gaussian noise is within a slot of the very same
/// sigma alone.
fn spends_of(mechanism: &Mechanism) -> Vec<Spend> {
    let epsilon = |epsilon: f64| [epsilon, epsilon * ALL_BUT_ROUNDING].map(Spend::Epsilon).to_vec();
    let rho = |rho: f64| [rho, rho * ALL_BUT_ROUNDING].map(Spend::Rho).to_vec();
    let gaussian = |multiplier: f64| rho(0.5 / (multiplier * multiplier));
    match mechanism {
        Mechanism::ApproxDp(guarantee) => epsilon(guarantee.epsilon.get()),
        Mechanism::Laplace { scale, sensitivity } => {
            epsilon((sensitivity.get() / scale.get()).next_down())
        }
        Mechanism::Geometric { scale, sensitivity } => {
            epsilon((sensitivity.get() as f64 / scale.get()).next_down())
        }
        Mechanism::Exponential { epsilon: range } | Mechanism::Staircase { epsilon: range, .. } => {
            epsilon(range.get())
        }
        Mechanism::Gaussian { sigma, sensitivity } => gaussian(sigma.get() / sensitivity.get()),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            let nearly = gaussian(sigma.get() / sensitivity.get() as f64);
            nearly.into_iter().chain([Spend::Sigma(sigma.get())]).collect()
        }
        Mechanism::Zcdp { rho: slope, .. } => rho(slope.get()),
        Mechanism::Gdp { mu } => gaussian(1.0 / mu.get()),
        _ => Vec::new(),
    }
}

/// How often a cost fits what is left.
pub(crate) fn times(capacity: &Cost, spent: &Cost, cost: &Cost) -> u64 {
    let fits = |capacity: f64, spent: f64, cost: f64| {
        if cost > 0.0 { ((capacity - spent).max(0.0) / cost).floor() as u64 } else { u64::MAX }
    };
    let main = fits(capacity.main.lower(), spent.main.upper(), cost.main.upper());
    main.min(fits(capacity.delta.lower(), spent.delta.upper(), cost.delta.upper()))
}

/// The least cost at which every number of the answer is within an error, with a confidence, whatever the data are.
pub(crate) fn least(
    held: &Held,
    question: &Question,
    (error, confidence): (f64, f64),
    concentrated: bool,
) -> Result<Spend, Illegal> {
    if !(error > 0.0 && error.is_finite()) {
        return Err(Illegal::new("error", format!("is {error}"), "a finite number above 0"));
    }
    let spend =
        |amount: f64| if concentrated { Spend::Rho(amount) } else { Spend::Epsilon(amount) };
    let keeps = |amount: f64| -> Result<bool, Illegal> {
        let checked = question.check(&held.public)?;
        let widths = half_widths(&checked, &checked.measured(spend(amount))?, confidence)?;
        let mut all = true;
        for (name, width) in widths {
            let legal = "an epsilon or a rho; or the table's number of people, if that is public";
            let width = width
                .ok_or_else(|| Illegal::new(name, "has no error that could be asked for", legal))?;
            all &= width <= error;
        }
        Ok(all)
    };
    let (mut low, mut high) = if concentrated { (1e-6, 400.0) } else { (1e-4, 300.0) };
    if !keeps(high)? {
        let problem = format!("is {error}, which no noise keeps");
        return Err(Illegal::new("error", problem, "a larger error"));
    }
    // To a thousandth part.
    while high > low * 1.001 {
        let middle = (low * high).sqrt();
        if keeps(middle)? { high = middle } else { low = middle }
    }
    // A cost that can be written shortly, and is no less.
    Ok(spend(shorter(high)))
}

/// A number with four digits that is no smaller.
fn shorter(number: f64) -> f64 {
    let unit = 10.0_f64.powi(number.log10().floor() as i32 - 3);
    let digits = (number / unit).ceil();
    format!("{:e}", digits * unit).parse().map_or(number, |short: f64| short.max(number))
}
