//! Sparse vector with one threshold noise (Lyu, Su and Li 2017), and guess-and-check on top of
//! it (Lyu 2022, Algorithm 1).
//!
//! In units of the sensitivity the threshold gets noise Lap(1/eps) once, every query fresh
//! noise Lap(c/eps), and the c-th answer above the threshold is the last: 3 eps, of which eps
//! is for the threshold. Values of these c queries, with fresh noise Lap(c/eps), cost eps more.
//! With the threshold drawn anew after each answer above there are c rounds of one answer each: all
//! noise is Lap(1/eps), and each round is 3 eps, with a value 4. Rounds are composed like any other
//! releases, far below their sum if there are many; one threshold is the better choice for few.
//! All of it is discrete Laplace noise on whole numbers of grid units.

use super::state::{GateLeft, Left};
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::Noise;
use crate::query::{Query, Summand};
use crate::reply::Reply;
use counterpoint::quantity::Epsilon;
use counterpoint::{Count, Mechanism, Relation, Release};
use serde::{Deserialize, Serialize};

/// Which queries are above a threshold: many questions, few answers above.
///
/// Charged 3 epsilon, and a fourth if values are given. Ends with the last answer above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseVector {
    pub(crate) gate: Gate,
    pub(super) values: bool,
}

impl SparseVector {
    /// For counting queries; see [`SparseVector::scaled`] for others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100, 1 <= answers <= 10^6 and the
    /// threshold is at most 1e100 in size.
    pub fn new(epsilon: f64, answers: u64, threshold: f64) -> Result<Self, Error> {
        Ok(Self { gate: Gate::counting(epsilon, answers, threshold)?, values: false })
    }

    /// For queries that one *record* moves by at most this, answered on a grid. A person moves
    /// them by so much for each record they may have.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the reach is above zero and at most 2^32 steps.
    pub fn scaled(self, reach: f64, grid: Grid) -> Result<Self, Error> {
        Ok(Self { gate: self.gate.scaled(reach, grid)?, ..self })
    }

    /// Gives the value with each answer above, for epsilon more.
    #[must_use]
    pub fn with_values(self) -> Self {
        Self { values: true, ..self }
    }

    /// Draws the threshold anew after each answer above: as many rounds as there are answers, each
    /// with the noise, and at the price, of a sparse vector with a single one.
    ///
    /// ```
    /// use counterpoint::{Adjacency, Count, Delta, Options, Plan, Relation};
    /// use counterpoint_mechanisms::{Interactive, SparseVector};
    ///
    /// let declared = Interactive::from(SparseVector::new(0.02, 100, 500.0)?.redrawn());
    /// let protocol = declared.under(Relation::one(Adjacency::AddRemove))?;
    /// assert_eq!(protocol.releases()[0].count, Count::new(100)?);
    /// // A hundred rounds of 3 * 0.02 are 6 by their sum.
    /// let plan = Plan::new(protocol.releases().to_vec())?;
    /// let cost = plan.epsilon(Delta::new(1e-6)?, &Options::default())?;
    /// assert!(cost.bracket.upper < 2.9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn redrawn(self) -> Self {
        Self { gate: self.gate.redrawn(), ..self }
    }
}

/// Is this guess about right? Right guesses are passed, wrong ones corrected.
///
/// Charged 4 epsilon: 3 for telling wrong from right, and one for the corrections. Ends with
/// the last correction. That the two parts may be interleaved rests on concurrent composition
/// (Lyu 2022, Theorem 5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Gate", try_from = "Gate")]
pub struct GuessAndCheck {
    pub(crate) gate: Gate,
}

impl GuessAndCheck {
    /// For counting queries, with so many corrections of guesses that are off by about the
    /// tolerance or more; see [`GuessAndCheck::scaled`] for other queries.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100, 1 <= corrections <= 10^6 and the
    /// tolerance is above 0 and at most 1e100.
    pub fn new(epsilon: f64, corrections: u64, tolerance: f64) -> Result<Self, Error> {
        Gate::counting(epsilon, corrections, tolerance)?.try_into()
    }

