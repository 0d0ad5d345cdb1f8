//! Losses that have a distribution: by closed forms, on the contour, or on a lattice.

use super::choose::{MixedWay, Wanted, first_of, is_dear, mixed_ways};
use super::{AskError, Options};
use crate::composition::Part;
use crate::composition::leak::Target;
use crate::ends::Ends;
use crate::methods::closed;
use crate::methods::contour::{self, Contours, blurred};
use crate::methods::edge;
use crate::methods::largest::cut;
use crate::methods::listed::Listed;
use crate::methods::{Failure, Route};
use crate::methods::{faint, knots, lattice, splines};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::Wide;

/// The least epsilon whose pure delta is within the target.
pub(super) fn epsilon(
    parts: &[Part],
    target: &Target,
    options: &Options<'_>,
    contours: &Contours,
) -> Result<(Bracket, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    let ways = mixed_ways(parts, Wanted::Epsilon, options.route)?;
    // Mass that is in no list is in every upper end.
    if target.lower <= Wide::from(cut(parts)) {
        let asked = options.tolerance.get();
        return Err(AskError::ToleranceNotMet { asked, achieved: f64::INFINITY, best: None });
    }
    first_of(&ways, options, is_dear(parts), |way| {
        let bracket = match (way, parts) {
            (MixedWay::NextToTop, _) => {
                let bracket = edge::next_to_the_top(parts, target);
                bracket
                    .filter(|bracket| bracket.keeps(tolerance.min(CLOSEST)))
                    .ok_or(Failure::TooMuch)
            }
            (MixedWay::NearTop, _) => {
                let bracket = edge::near_the_top(parts, target);
                bracket.filter(|bracket| bracket.keeps(tolerance)).ok_or(Failure::TooMuch)
            }
            (MixedWay::Listed, _) => {
                let list = Listed::new(parts).ok_or(Failure::TooMuch)?;
                list.epsilon(target, tolerance).map_err(|_| Failure::TooMuch)
            }
            (MixedWay::Faint, _) => {
                faint::epsilon(faint::mu(parts).ok_or(Failure::TooMuch)?, target, tolerance)
            }
            (MixedWay::Formula, [part]) => closed::epsilon(part, target, tolerance, watch),
            (MixedWay::Formula, _) => Err(Failure::TooMuch),
            (MixedWay::Splines(effort), _) => {
                splines::epsilon(parts, target, tolerance, (effort, watch))
            }
            (MixedWay::Knots, _) => knots::epsilon(parts, target, tolerance, watch),
            (MixedWay::Contour(effort), _) => {
                contour::epsilon(parts, target, tolerance, (effort, watch), contours)
            }
            (MixedWay::Blurred(effort), _) => {
                blurred::epsilon(parts, target, tolerance, (effort, watch))
            }
            (MixedWay::Layers, _) => contour::layered_epsilon(parts, target, tolerance, watch),
            (MixedWay::Lattice(effort), _) => {
                lattice::epsilon(parts, target, tolerance, (effort, watch))
            }
        }?;
        Ok((bracket, way.route()))
    })
}

/// As close as any way comes.
const CLOSEST: f64 = 1e-13;

/// The pure delta at an epsilon.
pub(super) fn delta(
    parts: &[Part],
    epsilon: f64,
    options: &Options<'_>,
    contours: &Contours,
) -> Result<(Ends, Route), AskError> {
    // At the largest loss or beyond nothing is left to compute, by whichever route.
    let near_top = edge::delta_near_the_top(parts, epsilon);
    if let Some(ends) = near_top.filter(|ends| ends.width() <= Wide::from(NOTHING)) {
        let beyond = !ends.upper.is_positive();
        return Ok((ends, if beyond { Route::Leaks } else { Route::NearLargestLoss }));
    }
    let ways = mixed_ways(parts, Wanted::Delta, options.route)?;
    let tolerance = options.tolerance.get();
    let narrow = |ends: &Ends| ends.width() <= ends.upper * Wide::from(tolerance);
    first_of(&ways, options, is_dear(parts), |way| match way {
        MixedWay::NearTop => Ok((near_top.filter(narrow).ok_or(Failure::TooMuch)?, way.route())),
        MixedWay::Listed => {
            let ends = Listed::new(parts).map(|list| list.delta(epsilon)).filter(narrow);
            Ok((ends.ok_or(Failure::TooMuch)?, way.route()))
        }
        MixedWay::Faint => {
            let ends = faint::mu(parts).and_then(|mu| faint::delta(mu, epsilon));
            let ends = ends.filter(|ends| narrow(ends) || ends.width() <= Wide::from(NOTHING));
            Ok((ends.ok_or(Failure::TooMuch)?, way.route()))
        }
        way => by(way, parts, (epsilon, tolerance), options.watch, contours),
    })
}

/// The pure delta where only an absolute width is within reach; whether it is so near zero is soon
/// told.
pub(super) fn delta_near_zero(
    parts: &[Part],
    epsilon: f64,
    options: &Options<'_>,
) -> Option<(Ends, Route)> {
    let ways = mixed_ways(parts, Wanted::Delta, options.route).ok()?;
    for tolerance in [1e-2, 1e-3, 1e-4, 1e-5] {
        let contours = Contours::default();
        let by = |way: MixedWay| by(way, parts, (epsilon, tolerance), options.watch, &contours);
        match first_of(&ways, options, is_dear(parts), by) {
            Ok((ends, route)) if ends.width() <= Wide::from(NEAR_ZERO) => {
                return Some((ends, route));
            }
            Ok((ends, _)) if ends.upper < Wide::from(1e-7) => {}
            _ => break,
        }
    }
    None
}

/// The absolute width that is promised of answers near zero.
pub(super) const NEAR_ZERO: f64 = 1e-12;

/// A width that is nothing at all.
const NOTHING: f64 = 1e-25;

fn by(
    way: MixedWay,
    parts: &[Part],
    (epsilon, tolerance): (f64, f64),
    watch: Watch<'_>,
    contours: &Contours,
) -> Result<(Ends, Route), Failure> {
    let ends = match (way, parts) {
        (MixedWay::Formula, [part]) => closed::delta(part, epsilon, watch),
        // What they say was not enough.
        (
            MixedWay::NextToTop
            | MixedWay::NearTop
            | MixedWay::Listed
            | MixedWay::Faint
            | MixedWay::Formula,
            _,
        ) => Err(Failure::TooMuch),
        (MixedWay::Blurred(effort), _) => {
            blurred::delta(parts, epsilon, tolerance, (effort, watch))
        }
        (MixedWay::Layers, _) => contour::layered_delta(parts, epsilon, tolerance, watch),
        (MixedWay::Splines(effort), _) => {
            splines::delta(parts, epsilon, tolerance, (effort, watch))
        }
        (MixedWay::Knots, _) => knots::delta(parts, epsilon, tolerance),
        (MixedWay::Contour(effort), _) => {
            contour::delta(parts, epsilon, tolerance, (effort, watch), contours)
        }
        (MixedWay::Lattice(effort), _) => {
            lattice::delta(parts, epsilon, tolerance, (effort, watch))
        }
    }?;
    Ok((ends, way.route()))
}
