//! The certified cost of a plan, and of a statistic alone.

use super::entries::StudyRelease;
use super::error::ReleaseError;
use counterpoint::quantity::GroupSize;
use counterpoint::{Delta, Options, Plan};
use counterpoint_studies::StudyFile;

/// An upper bound on epsilon, at a delta, for mechanisms that run on a study's data.
pub(super) fn composed(
    mechanisms: impl IntoIterator<Item = counterpoint::Release>,
    study: &StudyFile,
    delta: Delta,
) -> Result<f64, ReleaseError> {
    let adjacency = study.study.public().relation.adjacency();
    let plan = Plan::for_neighbours(mechanisms, Some(adjacency), GroupSize::ONE);
    let answer = plan.map_err(ReleaseError::computation)?.epsilon(delta, &Options::default());
    Ok(answer.map_err(ReleaseError::computation)?.bracket.upper)
}

/// The cost of the plan: an upper bound on epsilon, and the delta that it holds at.
pub(super) fn cost(release: &StudyRelease<'_>) -> Result<(f64, f64), ReleaseError> {
    let delta = match &release.plan.question {
        Some((_, delta)) => delta.lower(),
        None => release.study.study.budget().delta.get(),
    };
    let mut parts = Vec::new();
    for slot in &release.plan.releases {
        parts
            .extend(slot.release().map_err(ReleaseError::computation)?.parts().collect::<Vec<_>>());
    }
    let at = Delta::new(delta).map_err(ReleaseError::computation)?;
    Ok((composed(parts, release.study, at)?, delta))
}
