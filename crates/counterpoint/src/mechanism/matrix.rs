//! Matrix mechanisms: Gaussian noise on linear combinations of the steps of a training (theory 6.17).
//!
//! A strategy is a lower-triangular Toeplitz matrix C, given by its first column. The mechanism releases C x + sigma z
//! for the sums x of the steps and standard normal z; everything else, such as the prefix sums that a training uses, is
//! computed from these. A person takes part in few steps, which lie apart. The mechanism is then Gaussian noise with the
//! sensitivity that this module computes.

use crate::quantity::{OutOfRangeError, StepCount};
use counterpoint_numerics::{Bracket, Dd, STEP};

/// The largest number of additions that a sensitivity may take.
const MOST_WORK: u64 = 200_000_000;

/// The steps in which a person takes part: at most so many of them, any two of them so far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participation {
    /// The largest number of steps.
    pub most: StepCount,
    /// The least distance between two steps.
    pub separation: StepCount,
}

/// A lower-triangular Toeplitz matrix: entry (i, j) is coefficient i - j.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    steps: usize,
    /// The coefficients up to the last one that is not zero.
    coefficients: Vec<Dd>,
}

/// The reason why numbers are not a legal [`Strategy`], or its sensitivity is not computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// A number outside its legal range.
    #[error("{field} has entry {} {value:?}; legal: {legal}", .index + 1)]
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
    /// A list that is empty or too long, or lists of different lengths.
    #[error("{field} has {entries} entries; legal: {legal}")]
    Length {
        /// The list.
        field: &'static str,
        /// Its length.
        entries: usize,
        /// The legal lengths, in words.
        legal: String,
    },
    /// More bands than the steps between two participations.
    #[error("bands is {bands}; legal: at most {steps}, the steps")]
    Bands {
        /// The number of bands.
        bands: u64,
        /// The number of steps.
        steps: u64,
    },
    /// A sensitivity that takes too long.
    #[error(
        "steps is {steps} with {most} participations; legal: steps times participations at most 2*10^8"
    )]
    Work {
        /// The number of steps.
        steps: u64,
        /// The number of participations.
        most: u64,
    },
    /// A quantity outside its legal range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRangeError),
}

/// The coefficients of a strategy may not be larger than this.
const LARGEST: f64 = 1e100;

impl Strategy {
    /// The strategy with these coefficients; later ones are zero.
    ///
    /// # Errors
    /// [`StrategyError`] naming what is not legal.
    pub fn new(steps: StepCount, coefficients: &[f64]) -> Result<Self, StrategyError> {
        let steps = steps.get() as usize;
        if coefficients.is_empty() || coefficients.len() > steps {
            let legal = format!("1 to {steps}, the steps");
            let (field, entries) = ("coefficients", coefficients.len());
            return Err(StrategyError::Length { field, entries, legal });
        }
        for (index, &value) in coefficients.iter().enumerate() {
            let least = if index == 0 { 1e-100 } else { 0.0 };
            if !(least..=LARGEST).contains(&value.abs()) {
                let legal = "a number from -1e100 to 1e100, and the first at least 1e-100 in size";
                return Err(StrategyError::Number { field: "coefficients", index, value, legal });
            }
        }
        let coefficients = coefficients.iter().copied().map(Dd::from).collect();
        Ok(Self { steps, coefficients })
    }

    /// The square-root factor of the matrix of prefix sums, with coefficients `c_0 = 1` and `c_k = c_(k-1) (2k - 1)/(2k)`,
    /// cut off after some bands.
    ///
    /// # Errors
    /// [`StrategyError::Bands`] if there are more bands than steps.
    pub fn square_root(steps: StepCount, bands: Option<StepCount>) -> Result<Self, StrategyError> {
        let length = bands.unwrap_or(steps).get();
        if length > steps.get() {
            return Err(StrategyError::Bands { bands: length, steps: steps.get() });
        }
        let next = |last: &Option<(Dd, u64)>| {
            let (value, k) = (*last)?;
            Some((value * (2 * k + 1) as f64 / (2 * k + 2) as f64, k + 1))
        };
        let list = std::iter::successors(Some(Some((Dd::ONE, 0))), |last| Some(next(last)));
        let coefficients = list.flatten().map(|(value, _)| value).take(length as usize).collect();
        Ok(Self { steps: steps.get() as usize, coefficients })
    }

