//! The front door: releases about the same data, and what they are composed to in each direction
//! and on each part.

use super::Composition;
use super::gather::{CompositionError, Gathered};
use crate::loss::{Direction, LossError};
use crate::mechanism::{Adjacency, Release};
use crate::quantity::Group;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Releases about the same data, ready for questions.
///
/// ```
/// use counterpoint::{Adjacency, Count, Delta, Mechanism, Options, Plan};
/// use counterpoint::quantity::{Noise, Sensitivity};
///
/// let noise = |sigma| -> Result<Mechanism, counterpoint::OutOfRange> {
///     Ok(Mechanism::Gaussian { sigma: Noise::new(sigma)?, sensitivity: Sensitivity::new(1.0)? })
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

/// Why releases do not make a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A release has no meaning.
    #[error("release {}: {error}", .index + 1)]
    Release {
        /// Which one, from 0.
        index: usize,
        /// Why.
        error: LossError,
    },
    /// The releases cannot be put together.
    #[error(transparent)]
    Composition(#[from] CompositionError),
}

impl Plan {
    /// A plan about one person, where adjacency makes no difference.
    ///
    /// # Errors
    /// [`PlanError`] if adjacency would make a difference, or the plan is empty or absurd.
    pub fn new<R: Into<Release>>(releases: impl IntoIterator<Item = R>) -> Result<Self, PlanError> {
        Self::with(releases, None, Group::ONE)
    }

    /// A plan for a neighbouring relation and a group of people.
    ///
    /// # Errors
    /// [`PlanError`] naming the release that has no meaning under these.
    pub fn with<R: Into<Release>>(
        releases: impl IntoIterator<Item = R>,
        adjacency: Option<Adjacency>,
        group: Group,
    ) -> Result<Self, PlanError> {
        let mut everywhere = Gathered::default();
        let mut parts: BTreeMap<Arc<str>, Gathered> = BTreeMap::new();
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
                    // Those before it make no difference between the relations.
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
        everywhere: &Gathered,
        parts: &BTreeMap<Arc<str>, Gathered>,
    ) -> Result<Self, PlanError> {
        let nothing = Gathered::default();
        let labels: Vec<(Option<&Arc<str>>, &Gathered)> = if parts.is_empty() {
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

/// The relations for which something is proved of each of the releases.
fn legal_for(releases: impl Iterator<Item = Release>, group: Group) -> Vec<Adjacency> {
    let mut legal = vec![Adjacency::AddRemove, Adjacency::Replace];
    for release in releases {
        legal.retain(|&adjacency| {
            let divided = release.part.is_some() && adjacency == Adjacency::Replace;
            !divided && Gathered::default().add(&release, Some(adjacency), group).is_ok()
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
