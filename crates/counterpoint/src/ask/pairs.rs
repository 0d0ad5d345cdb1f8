//! Losses that have a distribution: by closed forms, on the contour, or on a lattice.

use super::{AskError, Options};
use crate::bracket::Bracket;
use crate::leak::Target;
use crate::loss::Loss;
use crate::rounding::Wide;
use crate::route::closed::{self, Listed};
use crate::route::sandwich::{Ends, Failure};
use crate::route::smooth::Contours;
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
    let near_the_top =
        closed::near_the_top(parts, target).filter(|bracket| bracket.keeps(tolerance));
    if let (None, Some(bracket)) = (options.route, near_the_top) {
        return Ok((bracket, Route::Closed));
    }
    if options.route.is_none_or(|route| route == Route::Grouped)
        && let Some(list) = Listed::new(parts)
        && let Ok(bracket) = list.epsilon(target, tolerance)
    {
        return Ok((bracket, Route::Grouped));
    }
    first_of(options, parts, |route| match (route, parts) {
        (Route::Closed, [part]) => closed::epsilon(part, target, tolerance, watch),
        (Route::Lattice, _) => grid::epsilon(parts, target, tolerance, watch),
        _ => smooth::epsilon(parts, target, tolerance, watch, contours),
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
    first_of(options, parts, |route| by(route, parts, (epsilon, tolerance), watch, contours))
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
        let by = |route: Route| by(route, parts, (epsilon, tolerance), options.watch, &contours);
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

fn by(
    route: Route,
    parts: &[Part],
    (epsilon, tolerance): (f64, f64),
    watch: Watch<'_>,
    contours: &Contours,
) -> Result<Ends, Failure> {
    match (route, parts) {
        (Route::Closed, [part]) => closed::delta(part, epsilon, watch),
        (Route::Lattice, _) => grid::delta(parts, epsilon, tolerance, watch),
        _ => smooth::delta(parts, epsilon, tolerance, watch, contours),
    }
}

/// Whether it has atoms only: contours do not end there.
fn is_discrete(part: &Part) -> bool {
    matches!(part.loss, Loss::Atoms(_) | Loss::Response { .. })
}

/// The first route that succeeds, of those that apply.
fn first_of<T>(
    options: &Options<'_>,
    parts: &[Part],
    by: impl Fn(Route) -> Result<T, Failure>,
) -> Result<(T, Route), AskError> {
    // One Gaussian is what the contour does best.
    let alone =
        matches!(parts, [part] if part.count == 1 && !matches!(part.loss, Loss::Gaussian { .. }));
    let routes: &[Route] = match options.route {
        None if alone => &[Route::Closed, Route::Contour, Route::Lattice],
        None if parts.iter().all(is_discrete) => &[Route::Lattice, Route::Contour],
        None => &[Route::Contour, Route::Lattice],
        Some(Route::Closed) if alone => &[Route::Closed],
        Some(Route::Contour) => &[Route::Contour],
        Some(Route::Lattice) => &[Route::Lattice],
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
    for &route in routes {
        match by(route) {
            Ok(answer) => return Ok((answer, route)),
            Err(Failure::Stopped) => return Err(AskError::Stopped),
            Err(Failure::TooWide(width)) => achieved = achieved.min(width),
            Err(Failure::TooMuch) => {}
        }
    }
    Err(AskError::ToleranceNotMet { asked: options.tolerance.get(), achieved })
}
