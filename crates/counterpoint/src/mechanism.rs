//! Inert descriptions of what was released. A description is data: it says what
//! a mechanism promises, and is interpreted by [`crate::loss`].

use crate::quantity::{
    Buckets, Count, Delta, Epsilon, Mu, Noise, Order, OutOfRange, Rate, Rho, Rounds, Sensitivity,
    Share, Steps,
};
use std::fmt;
use std::sync::Arc;

mod cells;

pub(crate) use cells::FURTHEST;
pub use cells::{Cell, CellPair};

/// An (epsilon, delta) differential-privacy guarantee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarantee {
    /// The multiplicative part.
    pub epsilon: Epsilon,
    /// The additive part.
    pub delta: Delta,
}

impl Guarantee {
    /// Checks both parts.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the part that is not legal.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, OutOfRange> {
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }

    /// A guarantee without a delta.
    ///
    /// # Errors
    /// [`OutOfRange`] if epsilon is not legal.
    pub fn pure(epsilon: f64) -> Result<Self, OutOfRange> {
        Self::new(epsilon, 0.0)
    }
}

/// A mechanism, as far as accounting needs to know it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mechanism {
    /// Any mechanism with this guarantee and nothing else known about it.
    ApproxDp(Guarantee),
    /// The same, of which a Poisson sample is taken to have the amplified guarantee and nothing less: what ledgers of
    /// formats up to 3 charged for a guarantee with a rate. Plans have no word for it.
    AmplifiedDp(Guarantee),
    /// A number plus Laplace noise.
    Laplace {
        /// The noise's scale.
        scale: Noise,
        /// How far one person can move the number.
        sensitivity: Sensitivity,
    },
    /// A whole number plus discrete Laplace noise.
    Geometric {
        /// The noise's scale: its masses fall by e^(-1/scale) a step.
        scale: Noise,
        /// How far one person can move the number.
        sensitivity: Steps,
    },
    /// A number or vector plus Gaussian noise.
    Gaussian {
        /// The noise's standard deviation.
        sigma: Noise,
        /// How far, in Euclidean norm, one person can move it.
        sensitivity: Sensitivity,
    },
    /// A whole number plus discrete Gaussian noise.
    DiscreteGaussian {
        /// The noise's parameter: masses are proportional to e^(-x^2 / 2 sigma^2).
        sigma: Noise,
        /// How far one person can move the number.
        sensitivity: Steps,
    },
    /// The true answer with probability e^eps/(e^eps + m - 1), else any of the others.
    RandomizedResponse {
        /// Its guarantee.
        epsilon: Epsilon,
        /// How many answers there are.
        buckets: Buckets,
    },
    /// The exponential mechanism.
    Exponential {
        /// Its guarantee, which is also its range: the log of the ratio of two outcomes'
        /// probabilities moves by at most this.
        epsilon: Epsilon,
    },
    /// A number plus staircase noise (Geng and Viswanath).
    Staircase {
        /// Its guarantee.
        epsilon: Epsilon,
        /// Where a step is cut; 1/(1 + e^(eps/2)) if not said.
        gamma: Option<Share>,
    },
    /// Everything revealed with probability delta, nothing otherwise.
    NameAndShame {
        /// That probability.
        delta: Delta,
    },
    /// Any mechanism with this concentrated privacy, but for a leak.
    Zcdp {
        /// The slope of its Rényi curve.
        rho: Rho,
        /// The leak.
        delta: Delta,
    },
    /// Any mechanism with this truncated concentrated privacy.
    Tcdp {
        /// The slope of its Rényi curve.
        rho: Rho,
        /// The order up to which the curve holds.
        omega: Order,
    },
    /// Any mechanism whose Rényi divergences are at most these.
    Rdp(RenyiCurve),
    /// Any mechanism with this Gaussian privacy.
    Gdp {
        /// It is no easier to attack than N(0, 1) against N(mu, 1).
        mu: Mu,
    },
    /// Sparse vector with one noisy threshold, as pure privacy: it costs the sum of both.
    SparseVector {
        /// What the threshold's noise spends.
        threshold: Epsilon,
        /// What the queries' noise spends.
        queries: Epsilon,
    },
    /// The same by a pair of its own, which costs less: one noisy threshold, stopped at the last of the answers above
    /// it that were declared.
    AboveThreshold {
        /// What the threshold's noise spends, of whatever kind it is.
        threshold: Epsilon,
        /// What the queries' noise spends, for all answers above.
        queries: Epsilon,
    },
    /// Outcomes with known probabilities.
    Finite(FinitePair),
    /// A number or vector plus Gaussian noise, which a person's data move by an amount that is drawn at random.
    GaussianMixture {
        /// The noise's standard deviation.
        sigma: Noise,
        /// How far, in Euclidean norm, they move it at most, and with which probability.
        shifts: Shifts,
    },
    /// Outcomes in cells, with bounds on the loss within each.
    Cells(CellPair),
    /// Sums plus Gaussian noise, one in each step, each person being in some of the steps, drawn at random.
    GaussianAllocation {
        /// The noise's standard deviation.
        sigma: Noise,
        /// How far, in Euclidean norm, one person can move a step's sum.
        sensitivity: Sensitivity,
        /// How many steps there are.
        steps: Rounds,
        /// In how many of them a person is.
        each: Rounds,
    },
    /// A sum over a Poisson sample of the data, of vectors of bounded norm, plus Gaussian noise.
    GaussianBatch {
        /// The noise's standard deviation.
        sigma: Noise,
        /// The largest norm of one person's vector.
        norm: Sensitivity,
        /// The probability with which each person is in the sample.
        share: Rate,
        /// If larger samples are cut at random to a size, that.
        cap: Option<Cap>,
    },
    /// A number or vector plus Gaussian noise, of a sample of a fixed size drawn with replacement.
    GaussianDraws {
        /// The noise's standard deviation.
        sigma: Noise,
        /// How far, in Euclidean norm, one record in another's place can move it.
        sensitivity: Sensitivity,
        /// How many records there are.
        records: Count,
        /// How many times one of them is drawn.
        draws: Count,
    },
    /// A number or vector plus Gaussian noise, of a sample of a fixed size drawn without replacement.
    GaussianSubset {
        /// The noise's standard deviation.
        sigma: Noise,
        /// How far, in Euclidean norm, another record in one's place can move it.
        sensitivity: Sensitivity,
        /// The sample's share of the data.
        share: Rate,
    },
}

