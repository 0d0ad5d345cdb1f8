//! Sparse vector with one noisy threshold (Lyu, Su and Li 2017), and guess-and-check, which is built on it (Lyu 2022,
//! Algorithm 1).
//!
//! In units of the sensitivity the threshold gets noise Lap(1/eps) once, every query gets fresh noise Lap(c/eps), and
//! the c-th answer above the threshold is the last. The cost is 3 eps, of which eps is for the threshold. Values of
//! these c queries, with fresh noise Lap(c/eps), cost another eps.
//!
//! If the threshold is redrawn after each answer above, there are c rounds of one answer each: all noise is Lap(1/eps),
//! and each round costs 3 eps, or 4 eps with a value. Rounds compose like other releases: many rounds cost far less
//! than the sum of their epsilons. For few answers one threshold costs less. All noise is discrete Laplace noise on
//! whole numbers of grid steps.

use super::state::{Progress, ThresholdState};
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::Noise;
use crate::query::{Query, Summand};
use crate::reply::Reply;
use counterpoint::quantity::Epsilon;
use counterpoint::{Count, Mechanism, Relation, Release};
use serde::{Deserialize, Serialize};

/// The sparse vector technique: reports for each query whether it is approximately above a threshold, for many queries
/// of which few are above.
///
/// Costs 3 epsilon, or 4 epsilon with values. The session ends with the last declared answer above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseVector {
    #[serde(rename = "gate")]
    pub(crate) parameters: ThresholdParameters,
    pub(super) values: bool,
}

impl SparseVector {
    /// A sparse vector for counting queries; see [`SparseVector::scaled`] for others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100, 1 <= answers <= 10^6 and the
    /// threshold is at most 1e100 in size.
    pub fn new(epsilon: f64, answers: u64, threshold: f64) -> Result<Self, Error> {
        Ok(Self {
            parameters: ThresholdParameters::counting(epsilon, answers, threshold)?,
            values: false,
        })
    }

    /// Accepts queries that one *record* moves by at most `reach`, answered on a grid. A person moves them by `reach`
    /// for each record that they may have.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the reach is above zero and at most 2^32 steps.
    pub fn scaled(self, reach: f64, grid: Grid) -> Result<Self, Error> {
        Ok(Self { parameters: self.parameters.scaled(reach, grid)?, ..self })
    }

    /// Gives a noisy value with each answer above, at an additional cost of epsilon.
    #[must_use]
    pub fn with_values(self) -> Self {
        Self { values: true, ..self }
    }

    /// Redraws the threshold after each answer above. There are then as many rounds as answers above, each with the
    /// noise and the cost of a sparse vector with a single answer above.
    ///
    /// ```
    /// use counterpoint::{Adjacency, Count, Delta, Options, Plan, Relation};
    /// use counterpoint_mechanisms::{InteractiveMechanism, SparseVector};
    ///
    /// let declared = InteractiveMechanism::from(SparseVector::new(0.02, 100, 500.0)?.redrawn());
    /// let protocol = declared.under(Relation::single_record(Adjacency::AddRemove))?;
    /// assert_eq!(protocol.releases()[0].count, Count::new(100)?);
    /// // A hundred rounds of 3 * 0.02 would cost 6 by their sum.
    /// let plan = Plan::new(protocol.releases().to_vec())?;
    /// let cost = plan.epsilon(Delta::new(1e-6)?, &Options::default())?;
    /// assert!(cost.bracket.upper < 2.9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn redrawn(self) -> Self {
        Self { parameters: self.parameters.redrawn(), ..self }
    }
}

/// Guess-and-check: reports whether a guess is approximately right, and corrects wrong guesses.
///
/// Costs 4 epsilon: 3 epsilon for the comparisons, and one for the corrections. The session ends with the last declared
/// correction. Comparisons and corrections interleave; this is covered by concurrent composition (Lyu 2022, Theorem 5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ThresholdParameters", try_from = "ThresholdParameters")]
pub struct GuessAndCheck {
    pub(crate) parameters: ThresholdParameters,
}

impl GuessAndCheck {
    /// Guess-and-check for counting queries, with this number of corrections. A guess is corrected if its error is
    /// approximately the tolerance or more. See [`GuessAndCheck::scaled`] for other queries.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100, 1 <= corrections <= 10^6 and the
    /// tolerance is above 0 and at most 1e100.
    pub fn new(epsilon: f64, corrections: u64, tolerance: f64) -> Result<Self, Error> {
        ThresholdParameters::counting(epsilon, corrections, tolerance)?.try_into()
    }

