//! The region of a plan with few outcomes: every vertex is a likelihood-ratio test.

use super::ErrorRates;
use super::boundary::{Boundary, LEAST};
use crate::composition::leak;
use crate::composition::{Composition, Plan, RoundingDirection, factors};
use crate::methods::outcome_list::OutcomeList;
use crate::methods::outcomes::Outcomes;
use crate::methods::responses::halves::{self, Halves};
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};

/// The largest number of listed vertices.
const MOST: usize = 4096;
/// The largest number of listed releases if there are other losses than randomized responses.
const MOST_RELEASES: u64 = 500;

/// Returns the boundary rounded outward and inward, if the plan has few outcomes.
///
/// A person is in one part of the data, and the attacker may know in which: the region is the hull of the parts'
/// regions.
pub(super) fn boundaries(
    plan: &Plan,
    watch: Watch<'_>,
) -> Result<Option<(Boundary, Boundary)>, StopRequest> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (remove, add) in plan.parts_by_direction() {
        let Some(above) = outcomes(remove, RoundingDirection::Up, watch)? else { return Ok(None) };
        let Some(below) = outcomes(remove, RoundingDirection::Down, watch)? else {
            return Ok(None);
        };
        let [most, least] = [RoundingDirection::Up, RoundingDirection::Down]
            .map(|way| [leaked(remove, way), leaked(add, way)]);
        // The rates of an outer region are rounded down.
        outer.extend(vertices(&above, most, RoundingDirection::Down));
        inner.extend(vertices(&below, least, RoundingDirection::Up));
    }
    Ok(Some((Boundary::new(outer), Boundary::new(inner))))
}

/// Returns the outcomes of the losses, rounded up or down.
fn outcomes(
    whole: &Composition,
    rounded: RoundingDirection,
    watch: Watch<'_>,
) -> Result<Option<Outcomes>, StopRequest> {
    if !whole.curves.is_empty() || whole.lower_pair.is_some() {
        return Ok(None);
    }
    if let Some(factors) = factors(&whole.losses, rounded) {
        if halves::atoms_of(&factors) > MOST as f64 {
            return Ok(None);
        }
        return Ok(Some(Halves::new(&[], &factors, &watch)?.into_outcomes()));
    }
    let releases = whole.losses.iter().fold(0_u64, |sum, part| sum.saturating_add(part.count));
    if releases > MOST_RELEASES {
        return Ok(None);
    }
    Ok(OutcomeList::new(&whole.losses)
        .map(OutcomeList::into_outcomes)
        .filter(|all| all.list.len() <= MOST))
}

/// Returns the probability of a leak, rounded.
fn leaked(whole: &Composition, rounded: RoundingDirection) -> f64 {
    let leaks = whole.leaks.rounded(rounded);
    let Bracket { lower, upper } = leak::with_leaks(leaks, Wide::ZERO, Wide::ZERO);
    match (leaks.is_empty(), rounded) {
        (true, _) => 0.0,
        (false, RoundingDirection::Up) => upper,
        (false, RoundingDirection::Down) => lower,
    }
}

/// Returns the error rates of the tests that raise an alarm at a leak and at the largest losses, from none to all.
///
/// P keeps `1 - leak` for the finite losses, and Q has their share of it times e^-loss.
fn vertices(
    outcomes: &Outcomes,
    [leak, other_leak]: [f64; 2],
    rounded: RoundingDirection,
) -> Vec<ErrorRates> {
    let kept = Wide::from(Dd::sum(1.0, -leak));
    let slack = outcomes.slack + STEP * (64.0 + outcomes.list.len() as f64);
    let ends = |x: Wide, beside: f64| match rounded {
        RoundingDirection::Down => {
            let x = (x.lower(slack) - beside).next_down().max(0.0);
            if x < LEAST { 0.0 } else { x }
        }
        RoundingDirection::Up => (x.upper(slack) + beside).next_up().clamp(LEAST, 1.0),
    };
    // The miss rates are summed from the least loss, so that small ones keep their digits.
    let mut missed = Wide::ZERO;
    let mut misses: Vec<Wide> = Vec::with_capacity(outcomes.list.len());
    for &(_, p, _) in outcomes.list.iter().rev() {
        misses.push(missed);
        missed = missed + p * kept;
    }
    misses.reverse();
    // The first test raises an alarm only at a leak; the last one raises none only at a leak of the other side.
    let mut points = vec![ErrorRates::raw(0.0, one_minus_leak(leak, rounded))];
    let mut alarms = Wide::ZERO;
    let last = outcomes.list.len().saturating_sub(1);
    for (index, (&(_, _, q), &miss)) in outcomes.list.iter().zip(&misses).enumerate() {
        alarms = alarms + q * kept;
        // The last outcome leads to the end point itself, unless some mass is not listed.
        if index < last || (outcomes.cut > 0.0 && rounded == RoundingDirection::Down) {
            points.push(ErrorRates::raw(ends(alarms, 0.0), ends(miss, outcomes.cut)));
        }
    }
    points.push(ErrorRates::raw(one_minus_leak(other_leak, rounded), 0.0));
    points
}

/// Returns `1 - leak`, rounded.
fn one_minus_leak(leak: f64, rounded: RoundingDirection) -> f64 {
    let kept = Dd::sum(1.0, -leak);
    match rounded {
        RoundingDirection::Down => kept.lower(),
        RoundingDirection::Up => kept.upper(),
    }
}
