//! Lower ends for descriptions that do not determine a loss: the cost of mechanisms that fit the description.

use super::responses::{pure_delta, pure_epsilon};
use super::{AskError, Options, RequestedEnds, mixed};
use crate::composition::leak::Target;
use crate::composition::{Composition, CountedLoss, Leaks, RoundingDirection, factors};
use crate::delta_bounds::DeltaBounds;
use crate::laws::{AttainedLaw, Loss};
use crate::methods::Route;
use crate::methods::contour::Contours;
use crate::methods::renyi;
use crate::methods::responses::is_at_max;
use crate::methods::search::golden_section;
use crate::quantity::Tolerance;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::Wide;

/// The tolerance of a witness's cost, and the tolerance during the search for the worst witness.
const WITNESS: f64 = 1e-4;
const ROUGH: f64 = 1e-3;

/// The worst exponential mechanisms are searched for if there are at most this many. Among more, mechanisms with losses
/// of plus and minus half their range are nearly the worst.
const MOST_SOUGHT: u64 = 200;
const HALF: f64 = 0.5;

/// Losses of mechanisms that fit these descriptions: a Gaussian's loss for curves; two losses for a range, the larger
/// being this share of the range.
fn losses(whole: &Composition, share: f64) -> Vec<CountedLoss> {
    let parts = renyi::witness(whole).into_iter();
    // A loss that cannot be represented is left out, which only lowers the cost.
    parts
        .filter_map(|part| Some(CountedLoss { each: loss_in_class(part.each, share)?, ..part }))
        .collect()
}

/// A loss that a mechanism of the class has.
fn loss_in_class(loss: Loss, share: f64) -> Option<Loss> {
    match loss.law().attained_law(share) {
        AttainedLaw::Itself => Some(loss),
        AttainedLaw::Other(other) => Some(other),
        AttainedLaw::Unknown => None,
    }
}

/// A composition of losses alone that fits these descriptions, if the descriptions do not determine the losses.
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
        lower_pair: None,
    })
}

/// An epsilon that mechanisms with these descriptions exceed (zero if none is found), and the share of their ranges.
pub(super) fn epsilon(
    whole: &Composition,
    target: &Target,
    options: &Options<'_>,
) -> (f64, Option<f64>) {
    let at = |share: f64, tolerance: f64| {
        let found =
            epsilon_of(&losses(whole, share), target, &with_looser_tolerance(options, tolerance));
        found.map_or(0.0, |(bracket, _)| bracket.lower)
    };
    let share = worst_share(whole, options, |share| at(share, ROUGH));
    (at(share.unwrap_or(HALF), WITNESS), share)
}

/// A pure delta that mechanisms with these descriptions have, and the share of their ranges.
pub(super) fn delta(
    whole: &Composition,
    epsilon: f64,
    options: &Options<'_>,
) -> (Wide, Option<f64>) {
    let at = |share: f64, tolerance: f64| {
        let found =
            delta_of(&losses(whole, share), epsilon, &with_looser_tolerance(options, tolerance));
        found.map_or(Wide::ZERO, |(ends, _)| ends.lower)
    };
    let rated = |share: f64| match at(share, ROUGH) {
        none if !none.is_positive() => f64::NEG_INFINITY,
        delta => delta.ln_estimate(),
    };
    let share = worst_share(whole, options, rated);
    (at(share.unwrap_or(HALF), WITNESS), share)
}

/// The share, equal for all ranges, at which the cost is nearly largest; `None` if there are no ranges. Every share is
/// sound.
fn worst_share(
    whole: &Composition,
    options: &Options<'_>,
    cost: impl Fn(f64) -> f64,
) -> Option<f64> {
    let known = match options.ends {
        // A NaN is not a share either.
        RequestedEnds::Lower { similar } => {
            let share = similar.and_then(|answer| answer.share);
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
            let found = golden_section((HALF, 1.0), 9, |share| -cost(share));
            Some(if cost(found) > cost(HALF) { found } else { HALF })
        }
        _ => Some(HALF),
    }
}

/// The options with a larger tolerance and without a requested route.
pub(super) fn with_looser_tolerance<'a>(options: &Options<'a>, tolerance: f64) -> Options<'a> {
    let tolerance = Tolerance::new(tolerance.max(options.tolerance.get()));
    let tolerance = tolerance.unwrap_or(options.tolerance);
    Options { tolerance, route: None, ..*options }
}

/// True if a range is composed with something else, or with itself.
pub(super) fn has_ranges(whole: &Composition) -> bool {
    let all: u64 = whole.losses.iter().map(|part| part.count).sum();
    all > 1 && whole.losses.iter().any(is_range)
}

fn is_range(part: &CountedLoss) -> bool {
    part.law().is_class()
}

fn epsilon_of(
    parts: &[CountedLoss],
    target: &Target,
    options: &Options<'_>,
) -> Result<(Bracket, Route), AskError> {
    match factors(parts, RoundingDirection::Down) {
        Some(list) => pure_epsilon(&list, target, options),
        None => mixed::epsilon(parts, target, options, &Contours::default()),
    }
}

fn delta_of(
    parts: &[CountedLoss],
    epsilon: f64,
    options: &Options<'_>,
) -> Result<(DeltaBounds, Route), AskError> {
    match factors(parts, RoundingDirection::Down) {
        Some(list) if is_at_max(&list, epsilon) => Ok((DeltaBounds::ZERO, Route::Leaks)),
        Some(list) => pure_delta(&list, epsilon, options),
        None => mixed::delta(parts, epsilon, options, &Contours::default()),
    }
}
