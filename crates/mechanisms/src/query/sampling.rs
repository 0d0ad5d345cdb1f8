//! The sampling error: the distance between a sample and its population, without noise.

use super::{Bounds, Query, QueryKind};
use crate::error::{Error, check};
use crate::noise::confident;

impl Query {
    /// A bound on the difference between the exact answer on a simple random sample, drawn without replacement, and the
    /// answer of the population, scaled to the size of the sample. It holds with this confidence for all numbers of the
    /// answer at once; for quantiles it counts ranks. `None` where no such bound is known: variances, standard
    /// deviations, covariances, correlations and regressions.
    ///
    /// By Serfling (1974, Corollary 1.1) the mean of n of N numbers in an interval of width w has an error of t or
    /// more, in either direction, with probability at most 2 exp(-2 n t^2 / ((1 - (n - 1)/N) w^2)). The bound holds for
    /// all data; for most data t is smaller by a third or more.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1 and 1 <= rows <= population.
    pub fn sampling_error(
        &self,
        rows: u64,
        population: u64,
        confidence: f64,
    ) -> Result<Option<f64>, Error> {
        confident(confidence)?;
        check((1..=population).contains(&rows), "rows", rows as f64, "1 to the population")?;
        let numbers = self.answer_length() as f64;
        let (n, left_out) = (rows as f64, 1.0 - (rows - 1) as f64 / population as f64);
        let off = (left_out * (2.0 * numbers / (1.0 - confidence)).ln() / (2.0 * n)).sqrt();
        let off = off.min(1.0);
        let width = |bounds: &Bounds| bounds.high() - bounds.low();
        Ok(match &self.kind {
            // The size of the sample is known.
            QueryKind::Count(None) => Some(0.0),
            QueryKind::Proportion(_) => Some(off),
            QueryKind::Mean(bounds) => Some(width(bounds) * off),
            QueryKind::Sum(bounds) => Some(n * width(bounds) * off),
            QueryKind::Count(Some(_)) | QueryKind::Histogram(_) | QueryKind::Cumulative(_) => {
                Some(n * off)
            }
            QueryKind::Quantile { .. } | QueryKind::Quantiles { .. } => Some(n * off),
            QueryKind::Variance(_) | QueryKind::Deviation(_) => None,
            QueryKind::Covariance(..)
            | QueryKind::Correlation(..)
            | QueryKind::Regression { .. } => None,
        })
    }
}
