//! Plans of few outcomes: every vertex of the region is a likelihood-ratio test.

use super::Point;
use super::boundary::{Boundary, LEAST};
use crate::composition::leak;
use crate::composition::{Composition, Plan, Rounded, factors};
use crate::methods::listed::Listed;
use crate::methods::outcomes::Outcomes;
use crate::methods::responses::halves::{self, Halves};
use crate::watch::{Stopped, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};

/// The most vertices that are listed.
const MOST: usize = 4096;
/// The most releases with other losses than randomized responses that are listed.
const MOST_RELEASES: u64 = 500;

/// The boundary rounded outward and inward, if the plan has few outcomes.
///
/// A person is in one part of the data, and the attacker may know which: the region is the
/// hull of the parts' regions.
pub(super) fn boundaries(
    plan: &Plan,
    watch: Watch<'_>,
) -> Result<Option<(Boundary, Boundary)>, Stopped> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (remove, add) in plan.sides() {
        let Some(above) = outcomes(remove, Rounded::Up, watch)? else { return Ok(None) };
        let Some(below) = outcomes(remove, Rounded::Down, watch)? else { return Ok(None) };
        let [most, least] =
            [Rounded::Up, Rounded::Down].map(|way| [leaked(remove, way), leaked(add, way)]);
        // Rates of a region that contains it are rounded down.
        outer.extend(vertices(&above, most, Rounded::Down));
        inner.extend(vertices(&below, least, Rounded::Up));
    }
    Ok(Some((Boundary::new(outer), Boundary::new(inner))))
}

/// The outcomes of the losses rounded up or down.
fn outcomes(
    whole: &Composition,
    rounded: Rounded,
    watch: Watch<'_>,
) -> Result<Option<Outcomes>, Stopped> {
    if !whole.curves.is_empty() || whole.beneath.is_some() {
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
    Ok(Listed::new(&whole.losses).map(Listed::into_outcomes).filter(|all| all.list.len() <= MOST))
}

/// The probability of a leak, rounded.
fn leaked(whole: &Composition, rounded: Rounded) -> f64 {
    let leaks = whole.leaks.rounded(rounded);
    let Bracket { lower, upper } = leak::with_leaks(leaks, Wide::ZERO, Wide::ZERO);
    match (leaks.is_empty(), rounded) {
        (true, _) => 0.0,
        (false, Rounded::Up) => upper,
        (false, Rounded::Down) => lower,
    }
}

/// The tests that raise an alarm at a leak and at the largest losses, from none to all.
///
/// P keeps `1 - leak` for the finite losses, and Q has their share of it times e^-loss.
fn vertices(outcomes: &Outcomes, [leak, other_leak]: [f64; 2], rounded: Rounded) -> Vec<Point> {
    let kept = Wide::from(Dd::sum(1.0, -leak));
    let slack = outcomes.slack + STEP * (64.0 + outcomes.list.len() as f64);
    let ends = |x: Wide, beside: f64| match rounded {
        Rounded::Down => {
            let x = (x.lower(slack) - beside).next_down().max(0.0);
            if x < LEAST { 0.0 } else { x }
        }
        Rounded::Up => (x.upper(slack) + beside).next_up().clamp(LEAST, 1.0),
    };
    // The miss rates from the far end, so that small ones keep their digits.
    let mut missed = Wide::ZERO;
    let mut misses: Vec<Wide> = Vec::with_capacity(outcomes.list.len());
    for &(_, p, _) in outcomes.list.iter().rev() {
        misses.push(missed);
        missed = missed + p * kept;
    }
    misses.reverse();
    // No alarm but at a leak; always an alarm but at a leak of the other side.
    let mut points = vec![Point::raw(0.0, down_or_up(leak, rounded))];
    let mut alarms = Wide::ZERO;
    let last = outcomes.list.len().saturating_sub(1);
    for (index, (&(_, _, q), &miss)) in outcomes.list.iter().zip(&misses).enumerate() {
        alarms = alarms + q * kept;
        // The last of them is the end itself, unless something is not listed.
        if index < last || (outcomes.cut > 0.0 && rounded == Rounded::Down) {
            points.push(Point::raw(ends(alarms, 0.0), ends(miss, outcomes.cut)));
        }
    }
    points.push(Point::raw(down_or_up(other_leak, rounded), 0.0));
    points
}

/// `1 - leak`, rounded.
fn down_or_up(leak: f64, rounded: Rounded) -> f64 {
    let kept = Dd::sum(1.0, -leak);
    match rounded {
        Rounded::Down => kept.lower(),
        Rounded::Up => kept.upper(),
    }
}
