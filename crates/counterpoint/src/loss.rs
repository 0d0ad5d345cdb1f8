//! From a description to its privacy loss.
//!
//! Each mechanism has a pair (P, Q) that no mechanism with its description is easier to
//! tell apart than; its loss is ln P/Q under P. docs/theorems.md derives every pair.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use crate::mechanism::{Adjacency, FinitePair, Guarantee, Mechanism, Release, RenyiCurve};
use crate::quantity::Group;
use crate::rounding::{Dd, STEP, falling};
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
}

/// Losses with their P masses, by falling loss; the masses sum to one, but for what was
/// cut off at the ends. Q masses are not kept: they are the P masses times e^-loss, times
/// the share of P that is finite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atoms {
    pub(crate) list: Vec<Atom>,
    /// At most this much P mass is missing above the largest and below the least loss.
    pub(crate) cut: f64,
    /// Whether exchanging P and Q makes no difference.
    pub(crate) symmetric: bool,
}

/// A loss and its P mass, with relative errors of at most 2^-90 (absolute below one for the loss, and for
/// what is left in the middle of a staircase, which is less likely than what is above it).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Atom {
    pub(crate) loss: Dd,
    pub(crate) mass: Dd,
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
            Ok(discrete_gaussian(sigma.get(), steps)?.into())
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

/// Discrete Laplace noise, masses falling by e^-a a step, moved by `steps`.
fn geometric(a: Dd, steps: u64) -> Result<Meaning, LossError> {
    let largest = legal("sensitivity / scale", a * steps as f64)?;
    if steps == 1 {
        return response(largest);
    }
    if steps > MOST_ATOMS {
        let (what, value, legal) = ("sensitivity", steps as f64, "at most 10^6");
        return Err(LossError::Range { what, value, legal });
    }
    let decay = falling(a);
    let end = Dd::ONE / (Dd::ONE + decay);
    // tanh(a/2).
    let middle = -(-a).expm1() * end;
    let atom = |y: u64| {
        let weight = falling(a * y as f64);
        let mass = match y {
            0 => end,
            _ if y == steps => end * weight,
            _ => middle * weight,
        };
        Atom { loss: a * (steps as f64 - 2.0 * y as f64), mass }
    };
    Ok(Atoms::new((0..=steps).map(atom).collect(), 0.0, true).into())
}

/// No list of atoms is longer than about this.
const MOST_ATOMS: u64 = 1_000_000;

/// Discrete Gaussians are listed this many standard deviations out.
const REACH: f64 = 34.0;
/// Beyond, each mass is less than e^(-reach/sigma) of the one before: both sides are below 2 e^(-34^2/2) (1 + sigma/34),
/// and e^(-34^2/2) is below 10^-251.
const BEYOND_REACH: f64 = 1e-250;

/// A sum in which each number sees as many additions as their number has bits: below 2^-99 for a million.
fn sum(list: &[Dd]) -> Dd {
    match list {
        [] => Dd::ZERO,
        [one] => *one,
        _ => {
            let (left, right) = list.split_at(list.len() / 2);
            sum(left) + sum(right)
        }
    }
}

/// Masses proportional to e^(-y^2 / 2 sigma^2) at losses D (2 y + D) / (2 sigma^2).
fn discrete_gaussian(sigma: f64, steps: u64) -> Result<Atoms, LossError> {
    let square = Dd::product(sigma, sigma);
    if sigma > 10_000.0 || steps > MOST_ATOMS {
        let (what, value) =
            if sigma > 1e4 { ("sigma", sigma) } else { ("sensitivity", steps as f64) };
        let legal = "sigma up to 10^4 and sensitivity up to 10^6; gaussian beyond";
        return Err(LossError::Range { what, value, legal });
    }
    let distance = steps as f64;
    legal("sensitivity^2 / sigma^2", Dd::product(distance, distance) / square)?;
    let furthest = (REACH * sigma).ceil() + 1.0;
    let weight = |y: f64| falling(Dd::product(y, y) / (square + square));
    let places = || (0..=2 * furthest as u64).map(|place| furthest - place as f64);
    let total = sum(&places().map(weight).collect::<Vec<_>>());
    let atom = |y: f64| Atom {
        loss: Dd::product(distance, 2.0 * y + distance) / (square + square),
        mass: weight(y) / total,
    };
    let cut = BEYOND_REACH * (1.0 + sigma);
    Ok(Atoms::new(places().map(atom).collect(), cut, true))
}

/// The true answer and m - 1 others.
fn buckets_loss(epsilon: f64, buckets: u64) -> Atoms {
    let decay = falling(Dd::from(epsilon));
    let truth = Dd::ONE / (Dd::ONE + decay * (buckets - 1) as f64);
    let lie = decay * truth;
    Atoms::new(
        vec![
            Atom { loss: Dd::from(epsilon), mass: truth },
            Atom { loss: Dd::ZERO, mass: lie * (buckets - 2) as f64 },
            Atom { loss: Dd::from(-epsilon), mass: lie },
        ],
        0.0,
        true,
    )
}

/// The staircase at the full shift, which dominates smaller ones (theorems.md, staircase):
/// with b = e^-eps, the mass at +eps is
/// `1/2 + (1 - b) min(gamma, 1 - gamma) / (2 (gamma + b (1 - gamma)))`.
fn staircase(epsilon: f64, gamma: Option<f64>) -> Atoms {
    let decay = falling(Dd::from(epsilon));
    let gamma = gamma.map_or_else(
        || {
            let half = falling(Dd::from(0.5 * epsilon));
            half / (Dd::ONE + half)
        },
        Dd::from,
    );
    let rest = Dd::ONE - gamma;
    let least = if gamma < rest { gamma } else { rest };
    let high = (Dd::ONE - decay) * least / (gamma + decay * rest);
    let high = (Dd::ONE + high).scaled(0.5);
    let low = high * decay;
    let middle = Dd::ONE - high - low;
    let middle = if middle.is_negative() { Dd::ZERO } else { middle };
    Atoms::new(
        vec![
            Atom { loss: Dd::from(epsilon), mass: high },
            Atom { loss: Dd::ZERO, mass: middle },
            Atom { loss: Dd::from(-epsilon), mass: low },
        ],
        0.0,
        true,
    )
}

