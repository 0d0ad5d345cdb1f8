//! Report noisy max: theory 5.15.

use super::group::pure_group_loss;
use super::lists::{randomized_response_atoms, sampled};
use super::{Direction, LossError, PairLoss, check_loss_range, response};
use crate::laws::{Range, SampledRange};
use crate::mechanism::{Adjacency, MaxNoise, ScoreChanges};
use crate::quantity::{GroupSize, NoiseScale, Sensitivity};
use counterpoint_numerics::Dd;

/// The logarithm of the largest ratio of an outcome's probabilities on neighbouring data sets, for any of the noises.
/// With Gumbel noise it is also the range.
pub(super) fn noisy_max_epsilon(
    scale: NoiseScale,
    sensitivity: Sensitivity,
    scores: ScoreChanges,
) -> Result<Dd, LossError> {
    let shift = match scores {
        ScoreChanges::Any => Dd::from(sensitivity.get()).scaled(2.0),
        ScoreChanges::Monotone => Dd::from(sensitivity.get()),
    };
    check_loss_range("sensitivity / scale", shift / scale.get())
}

pub(super) fn noisy_max_loss(
    noise: MaxNoise,
    epsilon: Dd,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    match noise {
        MaxNoise::Gumbel => {
            let epsilon = check_loss_range("sensitivity / scale", epsilon * group.get() as f64)?;
            Ok(Range { epsilon }.into())
        }
        MaxNoise::Laplace | MaxNoise::Exponential => {
            pure_group_loss(epsilon, response(epsilon)?, group)
        }
    }
}

pub(super) fn sampled_noisy_max_loss(
    noise: MaxNoise,
    epsilon: Dd,
    rate: f64,
    direction: Direction,
) -> Result<PairLoss, LossError> {
    match noise {
        MaxNoise::Gumbel => Ok(SampledRange { rate, epsilon, direction }.into()),
        MaxNoise::Laplace | MaxNoise::Exponential => {
            Ok(sampled(&randomized_response_atoms(epsilon)?, rate, direction).into())
        }
    }
}

/// Refuses monotone scores where a person is replaced: one score may then rise while another falls.
pub(super) fn check_scores(
    scores: ScoreChanges,
    adjacency: Option<Adjacency>,
) -> Result<(), LossError> {
    match (scores, adjacency) {
        (ScoreChanges::Any, _) | (_, Some(Adjacency::AddRemove)) => Ok(()),
        (ScoreChanges::Monotone, Some(Adjacency::Replace)) => Err(LossError::MonotoneUnderReplace),
        (ScoreChanges::Monotone, None) => {
            Err(LossError::no_adjacency("scores are monotone only if a person is added or removed"))
        }
    }
}
