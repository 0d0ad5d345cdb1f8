//! The mechanism that counts by key, and its cost.

use super::KeyedData;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{Noise, NoiseLaw, SLACK, at_least, confident};
use crate::query::Style;
use counterpoint::quantity::Delta;
use counterpoint::{Adjacency, Count, Mechanism, Relation, Release};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A query for counts by key: the kind of noise, and the largest probability that keys which only one person has are
/// released.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{KeyQuery, KeyedData};
///
/// let (people, words) = (["ann", "bob", "ann", "cleo"], ["rain", "rain", "Ann's secret", "rain"]);
/// let relation = Relation::new(Adjacency::AddRemove, 2)?;
/// let secret = counterpoint_mechanisms::secret()?; // once, and kept
/// let keyed = KeyedData::of_people(relation, people, &words, &secret)?;
/// let counts = KeyQuery::laplace(1.0, 1e-8)?.under(relation)?;
/// for (word, people) in counts.run(&keyed)? {
///     println!("{}: about {people}", String::from_utf8_lossy(&word));
/// }
/// println!("within {} with 95 %", counts.half_width(0.95)?);
/// println!("words of {} people are released with 95 %", counts.released_from(0.95)?);
/// println!("charged as {:?}", counts.releases());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "KeyQueryRecord")]
pub struct KeyQuery {
    style: Style,
    delta: f64,
}

/// A key query as deserialized, unchecked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyQueryRecord {
    style: Style,
    delta: f64,
}

impl TryFrom<KeyQueryRecord> for KeyQuery {
    type Error = Error;

    fn try_from(read: KeyQueryRecord) -> Result<Self, Error> {
        Self::new(read.style, read.delta)
    }
}

/// A key, and the noisy number of people who have it.
pub type KeyCount = (Arc<[u8]>, u64);

/// A key query under one neighbouring relation, with its scaled noise, its threshold and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyMeasurement {
    query: KeyQuery,
    relation: Relation,
    noise: Noise,
    pub(super) threshold: u64,
    releases: Vec<Release>,
}

impl KeyQuery {
    /// # Errors
    /// [`Error::Unsuited`] unless the noise is Laplace or Gaussian; [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500,
    /// 0.025 <= multiplier <= 1000 and 1e-100 <= delta <= 0.5.
    pub fn new(style: Style, delta: f64) -> Result<Self, Error> {
        style.check()?;
        check((1e-100..=0.5).contains(&delta), "delta", delta, "a number from 1e-100 to 0.5")?;
        match style {
            Style::Laplace { .. } | Style::Gaussian { .. } => Ok(Self { style, delta }),
            _ => Err(style.unsuited("counts by key", "laplace, gaussian")),
        }
    }

    /// Geometric noise that costs at most epsilon in total; keys that only one person has are released with probability
    /// at most delta.
    ///
    /// # Errors
    /// As for [`KeyQuery::new`].
    pub fn laplace(epsilon: f64, delta: f64) -> Result<Self, Error> {
        Self::new(Style::Laplace { epsilon }, delta)
    }

    /// Discrete Gaussian noise with sigma = multiplier times the L2 sensitivity; keys that only one person has are
    /// released with probability at most delta.
    ///
    /// # Errors
    /// As for [`KeyQuery::new`].
    pub fn gaussian(multiplier: f64, delta: f64) -> Result<Self, Error> {
        Self::new(Style::Gaussian { multiplier }, delta)
    }

