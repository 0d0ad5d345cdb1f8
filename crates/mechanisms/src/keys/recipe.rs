//! What runs, and what that costs.

use super::Keyed;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{Law, Noise, SLACK, at_least, confident};
use crate::query::Style;
use counterpoint::quantity::Delta;
use counterpoint::{Adjacency, Count, Mechanism, Relation, Release};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How counts by key are to be released: with which noise, and how likely a person may be given away by a key that
/// nobody else has.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{KeyRecipe, Keyed};
///
/// let (people, words) = (["ann", "bob", "ann", "cleo"], ["rain", "rain", "Ann's secret", "rain"]);
/// let relation = Relation::new(Adjacency::AddRemove, 2)?;
/// let secret = counterpoint_mechanisms::secret()?; // once, and kept
/// let keyed = Keyed::of_people(relation, people, &words, &secret)?;
/// let counts = KeyRecipe::laplace(1.0, 1e-8)?.under(relation)?;
/// for (word, people) in counts.run(&keyed)? {
///     println!("{}: about {people}", String::from_utf8_lossy(&word));
/// }
/// println!("within {} with 95 %", counts.half_width(0.95)?);
/// println!("words of {} people are released with 95 %", counts.released_from(0.95)?);
/// println!("charged as {:?}", counts.releases());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct KeyRecipe {
    style: Style,
    delta: f64,
}

/// A recipe as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    style: Style,
    delta: f64,
}

impl TryFrom<Unchecked> for KeyRecipe {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self, Error> {
        Self::new(read.style, read.delta)
    }
}

/// A key, and how many people have it, with noise.
pub type KeyCount = (Arc<[u8]>, u64);

/// A recipe made ready for data of one relation: with its noise and its threshold, and knowing what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyMeasurement {
    recipe: KeyRecipe,
    relation: Relation,
    noise: Noise,
    pub(super) threshold: u64,
    releases: Vec<Release>,
}

impl KeyRecipe {
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

    /// With geometric noise that costs at most epsilon in all; and somebody's keys are given away with a chance of at
    /// most delta.
    ///
    /// # Errors
    /// As for [`KeyRecipe::new`].
    pub fn laplace(epsilon: f64, delta: f64) -> Result<Self, Error> {
        Self::new(Style::Laplace { epsilon }, delta)
    }

    /// With discrete Gaussian noise of so many times what one person moves, in Euclidean norm; and a delta.
    ///
    /// # Errors
    /// As for [`KeyRecipe::new`].
    pub fn gaussian(multiplier: f64, delta: f64) -> Result<Self, Error> {
        Self::new(Style::Gaussian { multiplier }, delta)
    }

    /// The noise.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// How likely keys that a person alone has are given away, at most, all of them together.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Made ready for data of this relation.
    ///
    /// Somebody has up to r keys, each counted once; where people are replaced, whoever comes instead has others, so
    /// that up to 2r counts move, by one each. Counts that do not move have the same law on both neighbours and
    /// say nothing, noises being independent. Of those that do, key by key:
    ///
    /// - Both neighbours have the key: noise on a number that moves by one, and the threshold looks at nothing else.
    /// - One alone has it, with a count of one. There it is released with the chance p = P(1 + noise >= T), and on
    ///   the other never: the pair of laws is (1 - p, p) and (1, 0). One such key on either side make (1 - p, p, 0) and
    ///   (1 - p, 0, p), which is to reveal everything with the chance p; one on one side alone is a function of that.
    ///   There are at most r on each side.
    ///
    /// So all is dominated by r or 2r releases of the noise and r leaks of p. A key is of one sort or the other: this
    /// charges both for each, which at a delta costs no more than the noise does at that delta less the leak.
    ///
    /// T is the least with p <= delta/r; what is charged is p itself, rounded up, for which P(noise >= T - 1) is bounded
    /// by certified sums.
    ///
    /// # Errors
    /// None that can be reached; the types of others allow for some.
    pub fn under(&self, relation: Relation) -> Result<KeyMeasurement, Error> {
        let keys = relation.records();
        let moved = if relation.adjacency() == Adjacency::Replace { 2 * keys } else { keys };
        let noise = self.style.shared(moved as f64).noise(1, Grid::WHOLE)?;
        let (threshold, leak) = threshold(&noise, self.delta / keys as f64)?;
        let releases = vec![
            Release::from((noise.mechanism(), Count::new(moved)?)),
            (Mechanism::NameAndShame { delta: Delta::new(leak)? }, Count::new(keys)?).into(),
        ];
        Ok(KeyMeasurement { recipe: *self, relation, noise, threshold, releases })
    }
}

/// The least T for which 1 + noise is at T or above with at most this chance, and that chance.
fn threshold(noise: &Noise, share: f64) -> Result<(u64, f64), Error> {
    let chance = |reach: u64| {
        let unsuited = Error::Question { legal: "laplace, gaussian" };
        at_least(&noise.shape, reach).ok_or(unsuited)
    };
    // Noise reaches zero with more than one half.
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
    /// What running it is charged as.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// What it was made of.
    #[must_use]
    pub fn recipe(&self) -> KeyRecipe {
        self.recipe
    }

    /// The relation it was made for.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The noise on each count.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// The least count, with noise, that is released.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The keys that are released, in the order of their bytes, with how many people have them, and noise. **Each run
    /// is a release of its own**, to be charged again.
    ///
    /// Noise is drawn for each key that occurs: **how long that takes tells how many there are**. Whoever
    /// may learn the time has to be answered at times that do not depend on the data.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data are of another relation, [`Error::Randomness`] if there is none to be had.
    pub fn run(&self, data: &Keyed) -> Result<Vec<KeyCount>, Error> {
        crate::data::same(self.relation, data.relation())?;
        let mut released = Vec::new();
        for (key, people) in data.counts() {
            // What is below zero is below the threshold.
            let noisy = self.noise.add(people.into())?.clamp(0, u64::MAX.into()) as u64;
            if noisy >= self.threshold {
                released.push((key.clone(), noisy));
            }
        }
        Ok(released)
    }

    /// Each key's noise is at most this with at least this probability, whether the key is released or not.
    ///
    /// Of keys that *were* released this holds for counts well above the threshold. Others had to have noise
    /// upward to be there, and what is said of those is one-sided: a key of fewer than c people is released as c +
    /// half-width or more with at most one half of what the confidence lacks to one.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, confidence: f64) -> Result<f64, Error> {
        self.noise.half_width(confidence)
    }

    /// A key that so many people have, or more, is released with at least this probability: the least such number.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn released_from(&self, confidence: f64) -> Result<u64, Error> {
        confident(confidence)?;
        let law = Law::new(&self.noise);
        // It is released if the noise is above T - c - 1, and kept back if it is below T - c, which is as likely as noise
        // above c - T.
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
