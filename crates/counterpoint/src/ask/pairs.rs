//! Losses that have a distribution: by closed forms, on the contour, or on a lattice.

use super::{AskError, Options};
use crate::bracket::Bracket;
use crate::leak::Target;
use crate::loss::Loss;
use crate::rounding::Wide;
use crate::route::closed::{self, Listed};
use crate::route::sandwich::{Ends, Failure};
use crate::route::smooth::{Contours, Effort};
use crate::route::{Route, grid, smooth};
use crate::view::Part;
use crate::watch::Watch;

/// The least epsilon whose pure delta is within the target.
pub(super) fn epsilon(
    parts: &[Part],
    target: &Target,
    options: &Options<'_>,
    contours: &Contours,
) -> Result<(Bracket, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    if options.route.is_none()
        && !is_alone(parts)
        && let Some(bracket) = closed::near_the_top(parts, target)
        && bracket.keeps(tolerance)
    {
        return Ok((bracket, Route::Closed));
    }
    if options.route.is_none_or(|route| route == Route::Grouped)
        && let Some(list) = Listed::new(parts)
        && let Ok(bracket) = list.epsilon(target, tolerance)
    {
        return Ok((bracket, Route::Grouped));
    }
    first_of(options, parts, |way| match (way, parts) {
        (Way::Closed, [part]) => closed::epsilon(part, target, tolerance, watch),
        (Way::Contour(effort), _) => {
            smooth::epsilon(parts, target, tolerance, (effort, watch), contours)
        }
        _ => grid::epsilon(parts, target, tolerance, watch),
    })
}

/// The pure delta at an epsilon.
pub(super) fn delta(
    parts: &[Part],
    epsilon: f64,
    options: &Options<'_>,
    contours: &Contours,
) -> Result<(Ends, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    if let Some((lower, upper)) = closed::delta_near_the_top(parts, epsilon) {
        let width = upper - lower;
        let free = options.route.is_none_or(|route| route == Route::Closed);
        if (free && width <= upper * Wide::from(tolerance)) || width <= Wide::from(1e-25) {
            return Ok(((lower, upper), Route::Closed));
        }
    }
    if options.route.is_none_or(|route| route == Route::Grouped)
        && let Some(list) = Listed::new(parts)
    {
        let (lower, upper) = list.delta(epsilon);
        if upper - lower <= upper * Wide::from(tolerance) {
            return Ok(((lower, upper), Route::Grouped));
        }
    }
    first_of(options, parts, |way| by(way, parts, (epsilon, tolerance), watch, contours))
}

/// The pure delta where only an absolute width is within reach; whether it is so near zero is soon
/// told.
pub(super) fn delta_near_zero(
    parts: &[Part],
    epsilon: f64,
    options: &Options<'_>,
) -> Option<(Ends, Route)> {
    for tolerance in [1e-2, 1e-3, 1e-4, 1e-5] {
        let contours = Contours::default();
        let by = |way: Way| by(way, parts, (epsilon, tolerance), options.watch, &contours);
        match first_of(options, parts, by) {
            Ok((ends, route)) if ends.1 - ends.0 <= Wide::from(NEAR_ZERO) => {
                return Some((ends, route));
            }
            Ok((ends, _)) if ends.1 < Wide::from(1e-7) => {}
            _ => break,
        }
    }
    None
}

/// The absolute width that is promised of answers near zero.
pub(super) const NEAR_ZERO: f64 = 1e-12;

/// One way to an answer.
#[derive(Clone, Copy)]
enum Way {
    Closed,
    Contour(Effort),
    Lattice,
}

impl Way {
    fn route(self) -> Route {
        match self {
            Self::Closed => Route::Closed,
            Self::Contour(_) => Route::Contour,
            Self::Lattice => Route::Lattice,
        }
    }
}

fn by(
    way: Way,
    parts: &[Part],
    (epsilon, tolerance): (f64, f64),
    watch: Watch<'_>,
    contours: &Contours,
) -> Result<Ends, Failure> {
    match (way, parts) {
        (Way::Closed, [part]) => closed::delta(part, epsilon, watch),
        (Way::Contour(effort), _) => {
            smooth::delta(parts, epsilon, tolerance, (effort, watch), contours)
        }
        _ => grid::delta(parts, epsilon, tolerance, watch),
    }
}

/// Whether it is one mechanism run once, which has a formula. One Gaussian is what the contour does
/// best.
fn is_alone(parts: &[Part]) -> bool {
    matches!(parts, [part] if part.count == 1 && !matches!(part.loss, Loss::Gaussian { .. }))
}

/// Whether it has atoms only: contours do not end there.
fn is_discrete(part: &Part) -> bool {
    matches!(part.loss, Loss::Atoms(_) | Loss::Response { .. })
}

/// The first way that succeeds, of those that apply. Where a contour ends at all it mostly ends
/// soon; where it does not, a lattice is the better bet.
fn first_of<T>(
    options: &Options<'_>,
    parts: &[Part],
    by: impl Fn(Way) -> Result<T, Failure>,
) -> Result<(T, Route), AskError> {
    let alone = is_alone(parts);
    let (soon, at_last) = (Way::Contour(Effort::Little), Way::Contour(Effort::Much));
    let ways: &[Way] = match options.route {
        None if alone => &[Way::Closed, soon, Way::Lattice, at_last],
        None if parts.iter().all(is_discrete) => &[Way::Lattice, at_last],
        None => &[soon, Way::Lattice, at_last],
        Some(Route::Closed) if alone => &[Way::Closed],
        Some(Route::Contour) => &[at_last],
        Some(Route::Lattice) => &[Way::Lattice],
        Some(route) => {
            let reason = match route {
                Route::Closed => "there is more than one mechanism",
                Route::Grouped => "there are too many outcomes, or densities",
                _ => "it is for (epsilon, delta) guarantees alone",
            };
            return Err(AskError::RouteDoesNotApply { route, reason: reason.into() });
        }
    };
    let mut achieved = f64::INFINITY;
    for &way in ways {
        match by(way) {
            Ok(answer) => return Ok((answer, way.route())),
            Err(Failure::Stopped) => return Err(AskError::Stopped),
            Err(Failure::TooWide(width)) => achieved = achieved.min(width),
            Err(Failure::TooMuch) => {}
        }
    }
    Err(AskError::ToleranceNotMet { asked: options.tolerance.get(), achieved })
}
