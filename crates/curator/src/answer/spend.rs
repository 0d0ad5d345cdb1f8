//! The privacy loss that a question may spend: in a slot, for a requested error, and how often an account can afford
//! it.

use super::numbers::half_widths;
use crate::engine::OpenTable;
use counterpoint::{Count, Mechanism};
use counterpoint_budget::{Query, Terms, covers};
use counterpoint_mechanisms::Measurement;
use counterpoint_questions::QuestionError;
use counterpoint_questions::question::Question;
use counterpoint_questions::{CheckedQuestion, Spend};
use counterpoint_wire::ledger::{Cost, ReleaseRecord};

/// The spend of a question in a slot: of the candidates that the slot's size suggests, the first that the slot is shown
/// to cover. If it covers none, the first candidate: the ledger, which decides on its own, then refuses it with the
/// reason.
pub(crate) fn spend_in_slot(
    slot: &str,
    declared: &ReleaseRecord,
    checked: &CheckedQuestion,
) -> Result<Spend, QuestionError> {
    // Planned noise is drawn as it was planned.
    if let (Some(recipe), [aggregate]) = (declared.recipe(), checked.aggregates())
        && recipe.query() == &aggregate.query
    {
        return Ok(Spend::Style(recipe.style()));
    }
    let query = declared.query().ok();
    let spends = query.as_ref().map(|query| candidate_spends(&query.release().mechanism));
    let spends = spends.unwrap_or_default();
    let (Some(first), Some(declared)) = (spends.first(), query) else {
        let problem = "declares nothing that a question could be answered with";
        let legal = "approx-dp, laplace, geometric, gaussian, discrete-gaussian, exponential, staircase, zcdp or gdp";
        return Err(QuestionError::new(format!("slot {slot:?}"), problem, legal));
    };
    let declared = [declared.times(Count::ONE)];
    let terms = Terms::new(checked.relation().adjacency());
    let is_covered = |spend: &&Spend| {
        checked.measurements_in_slot(**spend).is_ok_and(|measurements| {
            let run = measurements.iter().flat_map(Measurement::releases).cloned().map(Query::from);
            covers(&declared, &run.collect::<Vec<_>>(), terms).is_ok()
        })
    };
    Ok(*spends.iter().find(is_covered).unwrap_or(first))
}

/// The share of a slot's size that is left for doubles that are rounded up.
const ROUNDING_MARGIN: f64 = 1.0 - 1.0 / (1_u64 << 40) as f64;

/// The candidates that a slot's size suggests: all of it, and all but the margin for rounding. A discrete Gaussian slot
/// also suggests noise of exactly its sigma, which alone it is sure to cover.
fn candidate_spends(mechanism: &Mechanism) -> Vec<Spend> {
    let epsilon = |epsilon: f64| [epsilon, epsilon * ROUNDING_MARGIN].map(Spend::Epsilon).to_vec();
    let rho = |rho: f64| [rho, rho * ROUNDING_MARGIN].map(Spend::Rho).to_vec();
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

/// The number of times that a cost fits into the remaining budget.
pub(crate) fn affordable_times(capacity: &Cost, spent: &Cost, cost: &Cost) -> u64 {
    let fits = |capacity: f64, spent: f64, cost: f64| {
        if cost > 0.0 { ((capacity - spent).max(0.0) / cost).floor() as u64 } else { u64::MAX }
    };
    let main = fits(capacity.main.lower(), spent.main.upper(), cost.main.upper());
    main.min(fits(capacity.delta.lower(), spent.delta.upper(), cost.delta.upper()))
}

/// The least cost at which every number of the answer has at most this error, at a confidence, whatever the data are.
pub(crate) fn least_spend(
    table: &OpenTable,
    question: &Question,
    (error, confidence): (f64, f64),
    concentrated: bool,
) -> Result<Spend, QuestionError> {
    if !(error > 0.0 && error.is_finite()) {
        return Err(QuestionError::new("error", format!("is {error}"), "a finite number above 0"));
    }
    let spend =
        |amount: f64| if concentrated { Spend::Rho(amount) } else { Spend::Epsilon(amount) };
    let keeps = |amount: f64| -> Result<bool, QuestionError> {
        let checked = question.check(&table.public)?;
        let widths = half_widths(&checked, &checked.measurements(spend(amount))?, confidence)?;
        let mut all = true;
        for (name, width) in widths {
            let legal = "an epsilon or a rho; or the table's number of people, if that is public";
            let width = width.ok_or_else(|| {
                QuestionError::new(name, "has no half-width that is known in advance", legal)
            })?;
            all &= width <= error;
        }
        Ok(all)
    };
    let (mut low, mut high) = if concentrated { (1e-6, 400.0) } else { (1e-4, 300.0) };
    if !keeps(high)? {
        let problem = format!("is {error}, and no noise is that small");
        return Err(QuestionError::new("error", problem, "a larger error"));
    }
    // The cost is found to one part in a thousand.
    while high > low * 1.001 {
        let middle = (low * high).sqrt();
        if keeps(middle)? { high = middle } else { low = middle }
    }
    // A cost with few digits that is at least as large.
    Ok(spend(round_up_to_four_digits(high)))
}

/// Rounds a number up to four digits.
fn round_up_to_four_digits(number: f64) -> f64 {
    let unit = 10.0_f64.powi(number.log10().floor() as i32 - 3);
    let digits = (number / unit).ceil();
    format!("{:e}", digits * unit).parse().map_or(number, |short: f64| short.max(number))
}