    /// Accepts queries that one *record* moves by at most `reach`, answered on a grid. A person moves them by `reach`
    /// for each record that they may have.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the reach is above zero and at most 2^32 steps.
    pub fn scaled(self, reach: f64, grid: Grid) -> Result<Self, Error> {
        Ok(Self { parameters: self.parameters.scaled(reach, grid)? })
    }

    /// Redraws the tolerance's noise after each correction: see [`SparseVector::redrawn`].
    #[must_use]
    pub fn redrawn(self) -> Self {
        Self { parameters: self.parameters.redrawn() }
    }
}

impl From<GuessAndCheck> for ThresholdParameters {
    fn from(guess: GuessAndCheck) -> Self {
        guess.parameters
    }
}

impl TryFrom<ThresholdParameters> for GuessAndCheck {
    type Error = Error;

    fn try_from(parameters: ThresholdParameters) -> Result<Self, Error> {
        let legal = "a number above 0, at most 1e100";
        check(parameters.threshold > 0.0, "tolerance", parameters.threshold, legal)?;
        Ok(Self { parameters })
    }
}

/// The declared parameters that sparse vector and guess-and-check have in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ThresholdRecord")]
pub(crate) struct ThresholdParameters {
    epsilon: f64,
    answers: u64,
    /// The threshold before it is rounded to the grid.
    threshold: f64,
    /// The largest change of a query by one record.
    reach: f64,
    grid: Grid,
    /// True if the threshold is redrawn after each answer above.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    redrawn: bool,
}

/// The parameters as deserialized, unchecked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThresholdRecord {
    epsilon: f64,
    answers: u64,
    threshold: f64,
    reach: f64,
    grid: Grid,
    #[serde(default)]
    redrawn: bool,
}

impl TryFrom<ThresholdRecord> for ThresholdParameters {
    type Error = Error;

    fn try_from(read: ThresholdRecord) -> Result<Self, Error> {
        let parameters = Self::counting(read.epsilon, read.answers, read.threshold)?;
        Ok(Self { redrawn: read.redrawn, ..parameters.scaled(read.reach, read.grid)? })
    }
}

impl ThresholdParameters {
    /// The parameters for queries that one record moves by at most one.
    fn counting(epsilon: f64, answers: u64, threshold: f64) -> Result<Self, Error> {
        let legal = "a number from 2^-20 to 100";
        check((2.0_f64.powi(-20)..=100.0).contains(&epsilon), "epsilon", epsilon, legal)?;
        let legal = "a whole number from 1 to 10^6";
        check((1..=1_000_000).contains(&answers), "answers", answers as f64, legal)?;
        check(threshold.abs() <= 1e100, "threshold", threshold, "a number from -1e100 to 1e100")?;
        // Negative zero becomes zero, so that equal declarations have equal bits.
        let threshold = threshold + 0.0;
        let (reach, grid, redrawn) = (1.0, Grid::WHOLE, false);
        Ok(Self { epsilon, answers, threshold, reach, grid, redrawn })
    }

    fn redrawn(self) -> Self {
        Self { redrawn: true, ..self }
    }

    /// The number of thresholds, and the number of answers above each.
    fn rounds(&self) -> (u64, u64) {
        if self.redrawn { (self.answers, 1) } else { (1, self.answers) }
    }

    fn scaled(self, reach: f64, grid: Grid) -> Result<Self, Error> {
        let parameters = Self { reach, grid, ..self };
        parameters.steps(1)?;
        Ok(parameters)
    }

    /// The largest change of a query by this number of records, in grid steps.
    fn steps(&self, records: u64) -> Result<u64, Error> {
        let steps = self.grid.steps(self.reach)?.saturating_mul(records);
        let legal = "at most 2^32 grid steps for all records of a person";
        check(steps <= 1 << 32, "reach", self.reach, legal)?;
        Ok(steps)
    }

    #[cfg(test)]
    pub(crate) fn answers(&self) -> u64 {
        self.answers
    }

    #[cfg(test)]
    pub(crate) fn is_redrawn(&self) -> bool {
        self.redrawn
    }

    /// All parameters as numbers for the fingerprint: one more where thresholds are redrawn.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let Self { epsilon, answers, threshold, reach, grid, redrawn } = *self;
        let exponent = i64::from(i32::from(grid)).cast_unsigned();
        let all = [epsilon.to_bits(), answers, threshold.to_bits(), reach.to_bits(), exponent];
        all.into_iter().chain(redrawn.then_some(1))
    }

    /// Scales the noise for the neighbouring relation of the data.
    pub(super) fn under(&self, relation: Relation) -> Result<NoisyThreshold, Error> {
        let steps = self.steps(relation.records())?;
        // Rounded up, so that the cost does not exceed the charge.
        let noise = |steps: u64, count: u64, sensitivity: u64| {
            let units = ((steps * count) as f64 / self.epsilon).next_up().next_up();
            let step = self.grid.step();
            Noise::laplace(units * step, sensitivity as f64 * step, self.grid)
        };
        // Beyond 10^5 steps one more is charged for a value.
        let charged = if steps > 100_000 { steps + 1 } else { steps };
        let (_, answers) = self.rounds();
        Ok(NoisyThreshold {
            parameters: *self,
            relation,
            threshold: noise(steps, 1, steps)?,
            query: noise(steps, answers, steps)?,
            value: noise(charged, answers, steps)?,
        })
    }
}

