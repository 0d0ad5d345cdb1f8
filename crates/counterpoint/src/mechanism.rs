//! Inert descriptions of releases. A description is data: it states the parameters of a mechanism, which
//! [`crate::loss`] interprets.

use crate::quantity::{
    Buckets, Count, Delta, Epsilon, Gamma, Mu, NoiseBound, NoiseScale, Order, OutOfRangeError,
    Rate, Rho, Sensitivity, StepCount, WholeSensitivity,
};
use std::fmt;
use std::sync::Arc;

mod cells;
mod matrix;
mod selection;

pub(crate) use cells::FURTHEST;
pub use cells::{Cell, CellPair};
pub use matrix::{Participation, Strategy, StrategyError};
pub use selection::{PrivateSelection, RunLaw, SelectionError};

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
    /// [`OutOfRangeError`] naming the part that is not legal.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, OutOfRangeError> {
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }

    /// A guarantee without a delta.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if epsilon is not legal.
    pub fn pure(epsilon: f64) -> Result<Self, OutOfRangeError> {
        Self::new(epsilon, 0.0)
    }
}

/// The description of a mechanism, as far as accounting needs it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mechanism {
    /// Any mechanism with this guarantee, about which nothing else is known.
    ApproxDp(Guarantee),
    /// Any mechanism with this guarantee, whose Poisson sample is charged exactly the amplified guarantee. Ledgers of
    /// formats up to 3 charged guarantees with a rate in this way. Plan files cannot express it.
    AmplifiedDp(Guarantee),
    /// A number plus Laplace noise.
    Laplace {
        /// The noise's scale.
        scale: NoiseScale,
        /// The largest change of the number that one person can cause.
        sensitivity: Sensitivity,
    },
    /// A number plus Laplace noise, given that the noise is within bounds.
    TruncatedLaplace {
        /// The noise's scale.
        scale: NoiseScale,
        /// The largest change of the number that one person can cause.
        sensitivity: Sensitivity,
        /// The largest amount of noise.
        bound: NoiseBound,
    },
    /// A whole number plus discrete Laplace noise.
    Geometric {
        /// The noise's scale: the probabilities fall by e^(-1/scale) at each step.
        scale: NoiseScale,
        /// The largest change of the number that one person can cause.
        sensitivity: WholeSensitivity,
    },
    /// A number or vector plus Gaussian noise.
    Gaussian {
        /// The noise's standard deviation.
        sigma: NoiseScale,
        /// The largest change, in Euclidean norm, that one person can cause.
        sensitivity: Sensitivity,
    },
    /// A whole number plus discrete Gaussian noise.
    DiscreteGaussian {
        /// The noise's parameter: the probabilities are proportional to e^(-x^2 / 2 sigma^2).
        sigma: NoiseScale,
        /// The largest change of the number that one person can cause.
        sensitivity: WholeSensitivity,
    },
    /// The true answer with probability e^eps/(e^eps + m - 1), otherwise one of the m - 1 others.
    RandomizedResponse {
        /// Its guarantee.
        epsilon: Epsilon,
        /// The number of answers, m.
        buckets: Buckets,
    },
    /// The exponential mechanism.
    Exponential {
        /// Its guarantee, which is also its range: the logarithm of the ratio of two outcomes' probabilities changes by
        /// at most this.
        epsilon: Epsilon,
    },
    /// The name of the largest of several scores, to each of which noise is added.
    NoisyMax {
        /// The law of the noise.
        noise: MaxNoise,
        /// The noise's scale.
        scale: NoiseScale,
        /// The largest change of a score that one person can cause.
        sensitivity: Sensitivity,
        /// What is known of the changes of different scores.
        scores: ScoreChanges,
    },
    /// A number plus staircase noise (Geng and Viswanath).
    Staircase {
        /// Its guarantee.
        epsilon: Epsilon,
        /// The place where a step is cut; 1/(1 + e^(eps/2)) by default.
        gamma: Option<Gamma>,
    },
    /// The mechanism that reveals everything with probability delta, and otherwise nothing.
    NameAndShame {
        /// The probability of revealing everything.
        delta: Delta,
    },
    /// Any mechanism with this concentrated privacy, except for a leak.
    Zcdp {
        /// The slope of its Rényi curve.
        rho: Rho,
        /// The probability of the leak.
        delta: Delta,
    },
    /// Any mechanism with this truncated concentrated privacy.
    Tcdp {
        /// The slope of its Rényi curve.
        rho: Rho,
        /// The order up to which the curve holds.
        omega: Order,
    },
    /// Any mechanism whose Rényi divergences are at most those of the curve.
    Rdp(RenyiCurve),
    /// Any mechanism with mu-Gaussian privacy.
    Gdp {
        /// The mechanism is no easier to attack than N(0, 1) against N(mu, 1).
        mu: Mu,
    },
    /// Sparse vector with one noisy threshold, as pure privacy: its epsilon is the sum of both.
    SparseVector {
        /// The epsilon of the threshold's noise.
        threshold: Epsilon,
        /// The epsilon of the queries' noise.
        queries: Epsilon,
    },
    /// Sparse vector bounded by its own pair, which costs less: one noisy threshold, and an end after the declared
    /// number of answers above it.
    AboveThreshold {
        /// The epsilon of the threshold's noise, whatever its distribution.
        threshold: Epsilon,
        /// The epsilon of the queries' noise for all answers above the threshold together.
        queries: Epsilon,
    },
    /// Outcomes with known probabilities.
    Finite(FinitePair),
    /// A number or vector plus Gaussian noise, which a person's data move by a random amount.
    GaussianMixture {
        /// The noise's standard deviation.
        sigma: NoiseScale,
        /// Bounds on the amount, in Euclidean norm, with their probabilities.
        shifts: Shifts,
    },
    /// Outcomes in cells, with bounds on the loss within each cell.
    Cells(CellPair),
    /// One sum plus Gaussian noise in each step; each person contributes to some of the steps, drawn at random.
    GaussianAllocation {
        /// The noise's standard deviation.
        sigma: NoiseScale,
        /// The largest change, in Euclidean norm, of a step's sum that one person can cause.
        sensitivity: Sensitivity,
        /// The number of steps.
        steps: StepCount,
        /// The number of steps to which each person contributes.
        each: StepCount,
    },
    /// A sum, over a Poisson sample of the data, of vectors of bounded norm, plus Gaussian noise.
    GaussianBatch {
        /// The noise's standard deviation.
        sigma: NoiseScale,
        /// The largest norm of one person's vector.
        norm: Sensitivity,
        /// The probability with which each person is in the sample.
        share: Rate,
        /// The size to which larger samples are cut at random, if they are cut.
        cap: Option<BatchCap>,
    },
    /// A number or vector plus Gaussian noise, computed from a sample of a fixed size drawn with replacement.
    GaussianDraws {
        /// The noise's standard deviation.
        sigma: NoiseScale,
        /// The largest change, in Euclidean norm, that replacing one record can cause.
        sensitivity: Sensitivity,
        /// The number of records.
        records: Count,
        /// The number of draws.
        draws: Count,
    },
    /// A number or vector plus Gaussian noise, computed from a sample of a fixed size drawn without replacement.
    GaussianSubset {
        /// The noise's standard deviation.
        sigma: NoiseScale,
        /// The largest change, in Euclidean norm, that replacing one record can cause.
        sensitivity: Sensitivity,
        /// The sample's size as a fraction of the data.
        share: Rate,
    },
    /// Reports of people who run a local randomizer each, in random order.
    ShuffledReports {
        /// The guarantee of each local randomizer.
        epsilon: Epsilon,
        /// The number of people.
        people: Count,
    },
    /// The best of a random number of runs of other releases.
    PrivateSelection(PrivateSelection),
}

