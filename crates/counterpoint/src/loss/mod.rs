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
mod cells;
mod mixture;

pub(crate) use atoms::{Atom, Atoms, sampled_two_outcomes, two_outcomes};
use atoms::{
    buckets_loss, discrete_gaussian, finite, geometric, geometric_list, listed_gaussian, outcomes,
    sampled_outcomes, staircase, two,
};
pub(crate) use mixture::Mixture;
#[cfg(test)]
pub(crate) use mixture::Shift;

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
    /// What it is at least, where that is another pair: the pair itself is only known to lie between.
    pub(crate) beneath: Option<Box<Meaning>>,
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
    /// A shift drawn at random together with replacing a person's data.
    #[error(
        "sensitivities differ, with adjacency replace; legal: add-remove, for which it is proved"
    )]
    MixtureUnderReplace,
    /// A sample of a fixed size together with adding or removing a person.
    #[error("share is given with adjacency add-remove; legal: replace, for which it is proved")]
    SubsetUnderAddRemove,
    /// Adjacency matters and is not given.
    #[error("adjacency is missing; {why}; legal: add-remove or replace")]
    NoAdjacency {
        /// Why it matters.
        why: &'static str,
    },
    /// Sampling a mechanism for which nothing is proved.
    #[error(
        "rate is given for {mechanism}, of which only a Rényi curve is known; legal: mechanisms with a pair"
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
            Self::MixtureUnderReplace => "sensitivities",
            Self::SubsetUnderAddRemove => "share",
            Self::NoAdjacency { .. } => "adjacency",
            Self::Asymmetric | Self::NoCommonOutcome => "p",
            Self::Group { .. } => "group",
            Self::Parts { .. } | Self::GroupOverParts { .. } => "partition",
        }
    }
}

/// Beyond, randomized response is as good as a staircase.
const LONGEST_STAIRCASE: f64 = 500.0;

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
                return sampled_for(&release.mechanism, rate, group);
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
            (3.., _) => {
                pure(epsilon.get())?.above(buckets_loss(epsilon.get(), buckets.get()).into())
            }
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
        Mechanism::Staircase { epsilon, gamma } => match epsilon.get() {
            epsilon if epsilon > 0.0 && epsilon < LONGEST_STAIRCASE => {
                let one = staircase(epsilon, gamma.map(crate::quantity::Share::get)).into();
                if group.get() == 1 { Ok(one) } else { pure(epsilon)?.above(one) }
            }
            epsilon => pure(epsilon),
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
                _ => of(curve_for(curve, group)?).above(of(gaussians_for(curve, group)?)),
            }
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
        Mechanism::GaussianSubset { sigma, sensitivity, share } => {
            let mu = Dd::from(sensitivity.get()) / sigma.get();
            subset(legal("sensitivity / sigma", mu)?, share.get(), adjacency, group)
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
            let meaning = mixture::mixture(shifts, sigma.get(), 1.0, direction)?;
            match adjacency {
                _ if meaning.loss.as_ref().is_none_or(Loss::is_symmetric) => Ok(meaning),
                None => {
                    let why = "a shift drawn at random is private in its own way under each";
                    Err(LossError::NoAdjacency { why })
                }
                Some(Adjacency::Replace) => Err(LossError::MixtureUnderReplace),
                Some(Adjacency::AddRemove) => Ok(meaning),
            }
        }
    }
}

/// On a Poisson sample, for a group: the sampled mechanism's own guarantee, and a chain of neighbours. Other pairs are
/// known for one person only: of a group some may be added and others removed.
fn sampled_for(mechanism: &Mechanism, rate: f64, group: Group) -> Result<Meaning, LossError> {
    let pure = |epsilon: f64| (Dd::from(epsilon), 0.0);
    let (epsilon, delta) = match mechanism {
        _ if rate <= 0.0 => return Ok(Meaning::default()),
        Mechanism::ApproxDp(guarantee) => {
            (Dd::from(guarantee.epsilon.get()), guarantee.delta.get())
        }
        Mechanism::RandomizedResponse { epsilon, .. } => pure(epsilon.get()),
        Mechanism::SparseVector { threshold, queries } => {
            (Dd::sum(threshold.get(), queries.get()), 0.0)
        }
        _ => {
            let what =
                "a release on a Poisson sample, of whom some may be added and others removed";
            return Err(LossError::Group { group: group.get(), what });
        }
    };
    let epsilon = if epsilon.is_positive() { amplified(rate, epsilon) } else { Dd::ZERO };
    chained(epsilon, Dd::product(rate, delta), group)
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
        Mechanism::Gdp { mu } => {
            let mu = Dd::from(mu.get());
            if !mu.is_positive() {
                return Ok(Meaning::default());
            }
            Ok(Loss::SampledGaussian { rate, mu: legal("mu", mu)?, direction }.into())
        }
        Mechanism::Exponential { epsilon } => {
            let epsilon = Dd::from(epsilon.get());
            if !epsilon.is_positive() {
                return Ok(Meaning::default());
            }
            Ok(Loss::SampledRange { rate, epsilon: legal("epsilon", epsilon)?, direction }.into())
        }
        Mechanism::NameAndShame { delta } => {
            let delta = Dd::from(delta.get());
            let rest = Dd::ONE - delta;
            let shamed = [(delta, Dd::ZERO), (rest, rest), (Dd::ZERO, delta)];
            match delta.is_positive() {
                true => sampled_outcomes(&shamed, rate, direction),
                false => Ok(Meaning::default()),
            }
        }
        Mechanism::GaussianMixture { sigma, shifts } => {
            mixture::mixture(shifts, sigma.get(), rate, direction)
        }
        Mechanism::GaussianSubset { .. } => Err(LossError::SubsetUnderAddRemove),
        Mechanism::Cells(pair) => cells::cells(pair, rate, direction, Some(Adjacency::AddRemove)),
        Mechanism::Finite(pair) => sampled_outcomes(&outcomes(pair), rate, direction),
        Mechanism::Zcdp { .. } => Err(LossError::Rate { mechanism: "zcdp" }),
        Mechanism::Tcdp { .. } => Err(LossError::Rate { mechanism: "tcdp" }),
        Mechanism::Rdp(_) => Err(LossError::Rate { mechanism: "rdp" }),
        Mechanism::DiscreteGaussian { .. }
        | Mechanism::Geometric { .. }
        | Mechanism::RandomizedResponse { .. }
        | Mechanism::Staircase { .. }
        | Mechanism::SparseVector { .. } => match mirrored(mechanism)? {
            Some(whole) => Ok(atoms::sampled(&whole, rate, direction).into()),
            None => Ok(Meaning::default()),
        },
    }
}

