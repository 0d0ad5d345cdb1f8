//! A query with its noise: everything that an analyst may choose.

use super::ends::CHOICES;
use super::{Query, QueryKind};
use crate::error::{Error, check};
use crate::noise::{MOST_SIGMA, confident};
use serde::{Deserialize, Serialize};

/// A query with the kind of its noise, relative to the sensitivity.
///
/// The amount of noise and the charge depend on the data's relation: [`NoisyQuery::under`] makes a
/// [`Measurement`](super::Measurement) for it. No noisy query states a relation of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NoisyQueryRecord")]
pub struct NoisyQuery {
    pub(super) query: Query,
    pub(super) style: Style,
}

/// The kinds of noise, with parameters relative to the sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Style {
    /// Laplace noise; geometric on counts.
    Laplace {
        /// The largest total cost.
        epsilon: f64,
    },
    /// Gaussian noise; discrete Gaussian on counts.
    Gaussian {
        /// Sigma divided by the sensitivity.
        multiplier: f64,
    },
    /// Discrete Gaussian noise on counts, with a sigma that does not depend on the sensitivity.
    DiscreteGaussian {
        /// The sigma.
        sigma: f64,
    },
    /// Staircase noise.
    Staircase {
        /// The largest total cost.
        epsilon: f64,
    },
    /// A choice by the exponential mechanism.
    Exponential {
        /// The total cost.
        epsilon: f64,
    },
    /// Three choices by the exponential mechanism for each quantile: the quantile, and both ends of an interval around
    /// it.
    ExponentialInterval {
        /// The total cost of all choices.
        epsilon: f64,
        /// The probability with which the interval covers the quantile.
        confidence: f64,
    },
}

/// A noisy query as deserialized, unchecked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoisyQueryRecord {
    query: Query,
    style: Style,
}

impl TryFrom<NoisyQueryRecord> for NoisyQuery {
    type Error = Error;

    fn try_from(read: NoisyQueryRecord) -> Result<Self, Error> {
        Self::new(read.query, read.style)
    }
}

impl NoisyQuery {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500, for each of several quantiles, 0.025 <= multiplier <= 1000
    /// and 2^-20 <= sigma <= 2^20. [`Error::Unsuited`] unless exponential noise is used for quantiles and only for
    /// them, and a fixed sigma only for counts and histograms.
    pub fn new(query: Query, style: Style) -> Result<Self, Error> {
        style.check()?;
        let quantile =
            matches!(query.kind, QueryKind::Quantile { .. } | QueryKind::Quantiles { .. });
        if let (true, Some((epsilon, choices))) = (quantile, style.choices(query.answer_length())) {
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
                if !matches!(query.kind, QueryKind::Count(_) | QueryKind::Histogram(_)) =>
            {
                Err(style.unsuited(query.kind.name(), "a count or a histogram"))
            }
            _ => Ok(Self { query, style }),
        }
    }

    /// The query.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The kind of noise.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }
}

impl Query {
    /// Adds Laplace noise, at a total cost of at most epsilon. Counts get geometric noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for a quantile.
    pub fn laplace(&self, epsilon: f64) -> Result<NoisyQuery, Error> {
        NoisyQuery::new(self.clone(), Style::Laplace { epsilon })
    }

    /// Adds Gaussian noise with sigma = multiplier * sensitivity (in Euclidean norm if several numbers are released),
    /// or up to 0.8 % more, and 3 % more for regressions. Counts get discrete Gaussian noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0.025 <= multiplier <= 1000; [`Error::Unsuited`] for a
    /// quantile.
    pub fn gaussian(&self, multiplier: f64) -> Result<NoisyQuery, Error> {
        NoisyQuery::new(self.clone(), Style::Gaussian { multiplier })
    }

    /// Adds discrete Gaussian noise of exactly this sigma.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= sigma <= 2^20; [`Error::Unsuited`] unless it is a count or a histogram.
    pub fn discrete_gaussian(&self, sigma: f64) -> Result<NoisyQuery, Error> {
        NoisyQuery::new(self.clone(), Style::DiscreteGaussian { sigma })
    }

    /// Adds staircase noise, at a total cost of at most epsilon.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for a quantile.
    pub fn staircase(&self, epsilon: f64) -> Result<NoisyQuery, Error> {
        NoisyQuery::new(self.clone(), Style::Staircase { epsilon })
    }

    /// Chooses one or several quantiles by the exponential mechanism, at a total cost of epsilon.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500, for each of several; [`Error::Unsuited`] for other
    /// queries.
    pub fn exponential(&self, epsilon: f64) -> Result<NoisyQuery, Error> {
        NoisyQuery::new(self.clone(), Style::Exponential { epsilon })
    }

    /// As [`Query::exponential`], with an interval for each quantile that covers it with this confidence: three choices
    /// for each quantile, at a total cost of epsilon.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 3 x 2^-20 <= epsilon <= 500, for each of several, and 0 < confidence < 1;
    /// [`Error::Unsuited`] for other queries.
    pub fn exponential_interval(&self, epsilon: f64, confidence: f64) -> Result<NoisyQuery, Error> {
        NoisyQuery::new(self.clone(), Style::ExponentialInterval { epsilon, confidence })
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

    /// The total epsilon, and the number of choices for this number of shares.
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
