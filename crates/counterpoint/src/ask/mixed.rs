//! Losses that have a distribution: the dispatch to closed forms, contours, lattices and the other methods.

use super::choose::{MixedMethod, Question, first_success, may_take_long, mixed_methods};
use super::{AskError, Options};
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::methods::closed;
use crate::methods::contour::{self, Contours, blurred};
use crate::methods::largest::left_out_mass;
use crate::methods::near_max;
use crate::methods::outcome_list::OutcomeList;
use crate::methods::{Failure, Route};
use crate::methods::{graded, knots, lattice, small_mu, splines};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::Wide;

/// The least epsilon whose pure delta is within the target.
pub(super) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    options: &Options<'_>,
    contours: &Contours,
) -> Result<(Bracket, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    let candidates = mixed_methods(parts, Question::Epsilon, options.route)?;
    // Mass that no list contains counts in every upper end.
    if target.lower <= Wide::from(left_out_mass(parts)) {
        let asked = options.tolerance.get();
        return Err(AskError::ToleranceNotMet { asked, achieved: f64::INFINITY, best: None });
    }
    first_success(&candidates, options, may_take_long(parts), |method| {
        let bracket = match (method, parts) {
            (MixedMethod::NearMaxFirstOrder, _) => {
                let bracket = near_max::near_max_first_order(parts, target);
                bracket
                    .filter(|bracket| bracket.is_within_tolerance(tolerance.min(CLOSEST)))
                    .ok_or(Failure::TooMuch)
            }
            (MixedMethod::NearMaxSecondOrder, _) => {
                let bracket = near_max::near_max_second_order(parts, target);
                bracket
                    .filter(|bracket| bracket.is_within_tolerance(tolerance))
                    .ok_or(Failure::TooMuch)
            }
            (MixedMethod::Outcomes, _) => {
                let list = OutcomeList::new(parts).ok_or(Failure::TooMuch)?;
                list.epsilon(target, tolerance).map_err(|_| Failure::TooMuch)
            }
            (MixedMethod::SmallMu, _) => {
                small_mu::epsilon(small_mu::mu(parts).ok_or(Failure::TooMuch)?, target, tolerance)
            }
            (MixedMethod::Formula, [part]) => closed::epsilon(part, target, tolerance, watch),
            (MixedMethod::Formula, _) => Err(Failure::TooMuch),
            (MixedMethod::Splines(effort), _) => {
                splines::epsilon(parts, target, tolerance, (effort, watch))
            }
            (MixedMethod::Knots, _) => knots::epsilon(parts, target, tolerance, watch),
            (MixedMethod::Contour(effort), _) => {
                contour::epsilon(parts, target, tolerance, (effort, watch), contours)
            }
            (MixedMethod::Blurred(effort), _) => {
                blurred::epsilon(parts, target, tolerance, (effort, watch))
            }
            (MixedMethod::Layers, _) => contour::layered_epsilon(parts, target, tolerance, watch),
            (MixedMethod::Graded, _) => graded::epsilon(parts, target, tolerance, watch),
            (MixedMethod::Lattice(effort), _) => {
                lattice::epsilon(parts, target, tolerance, (effort, watch))
            }
        }?;
        Ok((bracket, method.route()))
    })
}

/// The relative width of the closest answer that any method gives.
const CLOSEST: f64 = 1e-13;

/// The pure delta at an epsilon.
pub(super) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    options: &Options<'_>,
    contours: &Contours,
) -> Result<(DeltaBounds, Route), AskError> {
    // At or beyond the largest loss there is nothing left to compute, on any route.
    let near_max = near_max::delta_near_max(parts, epsilon);
    if let Some(ends) = near_max.filter(|ends| ends.width() <= Wide::from(NOTHING)) {
        let beyond = !ends.upper.is_positive();
        return Ok((ends, if beyond { Route::Leaks } else { Route::NearLargestLoss }));
    }
    let candidates = mixed_methods(parts, Question::Delta, options.route)?;
    let tolerance = options.tolerance.get();
    let narrow = |ends: &DeltaBounds| ends.width() <= ends.upper * Wide::from(tolerance);
    first_success(&candidates, options, may_take_long(parts), |method| match method {
        MixedMethod::NearMaxSecondOrder => {
            Ok((near_max.filter(narrow).ok_or(Failure::TooMuch)?, method.route()))
        }
        MixedMethod::Outcomes => {
            let ends = OutcomeList::new(parts).map(|list| list.delta(epsilon)).filter(narrow);
            Ok((ends.ok_or(Failure::TooMuch)?, method.route()))
        }
        MixedMethod::SmallMu => {
            let ends = small_mu::mu(parts).and_then(|mu| small_mu::delta(mu, epsilon));
            let ends = ends.filter(|ends| narrow(ends) || ends.width() <= Wide::from(NOTHING));
            Ok((ends.ok_or(Failure::TooMuch)?, method.route()))
        }
        method => by(method, parts, (epsilon, tolerance), options.watch, contours),
    })
}

/// The pure delta where only an absolute width is within reach. A few coarse tolerances decide quickly if delta is near
/// zero.
pub(super) fn delta_near_zero(
    parts: &[CountedLoss],
    epsilon: f64,
    options: &Options<'_>,
) -> Option<(DeltaBounds, Route)> {
    let candidates = mixed_methods(parts, Question::Delta, options.route).ok()?;
    for tolerance in [1e-2, 1e-3, 1e-4, 1e-5] {
        let contours = Contours::default();
        let by =
            |method: MixedMethod| by(method, parts, (epsilon, tolerance), options.watch, &contours);
        match first_success(&candidates, options, may_take_long(parts), by) {
            Ok((ends, route)) if ends.width() <= Wide::from(NEAR_ZERO) => {
                return Some((ends, route));
            }
            Ok((ends, _)) if ends.upper < Wide::from(1e-7) => {}
            _ => break,
        }
    }
    None
}

/// The absolute width that is promised for answers near zero.
pub(super) const NEAR_ZERO: f64 = 1e-12;

/// A width that counts as zero.
const NOTHING: f64 = 1e-25;

fn by(
    method: MixedMethod,
    parts: &[CountedLoss],
    (epsilon, tolerance): (f64, f64),
    watch: Watch<'_>,
    contours: &Contours,
) -> Result<(DeltaBounds, Route), Failure> {
    let ends = match (method, parts) {
        (MixedMethod::Formula, [part]) => closed::delta(part, epsilon, watch),
        // Their bounds were tried before and were not close enough.
        (
            MixedMethod::NearMaxFirstOrder
            | MixedMethod::NearMaxSecondOrder
            | MixedMethod::Outcomes
            | MixedMethod::SmallMu
            | MixedMethod::Formula,
            _,
        ) => Err(Failure::TooMuch),
        (MixedMethod::Blurred(effort), _) => {
            blurred::delta(parts, epsilon, tolerance, (effort, watch))
        }
        (MixedMethod::Layers, _) => contour::layered_delta(parts, epsilon, tolerance, watch),
        (MixedMethod::Splines(effort), _) => {
            splines::delta(parts, epsilon, tolerance, (effort, watch))
        }
        (MixedMethod::Knots, _) => knots::delta(parts, epsilon, tolerance),
        (MixedMethod::Contour(effort), _) => {
            contour::delta(parts, epsilon, tolerance, (effort, watch), contours)
        }
        (MixedMethod::Graded, _) => graded::delta(parts, epsilon, tolerance, watch),
        (MixedMethod::Lattice(effort), _) => {
            lattice::delta(parts, epsilon, tolerance, (effort, watch))
        }
    }?;
    Ok((ends, method.route()))
}