/// Gives every kind its name in plan files; two kinds may share one.
macro_rules! kinds {
    ($($variant:ident => $name:literal,)*) => {
        impl Mechanism {
            /// The names of all kinds.
            pub const KINDS: &[&str] = &[$($name),*];

            /// The kind's name in plan files.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                }
            }
        }
    };
}

kinds! {
    ApproxDp => "approx-dp",
    AmplifiedDp => "approx-dp",
    Laplace => "laplace",
    Geometric => "geometric",
    Gaussian => "gaussian",
    DiscreteGaussian => "discrete-gaussian",
    RandomizedResponse => "randomized-response",
    Exponential => "exponential",
    Staircase => "staircase",
    NameAndShame => "name-and-shame",
    Zcdp => "zcdp",
    Tcdp => "tcdp",
    Rdp => "rdp",
    Gdp => "gdp",
    SparseVector => "sparse-vector",
    AboveThreshold => "above-threshold",
    Finite => "finite",
    GaussianMixture => "gaussian-mixture",
    Cells => "cells",
    GaussianSubset => "gaussian-subset",
    GaussianAllocation => "gaussian-allocation",
    GaussianBatch => "gaussian-batch",
    GaussianDraws => "gaussian-draws",
}

impl Mechanism {
    /// The field that says what chance does with each record, if there is one: what is proved of such a mechanism is about
    /// people with one record. The numbers of all others are about all that a person's records do together.
    #[must_use]
    pub fn drawn_by(&self) -> Option<&'static str> {
        match self {
            Self::ApproxDp(_)
            | Self::AmplifiedDp(_)
            | Self::Laplace { .. }
            | Self::Geometric { .. }
            | Self::Gaussian { .. }
            | Self::DiscreteGaussian { .. }
            | Self::RandomizedResponse { .. }
            | Self::Exponential { .. }
            | Self::Staircase { .. }
            | Self::NameAndShame { .. }
            | Self::Zcdp { .. }
            | Self::Tcdp { .. }
            | Self::Rdp(_)
            | Self::Gdp { .. }
            | Self::SparseVector { .. }
            | Self::AboveThreshold { .. }
            | Self::Finite(_)
            | Self::Cells(_) => None,
            // One shift is that of a Gaussian; of several one is drawn, as by a sample.
            Self::GaussianMixture { shifts, .. } => {
                (shifts.points().len() > 1).then_some("probabilities")
            }
            Self::GaussianSubset { .. } | Self::GaussianBatch { .. } => Some("share"),
            Self::GaussianAllocation { .. } => Some("steps"),
            Self::GaussianDraws { .. } => Some("draws"),
        }
    }
}

