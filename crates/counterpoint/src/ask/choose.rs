//! The one chooser: which ways lead to an answer, in which order, and why a route that was asked
//! for does not apply.
//!
//! | losses | ways, from the cheapest |
//! | --- | --- |
//! | responses, few atoms | near the largest loss (delta only), the exact list |
//! | responses | near the largest loss (4,096 atoms; delta only), lattices, the exact list (2^22), near the largest loss (131,072; epsilon only) |
//! | Gaussians alone, mu at most 10^-4 together | their formula, then as any others |
//! | one mechanism, run once | a short list or lattice, its formula, a contour, a lattice, a long contour |
//! | one discrete Gaussian of many outcomes | a short lattice, a blurred contour, then as others |
//! | several discrete Gaussians | near the largest loss, a short lattice, the list, a blurred contour, a contour, a long blurred contour, a lattice, a long contour |
//! | atoms alone | near the largest loss, a short list or lattice, a lattice, a long contour |
//! | more than 1,000 atoms in a loss | as others, but no long contour |
//! | sampled Gaussians alone, large losses rare | near the largest loss, layers, a contour, a lattice, a long contour |
//! | other sampled Gaussians alone | near the largest loss, a contour, layers, a lattice, a long contour |
//! | Laplace noise of one scale, and few outcomes | next to the largest loss, splines, near it, a contour, long splines, a long blurred contour, a lattice, a long contour |
//! | few Laplace losses of several scales, few responses | near the largest loss, truncated powers, then as other Laplace noise |
//! | other Laplace noise, no Gaussian | near the largest loss, a blurred contour, a contour, a long blurred contour, a lattice, a long contour |
//! | any others | near the largest loss, a contour, a lattice, a long contour |
//!
//! The order follows what `bench/ways` measures. A list is short if it takes 10^4 sums, and a lattice if all losses lie on
//! it, but for rounding, and 2^14 places will do: no estimate is needed of how fine it must be, and it takes less than a
//! millisecond where a blurred contour takes four to eight. Lattices may cost as much as the exact list that would replace
//! them. Where a contour ends at all it mostly ends soon; where it does not, a lattice is the better bet. Each way reports a
//! route, and asking for that route leads to the same way.

use super::{AskError, Options};
use crate::composition::{Factor, Part};
use crate::methods::contour::{Effort, Layering, blurred};
use crate::methods::responses::exact;
use crate::methods::responses::near_top::{FEW_ATOMS, MANY_ATOMS};
use crate::methods::responses::two_lattices::{MOST_WORK, Method};
use crate::methods::{Failure, Route};
use crate::methods::{faint, knots, listed, splines};

/// What is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Epsilon,
    Delta,
}

/// A way for randomized responses.
#[derive(Clone, Copy)]
pub(super) enum ResponseWay {
    /// The few atoms near the largest loss, at most so many.
    NearTop(usize),
    /// An exact route.
    Exact(Route),
    /// Two lattices, at most so much work.
    Lattices(Method, f64),
}

/// A way for losses of any kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MixedWay {
    /// Bounds next to the largest loss, to first order, if they are as close as any.
    NextToTop,
    /// Bounds next to the largest loss.
    NearTop,
    /// Every outcome.
    Listed,
    /// The formula of one mechanism.
    Formula,
    /// The formula of Gaussians that say next to nothing.
    Faint,
    /// Equal Laplace losses, by splines.
    Splines(Effort),
    /// Few Laplace losses, knot by knot.
    Knots,
    Contour(Effort),
    /// The contour of losses that are blurred a little.
    Blurred(Effort),
    /// Contours, layer by layer.
    Layers,
    Lattice(Effort),
}

