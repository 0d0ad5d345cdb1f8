//! Mechanisms run on all of the data, for one person or a group.

use super::batch::batch;
use super::group::{approximate, curve_for, gaussians_for, leak_for, pure, shared};
use super::lists::{buckets_loss, discrete_gaussian, finite, geometric, staircase};
use super::sparse::sparse;
use super::{
    Curve, Direction, LossError, Meaning, allocation, cells, draws, gaussian, is_symmetric, legal,
    line, mixtures, response,
};
use crate::laws::{Laplace, Range, Subset};
use crate::mechanism::{Adjacency, Mechanism};
use crate::quantity::{Group, Share};
use counterpoint_numerics::Dd;

/// Beyond, randomized response is as good as a staircase.
pub(super) const LONGEST_STAIRCASE: f64 = 500.0;

/// On all of the data.
pub(super) fn whole(
    mechanism: &Mechanism,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    let people = group.get() as f64;
    match mechanism {
        Mechanism::ApproxDp(guarantee) | Mechanism::AmplifiedDp(guarantee) => {
            approximate(*guarantee, group)
        }
        Mechanism::Laplace { scale, sensitivity } => {
            let epsilon = Dd::from(sensitivity.get()) / scale.get() * people;
            Ok(Laplace { epsilon: legal("sensitivity / scale", epsilon)? }.into())
        }
        Mechanism::Geometric { scale, sensitivity } => {
            let steps = sensitivity.get().saturating_mul(group.get());
            geometric(Dd::ONE / scale.get(), steps)
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get() * people;
            gaussian(legal("sensitivity / sigma", mu)?)
        }
        Mechanism::Gdp { mu } => gaussian(Dd::product(mu.get(), people)),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            let steps = sensitivity.get().saturating_mul(group.get());
            discrete_gaussian(sigma.get(), steps)
        }
        Mechanism::RandomizedResponse { epsilon, buckets } => {
            let one = match buckets.get() {
                3.. => buckets_loss(epsilon.get(), buckets.get()).into(),
                _ => response(Dd::from(epsilon.get()))?,
            };
            pure(Dd::from(epsilon.get()), one, group)
        }
        Mechanism::Exponential { epsilon } => {
            let epsilon = Dd::product(epsilon.get(), people);
            if epsilon.is_positive() {
                Ok(Range { epsilon: legal("epsilon", epsilon)? }.into())
            } else {
                Ok(Meaning::default())
            }
        }
        Mechanism::Staircase { epsilon, gamma } => {
            let one = match epsilon.get() {
                epsilon if epsilon > 0.0 && epsilon < LONGEST_STAIRCASE => {
                    staircase(epsilon, gamma.map(Share::get)).into()
                }
                epsilon => response(Dd::from(epsilon))?,
            };
            pure(Dd::from(epsilon.get()), one, group)
        }
        Mechanism::NameAndShame { delta } => leak_for(delta.get(), group),
        Mechanism::Zcdp { rho, delta } => {
            let leak = leak_for(delta.get(), group)?;
            if group.get() > 1 && delta.get() > 0.0 {
                let what = "a zcdp release with a delta";
                return Err(LossError::Group { group: group.get(), what });
            }
            let rho = match group.get() {
                1 => rho.get(),
                _ => (Dd::product(people, people) * rho.get()).upper(),
            };
            Ok(Meaning { curve: line(rho, f64::INFINITY), ..leak })
        }
        Mechanism::Tcdp { rho, omega } => {
            let (rho, omega) = match group.get() {
                1 => (rho.get(), omega.get()),
                _ => {
                    ((Dd::product(people, people) * rho.get()).upper(), shared(omega.get(), group))
                }
            };
            if omega <= 1.0 {
                let what = "a tcdp release with an omega that is no larger";
                return Err(LossError::Group { group: group.get(), what });
            }
            Ok(Meaning { curve: line(rho, omega), ..Meaning::default() })
        }
        Mechanism::Rdp(curve) => {
            let of = |curve| Meaning { curve: Some(Curve::Table(curve)), ..Meaning::default() };
            match group.get() {
                1 => Ok(of(curve.clone())),
                _ => Ok(of(curve_for(curve, group)?).above(of(gaussians_for(curve, group)?))),
            }
        }
        Mechanism::SparseVector { threshold, queries } => {
            let epsilon = Dd::sum(threshold.get(), queries.get());
            pure(epsilon, response(epsilon)?, group)
        }
        Mechanism::AboveThreshold { threshold, queries } => {
            let (threshold, queries) = (threshold.get(), queries.get());
            let one = sparse(Dd::from(threshold), Dd::from(queries))?;
            match group.get() {
                1 => Ok(one),
                _ => Ok(sparse(Dd::product(threshold, people), Dd::product(queries, people))?
                    .above(one)),
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
            subset(legal("sensitivity / sigma", mu)?, share.get(), adjacency, group)
        }
        Mechanism::GaussianAllocation { .. } => {
            let [remove, add] = allocated(mechanism, adjacency, group)?;
            Ok(if direction == Direction::Remove { remove } else { add })
        }
        Mechanism::GaussianBatch { sigma, norm, share, cap } => {
            let mu = Dd::from(norm.get()) / sigma.get();
            batch(mu, share.get(), *cap, direction, adjacency, group)
        }
        Mechanism::GaussianDraws { sigma, sensitivity, records, draws } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            draws::draws(mu, (draws.get(), records.get()), adjacency, group)
        }
        Mechanism::Cells(pair) => {
            if group.get() > 1 {
                return Err(LossError::Group { group: group.get(), what: "cells" });
            }
            cells::cells(pair, 1.0, direction, adjacency)
        }
        Mechanism::GaussianMixture { sigma, shifts } => {
            if group.get() > 1 {
                let what = "shifts of which only one person's law is known";
                return Err(LossError::Group { group: group.get(), what });
            }
            let meaning = mixtures::mixture(shifts, sigma.get(), 1.0, direction)?;
            match adjacency {
                _ if is_symmetric(&meaning) => Ok(meaning),
                None => {
                    let why = "a shift drawn at random is private in its own way under each";
                    Err(LossError::no_adjacency(why))
                }
                Some(Adjacency::Replace) => Err(LossError::MixtureUnderReplace),
                Some(Adjacency::AddRemove) => Ok(meaning),
            }
        }
    }
}

/// In steps drawn at random, in both directions.
pub(super) fn allocated(
    mechanism: &Mechanism,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<[Meaning; 2], LossError> {
    let Mechanism::GaussianAllocation { sigma, sensitivity, steps, each } = mechanism else {
        return Ok(Default::default());
    };
    let mu = Dd::from(sensitivity.get()) / sigma.get();
    allocation::of(mu, (steps.get(), each.get()), adjacency, group)
}

/// On a sample of a fixed size: proved where one record is in another's place.
fn subset(
    mu: Dd,
    share: f64,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    draws::fixed_size(adjacency, group, LossError::SubsetUnderAddRemove)?;
    match share {
        1.0.. => gaussian(mu),
        ..=0.0 => Ok(Meaning::default()),
        _ => Ok(Subset { share, mu }.into()),
    }
}
