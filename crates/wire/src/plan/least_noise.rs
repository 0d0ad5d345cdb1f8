//! The least noise that has a guarantee: the one place where reading a plan computes.

use counterpoint::ask::{CalibrateError, Options, Search, Unknown, calibrate};
use counterpoint::quantity::{Group, plain};
use counterpoint::{Count, Guarantee, Mechanism, Release};

use super::name_of;
use crate::text::error::PlanError;

/// The mechanism with the least noise that is certified to have a guarantee, by itself, run once, on all of the data. How much
/// noise it has makes no difference.
pub(super) fn least_noise(
    mechanism: Mechanism,
    guarantee: Guarantee,
) -> Result<Mechanism, PlanError> {
    let unknown = match mechanism {
        Mechanism::Laplace { .. } => Unknown::Scale,
        _ => Unknown::Sigma,
    };
    found(mechanism, unknown, guarantee).map_err(|error| {
        let (epsilon, name) = (plain(guarantee.epsilon.get()), name_of(unknown));
        PlanError::field("epsilon", format!("is {epsilon} and no {name} is found for it: {error}"))
    })
}

fn found(
    mechanism: Mechanism,
    unknown: Unknown,
    Guarantee { epsilon, delta }: Guarantee,
) -> Result<Mechanism, CalibrateError> {
    let mut release = Release { mechanism, rate: None, count: Count::ONE, part: None };
    // A start; where it is not legal the search finds another.
    let _ = unknown.clear(&mut release);
    let releases = [release];
    let (adjacency, group) = (None, Group::ONE);
    let search = Search { releases: &releases, varying: &[], unknown, adjacency, group };
    let found = calibrate(&search, epsilon, delta, &Options::default())?;
    let [release] = releases;
    Ok(found.releases.into_iter().next().unwrap_or(release).mechanism)
}
