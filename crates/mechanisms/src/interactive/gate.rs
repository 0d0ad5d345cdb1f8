//! Sparse vector with one threshold noise (Lyu, Su and Li 2017), and guess-and-check on top of
//! it (Lyu 2022, Algorithm 1).
//!
//! In units of the sensitivity the threshold gets noise Lap(1/eps) once, every query fresh
//! noise Lap(c/eps), and the c-th answer above the threshold is the last: 3 eps, of which eps
//! is for the threshold. Values of these c queries, with fresh noise Lap(c/eps), cost eps more.
//! All of it is discrete Laplace noise on whole numbers of grid units.

use super::State;
use super::sequence::same;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::Noise;
use crate::query::{Query, Tally};
use crate::reply::Reply;
use counterpoint::quantity::Epsilon;
use counterpoint::{Adjacency, Count, Mechanism, Release};

/// What both have in common.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gate {
    epsilon: f64,
    answers: Count,
    /// What telling above from below is charged as.
    mechanism: Mechanism,
    /// Of the threshold, before it is rounded to the grid.
    level: f64,
    adjacency: Adjacency,
    grid: Grid,
    noise: GateNoise,
}

#[derive(Clone, Debug, PartialEq)]
struct GateNoise {
    threshold: Noise,
    query: Noise,
    value: Noise,
}

impl Gate {
    fn new(epsilon: f64, answers: u64, level: f64, adjacency: Adjacency) -> Result<Self, Error> {
        let legal = "a number from 2^-20 to 100";
        check((2.0_f64.powi(-20)..=100.0).contains(&epsilon), "epsilon", epsilon, legal)?;
        let legal = "a whole number from 1 to 10^6";
        check((1..=1_000_000).contains(&answers), "answers", answers as f64, legal)?;
        check(level.abs() <= 1e100, "threshold", level, "a number from -1e100 to 1e100")?;
        let (grid, noise) = (Grid::WHOLE, GateNoise::new(epsilon, answers, 1.0, Grid::WHOLE)?);
        let (threshold, queries) = (Epsilon::new(epsilon)?, Epsilon::new(2.0 * epsilon)?);
        let mechanism = Mechanism::SparseVector { threshold, queries };
        let answers = Count::new(answers)?;
        Ok(Self { epsilon, answers, mechanism, level, adjacency, grid, noise })
    }

    fn scaled(self, sensitivity: f64, grid: Grid) -> Result<Self, Error> {
        let noise = GateNoise::new(self.epsilon, self.answers.get(), sensitivity, grid)?;
        Ok(Self { grid, noise, ..self })
    }

    pub(super) fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// Draws the threshold's noise, once and for all.
    pub(super) fn open(&self) -> Result<State, Error> {
        let threshold = self.noise.threshold.add(self.grid.units(self.level).into())?;
        Ok(State::Gate { threshold, left: self.answers.get() })
    }

    /// The query in grid units, if one person moves it no further than declared.
    fn tally(&self, query: &Query) -> Result<Tally, Error> {
        same(query.adjacency(), self.adjacency)?;
        let tally = Tally::of_query(query, self.grid)?;
        let asked = tally.sensitivity(self.adjacency, query.records);
        let declared = self.noise.query.sensitivity();
        if asked > declared {
            return Err(Error::Sensitivity { asked, declared });
        }
        Ok(tally)
    }

    /// Whether a number with fresh noise is at the noisy threshold or above. If so it counts,
    /// before anything else is drawn.
    fn passes(&self, units: i128, threshold: i128, left: &mut u64) -> Result<bool, Error> {
        let above = self.noise.query.add(units)? >= threshold;
        if above {
            *left -= 1;
        }
        Ok(above)
    }

    fn value(&self, units: i128) -> Result<f64, Error> {
        Ok(self.grid.value(self.noise.value.add(units)?))
    }

    /// eps for the threshold, 2 eps for the queries, and the values one by one.
    fn releases(&self, values: bool) -> Vec<Release> {
        let mut releases: Vec<Release> = vec![(self.mechanism.clone(), Count::ONE).into()];
        if values {
            releases.push((self.noise.value.mechanism(), self.answers).into());
        }
        releases
    }
}

