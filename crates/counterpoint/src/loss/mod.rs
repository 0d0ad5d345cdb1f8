//! Turns the description of a release into its privacy loss: a leak, and a law of the finite part or a Rényi curve.
//!
//! Theory 5.1 lists every pair with its derivation.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod allocation;
mod batch;
mod cells;
mod curve;
mod partition;
mod draws;
mod error;
mod group;
mod partial_lists;
mod lists;
mod mixtures;
mod noisy_max;
mod sampled;
mod selection;
mod shuffled;
mod sparse;
mod truncated;
mod whole;

pub use crate::laws::Direction;
pub(crate) use curve::{BestOf, Curve, Runs, ValueWithError};
pub use error::LossError;
#[cfg(test)]
pub(crate) use lists::discrete_gaussian_atoms;

use crate::laws::{Atoms, Gaussian, Loss, Response};
use crate::mechanism::{Adjacency, Mechanism, Release};
use crate::quantity::GroupSize;
use counterpoint_numerics::{Dd, STEP};
use std::sync::Arc;

/// The privacy loss of one release in one direction.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct PairLoss {
    /// Bounds on the probability of an infinite loss: lower, upper.
    pub(crate) leak: (f64, f64),
    pub(crate) loss: Option<Loss>,
    pub(crate) curve: Option<Curve>,
    /// Further losses that are composed with this one, each with a count.
    pub(crate) further_losses: Vec<(Loss, u64)>,
    /// The loss of the lower pair, which the release's own pair dominates. `None` if the other fields describe the
    /// release's own pair; otherwise they describe the upper pair, which dominates it.
    pub(crate) lower_pair: Option<Box<PairLoss>>,
}

const LEGAL_LOSS: &str = "a number from 1e-100 to 1e6";

/// Returns the loss of the worst mechanism that fits a description, in one direction, for a group.
pub(crate) fn release_loss(
    release: &Release,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    match release.rate.map(crate::quantity::Rate::get) {
        Some(rate) if rate < 1.0 => {
            let why = "the guarantee of a Poisson sample depends on it";
            match adjacency {
                None => return Err(LossError::no_adjacency(why)),
                Some(Adjacency::Replace) => return Err(LossError::RateUnderReplace),
                Some(Adjacency::AddRemove) => {}
            }
            if group.get() > 1 {
                return sampled::sampled_group_loss(&release.mechanism, rate, group);
            }
            sampled::sampled_loss(&release.mechanism, rate, direction)
        }
        _ => whole::unsampled_loss(&release.mechanism, direction, adjacency, group),
    }
}

/// Returns the losses in both directions; the second is `None` if it equals the first.
pub(crate) fn release_losses(
    release: &Release,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<(PairLoss, Option<PairLoss>), LossError> {
    if matches!(release.mechanism, Mechanism::GaussianAllocation { .. }) && release.rate.is_none() {
        let [remove, add] = whole::allocation_losses(&release.mechanism, adjacency, group)?;
        let same = is_symmetric(&remove);
        return Ok((remove, (!same).then_some(add)));
    }
    let pair_loss = release_loss(release, Direction::Remove, adjacency, group)?;
    // A symmetric pair has the same loss in both directions.
    let is_truncated = matches!(release.mechanism, Mechanism::TruncatedLaplace { .. })
        && release.rate.is_none_or(|rate| rate.get() >= 1.0);
    let mirrored = is_truncated
        || adjacency == Some(Adjacency::Replace)
            && matches!(
                release.mechanism,
                Mechanism::GaussianBatch { .. }
                    | Mechanism::GaussianDraws { .. }
                    | Mechanism::ShuffledReports { .. }
            );
    if mirrored || is_symmetric(&pair_loss) {
        return Ok((pair_loss, None));
    }
    let mirrored = release_loss(release, Direction::Add, adjacency, group)?;
    Ok((pair_loss, Some(mirrored)))
}

impl PairLoss {
    /// Adds a lower pair: the upper bounds are computed from `self`, the lower bounds from `lower_pair`.
    fn with_lower_pair(self, lower_pair: Self) -> Self {
        Self { lower_pair: Some(Box::new(lower_pair)), ..self }
    }
}

impl<L: Into<Loss>> From<L> for PairLoss {
    fn from(law: L) -> Self {
        Self { loss: Some(law.into()), ..Self::default() }
    }
}

impl From<Atoms> for Loss {
    fn from(atoms: Atoms) -> Self {
        Arc::new(atoms).into()
    }
}

/// True if exchanging P and Q does not change the finite loss or the curve.
fn is_symmetric(pair_loss: &PairLoss) -> bool {
    let is_symmetric_curve = match &pair_loss.curve {
        Some(Curve::BestOf(best)) => best.is_symmetric(),
        _ => true,
    };
    is_symmetric_curve && pair_loss.loss.as_ref().is_none_or(|loss| loss.law().is_symmetric())
}

fn check_loss_range(what: &'static str, value: Dd) -> Result<Dd, LossError> {
    if (1e-100..=1e6).contains(&value.hi) && !(value - Dd::from(1e6)).is_positive() {
        Ok(value)
    } else {
        Err(LossError::Range { what, value: value.hi, legal: LEGAL_LOSS })
    }
}

/// Returns doubles below and above a positive number. A number without a low part is exact, because results of inexact
/// operations have one.
pub(crate) fn enclosing_doubles(x: Dd) -> (f64, f64) {
    if x.lo.abs() < f64::from_bits(1) {
        return (x.hi, x.hi);
    }
    let error = x * STEP;
    ((x - error).lower().max(0.0), (x + error).upper())
}

fn line(rho: f64, omega: f64) -> Option<Curve> {
    (rho > 0.0).then_some(Curve::Line { rho, omega })
}

fn response(epsilon: Dd) -> Result<PairLoss, LossError> {
    if !epsilon.is_positive() {
        return Ok(PairLoss::default());
    }
    Ok(Response { epsilon: check_loss_range("epsilon", epsilon)? }.into())
}

fn gaussian(mu: Dd) -> Result<PairLoss, LossError> {
    if !mu.is_positive() {
        return Ok(PairLoss::default());
    }
    let mu = check_loss_range("mu", mu)?;
    Ok(Gaussian { square: mu * mu }.into())
}