impl MixedWay {
    /// What is reported.
    pub(super) fn route(self) -> Route {
        match self {
            Self::NextToTop | Self::NearTop => Route::NearLargestLoss,
            Self::Listed => Route::Outcomes,
            Self::Formula => Route::Closed,
            Self::Faint => Route::SmallMu,
            Self::Splines(_) => Route::Splines,
            Self::Knots => Route::TruncatedPowers,
            Self::Contour(_) => Route::Contour,
            Self::Blurred(_) => Route::BlurredContour,
            Self::Layers => Route::LayeredContour,
            Self::Lattice(_) => Route::Lattice,
        }
    }
}

/// What to try, in order, and what to say of a route that was asked for and gives nothing.
pub(super) struct Ways<W> {
    list: Vec<W>,
    refusal: Option<&'static str>,
}

impl<W> Ways<W> {
    fn free(list: Vec<W>) -> Self {
        Self { list, refusal: None }
    }

    fn forced(list: Vec<W>, refusal: &'static str) -> Self {
        Self { list, refusal: Some(refusal) }
    }
}

/// Why the route does not apply.
pub(super) fn refused(route: Route, reason: impl Into<String>) -> AskError {
    AskError::RouteDoesNotApply { route, reason: reason.into() }
}

/// A route that is for (epsilon, delta) guarantees, asked of other mechanisms.
pub(super) fn for_guarantees(route: Route) -> AskError {
    let legal = Route::names(Route::ALL.into_iter().filter(|route| route.is_for_mechanisms()));
    refused(route, format!("it is for (epsilon, delta) guarantees alone; legal: {legal}"))
}

/// Where a mechanism has no loss distribution, its curve is all there is.
pub(super) fn for_curves(route: Option<Route>) -> Result<(), AskError> {
    match route {
        None | Some(Route::Renyi) => Ok(()),
        Some(route) => {
            let reason = "a mechanism is known by its Rényi curve alone; legal: renyi";
            Err(refused(route, reason))
        }
    }
}

/// The ways for randomized responses.
pub(super) fn response_ways(
    factors: &[Factor],
    wanted: Wanted,
    route: Option<Route>,
) -> Result<Ways<ResponseWay>, AskError> {
    use ResponseWay::{Exact, Lattices, NearTop};
    const TOO_MUCH: &str = "it would take too much work on this input";
    let Some(route) = route else {
        return Ok(Ways::free(free_response_ways(factors, wanted)));
    };
    match route {
        Route::Contour => Ok(Ways::forced(vec![Lattices(Method::Contour, MOST_WORK)], TOO_MUCH)),
        Route::Convolution => {
            Ok(Ways::forced(vec![Lattices(Method::Convolution, MOST_WORK)], TOO_MUCH))
        }
        Route::NearLargestLoss => {
            Ok(Ways::forced(vec![NearTop(FEW_ATOMS), NearTop(MANY_ATOMS)], FAR))
        }
        Route::Equal | Route::Outcomes | Route::Halves => {
            let exact = if route == Route::Equal { route } else { Route::Halves };
            match exact::obstacle(factors, exact) {
                Some(reason) => Err(refused(route, reason)),
                None => Ok(Ways::free(vec![Exact(exact)])),
            }
        }
        _ => Err(refused(route, inapplicable(route))),
    }
}

fn free_response_ways(factors: &[Factor], wanted: Wanted) -> Vec<ResponseWay> {
    use ResponseWay::{Exact, Lattices, NearTop};
    let mut list = Vec::new();
    let quick = exact::quick(factors);
    if quick.is_none() || wanted == Wanted::Delta {
        list.push(NearTop(FEW_ATOMS));
    }
    if let Some(route) = quick {
        list.push(Exact(route));
        return list;
    }
    match exact::bearable(factors) {
        Some(route) => {
            list.extend([Lattices(Method::Either, exact::work(factors)), Exact(route)]);
        }
        None => list.push(Lattices(Method::Either, MOST_WORK)),
    }
    if wanted == Wanted::Epsilon {
        list.push(NearTop(MANY_ATOMS));
    }
    list
}

