//! The losses of mechanisms that run on a Poisson sample.

use super::group::chained_guarantee_loss;
use super::lists::{
    self, bucket_response_atoms, discrete_gaussian_atoms, geometric_atoms, outcomes,
    randomized_response_atoms, sampled_leaky, sampled_outcomes, staircase,
};
use super::noisy_max::{noisy_max_epsilon, sampled_noisy_max_loss};
use super::sparse::sparse_vector_atoms;
use super::truncated::TruncatedLaplace;
use super::whole::LONGEST_STAIRCASE;
use super::{
    Direction, LossError, PairLoss, cells, check_loss_range, enclosing_doubles, mixtures, response,
};
use crate::laws::{Atoms, SampledGaussian, SampledLaplace, SampledRange, amplified};
use crate::mechanism::{Adjacency, Mechanism};
use crate::quantity::{Gamma, GroupSize};
use counterpoint_numerics::Dd;

/// The loss on a Poisson sample, for a group: from the guarantee of the sampled mechanism for one person, by a chain of
/// neighbours. Other pairs are proved for one person only, since some people of a group may be added and others
/// removed.
pub(super) fn sampled_group_loss(
    mechanism: &Mechanism,
    rate: f64,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    let (epsilon, delta) = match mechanism {
        _ if rate <= 0.0 => return Ok(PairLoss::default()),
        Mechanism::ApproxDp(guarantee) | Mechanism::AmplifiedDp(guarantee) => {
            (Dd::from(guarantee.epsilon.get()), guarantee.delta.get())
        }
        Mechanism::RandomizedResponse { epsilon, .. } => (Dd::from(epsilon.get()), 0.0),
        Mechanism::NoisyMax { scale, sensitivity, scores, .. } => {
            (noisy_max_epsilon(*scale, *sensitivity, *scores)?, 0.0)
        }
        Mechanism::SparseVector { threshold, queries }
        | Mechanism::AboveThreshold { threshold, queries } => {
            (Dd::sum(threshold.get(), queries.get()), 0.0)
        }
        _ => {
            let what = "a release on a Poisson sample, whose bound is proved for one person";
            return Err(LossError::Group { group: group.get(), what });
        }
    };
    let epsilon = if epsilon.is_positive() { amplified(rate, epsilon) } else { Dd::ZERO };
    let all = chained_guarantee_loss(epsilon, Dd::product(rate, delta), group)?;
    match mechanism {
        Mechanism::AmplifiedDp(_) => Ok(all),
        // The lower pair reveals nothing: the pair for one person has a direction, and this loss has none.
        _ => Ok(all.with_lower_pair(PairLoss::default())),
    }
}