/// The parameters with their scaled noise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NoisyThreshold {
    parameters: ThresholdParameters,
    relation: Relation,
    threshold: Noise,
    query: Noise,
    value: Noise,
}

impl NoisyThreshold {
    /// The releases: eps for each threshold and 2 eps for its queries, and the values one by one.
    pub(super) fn releases(&self, values: bool) -> Result<Vec<Release>, Error> {
        let epsilon = self.parameters.epsilon;
        let (threshold, queries) = (Epsilon::new(epsilon)?, Epsilon::new(2.0 * epsilon)?);
        let (rounds, _) = self.parameters.rounds();
        // One threshold is charged by its sum, as in stored sessions; rounds are charged by their own pair.
        let told = if self.parameters.redrawn {
            Mechanism::AboveThreshold { threshold, queries }
        } else {
            Mechanism::SparseVector { threshold, queries }
        };
        let mut releases: Vec<Release> = vec![(told, Count::new(rounds)?).into()];
        if values {
            releases.push((self.value.mechanism(), Count::new(self.parameters.answers)?).into());
        }
        Ok(releases)
    }

    /// Draws the threshold's noise, for all answers or for the first round.
    pub(super) fn begin(&self) -> Result<Progress, Error> {
        Ok(Progress::Threshold(ThresholdState {
            threshold: self.drawn()?,
            answers: self.parameters.answers,
        }))
    }

    /// Draws a noisy threshold.
    fn drawn(&self) -> Result<i128, Error> {
        self.threshold.add(self.parameters.grid.units(self.parameters.threshold).into())
    }

    /// The progress after one more answer. Like the values, the next round's threshold is drawn whether it is used or
    /// not.
    fn after(&self, progress: &ThresholdState, is_above: bool) -> Result<Progress, Error> {
        let next = if self.parameters.redrawn { self.drawn()? } else { progress.threshold };
        Ok(progress.after(is_above, next))
    }

    pub(super) fn includes(&self, progress: &ThresholdState) -> bool {
        progress.answers <= self.parameters.answers
    }

    /// The query's summand in grid steps, if its sensitivity is at most the declared one.
    pub(super) fn summand(&self, query: &Query) -> Result<Summand, Error> {
        let summand = Summand::of_query(query, self.parameters.grid)?;
        let (asked, declared) = (summand.sensitivity(self.relation), self.query.sensitivity());
        if asked > declared {
            return Err(Error::Sensitivity { asked, declared });
        }
        Ok(summand)
    }

    /// Answers whether a number of grid steps is at or above the threshold.
    pub(super) fn above(
        &self,
        values: bool,
        units: i128,
        progress: &ThresholdState,
    ) -> Result<(Reply, Progress), Error> {
        let above = self.query.add(units)? >= progress.threshold;
        // Drawn in any case, so that time and failures reveal nothing.
        let value = if values { Some(self.value(units)?) } else { None };
        let reply = if above { Reply::Above(value) } else { Reply::Below };
        Ok((reply, self.after(progress, above)?))
    }

    /// Answers whether the guess is near a number of grid steps. The sensitivity of their distance is at most that of
    /// the number.
    pub(super) fn check(
        &self,
        guess: f64,
        units: i128,
        progress: &ThresholdState,
    ) -> Result<(Reply, Progress), Error> {
        let distance = (units - i128::from(self.parameters.grid.units(guess))).abs();
        let wrong = self.query.add(distance)? >= progress.threshold;
        // Drawn in any case, as in `above`.
        let value = self.value(units)?;
        let reply = if wrong { Reply::Wrong(value) } else { Reply::Pass };
        Ok((reply, self.after(progress, wrong)?))
    }

    /// Returns an error unless the guess is in the legal range.
    pub(super) fn check_guess(guess: f64) -> Result<(), Error> {
        check(guess.abs() <= 1e100, "guess", guess, "a number from -1e100 to 1e100")
    }

    fn value(&self, units: i128) -> Result<f64, Error> {
        Ok(self.parameters.grid.value(self.value.add(units)?))
    }
}
