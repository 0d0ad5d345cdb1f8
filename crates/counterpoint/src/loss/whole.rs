//! The losses of mechanisms that run on all of the data, for one person or a group.

use super::batch::batch_loss;
use super::group::{
    divide_by_group, group_curve, group_gaussian_curve, group_guarantee_loss, group_leak_loss,
    pure_group_loss,
};
use super::lists::{bucket_response_atoms, discrete_gaussian, finite, geometric, staircase};
use super::noisy_max::{check_scores, noisy_max_epsilon, noisy_max_loss};
use super::selection::selection_loss;
use super::shuffled::shuffled_loss;
use super::sparse::sparse_vector_loss;
use super::truncated::TruncatedLaplace;
use super::{
    Curve, Direction, LossError, PairLoss, allocation, cells, check_loss_range, draws, gaussian,
    is_symmetric, line, mixtures, response,
};
use crate::laws::{Laplace, Range, Subset};
use crate::mechanism::{Adjacency, Mechanism};
use crate::quantity::{Gamma, GroupSize};
use counterpoint_numerics::Dd;

/// The epsilon from which a staircase is treated as randomized response, which is as good.
pub(super) const LONGEST_STAIRCASE: f64 = 500.0;

/// The loss of a mechanism on all of the data.
pub(super) fn unsampled_loss(
    mechanism: &Mechanism,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    let people = group.get() as f64;
    match mechanism {
        Mechanism::ApproxDp(guarantee) | Mechanism::AmplifiedDp(guarantee) => {
            group_guarantee_loss(*guarantee, group)
        }
        Mechanism::Laplace { scale, sensitivity } => {
            let epsilon = Dd::from(sensitivity.get()) / scale.get() * people;
            Ok(Laplace { epsilon: check_loss_range("sensitivity / scale", epsilon)? }.into())
        }
        Mechanism::TruncatedLaplace { scale, sensitivity, bound } => {
            TruncatedLaplace::new(*scale, *sensitivity, *bound, group)?.loss(1.0, direction)
        }
        Mechanism::Geometric { scale, sensitivity } => {
            let steps = sensitivity.get().saturating_mul(group.get());
            geometric(Dd::ONE / scale.get(), steps)
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get() * people;
            gaussian(check_loss_range("sensitivity / sigma", mu)?)
        }
        Mechanism::Gdp { mu } => gaussian(Dd::product(mu.get(), people)),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            let steps = sensitivity.get().saturating_mul(group.get());
            discrete_gaussian(sigma.get(), steps)
        }
        Mechanism::RandomizedResponse { epsilon, buckets } => {
            let one = match buckets.get() {
                3.. => bucket_response_atoms(epsilon.get(), buckets.get()).into(),
                _ => response(Dd::from(epsilon.get()))?,
            };
            pure_group_loss(Dd::from(epsilon.get()), one, group)
        }
        Mechanism::Exponential { epsilon } => {
            let epsilon = Dd::product(epsilon.get(), people);
            if epsilon.is_positive() {
                Ok(Range { epsilon: check_loss_range("epsilon", epsilon)? }.into())
            } else {
                Ok(PairLoss::default())
            }
        }
        Mechanism::NoisyMax { noise, scale, sensitivity, scores } => {
            check_scores(*scores, adjacency)?;
            noisy_max_loss(*noise, noisy_max_epsilon(*scale, *sensitivity, *scores)?, group)
        }
        Mechanism::Staircase { epsilon, gamma } => {
            let one = match epsilon.get() {
                epsilon if epsilon > 0.0 && epsilon < LONGEST_STAIRCASE => {
                    staircase(epsilon, gamma.map(Gamma::get)).into()
                }
                epsilon => response(Dd::from(epsilon))?,
            };
            pure_group_loss(Dd::from(epsilon.get()), one, group)
        }
        Mechanism::NameAndShame { delta } => group_leak_loss(delta.get(), group),
        Mechanism::Zcdp { rho, delta } => {
            let leak = group_leak_loss(delta.get(), group)?;
            if group.get() > 1 && delta.get() > 0.0 {
                let what = "a zcdp release with a delta";
                return Err(LossError::Group { group: group.get(), what });
            }
            let rho = match group.get() {
                1 => rho.get(),
                _ => (Dd::product(people, people) * rho.get()).upper(),
            };
            Ok(PairLoss { curve: line(rho, f64::INFINITY), ..leak })
        }
        Mechanism::Tcdp { rho, omega } => {
            let (rho, omega) = match group.get() {
                1 => (rho.get(), omega.get()),
                _ => (
                    (Dd::product(people, people) * rho.get()).upper(),
                    divide_by_group(omega.get(), group),
                ),
            };
            if omega <= 1.0 {
                let what = "a tcdp release whose omega is not above that";
                return Err(LossError::Group { group: group.get(), what });
            }
            Ok(PairLoss { curve: line(rho, omega), ..PairLoss::default() })
        }
        Mechanism::Rdp(curve) => {
            let of = |curve| PairLoss { curve: Some(Curve::Table(curve)), ..PairLoss::default() };
            match group.get() {
                1 => Ok(of(curve.clone())),
                _ => Ok(of(group_curve(curve, group)?)
                    .with_lower_pair(of(group_gaussian_curve(curve, group)?))),
            }
        }
        Mechanism::SparseVector { threshold, queries } => {
            let epsilon = Dd::sum(threshold.get(), queries.get());
            pure_group_loss(epsilon, response(epsilon)?, group)
        }
        Mechanism::AboveThreshold { threshold, queries } => {
            let (threshold, queries) = (threshold.get(), queries.get());
            let one = sparse_vector_loss(Dd::from(threshold), Dd::from(queries))?;
            match group.get() {
                1 => Ok(one),
                _ => Ok(sparse_vector_loss(
                    Dd::product(threshold, people),
                    Dd::product(queries, people),
                )?
                .with_lower_pair(one)),
            }
        }
        Mechanism::Finite(pair) => {
            if group.get() > 1 {
                return Err(LossError::Group { group: group.get(), what: "a finite pair" });
            }
            finite(pair, direction, adjacency)
        }
        Mechanism::GaussianSubset { sigma, sensitivity, share } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            subset(check_loss_range("sensitivity / sigma", mu)?, share.get(), adjacency, group)
        }
        Mechanism::GaussianAllocation { .. } => {
            let [remove, add] = allocation_losses(mechanism, adjacency, group)?;
            Ok(if direction == Direction::Remove { remove } else { add })
        }
        Mechanism::GaussianBatch { sigma, norm, share, cap } => {
            let mu = Dd::from(norm.get()) / sigma.get();
            batch_loss(mu, share.get(), *cap, direction, adjacency, group)
        }
        Mechanism::GaussianDraws { sigma, sensitivity, records, draws } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            draws::draws_loss(mu, (draws.get(), records.get()), adjacency, group)
        }
        Mechanism::ShuffledReports { epsilon, people } => {
            shuffled_loss(*epsilon, people.get(), adjacency, group)
        }
        Mechanism::PrivateSelection(selection) => {
            selection_loss(selection, direction, adjacency, group)
        }
        Mechanism::Cells(pair) => {
            if group.get() > 1 {
                return Err(LossError::Group { group: group.get(), what: "cells" });
            }
            cells::cells_loss(pair, 1.0, direction, adjacency)
        }
        Mechanism::GaussianMixture { sigma, shifts } => {
            if group.get() > 1 {
                let what = "a gaussian-mixture release, whose bound is proved for one person";
                return Err(LossError::Group { group: group.get(), what });
            }
            let pair_loss = mixtures::mixture_loss(shifts, sigma.get(), 1.0, direction)?;
            match adjacency {
                _ if is_symmetric(&pair_loss) => Ok(pair_loss),
                None => {
                    let why = "the guarantee of a random shift depends on it";
                    Err(LossError::no_adjacency(why))
                }
                Some(Adjacency::Replace) => Err(LossError::MixtureUnderReplace),
                Some(Adjacency::AddRemove) => Ok(pair_loss),
            }
        }
    }
}

/// The losses of a random allocation to steps, in both directions.
pub(super) fn allocation_losses(
    mechanism: &Mechanism,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<[PairLoss; 2], LossError> {
    let Mechanism::GaussianAllocation { sigma, sensitivity, steps, each } = mechanism else {
        return Ok(Default::default());
    };
    let mu = Dd::from(sensitivity.get()) / sigma.get();
    allocation::losses(mu, (steps.get(), each.get()), adjacency, group)
}

/// The loss on a sample of a fixed size without replacement, which is proved if one record replaces another.
fn subset(
    mu: Dd,
    share: f64,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    draws::check_fixed_size(adjacency, group, LossError::SubsetUnderAddRemove)?;
    match share {
        1.0.. => gaussian(mu),
        ..=0.0 => Ok(PairLoss::default()),
        _ => Ok(Subset { share, mu }.into()),
    }
}
