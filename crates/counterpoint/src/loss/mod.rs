//! From a description to its privacy loss.
//!
//! Each mechanism has a pair (P, Q) that no mechanism with its description is easier to
//! tell apart than; its loss is ln P/Q under P. docs/theorems.md derives every pair.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use crate::mechanism::{Adjacency, Guarantee, Mechanism, Release, RenyiCurve};
use crate::quantity::Group;
use crate::rounding::{Dd, STEP, falling};
use std::sync::Arc;

mod atoms;

pub(crate) use atoms::{Atom, Atoms, two_outcomes};
use atoms::{
    buckets_loss, discrete_gaussian, finite, geometric, sampled_discrete_gaussian, staircase,
};

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
}

/// Why a release has no loss.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LossError {
    /// A loss beyond what can be certified.
    #[error("{what} is {value:e}; legal: {legal}")]
    Range {
        /// What is out of range.
        what: &'static str,
        /// Its value, about.
        value: f64,
        /// The legal range, in words.
        legal: &'static str,
    },
    /// Poisson sampling together with replacing a person's data.
    #[error("rate is given with adjacency replace; legal: add-remove, for which it is proved")]
    RateUnderReplace,
    /// Adjacency matters and is not given.
    #[error("adjacency is missing; {why}; legal: add-remove or replace")]
    NoAdjacency {
        /// Why it matters.
        why: &'static str,
    },
    /// Sampling a mechanism for which nothing is proved.
    #[error(
        "rate is given for {mechanism}; legal: approx-dp, laplace, gaussian, discrete-gaussian"
    )]
    Rate {
        /// The mechanism.
        mechanism: &'static str,
    },
    /// An asymmetric pair where a person's data are replaced.
    #[error("p and q differ when exchanged; legal with adjacency replace: a symmetric pair")]
    Asymmetric,
    /// Two vectors without a common outcome.
    #[error("p and q have no outcome in common; legal: at least one")]
    NoCommonOutcome,
    /// A group for which nothing is proved.
    #[error("group is {group} for {what}; legal: 1")]
    Group {
        /// How many people.
        group: u64,
        /// What it is given for.
        what: &'static str,
    },
    /// Parts of the data without the relation that makes them independent.
    #[error("partition is given with adjacency {}; legal: add-remove", if *.replace { "replace" } else { "missing" })]
    Parts {
        /// Whether adjacency is replace, rather than missing.
        replace: bool,
    },
    /// A group may be spread over the parts.
    #[error("partition is given with group {group}; legal: group 1")]
    GroupOverParts {
        /// How many people.
        group: u64,
    },
}

impl LossError {
    /// The field of the release or the plan it is about, with which its text begins.
    #[must_use]
    pub fn field(&self) -> &'static str {
        match self {
            // A quotient is about its numerator.
            Self::Range { what, .. } => what.split_once(" / ").map_or(what, |(field, _)| field),
            Self::RateUnderReplace | Self::Rate { .. } => "rate",
            Self::NoAdjacency { .. } => "adjacency",
            Self::Asymmetric | Self::NoCommonOutcome => "p",
            Self::Group { .. } => "group",
            Self::Parts { .. } | Self::GroupOverParts { .. } => "partition",
        }
    }
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
                None => return Err(LossError::NoAdjacency { why }),
                Some(Adjacency::Replace) => return Err(LossError::RateUnderReplace),
                Some(Adjacency::AddRemove) => {}
            }
            if group.get() > 1 {
                let what = "a release on a Poisson sample";
                return Err(LossError::Group { group: group.get(), what });
            }
            sampled(&release.mechanism, rate, direction)
        }
        _ => whole(&release.mechanism, direction, adjacency, group),
    }
}

/// On all of the data.
fn whole(
    mechanism: &Mechanism,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    let people = group.get() as f64;
    let pure = |epsilon: f64| response(Dd::product(epsilon, people));
    match mechanism {
        Mechanism::ApproxDp(guarantee) => approximate(*guarantee, group),
        Mechanism::Laplace { scale, sensitivity } => {
            let epsilon = Dd::from(sensitivity.get()) / scale.get() * people;
            Ok(Loss::Laplace { epsilon: legal("sensitivity / scale", epsilon)? }.into())
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
        Mechanism::RandomizedResponse { epsilon, buckets } => match (buckets.get(), group.get()) {
            (3.., 1) => Ok(buckets_loss(epsilon.get(), buckets.get()).into()),
            _ => pure(epsilon.get()),
        },
        Mechanism::Exponential { epsilon } => {
            let epsilon = Dd::product(epsilon.get(), people);
            if epsilon.is_positive() {
                Ok(Loss::Range { epsilon: legal("epsilon", epsilon)? }.into())
            } else {
                Ok(Meaning::default())
            }
        }
        Mechanism::Staircase { epsilon, gamma } => match group.get() {
            // Beyond, randomized response is as good.
            1 if epsilon.get() > 0.0 && epsilon.get() < 500.0 => {
                Ok(staircase(epsilon.get(), gamma.map(crate::quantity::Share::get)).into())
            }
            _ => pure(epsilon.get()),
        },
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
            if group.get() > 1 {
                return Err(LossError::Group { group: group.get(), what: "a tcdp release" });
            }
            Ok(Meaning { curve: line(rho.get(), omega.get()), ..Meaning::default() })
        }
        Mechanism::Rdp(curve) => {
            if group.get() > 1 {
                return Err(LossError::Group { group: group.get(), what: "an rdp release" });
            }
            Ok(Meaning { curve: Some(Curve::Table(curve.clone())), ..Meaning::default() })
        }
        Mechanism::SparseVector { threshold, queries } => {
            response(Dd::sum(threshold.get(), queries.get()) * people)
        }
        Mechanism::Finite(pair) => {
            if group.get() > 1 {
                return Err(LossError::Group { group: group.get(), what: "a finite pair" });
            }
            finite(pair, direction, adjacency)
        }
    }
}

