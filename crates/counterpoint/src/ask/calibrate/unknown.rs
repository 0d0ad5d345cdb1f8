//! Which releases have an unknown, how they take a value for it, and in which direction it
//! grows unsafe.

use super::{CalibrateError, Search, Unknown};
use crate::mechanism::{Mechanism, Release};
use crate::quantity::{Count, Epsilon, Noise, OutOfRange};

impl Unknown {
    /// The name users know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sigma => "sigma",
            Self::Scale => "scale",
            Self::Epsilon => "epsilon",
            Self::Count => "count",
        }
    }

    /// The mechanisms that have it.
    #[must_use]
    pub fn legal(self) -> &'static str {
        match self {
            Self::Sigma => "gaussian, discrete-gaussian",
            Self::Scale => "laplace, geometric",
            Self::Epsilon => {
                "approx-dp, randomized-response, exponential, staircase, sparse-vector, above-threshold"
            }
            Self::Count => "any release of the plan",
        }
    }

    /// The safest and the least safe value, an epsilon of zero aside.
    pub(super) fn range(self) -> (f64, f64) {
        match self {
            Self::Sigma | Self::Scale => (1e100, 1e-100),
            Self::Epsilon => (1e-100, 1e6),
            Self::Count => (1.0, 1e12),
        }
    }

    /// What a release has now; `None` if it does not have it.
    #[must_use]
    pub fn value(self, release: &Release) -> Option<f64> {
        match (self, &release.mechanism) {
            (Self::Count, _) => Some(release.count.get() as f64),
            (
                Self::Sigma,
                Mechanism::Gaussian { sigma, .. }
                | Mechanism::DiscreteGaussian { sigma, .. }
                | Mechanism::GaussianMixture { sigma, .. }
                | Mechanism::GaussianSubset { sigma, .. }
                | Mechanism::GaussianAllocation { sigma, .. }
                | Mechanism::GaussianBatch { sigma, .. }
                | Mechanism::GaussianDraws { sigma, .. },
            ) => Some(sigma.get()),
            (
                Self::Scale,
                Mechanism::Laplace { scale, .. } | Mechanism::Geometric { scale, .. },
            ) => Some(scale.get()),
            (Self::Epsilon, Mechanism::ApproxDp(guarantee)) => Some(guarantee.epsilon.get()),
            (
                Self::Epsilon,
                Mechanism::RandomizedResponse { epsilon, .. }
                | Mechanism::Exponential { epsilon }
                | Mechanism::Staircase { epsilon, .. },
            ) => Some(epsilon.get()),
            (
                Self::Epsilon,
                Mechanism::SparseVector { threshold, queries }
                | Mechanism::AboveThreshold { threshold, queries },
            ) => Some(threshold.get() + queries.get()),
            _ => None,
        }
    }

    /// The value of a release that takes so many times another's. Counts are whole, rounded down, and at least 1.
    pub(super) fn times(self, value: f64, times: f64) -> f64 {
        match self {
            Self::Count => (value * times).floor().max(1.0),
            _ => value * times,
        }
    }

    /// Sets what is to be found where nothing is known of it: noise as large as what it hides, so that releases that
    /// keep their ratios hide a person equally well; one elsewhere.
    ///
    /// # Errors
    /// [`OutOfRange`] if the sensitivity is no legal noise.
    pub fn clear(self, release: &mut Release) -> Result<(), OutOfRange> {
        let value = match self {
            Self::Sigma | Self::Scale => moved(&release.mechanism),
            Self::Epsilon | Self::Count => 1.0,
        };
        self.fill(release, value)
    }

    /// Fills a value in; does nothing to a release that does not have it.
    pub(super) fn fill(self, release: &mut Release, value: f64) -> Result<(), OutOfRange> {
        match (self, &mut release.mechanism) {
            (Self::Count, _) => release.count = Count::new(value as u64)?,
            (
                Self::Sigma,
                Mechanism::Gaussian { sigma: noise, .. }
                | Mechanism::DiscreteGaussian { sigma: noise, .. }
                | Mechanism::GaussianMixture { sigma: noise, .. }
                | Mechanism::GaussianSubset { sigma: noise, .. }
                | Mechanism::GaussianAllocation { sigma: noise, .. }
                | Mechanism::GaussianBatch { sigma: noise, .. }
                | Mechanism::GaussianDraws { sigma: noise, .. },
            )
            | (
                Self::Scale,
                Mechanism::Laplace { scale: noise, .. } | Mechanism::Geometric { scale: noise, .. },
            ) => *noise = Noise::new(value)?,
            (Self::Epsilon, Mechanism::ApproxDp(guarantee)) => {
                guarantee.epsilon = Epsilon::new(value)?;
            }
            (
                Self::Epsilon,
                Mechanism::RandomizedResponse { epsilon, .. }
                | Mechanism::Exponential { epsilon }
                | Mechanism::Staircase { epsilon, .. },
            ) => *epsilon = Epsilon::new(value)?,
            (
                Self::Epsilon,
                Mechanism::SparseVector { threshold, queries }
                | Mechanism::AboveThreshold { threshold, queries },
            ) => {
                let (larger, smaller) =
                    if threshold < queries { (queries, threshold) } else { (threshold, queries) };
                (*larger, *smaller) = split(larger.get(), smaller.get(), value)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// How far one person can move what noise is added to; one where that is not said.
fn moved(mechanism: &Mechanism) -> f64 {
    match mechanism {
        Mechanism::Laplace { sensitivity, .. }
        | Mechanism::Gaussian { sensitivity, .. }
        | Mechanism::GaussianSubset { sensitivity, .. }
        | Mechanism::GaussianAllocation { sensitivity, .. }
        | Mechanism::GaussianDraws { sensitivity, .. } => sensitivity.get(),
        Mechanism::GaussianBatch { norm, .. } => norm.get(),
        Mechanism::Geometric { sensitivity, .. }
        | Mechanism::DiscreteGaussian { sensitivity, .. } => sensitivity.get() as f64,
        Mechanism::GaussianMixture { shifts, .. } => {
            shifts.points().iter().fold(0.0, |most: f64, point| most.max(point.0))
        }
        _ => 1.0,
    }
}

/// A total in the proportion of two parts, equal ones if both are zero. The larger is at
/// least half, so the difference is exact and the parts sum to the total.
fn split(larger: f64, smaller: f64, total: f64) -> Result<(Epsilon, Epsilon), OutOfRange> {
    let sum = larger + smaller;
    let share = if sum > 0.0 { larger / sum } else { 0.5 };
    let part = total * share.clamp(0.5, 1.0);
    Ok((Epsilon::new(part)?, Epsilon::new(total - part)?))
}

/// The releases that vary, each with its present value as a multiple of that of the first which has one above zero.
pub(super) fn varying(search: &Search<'_>) -> Result<Vec<(usize, f64)>, CalibrateError> {
    let (unknown, legal) = (search.unknown.name(), search.unknown.legal());
    let present =
        |index: usize| search.releases.get(index).and_then(|release| search.unknown.value(release));
    let indices: Vec<usize> = match search.varying {
        [] => (0..search.releases.len()).filter(|&index| present(index).is_some()).collect(),
        chosen => chosen.to_vec(),
    };
    if indices.is_empty() && !search.releases.is_empty() {
        return Err(CalibrateError::NothingVaries { unknown, legal });
    }
    let missing = |index| CalibrateError::DoesNotVary { index, unknown, legal };
    let value = |index: usize| present(index).ok_or_else(|| missing(index));
    let values = indices.into_iter().map(|index| Ok((index, value(index)?)));
    let values: Vec<(usize, f64)> = values.collect::<Result<_, CalibrateError>>()?;
    let unit = values.iter().map(|value| value.1).find(|value| *value > 0.0);
    let times = |value: f64| unit.map_or(1.0, |unit| value / unit);
    Ok(values.into_iter().map(|(index, value)| (index, times(value))).collect())
}
