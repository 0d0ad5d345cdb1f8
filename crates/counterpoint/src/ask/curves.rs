//! Plans in which some mechanisms have only Rényi curves, and mechanisms whose curves are better bounds than their
//! loss.

use super::{Answer, AskError, Options, RequestedEnds, mixed, witness};
use crate::citation::Theorem;
use crate::composition::leak::Target;
use crate::composition::{Composition, WithCount};
use crate::delta_bounds::DeltaBounds;
use crate::loss::Curve;
use crate::methods::Route;
use crate::methods::contour::Contours;
use crate::methods::largest::largest;
use crate::methods::renyi;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, Wide};

/// The better of the Rényi route and of splitting delta between the two kinds. The lower end is the cost of a mechanism
/// with these curves.
pub(super) fn epsilon(
    whole: &Composition,
    target: &Target,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    let best = upper_epsilon(whole, target, f64::INFINITY, options);
    let (upper, theorem) = best.ok_or_else(|| no_curve(options))?;
    let (lower, share) = witness::epsilon(whole, target, options);
    let bracket = Bracket { lower: lower.min(upper), upper };
    Ok(Answer { share, ..Answer::new(bracket, Route::Renyi, theorem) })
}

/// The upper end; only values below `most` are useful.
fn upper_epsilon(
    whole: &Composition,
    target: &Target,
    most: f64,
    options: &Options<'_>,
) -> Option<(f64, Theorem)> {
    let by_curves = renyi_epsilon(whole, target).map(|upper| (upper, Theorem::Renyi));
    let by_split =
        if options.route.is_none() { split_epsilon(whole, target, most, options) } else { None };
    let by_split = by_split.map(|upper| (upper, Theorem::Split));
    [by_curves, by_split].into_iter().flatten().reduce(|a, b| if b.0 < a.0 { b } else { a })
}

/// The bracket of the pure delta at an epsilon, computed like [`epsilon`].
pub(super) fn delta(
    whole: &Composition,
    epsilon: f64,
    options: &Options<'_>,
) -> Result<(DeltaBounds, Route, Theorem), AskError> {
    let best = upper_delta(whole, epsilon, options);
    let (upper, theorem) = best.ok_or_else(|| no_curve(options))?;
    let (lower, _) = witness::delta(whole, epsilon, options);
    let lower = if lower < upper { lower } else { upper };
    Ok((DeltaBounds { lower, upper }, Route::Renyi, theorem))
}

/// The upper end of the pure delta.
fn upper_delta(
    whole: &Composition,
    epsilon: f64,
    options: &Options<'_>,
) -> Option<(Wide, Theorem)> {
    let by_curves = renyi_delta(whole, epsilon).map(|upper| (upper, Theorem::Renyi));
    let by_split =
        if options.route.is_none() { split_delta(whole, epsilon, options) } else { None };
    let by_split = by_split.map(|upper| (upper, Theorem::Split));
    [by_curves, by_split].into_iter().flatten().reduce(|a, b| if b.0 < a.0 { b } else { a })
}

fn no_curve(options: &Options<'_>) -> AskError {
    AskError::ToleranceNotMet {
        asked: options.tolerance.get(),
        achieved: f64::INFINITY,
        best: None,
    }
}

/// The tolerances of the cost while its best split is searched: first and last.
const ROUGH: f64 = 1e-2;
const FAIR: f64 = 1e-6;

/// A bound on the error of a sum or difference of `Wide`s, relative to the result. The operation is good to 2^-100 of
/// the larger number, and a share is at least e^-12.
const ROUNDED: f64 = 1e-15;
/// The relative width of a share's target. Only lower ends would depend on it, and a split has none.
const REACH: f64 = 1e-12;

/// Replaces each range by a curve: the exponential mechanism of range eta is eta^2/8 concentrated (Cesar and Rogers
/// 2021, Lemma 3.2), which is less than its worst profile implies.
fn ranges_as_curves(whole: &Composition) -> Composition {
    let mut whole = whole.clone();
    let mut curves = Vec::new();
    whole.losses.retain(|part| {
        let rho = part.law().concentration().filter(|_| part.law().is_class());
        let curve = rho.map(|rho| Curve::Line { rho, omega: f64::INFINITY });
        curves.extend(curve.map(|each| WithCount { each, count: part.count }));
        rho.is_none()
    });
    whole.curves.extend(curves);
    whole
}

/// The least epsilon by Rényi curves, with known slopes in place of truncated lists.
pub(super) fn concentrated_epsilon(whole: &Composition, target: &Target) -> Option<f64> {
    let mut whole = ranges_as_curves(whole);
    let mut curves = Vec::new();
    whole.losses.retain(|part| {
        let rho = part.law().concentration();
        curves.extend(rho.map(|rho| WithCount { each: Curve::Below { rho }, count: part.count }));
        rho.is_none()
    });
    whole.curves.extend(curves);
    renyi::epsilon(&whole, target).map(|(upper, _)| upper)
}

