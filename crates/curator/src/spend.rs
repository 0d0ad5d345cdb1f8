//! What a question may spend: what a slot declares, what an error takes, and how often it fits what is left.

use crate::checked::Spend;
use crate::illegal::Illegal;
use crate::question::Question;
use crate::table::{self, Held};
use counterpoint::Mechanism;
use counterpoint_wire::ledger::Cost;

/// What a slot's release lets a question spend.
pub(crate) fn spend_of(mechanism: &Mechanism) -> Option<Spend> {
    let rho = |multiplier: f64| Spend::Rho(0.5 / (multiplier * multiplier));
    match mechanism {
        Mechanism::ApproxDp(guarantee) => Some(Spend::Epsilon(guarantee.epsilon.get())),
        Mechanism::Laplace { scale, sensitivity } => {
            Some(Spend::Epsilon((sensitivity.get() / scale.get()).next_down()))
        }
        Mechanism::Geometric { scale, sensitivity } => {
            Some(Spend::Epsilon((sensitivity.get() as f64 / scale.get()).next_down()))
        }
        Mechanism::Exponential { epsilon } | Mechanism::Staircase { epsilon, .. } => {
            Some(Spend::Epsilon(epsilon.get()))
        }
        Mechanism::Gaussian { sigma, sensitivity } => Some(rho(sigma.get() / sensitivity.get())),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            Some(rho(sigma.get() / sensitivity.get() as f64))
        }
        Mechanism::Zcdp { rho, .. } => Some(Spend::Rho(rho.get())),
        Mechanism::Gdp { mu } => Some(rho(1.0 / mu.get())),
        _ => None,
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
        let widths = table::half_widths(&checked, &checked.measured(spend(amount))?, confidence)?;
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