/// Gives every kind of mechanism its name in plan files; two kinds may share a name.
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
    TruncatedLaplace => "truncated-laplace",
    Geometric => "geometric",
    Gaussian => "gaussian",
    DiscreteGaussian => "discrete-gaussian",
    RandomizedResponse => "randomized-response",
    Exponential => "exponential",
    NoisyMax => "report-noisy-max",
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
    PrivateSelection => "private-selection",
    ShuffledReports => "shuffled-reports",
}

impl Mechanism {
    /// The field by which a mechanism draws records at random, if it has one. The theorems about such mechanisms assume
    /// one record for each person; the parameters of all other mechanisms cover all records of a person together.
    #[must_use]
    pub fn sampling_field(&self) -> Option<&'static str> {
        match self {
            Self::ApproxDp(_)
            | Self::AmplifiedDp(_)
            | Self::Laplace { .. }
            | Self::TruncatedLaplace { .. }
            | Self::Geometric { .. }
            | Self::Gaussian { .. }
            | Self::DiscreteGaussian { .. }
            | Self::RandomizedResponse { .. }
            | Self::Exponential { .. }
            | Self::NoisyMax { .. }
            | Self::Staircase { .. }
            | Self::NameAndShame { .. }
            | Self::Zcdp { .. }
            | Self::Tcdp { .. }
            | Self::Rdp(_)
            | Self::Gdp { .. }
            | Self::SparseVector { .. }
            | Self::AboveThreshold { .. }
            | Self::Finite(_)
            | Self::ShuffledReports { .. }
            | Self::Cells(_) => None,
            // A single shift makes a Gaussian; of several shifts one is drawn, as by a sample.
            Self::GaussianMixture { shifts, .. } => {
                (shifts.points().len() > 1).then_some("probabilities")
            }
            Self::GaussianSubset { .. } | Self::GaussianBatch { .. } => Some("share"),
            Self::GaussianAllocation { .. } => Some("steps"),
            Self::GaussianDraws { .. } => Some("draws"),
            Self::PrivateSelection(selection) => selection
                .inner()
                .iter()
                .any(|one| one.rate.is_some() || one.mechanism.sampling_field().is_some())
                .then_some("inner"),
        }
    }
}

