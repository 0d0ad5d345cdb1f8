//! From a description to its privacy loss.
//!
//! Each mechanism has a pair (P, Q) that no mechanism with its description is easier to
//! tell apart than; its loss is ln P/Q under P. docs/theorems.md derives every pair.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod allocation;
mod amplified;
mod atoms;
mod batch;
mod cells;
mod cut;
mod draws;
mod error;
mod group;
mod listed;
mod mixture;
mod sampled;
mod sparse;
mod whole;

pub(crate) use amplified::mixed;
pub(crate) use atoms::{Atom, Atoms, WholeGaussian, sampled_two_outcomes, two_outcomes};
pub use error::LossError;
pub(crate) use mixture::Mixture;
#[cfg(test)]
pub(crate) use mixture::Shift;

use crate::mechanism::{Adjacency, Mechanism, Release, RenyiCurve};
use crate::quantity::Group;
use counterpoint_numerics::{Dd, STEP};
use std::sync::Arc;

/// Which of two neighbouring data sets P is: under add/remove the direction is shared
/// by all releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// P has the person's data, Q does not.
    Remove,
    /// Q has the person's data, P does not.
    Add,
}

/// The finite part of a loss. Parameters carry a relative error of at most 2^-94.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Loss {
    /// Plus or minus epsilon.
    Response { epsilon: Dd },
    /// N(square/2, square).
    Gaussian { square: Dd },
    /// Atoms at both ends and density e^((l - epsilon)/2)/4 between.
    Laplace { epsilon: Dd },
    /// Density proportional to e^(l/2) between -epsilon and epsilon.
    Range { epsilon: Dd },
    /// Finitely many losses.
    Atoms(Arc<Atoms>),
    /// A Gaussian pair, mu apart, on a Poisson sample.
    SampledGaussian { rate: f64, mu: Dd, direction: Direction },
    /// A Laplace pair on a Poisson sample.
    SampledLaplace { rate: f64, epsilon: Dd, direction: Direction },
    /// The pair of a range on a Poisson sample.
    SampledRange { rate: f64, epsilon: Dd, direction: Direction },
    /// Gaussians whose shift is drawn at random.
    Mixture(Arc<Mixture>),
    /// A Gaussian pair, mu apart, on a sample of a fixed size.
    Subset { share: f64, mu: Dd },
}

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
        let same = remove.loss.as_ref().is_none_or(Loss::is_symmetric);
        return Ok((remove, (!same).then_some(add)));
    }
    let meaning = of(release, Direction::Remove, adjacency, group)?;
    // A pair that is its own mirror image is bounded once.
    let mirrored = adjacency == Some(Adjacency::Replace)
        && matches!(
            release.mechanism,
            Mechanism::GaussianBatch { .. } | Mechanism::GaussianDraws { .. }
        );
    if mirrored || meaning.loss.as_ref().is_none_or(Loss::is_symmetric) {
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

impl From<Loss> for Meaning {
    fn from(loss: Loss) -> Self {
        Self { loss: Some(loss), ..Self::default() }
    }
}

impl From<Atoms> for Meaning {
    fn from(atoms: Atoms) -> Self {
        Loss::Atoms(Arc::new(atoms)).into()
    }
}

impl Loss {
    /// Whether exchanging P and Q makes no difference.
    pub(crate) fn is_symmetric(&self) -> bool {
        match self {
            Self::Response { .. }
            | Self::Gaussian { .. }
            | Self::Laplace { .. }
            | Self::Range { .. }
            | Self::Subset { .. } => true,
            Self::Atoms(atoms) => atoms.symmetric,
            Self::SampledGaussian { .. }
            | Self::SampledLaplace { .. }
            | Self::SampledRange { .. }
            | Self::Mixture(_) => false,
        }
    }
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
    Ok(Loss::Response { epsilon: legal("epsilon", epsilon)? }.into())
}

fn gaussian(mu: Dd) -> Result<Meaning, LossError> {
    if !mu.is_positive() {
        return Ok(Meaning::default());
    }
    let mu = legal("mu", mu)?;
    Ok(Loss::Gaussian { square: mu * mu }.into())
}