/// The largest batch, and of how many people at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// As many people as the data may have.
    pub people: Count,
    /// As many of them as a batch may have.
    pub most: Count,
}

impl From<Guarantee> for Mechanism {
    fn from(guarantee: Guarantee) -> Self {
        Self::ApproxDp(guarantee)
    }
}

/// Rényi divergences at increasing orders.
#[derive(Clone, Debug, PartialEq)]
pub struct RenyiCurve(Arc<[(f64, f64)]>);

/// Why numbers are no [`RenyiCurve`] or no [`FinitePair`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// One of the numbers is not legal.
    #[error("{field}[{index}] is {value}; legal: {legal}")]
    Number {
        /// Which list.
        field: &'static str,
        /// Where in it, from 0.
        index: usize,
        /// The number.
        value: f64,
        /// The legal range, in words.
        legal: &'static str,
    },
    /// The lists differ in length, or are empty or too long.
    #[error("{first} has {} entries and {second} has {}; legal: equally many, 1 to 10^6", .lengths.0, .lengths.1)]
    Lengths {
        /// Which list.
        first: &'static str,
        /// Which other list.
        second: &'static str,
        /// How long they are.
        lengths: (usize, usize),
    },
    /// More sensitivities than can be mixed.
    #[error("sensitivities has {entries} entries; legal: 1 to 1000")]
    Shifts {
        /// How many.
        entries: usize,
    },
    /// Probabilities that do not sum to one.
    #[error("{field} sums to {sum}; legal: 1, up to rounding")]
    Sum {
        /// Which list.
        field: &'static str,
        /// Its sum.
        sum: f64,
    },
}