    /// The strategy whose inverse needs little memory (BLT): `c_0 = 1` and `c_k = sum_j omega_j theta_j^(k-1)`.
    ///
    /// # Errors
    /// [`StrategyError`] naming what is not legal.
    pub fn blt(steps: StepCount, theta: &[f64], omega: &[f64]) -> Result<Self, StrategyError> {
        if theta.len() != omega.len() || theta.is_empty() || theta.len() > 100 {
            let legal = format!("as many as theta, which has {} (1 to 100)", theta.len());
            return Err(StrategyError::Length { field: "omega", entries: omega.len(), legal });
        }
        for (field, list) in [("theta", theta), ("omega", omega)] {
            for (index, &value) in list.iter().enumerate() {
                if !(0.0..=1.0).contains(&value) {
                    let legal = "a number from 0 to 1";
                    return Err(StrategyError::Number { field, index, value, legal });
                }
            }
        }
        let mut terms: Vec<Dd> = omega.iter().copied().map(Dd::from).collect();
        let mut coefficients = vec![Dd::ONE];
        for _ in 1..steps.get() {
            coefficients.push(terms.iter().fold(Dd::ZERO, |sum, &term| sum + term));
            for (term, &theta) in terms.iter_mut().zip(theta) {
                *term = *term * theta;
            }
        }
        Ok(Self { steps: steps.get() as usize, coefficients })
    }

    /// The number of steps.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The number of bands: coefficients up to the last one that is not zero.
    #[must_use]
    pub fn bands(&self) -> usize {
        let is_zero = |value: &&Dd| !value.is_positive() && !value.is_negative();
        self.coefficients.len() - self.coefficients.iter().rev().take_while(is_zero).count()
    }

    /// The largest Euclidean norm of a column, rounded down and up: that of the first one.
    #[must_use]
    pub fn column_norm(&self) -> Bracket {
        let squares = self.coefficients.iter().fold(Dd::ZERO, |sum, &c| sum + c * c);
        self.root(squares, Dd::ZERO)
    }

    /// The sensitivity, with steps' sums that one person moves by at most 1 in Euclidean norm (theory 6.17).
    ///
    /// Both ends agree, up to rounding, if the coefficients neither are negative nor rise, or if two participations are
    /// at least as many steps apart as the strategy has bands. Otherwise the upper end is that of larger coefficients.
    ///
    /// # Errors
    /// [`StrategyError::Work`] if there are too many steps and participations.
    pub fn sensitivity(&self, taking: Participation) -> Result<Bracket, StrategyError> {
        let separation = taking.separation.get() as usize;
        let most = (taking.most.get() as usize).min(self.steps.div_ceil(separation));
        let work = (self.steps as u64).saturating_mul(most as u64);
        if self.bands() > separation && work > MOST_WORK {
            let (steps, most) = (self.steps as u64, most as u64);
            return Err(StrategyError::Work { steps, most });
        }
        let regular = self.bands() <= separation;
        let found = self.norm_of_pattern(&self.coefficients, most, separation);
        let majorant = majorant(&self.coefficients);
        if regular || majorant == self.coefficients {
            return Ok(found);
        }
        let upper = self.norm_of_pattern(&majorant, most, separation).upper;
        Ok(Bracket { upper, ..found })
    }

    /// Bounds the norm of the sum of the columns 0, b, 2b, ... of the matrix with these coefficients.
    fn norm_of_pattern(&self, coefficients: &[Dd], most: usize, separation: usize) -> Bracket {
        let (mut sum, mut error) = (Dd::ZERO, Dd::ZERO);
        for row in 0..self.steps {
            let first = row.saturating_sub(coefficients.len() - 1).div_ceil(separation);
            let last = (row / separation).min(most - 1);
            let entries = (first..=last).filter_map(|i| coefficients.get(row - i * separation));
            let (value, size) = entries.fold((Dd::ZERO, Dd::ZERO), |(value, size), &entry| {
                (value + entry, size + entry.abs())
            });
            sum = sum + value * value;
            error = error + size * size;
        }
        self.root(sum, error)
    }

    /// Takes a root. `size` is the same sum of squares with absolute values: coefficients and sums have relative errors
    /// of a [`STEP`] for each of their operations, of which there are fewer than `4 steps + 64`.
    fn root(&self, squares: Dd, size: Dd) -> Bracket {
        let size = if size.is_positive() { size } else { squares };
        let error = size * (STEP * (16.0 * self.steps as f64 + 256.0));
        let below = squares - error;
        let below = if below.is_positive() { below.sqrt() } else { Dd::ZERO };
        let root = (squares + error).sqrt();
        Bracket { lower: below.lower().next_down().max(0.0), upper: root.upper().next_up() }
    }
}

/// Returns the least coefficients that are not below the sizes of the given ones and do not rise.
fn majorant(coefficients: &[Dd]) -> Vec<Dd> {
    let mut list: Vec<Dd> = coefficients.iter().map(|c| c.abs()).collect();
    let mut most = Dd::ZERO;
    for entry in list.iter_mut().rev() {
        if *entry < most {
            *entry = most;
        }
        most = *entry;
    }
    list
}