/// The law of the noise that is added to scores, of which the largest is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxNoise {
    /// Gumbel noise: the exponential mechanism.
    Gumbel,
    /// Laplace noise.
    Laplace,
    /// Exponential noise: permute-and-flip (McKenna and Sheldon 2020).
    Exponential,
}

/// The way in which one person can change scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreChanges {
    /// Some scores may rise while others fall.
    Any,
    /// Adding a person makes no score fall, or no score rise.
    Monotone,
}

/// The size to which batches are cut, and a bound on the number of people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchCap {
    /// The largest number of people in the data.
    pub people: Count,
    /// The largest number of people in a batch.
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

/// The reason why lists of numbers are not a legal [`RenyiCurve`], [`FinitePair`], [`Shifts`] or [`CellPair`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A number outside its legal range.
    #[error("{field}[{index}] is {value}; legal: {legal}")]
    Number {
        /// The list.
        field: &'static str,
        /// The number's index in the list, from 0.
        index: usize,
        /// The number.
        value: f64,
        /// The legal range, in words.
        legal: &'static str,
    },
    /// Lists of different lengths, or empty or too long ones.
    #[error("{first} has {} entries and {second} has {}; legal: equally many, 1 to 10^6", .lengths.0, .lengths.1)]
    Lengths {
        /// The first list.
        first: &'static str,
        /// The other list.
        second: &'static str,
        /// Their lengths.
        lengths: (usize, usize),
    },
    /// More sensitivities than a mixture may have.
    #[error("sensitivities has {entries} entries; legal: 1 to 1000")]
    Shifts {
        /// Their number.
        entries: usize,
    },
    /// Probabilities whose sum is not one.
    #[error("{field} sums to {sum}; legal: 1, up to rounding")]
    Sum {
        /// The list.
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

/// Checks that the numbers are probabilities and sum to one.
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

/// Two probability vectors over the same outcomes: with a person's data (p), and without (q).
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

/// The possible changes of a sum by one person's data, with probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Shifts(Arc<[(f64, f64)]>);

impl Shifts {
    /// The largest number of sensitivities.
    const MOST: usize = 1000;

    /// Checks the sensitivities, at least zero, and the probabilities, which sum to one. Entries with probability zero
    /// are dropped.
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

    /// The sensitivities, rising, with their probabilities.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }
}

/// The way in which neighbouring data sets differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjacency {
    /// One data set has one person more.
    AddRemove,
    /// One person's data differ.
    Replace,
}