fn same_length(
    first: (&'static str, usize),
    second: (&'static str, usize),
) -> Result<(), ListError> {
    if first.1 == second.1 && (1..=1_000_000).contains(&first.1) {
        return Ok(());
    }
    Err(ListError::Lengths { first: first.0, second: second.0, lengths: (first.1, second.1) })
}

/// Numbers that are at least zero and sum to one.
fn probabilities(field: &'static str, list: &[f64]) -> Result<(), ListError> {
    for (index, &value) in list.iter().enumerate() {
        let legal = "0, or a number from 1e-280 to 1";
        if !(value.abs() < f64::from_bits(1) || (1e-280..=1.0).contains(&value)) {
            return Err(ListError::Number { field, index, value, legal });
        }
    }
    let sum: f64 = list.iter().sum();
    if (sum - 1.0).abs() > 1e-9 { Err(ListError::Sum { field, sum }) } else { Ok(()) }
}

impl RenyiCurve {
    /// Checks the orders, above 1 and increasing, and the divergences.
    ///
    /// # Errors
    /// [`ListError`] naming the first number that is not legal.
    pub fn new(orders: &[f64], epsilons: &[f64]) -> Result<Self, ListError> {
        same_length(("orders", orders.len()), ("epsilons", epsilons.len()))?;
        let mut last = 1.0;
        for (index, &order) in orders.iter().enumerate() {
            if Order::new(order).is_err() || order <= last {
                let legal = "numbers above 1, at most 1e12, increasing";
                return Err(ListError::Number { field: "orders", index, value: order, legal });
            }
            last = order;
        }
        for (index, &value) in epsilons.iter().enumerate() {
            if Epsilon::new(value).is_err() {
                let legal = Epsilon::LEGAL;
                return Err(ListError::Number { field: "epsilons", index, value, legal });
            }
        }
        Ok(Self(orders.iter().copied().zip(epsilons.iter().copied()).collect()))
    }

    /// The orders with their divergences.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }
}

/// Two probability vectors over the same outcomes: with a person's data, and without.
#[derive(Clone, Debug, PartialEq)]
pub struct FinitePair(Arc<[(f64, f64)]>);

impl FinitePair {
    /// Checks the probabilities: at least zero, and summing to one.
    ///
    /// # Errors
    /// [`ListError`] naming what is not legal.
    pub fn new(p: &[f64], q: &[f64]) -> Result<Self, ListError> {
        same_length(("p", p.len()), ("q", q.len()))?;
        probabilities("p", p)?;
        probabilities("q", q)?;
        Ok(Self(p.iter().copied().zip(q.iter().copied()).collect()))
    }

    /// The outcomes' probabilities with the person's data and without.
    #[must_use]
    pub fn outcomes(&self) -> &[(f64, f64)] {
        &self.0
    }
}

/// How far one person's data move a sum, with probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Shifts(Arc<[(f64, f64)]>);

impl Shifts {
    /// The most there may be.
    const MOST: usize = 1000;

    /// Checks the sensitivities, at least zero, and the probabilities, which sum to one. Those with a probability of
    /// zero are left out.
    ///
    /// # Errors
    /// [`ListError`] naming what is not legal.
    pub fn new(sensitivities: &[f64], probabilities: &[f64]) -> Result<Self, ListError> {
        let lists = [("sensitivities", sensitivities), ("probabilities", probabilities)];
        let [first, second] = lists.map(|(field, list)| (field, list.len()));
        same_length(first, second)?;
        if first.1 > Self::MOST {
            return Err(ListError::Shifts { entries: first.1 });
        }
        let zero = |value: f64| value.abs() < f64::from_bits(1);
        for (index, &value) in sensitivities.iter().enumerate() {
            if !zero(value) && Sensitivity::new(value).is_err() {
                let (field, legal) = ("sensitivities", "0, or a positive finite number");
                return Err(ListError::Number { field, index, value, legal });
            }
        }
        let field = "probabilities";
        for (index, &value) in probabilities.iter().enumerate() {
            if !zero(value) && !(1e-100..=1.0).contains(&value) {
                let legal = "0, or a number from 1e-100 to 1";
                return Err(ListError::Number { field, index, value, legal });
            }
        }
        let sum: f64 = probabilities.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(ListError::Sum { field, sum });
        }
        let pairs = sensitivities.iter().copied().zip(probabilities.iter().copied());
        let mut list: Vec<(f64, f64)> = pairs.filter(|&(_, chance)| !zero(chance)).collect();
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Ok(Self(list.into()))
    }

    /// The sensitivities with their probabilities, rising.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }
}

/// What it is for two data sets to be neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjacency {
    /// One has one person more.
    AddRemove,
    /// One person's data differ.
    Replace,
}

/// Which data sets are neighbours: one person's records, at most so many, are added or removed,
/// or those of another person are in their place.
///
/// A person may have none up to that many records. Where *one* record is *replaced* each person
/// has exactly one, so that neighbours are equally long; nowhere else are they, nor of
/// [some](Relation::of_some) of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    adjacency: Adjacency,
    records: u64,
    /// Whether it is about records that were chosen by what is in them.
    some: bool,
}

impl Relation {
    /// The legal range of records a person, in words.
    pub const LEGAL: &'static str = "a whole number from 1 to 10000";

