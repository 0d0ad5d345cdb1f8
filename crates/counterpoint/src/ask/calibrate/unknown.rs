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
                "approx-dp, randomized-response, exponential, staircase, sparse-vector"
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
    pub(super) fn of(self, release: &Release) -> Option<f64> {
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
            (Self::Epsilon, Mechanism::SparseVector { threshold, queries }) => {
                Some(threshold.get() + queries.get())
            }
            _ => None,
        }
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
            (Self::Epsilon, Mechanism::SparseVector { threshold, queries }) => {
                let (larger, smaller) =
                    if threshold < queries { (queries, threshold) } else { (threshold, queries) };
                (*larger, *smaller) = split(larger.get(), smaller.get(), value)?;
            }
            _ => {}
        }
        Ok(())
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

/// The indices of the releases that vary.
pub(super) fn varying(search: &Search<'_>) -> Result<Vec<usize>, CalibrateError> {
    let (unknown, legal) = (search.unknown.name(), search.unknown.legal());
    let has = |index: &usize| {
        search.releases.get(*index).is_some_and(|release| search.unknown.of(release).is_some())
    };
    if let Some(&index) = search.varying.iter().find(|index| !has(index)) {
        return Err(CalibrateError::DoesNotVary { index, unknown, legal });
    }
    let indices: Vec<usize> = match search.varying {
        [] => (0..search.releases.len()).filter(has).collect(),
        chosen => chosen.to_vec(),
    };
    if indices.is_empty() && !search.releases.is_empty() {
        return Err(CalibrateError::NothingVaries { unknown, legal });
    }
    Ok(indices)
}
