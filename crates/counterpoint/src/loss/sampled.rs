//! Mechanisms run on a Poisson sample.

use super::group::chained;
use super::lists::{
    self, buckets_loss, geometric_list, listed_gaussian, outcomes, sampled_leaky, sampled_outcomes,
    staircase, two,
};
use super::sparse::sparse_list;
use super::whole::LONGEST_STAIRCASE;
use super::{Direction, LossError, Meaning, bracketed, cells, legal, mixtures, response};
use crate::laws::{Atoms, SampledGaussian, SampledLaplace, SampledRange, amplified};
use crate::mechanism::{Adjacency, Mechanism};
use crate::quantity::{Group, Share};
use counterpoint_numerics::Dd;

/// On a Poisson sample, for a group: the sampled mechanism's own guarantee, and a chain of neighbours. Other pairs are
/// known for one person only: of a group some may be added and others removed.
pub(super) fn for_group(
    mechanism: &Mechanism,
    rate: f64,
    group: Group,
) -> Result<Meaning, LossError> {
    let (epsilon, delta) = match mechanism {
        _ if rate <= 0.0 => return Ok(Meaning::default()),
        Mechanism::ApproxDp(guarantee) | Mechanism::AmplifiedDp(guarantee) => {
            (Dd::from(guarantee.epsilon.get()), guarantee.delta.get())
        }
        Mechanism::RandomizedResponse { epsilon, .. } => (Dd::from(epsilon.get()), 0.0),
        Mechanism::SparseVector { threshold, queries }
        | Mechanism::AboveThreshold { threshold, queries } => {
            (Dd::sum(threshold.get(), queries.get()), 0.0)
        }
        _ => {
            let what =
                "a release on a Poisson sample, of whom some may be added and others removed";
            return Err(LossError::Group { group: group.get(), what });
        }
    };
    let epsilon = if epsilon.is_positive() { amplified(rate, epsilon) } else { Dd::ZERO };
    let all = chained(epsilon, Dd::product(rate, delta), group)?;
    match mechanism {
        Mechanism::AmplifiedDp(_) => Ok(all),
        // Nothing is claimed from below: what one person shows has a direction, and this has none.
        _ => Ok(all.above(Meaning::default())),
    }
}

/// On a Poisson sample, between neighbours that differ by one person's data: P becomes
/// (1-q) Q + q P if the person is in P's data, Q becomes (1-q) P + q Q if in Q's.
pub(super) fn sampled(
    mechanism: &Mechanism,
    rate: f64,
    direction: Direction,
) -> Result<Meaning, LossError> {
    if rate <= 0.0 {
        return Ok(Meaning::default());
    }
    match mechanism {
        Mechanism::ApproxDp(guarantee) => {
            let whole = match guarantee.epsilon.get() {
                epsilon if epsilon > 0.0 => Some(two(Dd::from(epsilon))?),
                _ => None,
            };
            sampled_leaky(whole.as_ref(), guarantee.delta.get(), rate, direction)
        }
        Mechanism::AmplifiedDp(guarantee) => {
            let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
            let leak = bracketed(Dd::product(rate, delta));
            if epsilon <= 0.0 {
                return Ok(Meaning { leak, ..Meaning::default() });
            }
            Ok(Meaning { leak, ..response(amplified(rate, Dd::from(epsilon)))? })
        }
        Mechanism::Laplace { scale, sensitivity } => {
            let epsilon = Dd::from(sensitivity.get()) / scale.get();
            let epsilon = legal("sensitivity / scale", epsilon)?;
            Ok(SampledLaplace { rate, epsilon, direction }.into())
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            let mu = legal("sensitivity / sigma", mu)?;
            Ok(SampledGaussian { rate, mu, direction }.into())
        }
        Mechanism::Gdp { mu } => {
            let mu = Dd::from(mu.get());
            if !mu.is_positive() {
                return Ok(Meaning::default());
            }
            Ok(SampledGaussian { rate, mu: legal("mu", mu)?, direction }.into())
        }
        Mechanism::Exponential { epsilon } => {
            let epsilon = Dd::from(epsilon.get());
            if !epsilon.is_positive() {
                return Ok(Meaning::default());
            }
            Ok(SampledRange { rate, epsilon: legal("epsilon", epsilon)?, direction }.into())
        }
        Mechanism::NameAndShame { delta } => sampled_leaky(None, delta.get(), rate, direction),
        Mechanism::GaussianMixture { sigma, shifts } => {
            mixtures::mixture(shifts, sigma.get(), rate, direction)
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
        Mechanism::Cells(pair) => cells::cells(pair, rate, direction, Some(Adjacency::AddRemove)),
        Mechanism::Finite(pair) => sampled_outcomes(&outcomes(pair), rate, direction),
        Mechanism::Zcdp { .. } => Err(LossError::Rate { mechanism: "zcdp" }),
        Mechanism::Tcdp { .. } => Err(LossError::Rate { mechanism: "tcdp" }),
        Mechanism::Rdp(_) => Err(LossError::Rate { mechanism: "rdp" }),
        Mechanism::DiscreteGaussian { .. }
        | Mechanism::Geometric { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Staircase { .. }
        | Mechanism::SparseVector { .. }
        | Mechanism::AboveThreshold { .. } => match mirrored(mechanism)? {
            Some(whole) => Ok(lists::sampled(&whole, rate, direction).into()),
            None => Ok(Meaning::default()),
        },
    }
}

/// The list of a pair that is its own mirror image; none if it shows nothing.
fn mirrored(mechanism: &Mechanism) -> Result<Option<Atoms>, LossError> {
    let pure = |epsilon: Dd| epsilon.is_positive().then(|| two(epsilon)).transpose();
    match mechanism {
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            listed_gaussian(sigma.get(), sensitivity.get()).map(Some)
        }
        Mechanism::Geometric { scale, sensitivity } => {
            geometric_list(Dd::ONE / scale.get(), sensitivity.get()).map(Some)
        }
        Mechanism::RandomizedResponse { epsilon, buckets } => match buckets.get() {
            3.. => Ok(Some(buckets_loss(epsilon.get(), buckets.get()))),
            _ => pure(Dd::from(epsilon.get())),
        },
        Mechanism::Staircase { epsilon, gamma } => match epsilon.get() {
            epsilon if epsilon > 0.0 && epsilon < LONGEST_STAIRCASE => {
                Ok(Some(staircase(epsilon, gamma.map(Share::get))))
            }
            epsilon => pure(Dd::from(epsilon)),
        },
        Mechanism::SparseVector { threshold, queries } => {
            pure(Dd::sum(threshold.get(), queries.get()))
        }
        Mechanism::AboveThreshold { threshold, queries } => {
            let (threshold, queries) = (Dd::from(threshold.get()), Dd::from(queries.get()));
            if threshold.is_positive() && queries.is_positive() {
                return sparse_list(threshold, queries).map(Some);
            }
            pure(threshold + queries)
        }
        _ => Ok(None),
    }
}