fn finite(
    pair: &FinitePair,
    direction: Direction,
    adjacency: Option<Adjacency>,
) -> Result<Meaning, LossError> {
    let symmetric = is_mirrored(pair.outcomes());
    match adjacency {
        _ if symmetric => {}
        None => {
            let why = "the pair differs when p and q are exchanged";
            return Err(LossError::NoAdjacency { why });
        }
        Some(Adjacency::Replace) => return Err(LossError::Asymmetric),
        Some(Adjacency::AddRemove) => {}
    }
    let outcomes: Vec<(f64, f64)> = match direction {
        Direction::Remove => pair.outcomes().to_vec(),
        Direction::Add => pair.outcomes().iter().map(|&(p, q)| (q, p)).collect(),
    };
    let sum = |list: &mut dyn Iterator<Item = f64>| sum(&list.map(Dd::from).collect::<Vec<_>>());
    let finite: Vec<(f64, f64)> =
        outcomes.iter().copied().filter(|&(p, q)| p > 0.0 && q > 0.0).collect();
    let all_p = sum(&mut outcomes.iter().map(|&(p, _)| p));
    let all_q = sum(&mut outcomes.iter().map(|&(_, q)| q));
    let kept = sum(&mut finite.iter().map(|&(p, _)| p));
    if !kept.is_positive() {
        return Err(LossError::NoCommonOutcome);
    }
    let leaked = sum(&mut outcomes.iter().filter(|&&(_, q)| q <= 0.0).map(|&(p, _)| p));
    let shift = (all_q / all_p).ln();
    let list = finite
        .iter()
        .map(|&(p, q)| Atom { loss: (Dd::from(p) / q).ln() + shift, mass: Dd::from(p) / kept });
    let atoms = Atoms::new(list.collect(), 0.0, symmetric);
    let leak = bracketed(leaked / all_p);
    if leak.1 < 1.0 {
        Ok(Meaning { leak, ..atoms.into() })
    } else {
        Err(LossError::NoCommonOutcome)
    }
}

/// Whether exchanging p and q gives the same outcomes in another order.
fn is_mirrored(outcomes: &[(f64, f64)]) -> bool {
    let bits = |&(p, q): &(f64, f64)| (p.to_bits(), q.to_bits());
    let mut ahead: Vec<_> = outcomes.iter().map(bits).collect();
    let mut back: Vec<_> = ahead.iter().map(|&(p, q)| (q, p)).collect();
    ahead.sort_unstable();
    back.sort_unstable();
    ahead == back
}

/// The discrete Gaussian on a Poisson sample.
fn sampled_discrete_gaussian(
    sigma: f64,
    steps: u64,
    rate: f64,
    direction: Direction,
) -> Result<Atoms, LossError> {
    let whole = discrete_gaussian(sigma, steps)?;
    let rate = Dd::from(rate);
    let list = match direction {
        Direction::Add => {
            let turned = |atom: &Atom| Atom { loss: -mixed(rate, -atom.loss), mass: atom.mass };
            whole.list.iter().map(turned).collect()
        }
        Direction::Remove => {
            // P and its mirror image Q, each where it has mass, then together.
            let p = whole.list.iter().map(|atom| (atom.loss, rate * atom.mass));
            let q = whole.list.iter().map(|atom| (-atom.loss, (Dd::ONE - rate) * atom.mass));
            p.chain(q).map(|(loss, mass)| Atom { loss: mixed(rate, loss), mass }).collect()
        }
    };
    Ok(Atoms::new(list, whole.cut, false))
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

impl Atoms {
    /// Sorts by falling loss and leaves out masses that are next to nothing, or that have
    /// underflowed to nothing.
    fn new(mut list: Vec<Atom>, cut: f64, symmetric: bool) -> Self {
        const NOTHING: f64 = 1e-250;
        let all = list.len();
        list.retain(|atom| atom.mass.hi > NOTHING);
        let left_out = (all - list.len()) as f64 * NOTHING;
        list.sort_by(|a, b| b.loss.hi.total_cmp(&a.loss.hi).then(b.loss.lo.total_cmp(&a.loss.lo)));
        Self { list, cut: cut + left_out, symmetric }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounding::Wide;

    /// Weighed against the heaviest place, whose weight is one.
    #[test]
    fn what_a_discrete_gaussian_leaves_out_is_within_its_cut() {
        for (sigma, steps) in [(0.4, 1), (1.0, 1), (7.5, 2), (300.0, 5)] {
            let atoms = discrete_gaussian(sigma, steps).unwrap();
            let (square, distance) = (sigma * sigma, steps as f64);
            let last = (atoms.list[0].loss.hi * square / distance - 0.5 * distance).round();
            let weight = |y: f64| Wide::exp(-Dd::product(y, y) / (2.0 * square));
            let beyond = (1..4000).fold(Wide::ZERO, |sum, i| sum + weight(last + f64::from(i)));
            let heaviest = atoms.list.iter().map(|atom| atom.mass.hi).fold(0.0, f64::max);
            let beyond = beyond * Wide::from(2.0 * heaviest);
            assert!(beyond <= Wide::from(atoms.cut), "{sigma}: {:e}", atoms.cut);
        }
    }

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