/// The least epsilon by Rényi curves alone.
pub(super) fn renyi_epsilon(whole: &Composition, target: &Target) -> Option<f64> {
    renyi::epsilon(&ranges_as_curves(whole), target).map(|(upper, _)| upper)
}

/// The least pure delta by Rényi curves alone.
pub(super) fn renyi_delta(whole: &Composition, epsilon: f64) -> Option<Wide> {
    renyi::delta(&ranges_as_curves(whole), epsilon).map(|(upper, _)| upper)
}

/// True if an epsilon is shown to be enough, by the largest losses or by a Rényi curve at one of few orders.
pub(super) fn is_within(whole: &Composition, epsilon: f64, target: &Target) -> bool {
    let top = if whole.curves.is_empty() { largest(&whole.losses) } else { None };
    top.is_some_and(|(top, error)| (top + Dd::from(error)).upper() <= epsilon)
        || renyi::shows_epsilon(&ranges_as_curves(whole), epsilon, target)
}

/// The lower end of epsilon alone, if it is requested and a witness is searched for.
pub(super) fn least_epsilon(
    whole: &Composition,
    target: &Target,
    options: &Options<'_>,
) -> Option<Answer> {
    if !matches!(options.ends, RequestedEnds::Lower { .. }) || !witness::has_ranges(whole) {
        return None;
    }
    let (lower, share) = witness::epsilon(whole, target, options);
    let bracket = Bracket { lower, upper: f64::INFINITY };
    Some(Answer { share, ..Answer::new(bracket, Route::Contour, Theorem::DominatingPairs) })
}

/// The lower end of delta alone, if it is requested and a witness is searched for.
pub(super) fn least_delta(
    whole: &Composition,
    epsilon: f64,
    options: &Options<'_>,
) -> Option<(DeltaBounds, Route, Theorem)> {
    if !matches!(options.ends, RequestedEnds::Lower { .. }) || !witness::has_ranges(whole) {
        return None;
    }
    let (lower, _) = witness::delta(whole, epsilon, options);
    Some((DeltaBounds::new(lower, Wide::ONE), Route::Contour, Theorem::DominatingPairs))
}

/// The answer by losses, or by curves where they are better. The pair of a range has the largest delta at each epsilon,
/// but no single mechanism has these deltas at all epsilons. So its composition is only an upper bound, and the lower
/// end comes from a witness.
pub(super) fn better_epsilon(
    whole: &Composition,
    target: &Target,
    answer: Answer,
    options: &Options<'_>,
) -> Answer {
    if !witness::has_ranges(whole) {
        return answer;
    }
    if options.ends == RequestedEnds::Upper {
        return Answer { bracket: Bracket { lower: 0.0, ..answer.bracket }, ..answer };
    }
    let most = answer.bracket.upper;
    let curves = match options.route {
        None => upper_epsilon(&ranges_as_curves(whole), target, most, options),
        Some(_) => None,
    };
    let better = curves.filter(|(upper, _)| *upper < most).map(|(upper, theorem)| {
        Answer::new(Bracket { upper, ..answer.bracket }, Route::Renyi, theorem)
    });
    let answer = better.unwrap_or(answer);
    let (lower, share) = witness::epsilon(whole, target, options);
    let bracket = Bracket { lower: lower.min(answer.bracket.upper), ..answer.bracket };
    Answer { bracket, share, ..answer }
}

/// The bracket of delta by losses, or by curves where they are better, like [`better_epsilon`].
pub(super) fn better_delta(
    whole: &Composition,
    epsilon: f64,
    (ends, route): (DeltaBounds, Route),
    options: &Options<'_>,
) -> (DeltaBounds, Route, Theorem) {
    if !witness::has_ranges(whole) {
        return (ends, route, Theorem::DominatingPairs);
    }
    if options.ends == RequestedEnds::Upper {
        return (DeltaBounds::new(Wide::ZERO, ends.upper), route, Theorem::DominatingPairs);
    }
    let curves = match options.route {
        None => upper_delta(&ranges_as_curves(whole), epsilon, options),
        Some(_) => None,
    };
    let better = curves.filter(|(upper, _)| *upper < ends.upper);
    let (upper, route, theorem) = match better {
        Some((upper, theorem)) => (upper, Route::Renyi, theorem),
        None => (ends.upper, route, Theorem::DominatingPairs),
    };
    let (lower, _) = witness::delta(whole, epsilon, options);
    (DeltaBounds::new(if lower < upper { lower } else { upper }, upper), route, theorem)
}