/// The ways for losses of any kind.
pub(super) fn mixed_ways(
    parts: &[Part],
    wanted: Wanted,
    route: Option<Route>,
) -> Result<Ways<MixedWay>, AskError> {
    let Some(route) = route else { return Ok(Ways::free(free_mixed_ways(parts, wanted))) };
    if !route.is_for_mechanisms() {
        return Err(for_guarantees(route));
    }
    let mut list = formulas(parts, wanted);
    list.push(MixedWay::Listed);
    list.extend(contours(parts, Effort::Much));
    list.push(MixedWay::Lattice(Effort::Much));
    list.retain(|way| route.includes(way.route()));
    match route {
        _ if list.is_empty() => Err(refused(route, inapplicable(route))),
        Route::Contour | Route::BlurredContour | Route::LayeredContour | Route::Lattice => {
            Ok(Ways::free(list))
        }
        Route::Closed if is_alone(parts) || faint::mu(parts).is_some() => Ok(Ways::free(list)),
        _ => Ok(Ways::forced(list, inapplicable(route))),
    }
}

/// Why a route gives no answer, where it is for other questions.
const FAR: &str = "epsilon is not next to the largest loss";

/// What a route is for, to whom asks for it elsewhere.
fn inapplicable(route: Route) -> &'static str {
    match route {
        Route::Closed => {
            "it is for one mechanism run once, but a Gaussian, for few Laplace losses, and for what is next to the largest \
             loss"
        }
        Route::Leaks => "the answer takes a computation",
        Route::NearLargestLoss => FAR,
        Route::SmallMu => "it is for Gaussians whose mu together is at most 10^-4",
        Route::Splines => {
            "it is for Laplace noise of one scale and few outcomes of others, few draws being from the densities"
        }
        Route::TruncatedPowers => "it is for few Laplace losses and few responses",
        Route::Outcomes => "there are too many outcomes, or densities",
        Route::BlurredContour => {
            "it is for Laplace noise and discrete Gaussians, and lists and responses among them"
        }
        Route::LayeredContour => {
            "it is for one kind of Gaussian noise on a sample, run more than once"
        }
        _ => "it is for other plans",
    }
}

fn free_mixed_ways(parts: &[Part], wanted: Wanted) -> Vec<MixedWay> {
    use MixedWay::{Blurred, Contour, Lattice, Listed, NearTop, NextToTop, Splines};
    if splines::is_for(parts) {
        let (few, many) = (Splines(Effort::Little), Splines(Effort::Much));
        let mut list = vec![NextToTop, few, NearTop, Contour(Effort::Little), many];
        list.extend([Blurred(Effort::Much), Lattice(Effort::Much), Contour(Effort::Much)]);
        return list;
    }
    let mut list = formulas(parts, wanted);
    if faint::mu(parts).is_none() {
        let after = list.iter().position(|way| *way == NearTop).map_or(0, |at| at + 1);
        let short = Lattice(Effort::Little);
        let both = if listed::is_quick(parts) { [Listed, short] } else { [short, Listed] };
        list.splice(after..after, both);
    }
    if is_alone(parts) && parts.iter().any(|part| is_summed(part, wanted)) {
        // Its outcomes are many, and looked at often.
        let after =
            list.iter().position(|way| *way == Lattice(Effort::Little)).map_or(0, |at| at + 1);
        list.insert(after, Blurred(Effort::Little));
    }
    let long = parts.iter().any(is_long);
    if (is_alone(parts) && !long) || !parts.iter().all(is_discrete) {
        list.extend(contours(parts, Effort::Little));
    }
    if blurred::is_for(parts) {
        list.push(Blurred(Effort::Much));
    }
    list.push(Lattice(Effort::Much));
    if !long {
        list.push(Contour(Effort::Much));
    }
    list
}