    /// For queries that one *record* moves by at most this, answered on a grid. A person moves
    /// them by so much for each record they may have.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the reach is above zero and at most 2^32 steps.
    pub fn scaled(self, reach: f64, grid: Grid) -> Result<Self, Error> {
        Ok(Self { gate: self.gate.scaled(reach, grid)? })
    }

    /// Draws the tolerance's noise anew after each correction: see [`SparseVector::redrawn`].
    #[must_use]
    pub fn redrawn(self) -> Self {
        Self { gate: self.gate.redrawn() }
    }
}

impl From<GuessAndCheck> for Gate {
    fn from(guess: GuessAndCheck) -> Self {
        guess.gate
    }
}

impl TryFrom<Gate> for GuessAndCheck {
    type Error = Error;

    fn try_from(gate: Gate) -> Result<Self, Error> {
        let legal = "a number above 0, at most 1e100";
        check(gate.threshold > 0.0, "tolerance", gate.threshold, legal)?;
        Ok(Self { gate })
    }
}

/// What both declare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub(crate) struct Gate {
    epsilon: f64,
    answers: u64,
    /// Before it is rounded to the grid.
    threshold: f64,
    /// How far one record moves a query.
    reach: f64,
    grid: Grid,
    /// Whether each answer above is followed by another threshold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    redrawn: bool,
}

/// A gate as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    epsilon: f64,
    answers: u64,
    threshold: f64,
    reach: f64,
    grid: Grid,
    #[serde(default)]
    redrawn: bool,
}

impl TryFrom<Unchecked> for Gate {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self, Error> {
        let gate = Self::counting(read.epsilon, read.answers, read.threshold)?;
        Ok(Self { redrawn: read.redrawn, ..gate.scaled(read.reach, read.grid)? })
    }
}

impl Gate {
    /// For queries that one record moves by one.
    fn counting(epsilon: f64, answers: u64, threshold: f64) -> Result<Self, Error> {
        let legal = "a number from 2^-20 to 100";
        check((2.0_f64.powi(-20)..=100.0).contains(&epsilon), "epsilon", epsilon, legal)?;
        let legal = "a whole number from 1 to 10^6";
        check((1..=1_000_000).contains(&answers), "answers", answers as f64, legal)?;
        check(threshold.abs() <= 1e100, "threshold", threshold, "a number from -1e100 to 1e100")?;
        // One zero, so that equal declarations are identical.
        let threshold = threshold + 0.0;
        let (reach, grid, redrawn) = (1.0, Grid::WHOLE, false);
        Ok(Self { epsilon, answers, threshold, reach, grid, redrawn })
    }

    fn redrawn(self) -> Self {
        Self { redrawn: true, ..self }
    }

    /// How many thresholds are drawn, and how many answers above each of them has.
    fn rounds(&self) -> (u64, u64) {
        if self.redrawn { (self.answers, 1) } else { (1, self.answers) }
    }

    fn scaled(self, reach: f64, grid: Grid) -> Result<Self, Error> {
        let gate = Self { reach, grid, ..self };
        gate.steps(1)?;
        Ok(gate)
    }

    /// How far so many records move a query, in grid steps.
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

    /// All of it, as the fingerprint takes it: one number more where thresholds are drawn anew.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let Self { epsilon, answers, threshold, reach, grid, redrawn } = *self;
        let exponent = i64::from(i32::from(grid)).cast_unsigned();
        let all = [epsilon.to_bits(), answers, threshold.to_bits(), reach.to_bits(), exponent];
        all.into_iter().chain(redrawn.then_some(1))
    }

    /// With its noise, for what one person can change.
    pub(super) fn under(&self, relation: Relation) -> Result<OpenGate, Error> {
        let steps = self.steps(relation.records())?;
        // Rounded up: no more is spent than is charged.
        let noise = |steps: u64, count: u64, sensitivity: u64| {
            let units = ((steps * count) as f64 / self.epsilon).next_up().next_up();
            let step = self.grid.step();
            Noise::laplace(units * step, sensitivity as f64 * step, self.grid)
        };
        // Beyond 10^5 steps one more is charged for a value.
        let charged = if steps > 100_000 { steps + 1 } else { steps };
        let (_, answers) = self.rounds();
        Ok(OpenGate {
            gate: *self,
            relation,
            threshold: noise(steps, 1, steps)?,
            query: noise(steps, answers, steps)?,
            value: noise(charged, answers, steps)?,
        })
    }
}

