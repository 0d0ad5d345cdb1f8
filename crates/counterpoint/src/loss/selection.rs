//! The best of a random number of runs: theory 7.3.

use super::curve::{Curve, ValueWithError};
use super::{Direction, LossError, PairLoss, release_loss};
use crate::laws::{Loss, MOST, quick_cumulant};
use crate::mechanism::{Adjacency, PrivateSelection, Release, RunLaw};
use crate::quantity::GroupSize;
use counterpoint_numerics::{Dd, STEP};

/// The best of a random number of runs, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BestOf {
    pub(crate) runs: Runs,
    /// The losses of one run with their counts.
    pub(crate) toward: Vec<(PairLoss, u64)>,
    /// The losses of one run in the other direction.
    pub(crate) back: Vec<(PairLoss, u64)>,
}

/// What bounds need of the law of the number of runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Runs {
    /// A truncated negative binomial law.
    NegativeBinomial {
        mean: f64,
        /// 1 + eta.
        shape: Dd,
        /// An upper bound on ln(1/gamma).
        ln_inverse: f64,
        /// A bound on the logarithm of the factor by which an output's rank makes its selection likelier on one data
        /// set; `None` before it is computed from the deltas of one run.
        ln_ratio: Option<f64>,
    },
    Poisson {
        mean: f64,
        /// Bounds on the delta of one run at ln(1 + 1/t) in the other direction, each after its t, which rises.
        deltas: Vec<(f64, f64)>,
    },
}

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

impl BestOf {
    /// True if both directions have the same bounds.
    pub(super) fn is_symmetric(&self) -> bool {
        self.toward == self.back
    }

    /// An upper bound on (a - 1) D_a at order a = 1 + t.
    pub(super) fn bound(&self, t: f64) -> Option<ValueWithError> {
        let (total, error) = total(&self.toward, t)?;
        let total = total + error.into();
        let value = match &self.runs {
            Runs::NegativeBinomial { mean, ln_ratio, .. } => {
                total + Dd::product(t, (*ln_ratio)?) + Dd::from(*mean).ln()
            }
            Runs::Poisson { mean, deltas } => {
                let at = deltas.partition_point(|&(listed, _)| listed < t);
                let &(_, delta) = deltas.get(at)?;
                poisson_bound(total, *mean, Dd::product(t, delta) * *mean)
            }
        };
        Some((value, 16.0 * STEP * (1.0 + value.hi.abs() + total.hi.abs())))
    }

    pub(super) fn largest_t(&self) -> f64 {
        match &self.runs {
            Runs::NegativeBinomial { .. } => largest_common_t(&self.toward),
            Runs::Poisson { deltas, .. } => {
                let last = deltas.last().map_or(0.0, |&(t, _)| t);
                last.min(largest_common_t(&self.toward))
            }
        }
    }

    pub(super) fn listed_ts(&self) -> Vec<f64> {
        match &self.runs {
            Runs::NegativeBinomial { .. } => Vec::new(),
            Runs::Poisson { deltas, .. } => deltas.iter().map(|&(t, _)| t).collect(),
        }
    }
}

/// ln(1 + m e^x (e^T - 1)), which bounds (a - 1) D_a for a Poisson number of runs.
fn poisson_bound(total: Dd, mean: f64, exponent: Dd) -> Dd {
    const LARGE: f64 = 300.0;
    if total.hi <= LARGE && exponent.hi <= LARGE {
        return (exponent.exp() * mean * total.expm1()).ln_1p();
    }
    // With y = ln m + x + T the bound is at most ln(1 + e^y) <= max(y, 0) + ln 2.
    let most = total + exponent + Dd::from(mean).ln();
    if most.is_positive() { most + Dd::from(0.7) } else { Dd::from(0.7) }
}

fn largest_common_t(losses: &[(PairLoss, u64)]) -> f64 {
    let curves = losses.iter().filter_map(|(loss, _)| loss.curve.as_ref());
    curves.map(Curve::largest_t).fold(MOST, f64::min)
}

/// A bound on (a - 1) D_a of all losses together, at order a = 1 + t; `None` if one has no curve or leaks.
fn total(losses: &[(PairLoss, u64)], t: f64) -> Option<ValueWithError> {
    let (mut sum, mut error) = (Dd::ZERO, 0.0);
    let mut add = |(value, slack): ValueWithError, count: u64| {
        let count = count as f64;
        sum = sum + value * count;
        error += count * slack + 2.0 * STEP * (sum.hi.abs() + count * value.hi.abs());
    };
    for (pair_loss, count) in losses {
        if pair_loss.leak.1 > 0.0 {
            return None;
        }
        if let Some(loss) = &pair_loss.loss {
            add(divergence(loss, t)?, *count);
        }
        for (loss, times) in &pair_loss.further_losses {
            add(divergence(loss, t)?, count.saturating_mul(*times));
        }
        if let Some(curve) = &pair_loss.curve {
            add(curve.bound(t)?, *count);
        }
    }
    Some((sum, error * (1.0 + 1e-9)))
}

/// A bound on (a - 1) D_a that includes the mass that the law leaves out.
fn divergence(loss: &Loss, t: f64) -> Option<ValueWithError> {
    let law = loss.law();
    match law.omitted_mass().mass > 0.0 {
        true => Curve::Below { rho: law.concentration()? }.bound(t),
        false => quick_cumulant(law, t),
    }
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
