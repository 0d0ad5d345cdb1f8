use super::Pair;
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The largest number of entries of a map.
const MOST_ENTRIES: u128 = 250_000;

/// A randomized function between finite sets: a row of probabilities for each input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    rows: Vec<Vec<Ratio>>,
}

/// The reason why there is no map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The source does not dominate the target.
    #[error("{0}")]
    Violated(Box<Violation>),
    /// The input is not legal, or too large.
    #[error(transparent)]
    Input(#[from] ExactError),
}

/// A ratio at which the target's profile exceeds the source's. It proves that no map exists, because a map can only
/// lower the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The likelihood ratio, e^epsilon.
    pub ratio: Ratio,
    /// The source's delta at this ratio.
    pub source: Ratio,
    /// The target's delta at this ratio, which is larger.
    pub target: Ratio,
}

impl Violation {
    /// The amount by which the target's delta is larger.
    #[must_use]
    pub fn excess(&self) -> Ratio {
        &self.target - &self.source
    }

    /// The epsilon of the ratio, accurate to about a double's precision.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        fractions::nearest(&self.ratio).ln()
    }

    /// True if the target's profile exceeds the source's at this ratio, for these pairs.
    #[must_use]
    pub fn refutes(&self, source: &Pair, target: &Pair) -> bool {
        source.delta(&self.ratio) == self.source
            && target.delta(&self.ratio) == self.target
            && self.target > self.source
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (target, source) = (fractions::nearest(&self.target), fractions::nearest(&self.source));
        write!(
            f,
            "no map exists: at epsilon {:.6} the target's delta is {target:e}; legal: at most the \
             source's, {source:e}",
            self.epsilon()
        )
    }
}

impl Map {
    /// A map with all entries zero, to be filled.
    pub(super) fn zero(source: &Pair, target: &Pair) -> Result<Self, ExactError> {
        let (inputs, outputs) = (source.outcomes().len(), target.outcomes().len());
        let size = Self::check(inputs as u128, outputs as u128)?;
        // An entry is a product with at most one fraction for each output.
        let bits = outputs as u128 * (source.bits() + target.bits());
        fractions::check_bits("bits of the map's entries", size, bits)?;
        Ok(Self { rows: vec![vec![Ratio::ZERO; outputs]; inputs] })
    }

    /// Returns the number of entries of a map, or an error if it is too large.
    pub(super) fn check(inputs: u128, outputs: u128) -> Result<u128, ExactError> {
        let size = inputs.saturating_mul(outputs);
        fractions::check_size("entries of the map", size, (1, MOST_ENTRIES))?;
        Ok(size)
    }

    /// Makes a map from rows that are known to be probabilities.
    pub(super) fn of_rows(rows: Vec<Vec<Ratio>>) -> Self {
        Self { rows }
    }

    /// Adds to one entry.
    pub(super) fn add(&mut self, input: usize, output: usize, value: Ratio) {
        if let Some(entry) = self.rows.get_mut(input).and_then(|row| row.get_mut(output)) {
            *entry += value;
        }
    }

    /// The probabilities of the outputs for each input.
    #[must_use]
    pub fn rows(&self) -> &[Vec<Ratio>] {
        &self.rows
    }

    /// True if every row is a probability vector.
    #[must_use]
    pub fn is_stochastic(&self) -> bool {
        let legal = |row: &Vec<Ratio>| {
            row.iter().all(|entry| *entry >= Ratio::ZERO) && fractions::sum(row).is_one()
        };
        self.rows.iter().all(legal)
    }

    /// Applies the map to the outcomes of a pair.
    ///
    /// # Errors
    /// [`ExactError::Size`] unless the pair has as many outcomes as the map has inputs.
    pub fn apply(&self, pair: &Pair) -> Result<Pair, ExactError> {
        let inputs = self.rows.len() as u128;
        fractions::check_size("outcomes", pair.outcomes().len() as u128, (inputs, inputs))?;
        let outputs = self.rows.first().map_or(0, Vec::len);
        let mut outcomes = vec![[Ratio::ZERO, Ratio::ZERO]; outputs];
        for ([p, q], row) in pair.outcomes().iter().zip(&self.rows) {
            for (outcome, entry) in outcomes.iter_mut().zip(row).filter(|(_, e)| !e.is_zero()) {
                outcome[0] += p * entry;
                outcome[1] += q * entry;
            }
        }
        Ok(Pair::of_outcomes(outcomes))
    }

    /// True if the map is stochastic and carries one pair onto the other, exactly.
    #[must_use]
    pub fn carries(&self, source: &Pair, target: &Pair) -> bool {
        self.is_stochastic() && self.apply(source).is_ok_and(|image| image == *target)
    }
}