    /// Checks how many records a person may have.
    ///
    /// # Errors
    /// [`OutOfRange`] unless that is 1 to 10,000.
    pub fn new(adjacency: Adjacency, records: u64) -> Result<Self, OutOfRange> {
        if (1..=10_000).contains(&records) {
            Ok(Self { adjacency, records, some: false })
        } else {
            let value = records as f64;
            Err(OutOfRange { quantity: "records", value, legal: Self::LEGAL })
        }
    }

    /// One record a person.
    #[must_use]
    pub const fn one(adjacency: Adjacency) -> Self {
        Self { adjacency, records: 1, some: false }
    }

    /// The same for those records of the data that pass some filter: a person may have none left, so that neighbours
    /// need not be equally long.
    #[must_use]
    pub const fn of_some(self) -> Self {
        match self.adjacency {
            Adjacency::Replace if self.records == 1 => Self { some: true, ..self },
            // That could be so anyway.
            _ => self,
        }
    }

    /// Whether it is of [some](Relation::of_some) of the records where that makes a difference.
    #[must_use]
    pub const fn is_of_some(self) -> bool {
        self.some
    }

    /// Whether people are added and removed, or replaced.
    #[must_use]
    pub const fn adjacency(self) -> Adjacency {
        self.adjacency
    }

    /// How many records a person may have.
    #[must_use]
    pub const fn records(self) -> u64 {
        self.records
    }

    /// Whether neighbours have equally many records, so that their number is no secret: one for
    /// one is replaced.
    #[must_use]
    pub fn is_length_public(self) -> bool {
        self == Self::one(Adjacency::Replace)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let adjacency = match self.adjacency {
            Adjacency::AddRemove => "add-remove",
            Adjacency::Replace => "replace",
        };
        let plural = if self.records == 1 { "" } else { "s" };
        let some = if self.some { ", some of them" } else { "" };
        write!(f, "{adjacency}, {} record{plural} a person{some}", self.records)
    }
}

/// A mechanism as it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// What is run.
    pub mechanism: Mechanism,
    /// The rate of the Poisson sample it is run on, if it is.
    pub rate: Option<Rate>,
    /// How many times it is run.
    pub count: Count,
    /// The part of the data it looks at; all of it if `None`. Different parts are disjoint.
    pub part: Option<Arc<str>>,
}

impl<M: Into<Mechanism>> From<(M, Count)> for Release {
    fn from((mechanism, count): (M, Count)) -> Self {
        Self { mechanism: mechanism.into(), rate: None, count, part: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relation_is_one_to_ten_thousand_records_a_person() {
        for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
            assert_eq!(Relation::new(adjacency, 1), Ok(Relation::one(adjacency)));
            assert!(Relation::new(adjacency, 10_000).is_ok());
            for bad in [0, 10_001, u64::MAX] {
                let text = Relation::new(adjacency, bad).unwrap_err().to_string();
                assert!(text.ends_with("legal: a whole number from 1 to 10000"), "{text}");
            }
        }
        let shown = |adjacency, records| Relation::new(adjacency, records).unwrap().to_string();
        assert_eq!(shown(Adjacency::AddRemove, 3), "add-remove, 3 records a person");
        assert_eq!(shown(Adjacency::Replace, 1), "replace, 1 record a person");
    }

    /// Who has several records may be replaced by someone with none.
    #[test]
    fn only_one_record_for_one_keeps_the_length() {
        let public = |adjacency, records| {
            Relation::new(adjacency, records).is_ok_and(Relation::is_length_public)
        };
        assert!(public(Adjacency::Replace, 1));
        let some = Relation::one(Adjacency::Replace).of_some();
        assert!(!some.is_length_public() && some != Relation::one(Adjacency::Replace));
        let same = Relation::one(Adjacency::AddRemove);
        assert_eq!(same.of_some(), same);
        assert!(!public(Adjacency::Replace, 2));
        assert!(!public(Adjacency::AddRemove, 1) && !public(Adjacency::AddRemove, 2));
    }
}