/// On a Poisson sample, between neighbours that differ by one person's data: P becomes
/// (1-q) Q + q P if the person is in P's data, Q becomes (1-q) P + q Q if in Q's.
fn sampled(mechanism: &Mechanism, rate: f64, direction: Direction) -> Result<Meaning, LossError> {
    if rate <= 0.0 {
        return Ok(Meaning::default());
    }
    match mechanism {
        Mechanism::ApproxDp(guarantee) => {
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
            Ok(Loss::SampledLaplace { rate, epsilon, direction }.into())
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            let mu = legal("sensitivity / sigma", mu)?;
            Ok(Loss::SampledGaussian { rate, mu, direction }.into())
        }
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            Ok(sampled_discrete_gaussian(sigma.get(), sensitivity.get(), rate, direction)?.into())
        }
        Mechanism::Geometric { .. } => Err(LossError::Rate { mechanism: "geometric" }),
        Mechanism::RandomizedResponse { .. } => {
            Err(LossError::Rate { mechanism: "randomized-response" })
        }
        Mechanism::Exponential { .. } => Err(LossError::Rate { mechanism: "exponential" }),
        Mechanism::Staircase { .. } => Err(LossError::Rate { mechanism: "staircase" }),
        Mechanism::NameAndShame { .. } => Err(LossError::Rate { mechanism: "name-and-shame" }),
        Mechanism::Zcdp { .. } => Err(LossError::Rate { mechanism: "zcdp" }),
        Mechanism::Tcdp { .. } => Err(LossError::Rate { mechanism: "tcdp" }),
        Mechanism::Rdp(_) => Err(LossError::Rate { mechanism: "rdp" }),
        Mechanism::Gdp { .. } => Err(LossError::Rate { mechanism: "gdp" }),
        Mechanism::SparseVector { .. } => Err(LossError::Rate { mechanism: "sparse-vector" }),
        Mechanism::Finite(_) => Err(LossError::Rate { mechanism: "finite" }),
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
            | Self::Range { .. } => true,
            Self::Atoms(atoms) => atoms.symmetric,
            Self::SampledGaussian { .. } | Self::SampledLaplace { .. } => false,
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

/// For g people (g eps, delta (e^(g eps) - 1)/(e^eps - 1)): the chain of g neighbours.
fn approximate(guarantee: Guarantee, group: Group) -> Result<Meaning, LossError> {
    let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
    let people = group.get() as f64;
    let leak = if delta <= 0.0 || group.get() == 1 {
        (delta, delta)
    } else if epsilon <= 0.0 {
        below_one(Dd::product(people, delta), group)?
    } else if epsilon * people > 700.0 {
        return Err(too_many_people(group));
    } else {
        let chain = Dd::product(epsilon, people).expm1() / Dd::from(epsilon).expm1();
        below_one(chain * delta, group)?
    };
    Ok(Meaning { leak, ..response(Dd::product(epsilon, people))? })
}

/// Each of the group may be shamed.
fn leak_for(delta: f64, group: Group) -> Result<Meaning, LossError> {
    let leak = match group.get() {
        1 => (delta, delta),
        people => below_one(Dd::product(people as f64, delta), group)?,
    };
    Ok(Meaning { leak, ..Meaning::default() })
}

fn below_one(leak: Dd, group: Group) -> Result<(f64, f64), LossError> {
    let leak = bracketed(leak);
    if leak.1 < 1.0 { Ok(leak) } else { Err(too_many_people(group)) }
}

fn too_many_people(group: Group) -> LossError {
    LossError::Group { group: group.get(), what: "deltas that then add up to one" }
}

fn gaussian(mu: Dd) -> Result<Meaning, LossError> {
    if !mu.is_positive() {
        return Ok(Meaning::default());
    }
    let mu = legal("mu", mu)?;
    Ok(Loss::Gaussian { square: mu * mu }.into())
}

/// ln(1 + q (e^eps - 1)).
fn amplified(rate: f64, epsilon: Dd) -> Dd {
    if epsilon.hi > 600.0 {
        epsilon + Dd::from(rate).ln() + ((-epsilon).exp() * ((1.0 - rate) / rate)).ln_1p()
    } else {
        (epsilon.expm1() * rate).ln_1p()
    }
}

/// ln(1 - q + q e^l). Where little is left of 1 - q + q e^l, it is better known by its summands than
/// by its distance from one.
pub(crate) fn mixed(rate: Dd, loss: Dd) -> Dd {
    if loss.hi > 600.0 {
        return amplified(rate.hi, loss);
    }
    let rise = loss.expm1() * rate;
    if rise.hi > -0.5 {
        return rise.ln_1p();
    }
    (Dd::ONE - rate + falling(-loss) * rate).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 1 - q = 2^-n: ln(2^-n) + ln(1 + (2^n - 1) e^l), in which nothing cancels.
    #[test]
    fn a_nearly_whole_sample_keeps_its_digits() {
        for (n, loss) in [(1, -0.5), (10, -3.0), (40, -20.0), (40, -40.0), (50, -36.0)] {
            let rest = 2_f64.powi(-n);
            let ratio = Dd::from(2_f64.powi(n) - 1.0) * Dd::from(loss).exp();
            let truth = Dd::from(rest).ln() + ratio.ln_1p();
            let off = mixed(Dd::from(1.0 - rest), Dd::from(loss)) - truth;
            let allowed = 4.0 * crate::rounding::STEP * truth.hi.abs().max(0.1);
            assert!(off.hi.abs() <= allowed, "{n} {loss}: {} of {}", off.hi, truth.hi);
        }
    }
}
