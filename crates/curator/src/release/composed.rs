//! What a plan, or a statistic alone, costs by certified composition.

use super::entries::Release;
use super::error::ReleaseError;
use counterpoint::quantity::Group;
use counterpoint::{Delta, Options, Plan};
use counterpoint_wire::StudyFile;

/// An upper end of the epsilon, at a delta, of mechanisms that are run on a study's data.
pub(super) fn composed(
    mechanisms: impl IntoIterator<Item = counterpoint::Release>,
    study: &StudyFile,
    delta: Delta,
) -> Result<f64, ReleaseError> {
    let adjacency = study.study.public().relation.adjacency();
    let plan = Plan::with(mechanisms, Some(adjacency), Group::ONE);
    let answer = plan.map_err(ReleaseError::untold)?.epsilon(delta, &Options::default());
    Ok(answer.map_err(ReleaseError::untold)?.bracket.upper)
}

/// What the plan costs: an upper end of epsilon at its delta.
pub(super) fn cost(release: &Release<'_>) -> Result<(f64, f64), ReleaseError> {
    let delta = match &release.plan.question {
        Some((_, delta)) => delta.lower(),
        None => release.study.study.budget().delta.get(),
    };
    let mut parts = Vec::new();
    for slot in &release.plan.releases {
        parts.extend(slot.release().map_err(ReleaseError::untold)?.parts().collect::<Vec<_>>());
    }
    let at = Delta::new(delta).map_err(ReleaseError::untold)?;
    Ok((composed(parts, release.study, at)?, delta))
}
