//! From a description to its privacy loss: a leak, and a law of the finite part or a Rényi curve.
//!
//! Theory 5.1 lists every pair and its derivation.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod allocation;
mod batch;
mod cells;
mod cut;
mod draws;
mod error;
mod group;
mod listed;
mod lists;
mod mixtures;
mod sampled;
mod sparse;
mod whole;

pub use crate::laws::Direction;
pub use error::LossError;
#[cfg(test)]
pub(crate) use lists::listed_gaussian;

use crate::laws::{Atoms, Gaussian, Loss, Response};
use crate::mechanism::{Adjacency, Mechanism, Release, RenyiCurve};
use crate::quantity::Group;
use counterpoint_numerics::{Dd, STEP};
use std::sync::Arc;

/// A Rényi curve of a mechanism that has no loss distribution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Curve {
    /// Divergence at most rho times the order, for orders below omega.
    Line {
        rho: f64,
        omega: f64,
    },
    Table(RenyiCurve),
    /// Divergence at most rho times the order, of a mechanism that may have less: it is no witness
    /// of the line.
    Below {
        rho: f64,
    },
}

/// What a description means.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Meaning {
    /// The probability of an infinite loss, from below and from above.
    pub(crate) leak: (f64, f64),
    pub(crate) loss: Option<Loss>,
    pub(crate) curve: Option<Curve>,
    /// Other losses, so many times each.
    pub(crate) also: Vec<(Loss, u64)>,
    /// What it is at least, where that is another pair: the pair itself is only known to lie between.
    pub(crate) beneath: Option<Box<Meaning>>,
}

const LEGAL_LOSS: &str = "a number from 1e-100 to 1e6";

/// The loss of the worst mechanism that fits a description, in one direction, for a group.
pub(crate) fn of(
    release: &Release,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    match release.rate.map(crate::quantity::Rate::get) {
        Some(rate) if rate < 1.0 => {
            let why = "a Poisson sample is private in its own way under each";
            match adjacency {
                None => return Err(LossError::no_adjacency(why)),
                Some(Adjacency::Replace) => return Err(LossError::RateUnderReplace),
                Some(Adjacency::AddRemove) => {}
            }
            if group.get() > 1 {
                return sampled::for_group(&release.mechanism, rate, group);
            }
            sampled::sampled(&release.mechanism, rate, direction)
        }
        _ => whole::whole(&release.mechanism, direction, adjacency, group),
    }
}

/// The same in both directions; once where they do not differ.
pub(crate) fn both(
    release: &Release,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<(Meaning, Option<Meaning>), LossError> {
    if matches!(release.mechanism, Mechanism::GaussianAllocation { .. }) && release.rate.is_none() {
        let [remove, add] = whole::allocated(&release.mechanism, adjacency, group)?;
        let same = is_symmetric(&remove);
        return Ok((remove, (!same).then_some(add)));
    }
    let meaning = of(release, Direction::Remove, adjacency, group)?;
    // A pair that is its own mirror image is bounded once.
    let mirrored = adjacency == Some(Adjacency::Replace)
        && matches!(
            release.mechanism,
            Mechanism::GaussianBatch { .. } | Mechanism::GaussianDraws { .. }
        );
    if mirrored || is_symmetric(&meaning) {
        return Ok((meaning, None));
    }
    let mirrored = of(release, Direction::Add, adjacency, group)?;
    Ok((meaning, Some(mirrored)))
}

impl Meaning {
    /// The same, known to be no less than another: what is charged from above, and from below.
    fn above(self, beneath: Self) -> Self {
        Self { beneath: Some(Box::new(beneath)), ..self }
    }
}

impl<L: Into<Loss>> From<L> for Meaning {
    fn from(law: L) -> Self {
        Self { loss: Some(law.into()), ..Self::default() }
    }
}

impl From<Atoms> for Loss {
    fn from(atoms: Atoms) -> Self {
        Arc::new(atoms).into()
    }
}

/// Whether exchanging P and Q makes no difference to the finite loss.
fn is_symmetric(meaning: &Meaning) -> bool {
    meaning.loss.as_ref().is_none_or(|loss| loss.law().is_symmetric())
}

fn legal(what: &'static str, value: Dd) -> Result<Dd, LossError> {
    if (1e-100..=1e6).contains(&value.hi) && !(value - Dd::from(1e6)).is_positive() {
        Ok(value)
    } else {
        Err(LossError::Range { what, value: value.hi, legal: LEGAL_LOSS })
    }
}

/// A positive number between two doubles. A double stands for itself: results that are
/// not exact have a low part.
pub(crate) fn bracketed(x: Dd) -> (f64, f64) {
    if x.lo.abs() < f64::from_bits(1) {
        return (x.hi, x.hi);
    }
    let error = x * STEP;
    ((x - error).lower().max(0.0), (x + error).upper())
}

fn line(rho: f64, omega: f64) -> Option<Curve> {
    (rho > 0.0).then_some(Curve::Line { rho, omega })
}

fn response(epsilon: Dd) -> Result<Meaning, LossError> {
    if !epsilon.is_positive() {
        return Ok(Meaning::default());
    }
    Ok(Response { epsilon: legal("epsilon", epsilon)? }.into())
}

fn gaussian(mu: Dd) -> Result<Meaning, LossError> {
    if !mu.is_positive() {
        return Ok(Meaning::default());
    }
    let mu = legal("mu", mu)?;
    Ok(Gaussian { square: mu * mu }.into())
}