/// The formulas that may apply.
fn formulas(parts: &[Part], wanted: Wanted) -> Vec<MixedWay> {
    use MixedWay::{Faint, Formula, Knots, NearTop, NextToTop, Splines};
    if faint::mu(parts).is_some() {
        vec![Faint]
    } else if is_alone(parts) && wanted == Wanted::Epsilon {
        // It says as much as what is near the largest loss.
        vec![Formula]
    } else if is_alone(parts) {
        vec![NearTop, Formula]
    } else if splines::is_for(parts) {
        vec![NextToTop, Splines(Effort::Much), NearTop]
    } else if knots::is_for(parts) {
        vec![NearTop, Knots]
    } else {
        vec![NearTop]
    }
}

/// One contour, or several, layer by layer, where they are for these losses: first where one will hardly do.
fn contours(parts: &[Part], effort: Effort) -> Vec<MixedWay> {
    use MixedWay::{Blurred, Contour, Layers};
    if blurred::is_for(parts) {
        return vec![Blurred(effort), Contour(effort)];
    }
    match Layering::of(parts) {
        Layering::None => vec![Contour(effort)],
        Layering::Possible => vec![Contour(effort), Layers],
        Layering::Needed => vec![Layers, Contour(effort)],
    }
}

/// Whether it is one mechanism run once, which has a formula. One Gaussian is what the contour does
/// best.
fn is_alone(parts: &[Part]) -> bool {
    matches!(parts, [part] if part.count == 1 && part.law().normal().is_none())
}

/// Whether it has atoms only: contours do not end there.
fn is_discrete(part: &Part) -> bool {
    part.law().listed().is_some()
}

/// Whether it has a formula for its transform, and so many atoms that their sum takes longer: it is taken once for a delta,
/// and often for an epsilon.
fn is_summed(part: &Part, wanted: Wanted) -> bool {
    let many = if wanted == Wanted::Delta { 5e4 } else { 300.0 };
    part.law().formula().is_some_and(|formula| formula.outcomes > many)
}

/// Whether it has so many atoms that a contour takes long, and its answer is not their best.
fn is_long(part: &Part) -> bool {
    part.law().listed().is_some_and(|atoms| atoms > 1000)
}

/// A bracket that is so many times as wide as was aimed at, now, is better than half a minute of work.
const NEAR_MISS: f64 = 10.0;

/// Which ways may take long, and mostly do no better than a cheaper one that just missed: with atoms beside a density
/// an epsilon next to an atom is as hard for all of them.
pub(super) fn is_dear(parts: &[Part]) -> impl Fn(MixedWay) -> bool {
    use MixedWay::{Blurred, Contour, Lattice};
    let has_edges = parts.iter().any(|part| part.law().has_edges());
    move |way| {
        has_edges
            && matches!(way, Lattice(Effort::Much) | Contour(Effort::Much) | Blurred(Effort::Much))
    }
}

/// The first way that succeeds. After a near miss of what is only aimed at, dear ways are not tried.
pub(super) fn first_of<W: Copy, T>(
    ways: &Ways<W>,
    options: &Options<'_>,
    is_dear: impl Fn(W) -> bool,
    by: impl Fn(W) -> Result<T, Failure>,
) -> Result<T, AskError> {
    let mut achieved = f64::INFINITY;
    let content = if options.tolerance.is_promise() { 0.0 } else { NEAR_MISS };
    for &way in &ways.list {
        if achieved <= content * options.tolerance.get() && is_dear(way) {
            continue;
        }
        match by(way) {
            Ok(answer) => return Ok(answer),
            Err(Failure::Stopped) => return Err(AskError::Stopped),
            Err(Failure::TooWide(width)) => achieved = achieved.min(width),
            Err(Failure::TooMuch) => {}
        }
    }
    match (options.route, ways.refusal) {
        (Some(route), Some(reason)) if achieved.is_infinite() => Err(refused(route, reason)),
        _ => {
            Err(AskError::ToleranceNotMet { asked: options.tolerance.get(), achieved, best: None })
        }
    }
}
