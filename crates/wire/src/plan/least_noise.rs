//! The least noise that has a guarantee. Nowhere else does reading a plan compute anything.

use counterpoint::ask::{CalibrateError, Options, Search, Unknown, calibrate};
use counterpoint::quantity::{GroupSize, format_number};
use counterpoint::{Count, Guarantee, Mechanism, Release};

use super::unknown_field_name;
use crate::text::error::PlanError;

/// Returns the mechanism with the least noise that is certified to have a guarantee when it runs once on all of the
/// data. The noise of the given mechanism does not matter.
pub(super) fn least_noise(
    mechanism: Mechanism,
    guarantee: Guarantee,
) -> Result<Mechanism, PlanError> {
    let unknown = match mechanism {
        Mechanism::Laplace { .. } => Unknown::Scale,
        _ => Unknown::Sigma,
    };
    found(mechanism, unknown, guarantee).map_err(|error| {
        let (epsilon, name) = (format_number(guarantee.epsilon.get()), unknown_field_name(unknown));
        PlanError::field("epsilon", format!("is {epsilon} and no {name} is found for it: {error}"))
    })
}

fn found(
    mechanism: Mechanism,
    unknown: Unknown,
    Guarantee { epsilon, delta }: Guarantee,
) -> Result<Mechanism, CalibrateError> {
    let mut release = Release { mechanism, rate: None, count: Count::ONE, part: None };
    // A start for the search, which tries other noise if this is not legal.
    let _ = unknown.fill_default(&mut release);
    let releases = [release];
    let (adjacency, group) = (None, GroupSize::ONE);
    let search = Search { releases: &releases, varying: &[], unknown, adjacency, group };
    let found = calibrate(&search, epsilon, delta, &Options::default())?;
    let [release] = releases;
    Ok(found.releases.into_iter().next().unwrap_or(release).mechanism)
}
