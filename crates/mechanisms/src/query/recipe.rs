//! A query and how it is to be answered: all that whoever asks may choose.

use super::ends::CHOICES;
use super::{Kind, Query};
use crate::error::{Error, check};
use crate::noise::{MOST_SIGMA, confident};
use serde::{Deserialize, Serialize};

/// A query with the noise it is to be answered with, relative to what one person can change.
///
/// How much noise that is, and what it is charged as, is known once the data's relation is:
/// [`Recipe::under`] makes a [`Measurement`](super::Measurement) of it. No recipe states a
/// relation of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Recipe {
    pub(super) query: Query,
    pub(super) style: Style,
}

/// The kinds of noise, as they are asked for: relative to the sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Style {
    /// Laplace noise; geometric on counts.
    Laplace {
        /// What it costs at most, in all.
        epsilon: f64,
    },
    /// Gaussian noise; discrete Gaussian on counts.
    Gaussian {
        /// Of so many sensitivities.
        multiplier: f64,
    },
    /// Discrete Gaussian noise on counts, of one sigma whatever one person can change.
    DiscreteGaussian {
        /// The sigma.
        sigma: f64,
    },
    /// Staircase noise.
    Staircase {
        /// What it costs at most, in all.
        epsilon: f64,
    },
    /// A choice by the exponential mechanism.
    Exponential {
        /// What it costs.
        epsilon: f64,
    },
    /// Three choices by the exponential mechanism for each quantile: the quantile, and both ends of an interval around it.
    ExponentialInterval {
        /// What all of them cost.
        epsilon: f64,
        /// The probability with which the interval holds the quantile.
        confidence: f64,
    },
}

/// A recipe as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    query: Query,
    style: Style,
}

impl TryFrom<Unchecked> for Recipe {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self, Error> {
        Self::new(read.query, read.style)
    }
}

impl Recipe {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500, for each of several quantiles, and 0.025 <= multiplier <=
    /// 1000, 2^-20 <= sigma <= 2^20; [`Error::Unsuited`] unless quantiles, and only they, are chosen, and a sigma is a count's or
    /// a histogram's.
    pub fn new(query: Query, style: Style) -> Result<Self, Error> {
        style.check()?;
        let quantile = matches!(query.kind, Kind::Quantile { .. } | Kind::Quantiles { .. });
        if let (true, Some((epsilon, choices))) = (quantile, style.choices(query.numbers())) {
            let legal =
                "a number from 2^-20 for each quantile, or three times that with intervals, to 500";
            check(epsilon / choices >= LEAST_EPSILON, "epsilon", epsilon, legal)?;
        }
        match style {
            Style::Exponential { .. } | Style::ExponentialInterval { .. } if !quantile => {
                Err(style.unsuited(query.kind.name(), "a quantile"))
            }
            Style::Exponential { .. } | Style::ExponentialInterval { .. } => {
                Ok(Self { query, style })
            }
            _ if quantile => Err(style.unsuited(query.kind.name(), "exponential")),
            Style::DiscreteGaussian { .. }
                if !matches!(query.kind, Kind::Count(_) | Kind::Histogram(_)) =>
            {
                Err(style.unsuited(query.kind.name(), "a count or a histogram"))
            }
            _ => Ok(Self { query, style }),
        }
    }

    /// What is asked.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// How it is answered.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }
}

impl Query {
    /// Answered with Laplace noise, costing at most epsilon in all. Counts get geometric
    /// noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for a quantile.
    pub fn laplace(&self, epsilon: f64) -> Result<Recipe, Error> {
        Recipe::new(self.clone(), Style::Laplace { epsilon })
    }

    /// Answered with Gaussian noise of so many sensitivities (in Euclidean norm, where several
    /// numbers are released), or up to 0.8 % more, and for regressions 3 %. Counts get discrete Gaussian noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0.025 <= multiplier <= 1000; [`Error::Unsuited`] for a
    /// quantile.
    pub fn gaussian(&self, multiplier: f64) -> Result<Recipe, Error> {
        Recipe::new(self.clone(), Style::Gaussian { multiplier })
    }

    /// Answered with discrete Gaussian noise of exactly this sigma.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= sigma <= 2^20; [`Error::Unsuited`] unless it is a count or a histogram.
    pub fn discrete_gaussian(&self, sigma: f64) -> Result<Recipe, Error> {
        Recipe::new(self.clone(), Style::DiscreteGaussian { sigma })
    }

    /// Answered with staircase noise, costing at most epsilon in all.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for a quantile.
    pub fn staircase(&self, epsilon: f64) -> Result<Recipe, Error> {
        Recipe::new(self.clone(), Style::Staircase { epsilon })
    }

    /// A quantile, or several, chosen by the exponential mechanism, costing epsilon in all.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500, for each of several; [`Error::Unsuited`] for other
    /// queries.
    pub fn exponential(&self, epsilon: f64) -> Result<Recipe, Error> {
        Recipe::new(self.clone(), Style::Exponential { epsilon })
    }

    /// The same with an interval for each quantile, which holds it with this confidence: three choices for each, costing
    /// epsilon in all.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 3 x 2^-20 <= epsilon <= 500, for each of several, and 0 < confidence < 1;
    /// [`Error::Unsuited`] for other queries.
    pub fn exponential_interval(&self, epsilon: f64, confidence: f64) -> Result<Recipe, Error> {
        Recipe::new(self.clone(), Style::ExponentialInterval { epsilon, confidence })
    }
}

pub(super) const LEAST_EPSILON: f64 = 1.0 / (1_u64 << 20) as f64;
pub(super) const MOST_EPSILON: f64 = 500.0;

impl Style {
    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::Laplace { epsilon }
            | Self::Staircase { epsilon }
            | Self::Exponential { epsilon } => {
                let legal = "a number from 2^-20 to 500";
                check((LEAST_EPSILON..=MOST_EPSILON).contains(&epsilon), "epsilon", epsilon, legal)
            }
            Self::ExponentialInterval { epsilon, confidence } => {
                Self::Exponential { epsilon }.check()?;
                confident(confidence)
            }
            Self::Gaussian { multiplier } => {
                let legal = "a number from 0.025 to 1000";
                check((0.025..=1000.0).contains(&multiplier), "multiplier", multiplier, legal)
            }
            Self::DiscreteGaussian { sigma } => {
                let legal = "a number from 2^-20 to 2^20";
                check((LEAST_EPSILON..=MOST_SIGMA).contains(&sigma), "sigma", sigma, legal)
            }
        }
    }

    /// The epsilon of choices for so many shares, and how many choices they are.
    pub(super) fn choices(self, shares: usize) -> Option<(f64, f64)> {
        match self {
            Self::Exponential { epsilon } => Some((epsilon, shares as f64)),
            Self::ExponentialInterval { epsilon, .. } => {
                Some((epsilon, (CHOICES * shares as u64) as f64))
            }
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Laplace { .. } => "laplace",
            Self::Gaussian { .. } => "gaussian",
            Self::DiscreteGaussian { .. } => "discrete-gaussian",
            Self::Staircase { .. } => "staircase",
            Self::Exponential { .. } => "exponential",
            Self::ExponentialInterval { .. } => "exponential-interval",
        }
    }

    pub(crate) fn unsuited(self, query: &'static str, legal: &'static str) -> Error {
        Error::Unsuited { noise: self.name(), query, legal }
    }
}
