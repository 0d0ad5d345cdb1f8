//! Lower ends where descriptions say less than a loss: what mechanisms that fit them may cost.

use super::responses::{pure_delta, pure_epsilon};
use super::{AskError, Asked, Options, mixed};
use crate::composition::leak::Target;
use crate::composition::{Composition, Leaks, Part, Rounded, factors};
use crate::ends::Ends;
use crate::laws::{Attained, Loss};
use crate::methods::Route;
use crate::methods::contour::Contours;
use crate::methods::renyi;
use crate::methods::responses::is_at_the_top;
use crate::methods::search::golden;
use crate::quantity::Tolerance;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::Wide;

/// How well a witness is known, and while the worst one is sought.
const WITNESS: f64 = 1e-4;
const ROUGH: f64 = 1e-3;

/// The worst exponential mechanisms are sought where there are at most so many. Of many, those with
/// losses of plus and minus half their range are nearly the worst.
const MOST_SOUGHT: u64 = 200;
const HALF: f64 = 0.5;

/// Losses that mechanisms with these descriptions may have: a Gaussian's for curves; for ranges
/// two, the larger being this share of the range.
fn losses(whole: &Composition, share: f64) -> Vec<Part> {
    let parts = renyi::witness(whole).into_iter();
    // One that cannot be written down is left out: less costs less.
    parts.filter_map(|part| Some(Part { each: fitting(part.each, share)?, ..part })).collect()
}

/// A loss that a mechanism of the class has.
fn fitting(loss: Loss, share: f64) -> Option<Loss> {
    match loss.law().attained(share) {
        Attained::Itself => Some(loss),
        Attained::Other(other) => Some(other),
        Attained::Unknown => None,
    }
}

/// A whole of losses alone that mechanisms with these descriptions may have, where these say
/// less.
pub(crate) fn witness_of(whole: &Composition) -> Option<Composition> {
    if whole.curves.is_empty() && !has_ranges(whole) {
        return None;
    }
    let below = &whole.leaks.below;
    Some(Composition {
        direction: whole.direction,
        partition: whole.partition.clone(),
        leaks: Leaks { below: below.clone(), above: below.clone() },
        losses: losses(whole, HALF),
        curves: Vec::new(),
        beneath: None,
    })
}

/// An epsilon that mechanisms with these descriptions exceed, zero if none is found; and which
/// exponential ones.
pub(super) fn epsilon(
    whole: &Composition,
    target: &Target,
    options: &Options<'_>,
) -> (f64, Option<f64>) {
    let at = |share: f64, tolerance: f64| {
        let found = epsilon_of(&losses(whole, share), target, &loosely(options, tolerance));
        found.map_or(0.0, |(bracket, _)| bracket.lower)
    };
    let share = worst_share(whole, options, |share| at(share, ROUGH));
    (at(share.unwrap_or(HALF), WITNESS), share)
}

/// A pure delta that mechanisms with these descriptions have.
pub(super) fn delta(
    whole: &Composition,
    epsilon: f64,
    options: &Options<'_>,
) -> (Wide, Option<f64>) {
    let at = |share: f64, tolerance: f64| {
        let found = delta_of(&losses(whole, share), epsilon, &loosely(options, tolerance));
        found.map_or(Wide::ZERO, |(ends, _)| ends.lower)
    };
    let rated = |share: f64| match at(share, ROUGH) {
        none if !none.is_positive() => f64::NEG_INFINITY,
        delta => delta.ln_estimate(),
    };
    let share = worst_share(whole, options, rated);
    (at(share.unwrap_or(HALF), WITNESS), share)
}

/// The share, the same for all ranges, at which the cost is about largest; `None` if there are no ranges.
/// Any share is sound.
fn worst_share(
    whole: &Composition,
    options: &Options<'_>,
    cost: impl Fn(f64) -> f64,
) -> Option<f64> {
    let known = match options.ends {
        // What is not a number is no share, either.
        Asked::Lower { like } => {
            let share = like.and_then(|like| like.share);
            share.map(|share| if share > HALF { share.min(1.0) } else { HALF })
        }
        _ => None,
    };
    let ranges = whole.losses.iter().filter(|part| is_range(part));
    let count = ranges.map(|part| part.count).fold(0, u64::saturating_add);
    match count {
        0 => None,
        _ if known.is_some() => known,
        1..=MOST_SOUGHT => {
            let found = golden((HALF, 1.0), 9, |share| -cost(share));
            Some(if cost(found) > cost(HALF) { found } else { HALF })
        }
        _ => Some(HALF),
    }
}

/// To a larger tolerance, by whichever route.
pub(super) fn loosely<'a>(options: &Options<'a>, tolerance: f64) -> Options<'a> {
    let tolerance = Tolerance::new(tolerance.max(options.tolerance.get()));
    let tolerance = tolerance.unwrap_or(options.tolerance);
    Options { tolerance, route: None, ..*options }
}

/// Whether there is a range, and more than it alone.
pub(super) fn has_ranges(whole: &Composition) -> bool {
    let all: u64 = whole.losses.iter().map(|part| part.count).sum();
    all > 1 && whole.losses.iter().any(is_range)
}

fn is_range(part: &Part) -> bool {
    part.law().is_class()
}

fn epsilon_of(
    parts: &[Part],
    target: &Target,
    options: &Options<'_>,
) -> Result<(Bracket, Route), AskError> {
    match factors(parts, Rounded::Down) {
        Some(list) => pure_epsilon(&list, target, options),
        None => mixed::epsilon(parts, target, options, &Contours::default()),
    }
}

fn delta_of(
    parts: &[Part],
    epsilon: f64,
    options: &Options<'_>,
) -> Result<(Ends, Route), AskError> {
    match factors(parts, Rounded::Down) {
        Some(list) if is_at_the_top(&list, epsilon) => Ok((Ends::ZERO, Route::Leaks)),
        Some(list) => pure_delta(&list, epsilon, options),
        None => mixed::delta(parts, epsilon, options, &Contours::default()),
    }
}