/// The loss on a Poisson sample, between neighbours that differ by one person: if the person is in P's data, P becomes
/// (1-q) Q + q P; if in Q's, Q becomes (1-q) P + q Q.
pub(super) fn sampled_loss(
    mechanism: &Mechanism,
    rate: f64,
    direction: Direction,
) -> Result<PairLoss, LossError> {
    if rate <= 0.0 {
        return Ok(PairLoss::default());
    }
    match mechanism {
        Mechanism::ApproxDp(guarantee) => {
            let whole = match guarantee.epsilon.get() {
                epsilon if epsilon > 0.0 => Some(randomized_response_atoms(Dd::from(epsilon))?),
                _ => None,
            };
            sampled_leaky(whole.as_ref(), guarantee.delta.get(), rate, direction)
        }
        Mechanism::AmplifiedDp(guarantee) => {
            let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
            let leak = enclosing_doubles(Dd::product(rate, delta));
            if epsilon <= 0.0 {
                return Ok(PairLoss { leak, ..PairLoss::default() });
            }
            Ok(PairLoss { leak, ..response(amplified(rate, Dd::from(epsilon)))? })
        }
        Mechanism::Laplace { scale, sensitivity } => {
            let epsilon = Dd::from(sensitivity.get()) / scale.get();
            let epsilon = check_loss_range("sensitivity / scale", epsilon)?;
            Ok(SampledLaplace { rate, epsilon, direction }.into())
        }
        Mechanism::TruncatedLaplace { scale, sensitivity, bound } => {
            TruncatedLaplace::new(*scale, *sensitivity, *bound, GroupSize::ONE)?
                .loss(rate, direction)
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            let mu = check_loss_range("sensitivity / sigma", mu)?;
            Ok(SampledGaussian { rate, mu, direction }.into())
        }
        Mechanism::Gdp { mu } => {
            let mu = Dd::from(mu.get());
            if !mu.is_positive() {
                return Ok(PairLoss::default());
            }
            Ok(SampledGaussian { rate, mu: check_loss_range("mu", mu)?, direction }.into())
        }
        Mechanism::Exponential { epsilon } => {
            let epsilon = Dd::from(epsilon.get());
            if !epsilon.is_positive() {
                return Ok(PairLoss::default());
            }
            Ok(SampledRange { rate, epsilon: check_loss_range("epsilon", epsilon)?, direction }
                .into())
        }
        Mechanism::NoisyMax { noise, scale, sensitivity, scores } => {
            let epsilon = noisy_max_epsilon(*scale, *sensitivity, *scores)?;
            sampled_noisy_max_loss(*noise, epsilon, rate, direction)
        }
        Mechanism::NameAndShame { delta } => sampled_leaky(None, delta.get(), rate, direction),
        Mechanism::GaussianMixture { sigma, shifts } => {
            mixtures::mixture_loss(shifts, sigma.get(), rate, direction)
        }
        Mechanism::GaussianSubset { .. } => Err(LossError::SubsetUnderAddRemove),
        Mechanism::GaussianAllocation { .. } => {
            Err(LossError::RateOnSamples { mechanism: "gaussian-allocation" })
        }
        Mechanism::GaussianBatch { .. } => {
            Err(LossError::RateOnSamples { mechanism: "gaussian-batch" })
        }
        Mechanism::GaussianDraws { .. } => {
            Err(LossError::RateOnSamples { mechanism: "gaussian-draws" })
        }
        Mechanism::Cells(pair) => {
            cells::cells_loss(pair, rate, direction, Some(Adjacency::AddRemove))
        }
        Mechanism::Finite(pair) => sampled_outcomes(&outcomes(pair), rate, direction),
        Mechanism::Zcdp { .. } => Err(LossError::Rate { mechanism: "zcdp" }),
        Mechanism::Tcdp { .. } => Err(LossError::Rate { mechanism: "tcdp" }),
        Mechanism::Rdp(_) => Err(LossError::Rate { mechanism: "rdp" }),
        Mechanism::ShuffledReports { .. } => Err(LossError::ShuffleUnderAddRemove),
        Mechanism::PrivateSelection(_) => Err(LossError::Rate { mechanism: "private-selection" }),
        Mechanism::DiscreteGaussian { .. }
        | Mechanism::Geometric { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Staircase { .. }
        | Mechanism::SparseVector { .. }
        | Mechanism::AboveThreshold { .. } => match mirrored(mechanism)? {
            Some(whole) => Ok(lists::sampled(&whole, rate, direction).into()),
            None => Ok(PairLoss::default()),
        },
    }
}

/// The atoms of a pair that is its own mirror image; `None` if the mechanism reveals nothing.
fn mirrored(mechanism: &Mechanism) -> Result<Option<Atoms>, LossError> {
    let pure =
        |epsilon: Dd| epsilon.is_positive().then(|| randomized_response_atoms(epsilon)).transpose();
    match mechanism {
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            discrete_gaussian_atoms(sigma.get(), sensitivity.get()).map(Some)
        }
        Mechanism::Geometric { scale, sensitivity } => {
            geometric_atoms(Dd::ONE / scale.get(), sensitivity.get()).map(Some)
        }
        Mechanism::RandomizedResponse { epsilon, buckets } => match buckets.get() {
            3.. => Ok(Some(bucket_response_atoms(epsilon.get(), buckets.get()))),
            _ => pure(Dd::from(epsilon.get())),
        },
        Mechanism::Staircase { epsilon, gamma } => match epsilon.get() {
            epsilon if epsilon > 0.0 && epsilon < LONGEST_STAIRCASE => {
                Ok(Some(staircase(epsilon, gamma.map(Gamma::get))))
            }
            epsilon => pure(Dd::from(epsilon)),
        },
        Mechanism::SparseVector { threshold, queries } => {
            pure(Dd::sum(threshold.get(), queries.get()))
        }
        Mechanism::AboveThreshold { threshold, queries } => {
            let (threshold, queries) = (Dd::from(threshold.get()), Dd::from(queries.get()));
            if threshold.is_positive() && queries.is_positive() {
                return sparse_vector_atoms(threshold, queries).map(Some);
            }
            pure(threshold + queries)
        }
        _ => Ok(None),
    }
}