impl GateNoise {
    fn new(epsilon: f64, answers: u64, sensitivity: f64, grid: Grid) -> Result<Self, Error> {
        let steps = grid.steps(sensitivity)?;
        let most = "at most 2^32 grid steps";
        check(steps <= 1 << 32, "sensitivity", sensitivity, most)?;
        // Rounded up: no more is spent than is charged.
        let noise = |steps: u64, count: u64| {
            let units = ((steps * count) as f64 / epsilon).next_up().next_up();
            Noise::laplace(units * grid.step(), sensitivity, grid)
        };
        // Beyond 10^5 steps one more is charged for a value.
        let charged = if steps > 100_000 { steps + 1 } else { steps };
        Ok(Self {
            threshold: noise(steps, 1)?,
            query: noise(steps, answers)?,
            value: noise(charged, answers)?,
        })
    }
}

/// Which queries are above a threshold: many questions, few answers above.
///
/// Charged 3 epsilon, and a fourth if values are given. Ends with the last answer above.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseVector {
    gate: Gate,
    values: bool,
}

impl SparseVector {
    /// For counting queries; see [`SparseVector::scaled`] for others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100 and 1 <= answers <= 10^6.
    pub fn new(
        epsilon: f64,
        answers: u64,
        threshold: f64,
        adjacency: Adjacency,
    ) -> Result<Self, Error> {
        Ok(Self { gate: Gate::new(epsilon, answers, threshold, adjacency)?, values: false })
    }

    /// For queries that one person moves by at most this, answered on a grid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the sensitivity is above zero and at most 2^32 steps.
    pub fn scaled(self, sensitivity: f64, grid: Grid) -> Result<Self, Error> {
        Ok(Self { gate: self.gate.scaled(sensitivity, grid)?, ..self })
    }

    /// Gives the value with each answer above, for epsilon more.
    #[must_use]
    pub fn with_values(self) -> Self {
        Self { values: true, ..self }
    }

    /// What the whole session is charged as.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        self.gate.releases(self.values)
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(super) fn answer(
        &self,
        query: &Query,
        data: &[f64],
        threshold: i128,
        left: &mut u64,
    ) -> Result<Reply, Error> {
        let units = self.gate.tally(query)?.sum(data);
        if !self.gate.passes(units, threshold, left)? {
            return Ok(Reply::Below);
        }
        let value = if self.values { Some(self.gate.value(units)?) } else { None };
        Ok(Reply::Above(value))
    }
}

/// Is this guess about right? Right guesses are passed, wrong ones corrected.
///
/// Charged 4 epsilon: 3 for telling wrong from right, and one for the corrections. Ends with
/// the last correction. That the two parts may be interleaved rests on concurrent composition
/// (Lyu 2022, Theorem 5).
#[derive(Clone, Debug, PartialEq)]
pub struct GuessAndCheck {
    gate: Gate,
}

impl GuessAndCheck {
    /// For counting queries, with so many corrections of guesses that are off by about the
    /// tolerance or more; see [`GuessAndCheck::scaled`] for other queries.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100, 1 <= corrections <= 10^6 and the
    /// tolerance is above 0.
    pub fn new(
        epsilon: f64,
        corrections: u64,
        tolerance: f64,
        adjacency: Adjacency,
    ) -> Result<Self, Error> {
        check(tolerance > 0.0, "tolerance", tolerance, "a number above 0, at most 1e100")?;
        Ok(Self { gate: Gate::new(epsilon, corrections, tolerance, adjacency)? })
    }

    /// For queries that one person moves by at most this, answered on a grid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the sensitivity is above zero and at most 2^32 steps.
    pub fn scaled(self, sensitivity: f64, grid: Grid) -> Result<Self, Error> {
        Ok(Self { gate: self.gate.scaled(sensitivity, grid)? })
    }

    /// What the whole session is charged as.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        self.gate.releases(true)
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The distance to a fixed guess moves no further than the query.
    pub(super) fn answer(
        &self,
        query: &Query,
        guess: f64,
        data: &[f64],
        threshold: i128,
        left: &mut u64,
    ) -> Result<Reply, Error> {
        let units = self.gate.tally(query)?.sum(data);
        let distance = (units - i128::from(self.gate.grid.units(guess))).abs();
        if !self.gate.passes(distance, threshold, left)? {
            return Ok(Reply::Pass);
        }
        Ok(Reply::Wrong(self.gate.value(units)?))
    }
}
