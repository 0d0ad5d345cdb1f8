//! Defines which releases have an unknown, how it is set, and in which direction it becomes unsafe.

use super::{CalibrateError, Search, Unknown};
use crate::mechanism::{Mechanism, Release};
use crate::quantity::{Count, Epsilon, NoiseScale, OutOfRangeError};

impl Unknown {
    /// The name of the unknown for users.
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
            Self::Scale => "laplace, geometric, report-noisy-max",
            Self::Epsilon => {
                "approx-dp, randomized-response, exponential, staircase, sparse-vector, above-threshold"
            }
            Self::Count => "any release of the plan",
        }
    }

    /// The safest and the least safe value, except for an epsilon of zero.
    pub(super) fn range(self) -> (f64, f64) {
        match self {
            Self::Sigma | Self::Scale => (1e100, 1e-100),
            Self::Epsilon => (1e-100, 1e6),
            Self::Count => (1.0, 1e12),
        }
    }

    /// The present value of a release; `None` if the release does not have the unknown.
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
                Mechanism::Laplace { scale, .. }
                | Mechanism::Geometric { scale, .. }
                | Mechanism::NoisyMax { scale, .. },
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
            (_, Mechanism::PrivateSelection(selection)) => match selection.inner() {
                [one] => self.value(one),
                _ => None,
            },
            _ => None,
        }
    }

    /// A multiple of a value. Counts are whole, rounded down, and at least 1.
    pub(super) fn times(self, value: f64, times: f64) -> f64 {
        match self {
            Self::Count => (value * times).floor().max(1.0),
            _ => value * times,
        }
    }

    /// Sets a default value where none is given: noise as large as the sensitivity, so that releases that keep their
    /// ratios protect a person equally well; otherwise one.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if the sensitivity is not legal as noise.
    pub fn fill_default(self, release: &mut Release) -> Result<(), OutOfRangeError> {
        let value = match self {
            Self::Sigma | Self::Scale => sensitivity_of(&release.mechanism),
            Self::Epsilon | Self::Count => 1.0,
        };
        self.fill(release, value)
    }

    /// Sets a value; does nothing to a release that does not have the unknown.
    pub(super) fn fill(self, release: &mut Release, value: f64) -> Result<(), OutOfRangeError> {
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
                Mechanism::Laplace { scale: noise, .. }
                | Mechanism::Geometric { scale: noise, .. }
                | Mechanism::NoisyMax { scale: noise, .. },
            ) => *noise = NoiseScale::new(value)?,
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
                (*larger, *smaller) = split_total(larger.get(), smaller.get(), value)?;
            }
            (_, Mechanism::PrivateSelection(selection)) => {
                let mut inner = selection.inner().to_vec();
                if let [one] = inner.as_mut_slice() {
                    self.fill(one, value)?;
                }
                *selection = selection.with_inner(inner);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The sensitivity of a mechanism; one where it states none.
fn sensitivity_of(mechanism: &Mechanism) -> f64 {
    match mechanism {
        Mechanism::Laplace { sensitivity, .. }
        | Mechanism::NoisyMax { sensitivity, .. }
        | Mechanism::Gaussian { sensitivity, .. }
        | Mechanism::GaussianSubset { sensitivity, .. }
        | Mechanism::GaussianAllocation { sensitivity, .. }
        | Mechanism::GaussianDraws { sensitivity, .. } => sensitivity.get(),
        Mechanism::GaussianBatch { norm, .. } => norm.get(),
        Mechanism::Geometric { sensitivity, .. }
        | Mechanism::DiscreteGaussian { sensitivity, .. } => sensitivity.get() as f64,
        Mechanism::PrivateSelection(selection) => {
            selection.inner().first().map_or(1.0, |one| sensitivity_of(&one.mechanism))
        }
        Mechanism::GaussianMixture { shifts, .. } => {
            shifts.points().iter().fold(0.0, |most: f64, point| most.max(point.0))
        }
        _ => 1.0,
    }
}

/// Splits a total in the proportion of two parts, equally if both are zero. The larger is at least half, so the
/// difference is exact and the parts sum to the total.
fn split_total(
    larger: f64,
    smaller: f64,
    total: f64,
) -> Result<(Epsilon, Epsilon), OutOfRangeError> {
    let sum = larger + smaller;
    let share = if sum > 0.0 { larger / sum } else { 0.5 };
    let part = total * share.clamp(0.5, 1.0);
    Ok((Epsilon::new(part)?, Epsilon::new(total - part)?))
}

/// The releases that vary, each with its present value as a multiple of the first positive one.
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