/// A gate with its noise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenGate {
    gate: Gate,
    relation: Relation,
    threshold: Noise,
    query: Noise,
    value: Noise,
}

impl OpenGate {
    /// For each threshold eps, and 2 eps for its queries; and the values one by one.
    pub(super) fn releases(&self, values: bool) -> Result<Vec<Release>, Error> {
        let epsilon = self.gate.epsilon;
        let (threshold, queries) = (Epsilon::new(epsilon)?, Epsilon::new(2.0 * epsilon)?);
        let (rounds, _) = self.gate.rounds();
        // One threshold goes by the sum of both, as sessions that are stored do; rounds by their own pair.
        let told = if self.gate.redrawn {
            Mechanism::AboveThreshold { threshold, queries }
        } else {
            Mechanism::SparseVector { threshold, queries }
        };
        let mut releases: Vec<Release> = vec![(told, Count::new(rounds)?).into()];
        if values {
            releases.push((self.value.mechanism(), Count::new(self.gate.answers)?).into());
        }
        Ok(releases)
    }

    /// Draws the threshold's noise, for all answers or for the first round.
    pub(super) fn begin(&self) -> Result<Left, Error> {
        Ok(Left::Gate(GateLeft { threshold: self.drawn()?, answers: self.gate.answers }))
    }

    /// The threshold with noise.
    fn drawn(&self) -> Result<i128, Error> {
        self.threshold.add(self.gate.grid.units(self.gate.threshold).into())
    }

    /// What is left after one more answer. The next round's threshold is drawn in any case, like values.
    fn after(&self, left: &GateLeft, is_above: bool) -> Result<Left, Error> {
        let next = if self.gate.redrawn { self.drawn()? } else { left.threshold };
        Ok(left.after(is_above, next))
    }

    pub(super) fn includes(&self, left: &GateLeft) -> bool {
        left.answers <= self.gate.answers
    }

    /// The query in grid units, if one person moves it no further than declared.
    pub(super) fn summand(&self, query: &Query) -> Result<Summand, Error> {
        let summand = Summand::of_query(query, self.gate.grid)?;
        let (asked, declared) = (summand.sensitivity(self.relation), self.query.sensitivity());
        if asked > declared {
            return Err(Error::Sensitivity { asked, declared });
        }
        Ok(summand)
    }

    /// Are so many grid steps at the threshold or above?
    pub(super) fn above(
        &self,
        values: bool,
        units: i128,
        left: &GateLeft,
    ) -> Result<(Reply, Left), Error> {
        let above = self.query.add(units)? >= left.threshold;
        // Drawn in any case: that it is, how long it takes and whether it fails tell nothing.
        let value = if values { Some(self.value(units)?) } else { None };
        let reply = if above { Reply::Above(value) } else { Reply::Below };
        Ok((reply, self.after(left, above)?))
    }

    /// Is this guess at so many grid steps about right? The distance to it moves no further than they do.
    pub(super) fn check(
        &self,
        guess: f64,
        units: i128,
        left: &GateLeft,
    ) -> Result<(Reply, Left), Error> {
        let distance = (units - i128::from(self.gate.grid.units(guess))).abs();
        let wrong = self.query.add(distance)? >= left.threshold;
        // Drawn in any case, as above.
        let value = self.value(units)?;
        let reply = if wrong { Reply::Wrong(value) } else { Reply::Pass };
        Ok((reply, self.after(left, wrong)?))
    }

    /// An error unless a guess can be compared with anything.
    pub(super) fn can_be(guess: f64) -> Result<(), Error> {
        check(guess.abs() <= 1e100, "guess", guess, "a number from -1e100 to 1e100")
    }

    fn value(&self, units: i128) -> Result<f64, Error> {
        Ok(self.gate.grid.value(self.value.add(units)?))
    }
}