    /// The noise.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// The largest probability that any of the keys which only one person has is released.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Scales and charges the noise for the neighbouring relation of the data.
    ///
    /// A person has up to r keys, each counted once. If people are replaced, the new person has other keys, so that up
    /// to 2r counts move by one each. Counts that do not move have the same law on both neighbouring data sets and
    /// reveal nothing, since the noises are independent. The others are of two kinds:
    ///
    /// - Both data sets have the key: noise on a number that moves by one; the comparison with the threshold depends on
    ///   the noisy number only.
    /// - Only one of the data sets has the key, with count one. There the key is released with probability p = P(1 +
    ///   noise >= T), and on the other data set never: the pair of laws is (1 - p, p) and (1, 0). One such key in each
    ///   data set gives (1 - p, p, 0) and (1 - p, 0, p), which reveals everything with probability p; one such key in
    ///   one data set is a function of that. There are at most r in each data set.
    ///
    /// So r or 2r releases of the noise and r leaks of p dominate the mechanism. A key is of one kind or the other: the
    /// charge counts both kinds for each key. At a given delta this costs no more than the noise alone does at that
    /// delta minus the leak.
    ///
    /// T is the least threshold with p <= delta/r. The charge contains p itself, rounded up: P(noise >= T - 1) is
    /// bounded by certified sums.
    ///
    /// # Errors
    /// No error is possible; the constructors' types require the `Result`.
    pub fn under(&self, relation: Relation) -> Result<KeyMeasurement, Error> {
        let keys = relation.records();
        let moved = if relation.adjacency() == Adjacency::Replace { 2 * keys } else { keys };
        let noise = self.style.shared(moved as f64).noise(1, Grid::WHOLE)?;
        let (threshold, leak) = threshold(&noise, self.delta / keys as f64)?;
        let releases = vec![
            Release::from((noise.mechanism(), Count::new(moved)?)),
            (Mechanism::NameAndShame { delta: Delta::new(leak)? }, Count::new(keys)?).into(),
        ];
        Ok(KeyMeasurement { query: *self, relation, noise, threshold, releases })
    }
}

/// The least T that 1 + noise reaches with probability at most `share`, and that probability.
fn threshold(noise: &Noise, share: f64) -> Result<(u64, f64), Error> {
    let chance = |reach: u64| {
        let unsuited = Error::Question { legal: "laplace, gaussian" };
        at_least(&noise.shape, reach).ok_or(unsuited)
    };
    // Noise is at least zero with probability above one half.
    let (mut low, mut high) = (0, 1);
    while chance(high)? > share {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if chance(middle)? <= share { high = middle } else { low = middle }
    }
    Ok((high + 1, chance(high)?))
}

impl KeyMeasurement {
    /// The releases that one run is charged as.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The key query.
    #[must_use]
    pub fn query(&self) -> KeyQuery {
        self.query
    }

    /// The neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The noise on each count.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// The least noisy count that is released.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The released keys, in the order of their bytes, with the noisy number of people who have them. **Each run is a
    /// separate release** that must be charged.
    ///
    /// Noise is drawn for each key that occurs: **the running time reveals the number of keys**. If others can observe
    /// the time, answer at times that do not depend on the data.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data have another relation, [`Error::Randomness`] if the source of randomness fails.
    pub fn run(&self, data: &KeyedData) -> Result<Vec<KeyCount>, Error> {
        crate::data::same(self.relation, data.relation())?;
        let mut released = Vec::new();
        for (key, people) in data.counts() {
            // A count below zero is also below the threshold.
            let noisy = self.noise.add(people.into())?.clamp(0, u64::MAX.into()) as u64;
            if noisy >= self.threshold {
                released.push((key.clone(), noisy));
            }
        }
        Ok(released)
    }

    /// A bound on the noise of a key that holds with at least this confidence, whether the key is released or not.
    ///
    /// For *released* keys this holds for counts well above the threshold. Other keys needed upward noise to be
    /// released, and the statement about them is one-sided: a key of fewer than c people is released as c + half-width
    /// or more with probability at most (1 - confidence)/2.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, confidence: f64) -> Result<f64, Error> {
        self.noise.half_width(confidence)
    }

    /// The least number of people such that a key which at least that many have is released with at least this
    /// probability.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn released_from(&self, confidence: f64) -> Result<u64, Error> {
        confident(confidence)?;
        let law = NoiseLaw::new(&self.noise);
        // A key with count c is released if the noise is above T - c - 1, and not released if the noise is below T - c,
        // which is as likely as noise above c - T.
        let above = |count: u64| count as f64 - self.threshold as f64;
        let keeps = |count: u64| match confidence < 0.5 {
            true => law.above(-above(count) - 1.0) * (1.0 - SLACK) >= confidence,
            false => law.above(above(count)) <= (1.0 - confidence) * (1.0 - SLACK),
        };
        let (mut low, mut high) = (0, self.threshold);
        while !keeps(high) {
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if keeps(middle) { high = middle } else { low = middle }
        }
        Ok(high)
    }
}
