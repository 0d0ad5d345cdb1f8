//! How far a sample is off from the people it was drawn from: no noise, but what chance did before.

use super::{Bounds, Kind, Query};
use crate::error::{Error, check};
use crate::noise::confident;

impl Query {
    /// How far the exact answer on a simple random sample, drawn without replacement, is from what the population would have
    /// answered, scaled to the size of the sample: of all numbers of the answer at once, as often as the confidence says. For quantiles in
    /// ranks. `None` where no such bound is known: variances, covariances, correlations and regressions.
    ///
    /// By Serfling (1974, Corollary 1.1) the mean of n of N numbers in an interval of width w is off by t or more, in either
    /// direction, with a chance of at most 2 exp(-2 n t^2 / ((1 - (n - 1)/N) w^2)). It holds for all data; for most, t is a third less or
    /// better.
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
        let numbers = self.numbers() as f64;
        let (n, left_out) = (rows as f64, 1.0 - (rows - 1) as f64 / population as f64);
        let off = (left_out * (2.0 * numbers / (1.0 - confidence)).ln() / (2.0 * n)).sqrt();
        let off = off.min(1.0);
        let width = |bounds: &Bounds| bounds.high() - bounds.low();
        Ok(match &self.kind {
            // Of everybody there are as many as there are.
            Kind::Count(None) => Some(0.0),
            Kind::Proportion(_) => Some(off),
            Kind::Mean(bounds) => Some(width(bounds) * off),
            Kind::Sum(bounds) => Some(n * width(bounds) * off),
            Kind::Count(Some(_)) | Kind::Histogram(_) | Kind::Cumulative(_) => Some(n * off),
            Kind::Quantile { .. } | Kind::Quantiles { .. } => Some(n * off),
            Kind::Variance(_) | Kind::Deviation(_) => None,
            Kind::Covariance(..) | Kind::Correlation(..) | Kind::Regression { .. } => None,
        })
    }
}