/// The neighbouring relation: the records of one person, at most [`records`](Relation::records) of them, are added or
/// removed, or the records of another person replace them.
///
/// A person may have any number of records up to that bound, also none. The exception is replacement with a bound of
/// *one* record: there each person has exactly one, so neighbours have the same length, except among
/// [filtered](Relation::filtered) records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    adjacency: Adjacency,
    records: u64,
    /// True if the relation is about records that were selected by their content.
    filtered: bool,
}

impl Relation {
    /// The legal range of the number of records of a person, in words.
    pub const LEGAL: &'static str = "a whole number from 1 to 10000";

    /// Checks the largest number of records of a person.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless the number is from 1 to 10,000.
    pub fn new(adjacency: Adjacency, records: u64) -> Result<Self, OutOfRangeError> {
        if (1..=10_000).contains(&records) {
            Ok(Self { adjacency, records, filtered: false })
        } else {
            let value = records as f64;
            Err(OutOfRangeError { quantity: "records", value, legal: Self::LEGAL })
        }
    }

    /// The relation in which each person has at most one record.
    #[must_use]
    pub const fn single_record(adjacency: Adjacency) -> Self {
        Self { adjacency, records: 1, filtered: false }
    }

    /// The relation among those records that pass a filter: a person may have none left, so neighbours may differ in
    /// length.
    #[must_use]
    pub const fn filtered(self) -> Self {
        match self.adjacency {
            Adjacency::Replace if self.records == 1 => Self { filtered: true, ..self },
            // Neighbours may differ in length in any case.
            _ => self,
        }
    }

    /// True if the relation is about [filtered](Relation::filtered) records, where that makes a difference.
    #[must_use]
    pub const fn is_filtered(self) -> bool {
        self.filtered
    }

    /// The adjacency: people are added and removed, or replaced.
    #[must_use]
    pub const fn adjacency(self) -> Adjacency {
        self.adjacency
    }

    /// The largest number of records of a person.
    #[must_use]
    pub const fn records(self) -> u64 {
        self.records
    }

    /// True if all neighbours have the same number of records, which is therefore public: one record replaces one.
    #[must_use]
    pub fn is_length_public(self) -> bool {
        self == Self::single_record(Adjacency::Replace)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let adjacency = match self.adjacency {
            Adjacency::AddRemove => "add-remove",
            Adjacency::Replace => "replace",
        };
        let plural = if self.records == 1 { "" } else { "s" };
        let filtered = if self.filtered { ", some of them" } else { "" };
        write!(f, "{adjacency}, {} record{plural} a person{filtered}", self.records)
    }
}

/// A mechanism with its sampling rate, count and part of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The rate of the Poisson sample on which the mechanism runs; `None` if it runs on all of the data.
    pub rate: Option<Rate>,
    /// The number of runs.
    pub count: Count,
    /// The part of the data that the mechanism reads; all of it if `None`. Different parts are disjoint.
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
            assert_eq!(Relation::new(adjacency, 1), Ok(Relation::single_record(adjacency)));
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

    /// A person with several records may be replaced by a person with none.
    #[test]
    fn only_one_record_for_one_keeps_the_length() {
        let public = |adjacency, records| {
            Relation::new(adjacency, records).is_ok_and(Relation::is_length_public)
        };
        assert!(public(Adjacency::Replace, 1));
        let filtered = Relation::single_record(Adjacency::Replace).filtered();
        assert!(
            !filtered.is_length_public() && filtered != Relation::single_record(Adjacency::Replace)
        );
        let same = Relation::single_record(Adjacency::AddRemove);
        assert_eq!(same.filtered(), same);
        assert!(!public(Adjacency::Replace, 2));
        assert!(!public(Adjacency::AddRemove, 1) && !public(Adjacency::AddRemove, 2));
    }
}
