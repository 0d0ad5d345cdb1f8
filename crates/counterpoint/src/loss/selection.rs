//! The loss of the best of a random number of runs: theory 7.3.

use super::curve::{BestOf, Curve, Runs};
use super::{Direction, LossError, PairLoss, release_loss};
use crate::mechanism::{Adjacency, PrivateSelection, Release, RunLaw};
use crate::quantity::GroupSize;
use counterpoint_numerics::{Dd, STEP};

/// Bounds the loss of a private selection.
pub(super) fn selection_loss(
    selection: &PrivateSelection,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    let once = |direction| {
        let one = |release: &Release| {
            let loss = release_loss(release, direction, adjacency, group)?;
            Ok((loss, release.count.get()))
        };
        selection.inner().iter().map(one).collect::<Result<Vec<_>, LossError>>()
    };
    let (toward, back) = match direction {
        Direction::Remove => (once(Direction::Remove)?, once(Direction::Add)?),
        Direction::Add => (once(Direction::Add)?, once(Direction::Remove)?),
    };
    let mean = selection.mean().get();
    let (runs, lower_pair) = match selection.runs() {
        RunLaw::Poisson => (Runs::Poisson { mean, deltas: Vec::new() }, PairLoss::default()),
        RunLaw::NegativeBinomial(eta) => {
            let ln_inverse = ln_inverse_gamma(mean, eta.get())?;
            let shape = Dd::sum(1.0, eta.get());
            let runs = Runs::NegativeBinomial { mean, shape, ln_inverse, ln_ratio: None };
            (runs, single_run(&toward))
        }
    };
    let curve = Curve::BestOf(Box::new(BestOf { runs, toward, back }));
    let best = PairLoss { curve: Some(curve), ..PairLoss::default() };
    Ok(best.with_lower_pair(lower_pair))
}

/// The loss of one run, or a lower one: a selection with a constant score publishes the outputs of one run.
fn single_run(losses: &[(PairLoss, u64)]) -> PairLoss {
    let lower =
        losses.iter().map(|(loss, count)| (loss.lower_pair.as_deref().unwrap_or(loss), *count));
    let mut single = PairLoss::default();
    for (loss, count) in lower {
        single.leak.0 = loss.leak.0.max(single.leak.0);
        single.further_losses.extend(loss.loss.iter().map(|loss| (loss.clone(), count)));
        let further = loss.further_losses.iter();
        single
            .further_losses
            .extend(further.map(|(loss, n)| (loss.clone(), n.saturating_mul(count))));
        // A lower pair may leave out curves.
        single.curve = single.curve.or_else(|| loss.curve.clone());
    }
    single.leak.1 = single.leak.0;
    single
}

/// An upper bound on ln(1/gamma) for a truncated negative binomial law with this mean. With s = ln(1/gamma) the mean is
/// eta (e^s - 1) / (1 - e^(-eta s)), or (e^s - 1)/s for eta = 0; it rises with s.
fn ln_inverse_gamma(mean: f64, eta: f64) -> Result<f64, LossError> {
    const FURTHEST: f64 = 500.0;
    let has_mean = |s: f64| {
        let excess = Dd::from(s).expm1();
        let found = match eta.abs() < f64::MIN_POSITIVE {
            true => excess / s,
            false => excess * eta / -Dd::product(-eta, s).expm1(),
        };
        found * Dd::sum(1.0, -64.0 * STEP) >= Dd::from(mean)
    };
    if mean <= 1.0 {
        return Ok(0.0);
    }
    if !has_mean(FURTHEST) {
        let legal = "a smaller mean for this eta: ln(1/gamma) is at most 500";
        return Err(LossError::Range { what: "mean", value: mean, legal });
    }
    let (mut low, mut high) = (0.0, FURTHEST);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return Ok(high);
        }
        if has_mean(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}