/// On a sample of a fixed size: proved where one record is in another's place.
fn subset(
    mu: Dd,
    share: f64,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    match adjacency {
        None => {
            let why = "a sample of a fixed size is private in its own way under each";
            return Err(LossError::NoAdjacency { why });
        }
        Some(Adjacency::AddRemove) => return Err(LossError::SubsetUnderAddRemove),
        Some(Adjacency::Replace) => {}
    }
    if group.get() > 1 {
        let what = "a release on a sample of a fixed size";
        return Err(LossError::Group { group: group.get(), what });
    }
    match share {
        1.0.. => gaussian(mu),
        ..=0.0 => Ok(Meaning::default()),
        _ => Ok(Loss::Subset { share, mu }.into()),
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
                Ok(Some(staircase(epsilon, gamma.map(crate::quantity::Share::get))))
            }
            epsilon => pure(Dd::from(epsilon)),
        },
        Mechanism::SparseVector { threshold, queries } => {
            pure(Dd::sum(threshold.get(), queries.get()))
        }
        _ => Ok(None),
    }
}

impl Meaning {
    /// The same, known to be no less than another: what is charged from above, and from below.
    fn above(self, beneath: Self) -> Result<Self, LossError> {
        Ok(Self { beneath: Some(Box::new(beneath)), ..self })
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

fn approximate(guarantee: Guarantee, group: Group) -> Result<Meaning, LossError> {
    chained(Dd::from(guarantee.epsilon.get()), Dd::from(guarantee.delta.get()), group)
}

/// For g people (g eps, delta (e^(g eps) - 1)/(e^eps - 1)): the chain of g neighbours.
fn chained(epsilon: Dd, delta: Dd, group: Group) -> Result<Meaning, LossError> {
    let all = epsilon * group.get() as f64;
    let leak = if !delta.is_positive() || group.get() == 1 {
        bracketed(delta)
    } else if !epsilon.is_positive() {
        below_one(delta * group.get() as f64, group)?
    } else if all.hi > 700.0 {
        return Err(too_many_people(group));
    } else {
        below_one(all.expm1() / epsilon.expm1() * delta, group)?
    };
    Ok(Meaning { leak, ..response(all)? })
}

/// Each of the group may be shamed.
fn leak_for(delta: f64, group: Group) -> Result<Meaning, LossError> {
    let leak = match group.get() {
        1 => (delta, delta),
        people => below_one(Dd::product(people as f64, delta), group)?,
    };
    Ok(Meaning { leak, ..Meaning::default() })
}

/// What Gaussians within a curve have for g people: g^2 times as much, at the same orders. From below.
fn gaussians_for(curve: &RenyiCurve, group: Group) -> Result<RenyiCurve, LossError> {
    let square = Dd::product(group.get() as f64, group.get() as f64);
    let (orders, epsilons): (Vec<f64>, Vec<f64>) = curve
        .points()
        .iter()
        .map(|&(order, divergence)| (order, (square * divergence).lower().min(1e6)))
        .unzip();
    RenyiCurve::new(&orders, &epsilons).map_err(|_| too_many_people(group))
}

/// A number over that of people, rounded down. A quotient that is no double is 2^-73 of itself away from one.
fn shared(number: f64, group: Group) -> f64 {
    (Dd::from(number) / group.get() as f64).lower()
}

/// For g people an order A says something of A/g: D_(A/g) is at most D_A times the sum of A/(A - i), i from
/// 0 to g - 1 (theorems.md, groups). Its first terms are added up; the rest is below A ln((A-m)/(A-g)).
fn curve_for(curve: &RenyiCurve, group: Group) -> Result<RenyiCurve, LossError> {
    const ADDED: u64 = 64;
    let people = group.get() as f64;
    let for_all = |&(order, divergence): &(f64, f64)| {
        let added = ADDED.min(group.get());
        let term = |i: u64| Dd::from(order) / Dd::sum(order, -(i as f64));
        let sum = (0..added).fold(Dd::ZERO, |sum, i| sum + term(i));
        let (last, end) = (Dd::sum(order, -(added as f64)), Dd::sum(order, -people));
        let rest = if added < group.get() { (last / end).ln() * order } else { Dd::ZERO };
        // Seventy operations at most, each good to 2^-94.
        let slack = Dd::sum(1.0, 128.0 * STEP);
        (shared(order, group), ((sum + rest) * slack * divergence).upper())
    };
    let points = curve.points().iter().filter(|(order, _)| shared(*order, group) > 1.0);
    let (orders, epsilons): (Vec<f64>, Vec<f64>) = points.map(for_all).unzip();
    RenyiCurve::new(&orders, &epsilons).map_err(|_| {
        let what =
            "an rdp release without larger orders, or with divergences that are then too large";
        LossError::Group { group: group.get(), what }
    })
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