/// The composition of the curves without the losses.
fn without_losses(whole: &Composition) -> Composition {
    Composition { losses: Vec::new(), ..whole.clone() }
}

/// The sum of two epsilons, one for losses and one for curves, with delta split between them.
fn split_epsilon(
    whole: &Composition,
    target: &Target,
    most: f64,
    options: &Options<'_>,
) -> Option<f64> {
    if whole.losses.is_empty() || whole.curves.is_empty() {
        return None;
    }
    let curves = without_losses(whole);
    let cost = |share: f64, options: &Options<'_>| -> Option<f64> {
        let lower = target.lower * Wide::from(share);
        let losses = Target { lower, upper: lower * Wide::from(1.0 + REACH) };
        let rest = (target.lower - lower) * Wide::from(1.0 - ROUNDED);
        let rest = Target { lower: rest, upper: rest * Wide::from(1.0 + REACH) };
        let (first, _) =
            mixed::epsilon(&whole.losses, &losses, options, &Contours::default()).ok()?;
        let (second, _) = renyi::epsilon(&curves, &rest)?;
        Some((first.upper + second).next_up())
    };
    let (rough, fair) = (
        witness::with_looser_tolerance(options, ROUGH),
        witness::with_looser_tolerance(options, FAIR),
    );
    // A rough cost above this is above `most` whatever its error.
    let most = most * (1.0 + 2.0 * ROUGH);
    let share = best_share(|share| cost(share, &rough), |share| cost(share, &fair), most)?;
    cost(share, options).or_else(|| cost(share, &rough))
}

/// The sum of two deltas, one for losses and one for curves, with epsilon split between them.
fn split_delta(whole: &Composition, epsilon: f64, options: &Options<'_>) -> Option<Wide> {
    if whole.losses.is_empty() || whole.curves.is_empty() {
        return None;
    }
    let curves = without_losses(whole);
    let cost = |share: f64, options: &Options<'_>| -> Option<Wide> {
        let first = epsilon * share;
        // The exact difference is at least this.
        let second = (Dd::from(epsilon) - Dd::from(first)).lower().max(0.0);
        let (losses, _) = mixed::delta(&whole.losses, first, options, &Contours::default()).ok()?;
        let (curves, _) = renyi::delta(&curves, second)?;
        let sum = (losses.upper + curves) * Wide::from(1.0 + ROUNDED);
        Some(if sum < Wide::ONE { sum } else { Wide::ONE })
    };
    let (rough, fair) = (
        witness::with_looser_tolerance(options, ROUGH),
        witness::with_looser_tolerance(options, FAIR),
    );
    let rated = |share: f64, options: &Options<'_>| cost(share, options).map(Wide::ln_estimate);
    let fair = |share: f64| rated(share, &fair);
    let share = best_share(|share| rated(share, &rough), fair, f64::INFINITY)?;
    cost(share, options).or_else(|| cost(share, &rough))
}

/// A share between 0 and 1 at which a cost is nearly least: a scan of the odds, a search by halving around the best,
/// then parabolas through more precise costs. Every share is sound. The search ends early if the cost is above `most`.
fn best_share(
    rough: impl Fn(f64) -> Option<f64>,
    fair: impl Fn(f64) -> Option<f64>,
    most: f64,
) -> Option<f64> {
    let share = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let rated = |odds: f64| rough(share(odds)).map(|cost| (cost, odds));
    let better = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    };
    let scan = [-12.0, -6.0, -2.0, 0.0, 2.0, 6.0, 12.0];
    let mut best = scan.into_iter().map(rated).fold(None, better);
    let mut step = 2.0;
    for _ in 0..4 {
        let (_, odds) = best?;
        best = better(best, better(rated(odds - step), rated(odds + step)));
        step *= 0.5;
    }
    let (_, mut odds) = best.filter(|(cost, _)| *cost <= most)?;
    for width in [0.3, 0.1, 0.03, 0.01] {
        odds = best_by_parabola(odds, width, |odds| fair(share(odds)));
    }
    Some(share(odds))
}

/// The best of three places and of the vertex of the parabola through their costs.
fn best_by_parabola(middle: f64, width: f64, cost: impl Fn(f64) -> Option<f64>) -> f64 {
    let places = [middle - width, middle, middle + width];
    let [Some(left), Some(centre), Some(right)] = places.map(&cost) else { return middle };
    let vertex = middle + 0.5 * width * (left - right) / (left - 2.0 * centre + right);
    let inside = (vertex - middle).abs() < width;
    let at_vertex = if inside { cost(vertex) } else { None };
    let rated =
        [(left, places[0]), (right, places[2]), (at_vertex.unwrap_or(f64::INFINITY), vertex)];
    rated.into_iter().fold((centre, middle), |a, b| if b.0 < a.0 { b } else { a }).1
}
