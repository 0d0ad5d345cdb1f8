//! Plans, the entry to the crate: releases about the same data, with their composition in each direction and on each
//! part.

use super::Composition;
use super::gather::{CompositionError, LossCollection};
use crate::loss::{Direction, LossError};
use crate::mechanism::{Adjacency, Release};
use crate::quantity::GroupSize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Releases about the same data, composed and ready for questions.
///
/// ```
/// use counterpoint::{Adjacency, Count, Delta, Mechanism, Options, Plan};
/// use counterpoint::quantity::{NoiseScale, Sensitivity};
///
/// let noise = |sigma| -> Result<Mechanism, counterpoint::OutOfRangeError> {
///     Ok(Mechanism::Gaussian { sigma: NoiseScale::new(sigma)?, sensitivity: Sensitivity::new(1.0)? })
/// };
/// let plan = Plan::new([(noise(2.0)?, Count::new(10)?), (noise(4.0)?, Count::new(40)?)])?;
/// let answer = plan.epsilon(Delta::new(1e-6)?, &Options::default())?;
/// assert!(answer.bracket.relative_width() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) compositions: Vec<Composition>,
}

/// The reason why releases do not make a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A release without a certified loss.
    #[error("release {}: {error}", .index + 1)]
    Release {
        /// The release's index, from 0.
        index: usize,
        /// The reason.
        error: LossError,
    },
    /// Releases that cannot be composed.
    #[error(transparent)]
    Composition(#[from] CompositionError),
}

impl Plan {
    /// Composes a plan for one person, whose releases do not depend on the adjacency.
    ///
    /// # Errors
    /// [`PlanError`] if a release depends on the adjacency, or if the plan is empty or too large.
    pub fn new<R: Into<Release>>(releases: impl IntoIterator<Item = R>) -> Result<Self, PlanError> {
        Self::for_neighbours(releases, None, GroupSize::ONE)
    }

    /// Composes a plan for an adjacency and a group of people.
    ///
    /// # Errors
    /// [`PlanError`] naming the release that has no certified loss under these.
    pub fn for_neighbours<R: Into<Release>>(
        releases: impl IntoIterator<Item = R>,
        adjacency: Option<Adjacency>,
        group: GroupSize,
    ) -> Result<Self, PlanError> {
        let mut everywhere = LossCollection::default();
        let mut parts: BTreeMap<Arc<str>, LossCollection> = BTreeMap::new();
        let mut empty = true;
        let mut releases = releases.into_iter().map(Into::into).enumerate();
        while let Some((index, release)) = releases.next() {
            let gathered = match &release.part {
                None => &mut everywhere,
                Some(_) if adjacency != Some(Adjacency::AddRemove) => {
                    let replace = adjacency == Some(Adjacency::Replace);
                    let error = LossError::Parts { replace };
                    return Err(PlanError::Release { index, error });
                }
                Some(_) if group.get() > 1 => {
                    let error = LossError::GroupOverParts { group: group.get() };
                    return Err(PlanError::Release { index, error });
                }
                Some(label) => parts.entry(label.clone()).or_default(),
            };
            let added = gathered.add(&release, adjacency, group);
            let added = added.map_err(|error| match error {
                LossError::NoAdjacency { why, .. } => {
                    // The releases before this one do not depend on the adjacency.
                    let rest =
                        std::iter::once(release).chain(releases.by_ref().map(|(_, one)| one));
                    LossError::NoAdjacency { why, legal: legal_for(rest, group) }
                }
                error => error,
            });
            added.map_err(|error| PlanError::Release { index, error })?;
            empty = false;
        }
        if empty {
            return Err(CompositionError::Empty.into());
        }
        Self::compose(&everywhere, &parts)
    }

    fn compose(
        everywhere: &LossCollection,
        parts: &BTreeMap<Arc<str>, LossCollection>,
    ) -> Result<Self, PlanError> {
        let nothing = LossCollection::default();
        let labels: Vec<(Option<&Arc<str>>, &LossCollection)> = if parts.is_empty() {
            vec![(None, &nothing)]
        } else {
            parts.iter().map(|(label, gathered)| (Some(label), gathered)).collect()
        };
        let mut compositions = Vec::new();
        for (label, own) in labels {
            let directions: &[Direction] = if everywhere.is_symmetric() && own.is_symmetric() {
                &[Direction::Remove]
            } else {
                &[Direction::Remove, Direction::Add]
            };
            for &direction in directions {
                let one = Composition::new(everywhere, own, direction, label.cloned())?;
                compositions.push(one);
            }
        }
        Ok(Self { compositions })
    }
}

/// Returns the adjacencies under which all of the releases have certified losses.
fn legal_for(releases: impl Iterator<Item = Release>, group: GroupSize) -> Vec<Adjacency> {
    let mut legal = vec![Adjacency::AddRemove, Adjacency::Replace];
    for release in releases {
        legal.retain(|&adjacency| {
            let divided = release.part.is_some() && adjacency == Adjacency::Replace;
            !divided && LossCollection::default().add(&release, Some(adjacency), group).is_ok()
        });
    }
    legal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Guarantee;
    use crate::quantity::Count;

    fn plan(list: &[(f64, f64, u64)]) -> Result<Plan, PlanError> {
        Plan::new(
            list.iter().map(|&(e, d, n)| (Guarantee::new(e, d).unwrap(), Count::new(n).unwrap())),
        )
    }

    #[test]
    fn order_and_split_counts_do_not_matter() {
        let a = plan(&[(0.1, 0.0, 3), (0.2, 1e-7, 2), (0.0, 0.0, 4)]);
        let b = plan(&[(0.2, 1e-7, 1), (0.1, 0.0, 1), (0.2, 1e-7, 1), (0.1, 0.0, 2)]);
        assert_eq!(a, b);
    }

    #[test]
    fn nothing_and_too_much_are_errors() {
        assert_eq!(plan(&[]), Err(CompositionError::Empty.into()));
        let huge = plan(&[(1e6, 0.0, 10_000_000)]);
        let Err(PlanError::Composition(CompositionError::TooLarge { total })) = huge else {
            panic!("{huge:?}")
        };
        assert!((total / 1e13 - 1.0).abs() < 1e-12);
        let many = plan(&[(1e-6, 0.0, 1_000_000_000_000); 1001]);
        let too_many = CompositionError::TooMany { total: 1_001_000_000_000_000 };
        assert_eq!(many, Err(too_many.into()));
    }
}
