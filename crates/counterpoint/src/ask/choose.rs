//! Chooses the methods for a question and their order, and says why a requested route does not apply.
//!
//! | losses | methods, from the cheapest |
//! | --- | --- |
//! | responses, few atoms | near the largest loss (delta only), the exact list |
//! | responses | near the largest loss (4,096 atoms; delta only), lattices, the exact list (2^22), near the largest loss (131,072; epsilon only) |
//! | Gaussians alone, mu at most 10^-4 together | their formula, then as any others |
//! | one mechanism, run once | a short list or lattice, its formula, a contour, a lattice, a long contour |
//! | discrete Gaussians, one of them of more than 2,000 outcomes | near the largest loss, a blurred contour, then as others |
//! | one discrete Gaussian of more than 300 outcomes, for an epsilon | a short lattice, a blurred contour, then as others |
//! | several discrete Gaussians | near the largest loss, a short lattice, the list, a blurred contour, a contour, a long blurred contour, a lattice, a long contour |
//! | atoms alone | near the largest loss, a short list or lattice, a lattice, a long contour |
//! | more than 1,000 atoms in a loss | as others, but no long contour |
//! | sampled Gaussians alone, large losses rare | near the largest loss, layers, a contour, graded lists if few, a lattice, a long contour |
//! | other sampled Gaussians alone | near the largest loss, a contour, layers, graded lists if few, a lattice, a long contour |
//! | Laplace noise of one scale, and few outcomes | near the largest loss to first order, splines, near it to second order, a contour, long splines, a long blurred contour, a lattice, a long contour |
//! | few Laplace losses of several scales, few responses | near the largest loss, truncated powers, then as other Laplace noise |
//! | other Laplace noise, no Gaussian | near the largest loss, a blurred contour, a contour, a long blurred contour, a lattice, a long contour |
//! | any others | near the largest loss, a contour, graded lists if few, a lattice, a long contour |
//!
//! The order follows the measurements of `bench/methods`. A list is short if it takes 16,000 sums for a delta, or 10,000
//! for an epsilon; above 2,000 a short lattice comes before it, as the search for an epsilon reads the whole list at each
//! step. A lattice is short if all losses lie on it, except for rounding, and 2^13 places are enough: its step needs no
//! estimate, and it takes less than a millisecond where a blurred contour takes four to eight. Lattices may cost as much
//! as the exact list that would replace them. A contour that ends at all mostly ends soon; where it does not, a lattice
//! is the better choice. Each method reports a route, and requesting that route leads to the same method.

use super::{AskError, Options};
use crate::composition::{CountedLoss, Factor};
use crate::methods::contour::{Effort, LayerUse, blurred};
use crate::methods::responses::exact;
use crate::methods::responses::near_max::{FEW_ATOMS, MANY_ATOMS};
use crate::methods::responses::two_lattices::{LatticeMethod, MOST_WORK};
use crate::methods::{Failure, Route};
use crate::methods::{graded, knots, outcome_list, small_mu, splines};

/// The number that is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Epsilon,
    Delta,
}

/// A method for randomized responses.
#[derive(Clone, Copy)]
pub(super) enum ResponseMethod {
    /// The atoms near the largest loss, up to this number of atoms.
    NearMax(usize),
    /// An exact route.
    Exact(Route),
    /// Two lattices, with at most this amount of work.
    Lattices(LatticeMethod, f64),
}

/// A method for losses of any kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MixedMethod {
    /// Bounds near the largest loss to first order, used if they are as close as those of any method.
    NearMaxFirstOrder,
    /// Bounds near the largest loss to second order.
    NearMaxSecondOrder,
    /// A list of all outcomes.
    Outcomes,
    /// The formula of one mechanism.
    Formula,
    /// The formula for Gaussians with a small mu.
    SmallMu,
    /// Splines, for Laplace losses of one scale.
    Splines(Effort),
    /// Truncated powers, for few Laplace losses.
    Knots,
    Contour(Effort),
    /// A contour for losses that are blurred slightly.
    Blurred(Effort),
    /// Several contours, one for each layer.
    Layers,
    /// Lists of likelihood ratios, for few losses.
    Graded,
    Lattice(Effort),
}

impl MixedMethod {
    /// The route that is reported.
    pub(super) fn route(self) -> Route {
        match self {
            Self::NearMaxFirstOrder | Self::NearMaxSecondOrder => Route::NearLargestLoss,
            Self::Outcomes => Route::Outcomes,
            Self::Formula => Route::Closed,
            Self::SmallMu => Route::SmallMu,
            Self::Splines(_) => Route::Splines,
            Self::Knots => Route::TruncatedPowers,
            Self::Contour(_) => Route::Contour,
            Self::Blurred(_) => Route::BlurredContour,
            Self::Layers => Route::LayeredContour,
            Self::Graded => Route::GradedLists,
            Self::Lattice(_) => Route::Lattice,
        }
    }
}

/// The methods to try, in order, and the reason to give if a requested route has no answer.
pub(super) struct MethodOrder<W> {
    list: Vec<W>,
    refusal: Option<&'static str>,
}

impl<W> MethodOrder<W> {
    fn by_default(list: Vec<W>) -> Self {
        Self { list, refusal: None }
    }

    fn requested(list: Vec<W>, refusal: &'static str) -> Self {
        Self { list, refusal: Some(refusal) }
    }
}

/// The error for a route that does not apply.
pub(super) fn route_error(route: Route, reason: impl Into<String>) -> AskError {
    AskError::RouteDoesNotApply { route, reason: reason.into() }
}

/// The error for a route of (epsilon, delta) guarantees that is requested for other mechanisms.
pub(super) fn guarantees_only(route: Route) -> AskError {
    let legal = Route::names(Route::ALL.into_iter().filter(|route| route.is_for_mechanisms()));
    route_error(route, format!("it is for (epsilon, delta) guarantees alone; legal: {legal}"))
}

/// Checks that a requested route can use Rényi curves, where a mechanism has no loss distribution.
pub(super) fn check_curve_route(route: Option<Route>) -> Result<(), AskError> {
    match route {
        None | Some(Route::Renyi) => Ok(()),
        Some(route) => {
            let reason = "a mechanism is known by its Rényi curve alone; legal: renyi";
            Err(route_error(route, reason))
        }
    }
}

/// The methods for randomized responses.
pub(super) fn response_methods(
    factors: &[Factor],
    question: Question,
    route: Option<Route>,
) -> Result<MethodOrder<ResponseMethod>, AskError> {
    use ResponseMethod::{Exact, Lattices, NearMax};
    const TOO_MUCH: &str = "it would take too much work on this input";
    let Some(route) = route else {
        return Ok(MethodOrder::by_default(default_response_methods(factors, question)));
    };
    match route {
        Route::Contour => {
            Ok(MethodOrder::requested(vec![Lattices(LatticeMethod::Contour, MOST_WORK)], TOO_MUCH))
        }
        Route::Convolution => Ok(MethodOrder::requested(
            vec![Lattices(LatticeMethod::Convolution, MOST_WORK)],
            TOO_MUCH,
        )),
        Route::NearLargestLoss => {
            Ok(MethodOrder::requested(vec![NearMax(FEW_ATOMS), NearMax(MANY_ATOMS)], FAR))
        }
        Route::Equal | Route::Outcomes | Route::Halves => {
            let exact = if route == Route::Equal { route } else { Route::Halves };
            match exact::obstacle(factors, exact) {
                Some(reason) => Err(route_error(route, reason)),
                None => Ok(MethodOrder::by_default(vec![Exact(exact)])),
            }
        }
        _ => Err(route_error(route, reason_against(route))),
    }
}

fn default_response_methods(factors: &[Factor], question: Question) -> Vec<ResponseMethod> {
    use ResponseMethod::{Exact, Lattices, NearMax};
    let mut list = Vec::new();
    let quick = exact::quick(factors);
    if quick.is_none() || question == Question::Delta {
        list.push(NearMax(FEW_ATOMS));
    }
    if let Some(route) = quick {
        list.push(Exact(route));
        return list;
    }
    match exact::bearable(factors) {
        Some(route) => {
            list.extend([Lattices(LatticeMethod::Either, exact::work(factors)), Exact(route)]);
        }
        None => list.push(Lattices(LatticeMethod::Either, MOST_WORK)),
    }
    if question == Question::Epsilon {
        list.push(NearMax(MANY_ATOMS));
    }
    list
}

/// The methods for losses of any kind.
pub(super) fn mixed_methods(
    parts: &[CountedLoss],
    question: Question,
    route: Option<Route>,
) -> Result<MethodOrder<MixedMethod>, AskError> {
    let Some(route) = route else {
        return Ok(MethodOrder::by_default(default_mixed_methods(parts, question)));
    };
    if !route.is_for_mechanisms() {
        return Err(guarantees_only(route));
    }
    let mut list = formulas(parts, question);
    list.push(MixedMethod::Outcomes);
    list.extend(contours(parts, Effort::Much));
    list.extend(graded::work(parts).map(|_| MixedMethod::Graded));
    list.push(MixedMethod::Lattice(Effort::Much));
    list.retain(|method| route.includes(method.route()));
    match route {
        _ if list.is_empty() => Err(route_error(route, reason_against(route))),
        Route::Contour
        | Route::BlurredContour
        | Route::LayeredContour
        | Route::GradedLists
        | Route::Lattice => Ok(MethodOrder::by_default(list)),
        Route::Closed if is_single_release(parts) || small_mu::mu(parts).is_some() => {
            Ok(MethodOrder::by_default(list))
        }
        _ => Ok(MethodOrder::requested(list, reason_against(route))),
    }
}

/// The reason why a bound near the largest loss gives no answer.
const FAR: &str = "epsilon is not near the largest loss";

/// The plans that a route is for, as a reason why it does not apply to others.
fn reason_against(route: Route) -> &'static str {
    match route {
        Route::Closed => {
            "it is for one mechanism run once (not a Gaussian), for few Laplace losses, and for epsilons near the largest \
             loss"
        }
        Route::Leaks => "the leaks and the largest loss do not determine the answer",
        Route::NearLargestLoss => FAR,
        Route::SmallMu => "it is for Gaussians whose mu together is at most 10^-4",
        Route::Splines => {
            "it is for Laplace noise of one scale beside few other outcomes, with few draws from the densities"
        }
        Route::TruncatedPowers => "it is for few Laplace losses and few responses",
        Route::Outcomes => "there are too many outcomes, or a loss has a density",
        Route::BlurredContour => {
            "it is for Laplace noise and discrete Gaussians, alone or beside lists and responses"
        }
        Route::GradedLists => "it is for few losses, one of which has a density",
        Route::LayeredContour => {
            "it is for one kind of Gaussian noise on a sample, run more than once"
        }
        _ => "it is for other plans",
    }
}

fn default_mixed_methods(parts: &[CountedLoss], question: Question) -> Vec<MixedMethod> {
    use MixedMethod::{
        Blurred, Contour, Graded, Lattice, NearMaxFirstOrder, NearMaxSecondOrder, Outcomes, Splines,
    };
    if splines::is_for(parts) {
        let (few, many) = (Splines(Effort::Little), Splines(Effort::Much));
        let mut list =
            vec![NearMaxFirstOrder, few, NearMaxSecondOrder, Contour(Effort::Little), many];
        list.extend([Blurred(Effort::Much), Lattice(Effort::Much), Contour(Effort::Much)]);
        return list;
    }
    let mut list = formulas(parts, question);
    if small_mu::mu(parts).is_none() {
        let after =
            list.iter().position(|method| *method == NearMaxSecondOrder).map_or(0, |at| at + 1);
        let mut soonest = list_and_short_lattice(parts, question);
        if parts.iter().any(|part| has_more_outcomes(part, WIDE)) {
            // A blurred contour takes as long for any number of outcomes.
            soonest.insert(0, Blurred(Effort::Little));
        } else if question == Question::Epsilon
            && is_single_release(parts)
            && parts.iter().any(|part| has_more_outcomes(part, 300.0))
        {
            soonest.push(Blurred(Effort::Little));
        }
        list.splice(after..after, soonest);
    }
    let long = parts.iter().any(is_long);
    if (is_single_release(parts) && !long) || !parts.iter().all(is_discrete) {
        list.extend(contours(parts, Effort::Little));
    }
    if blurred::is_for(parts) {
        list.push(Blurred(Effort::Much));
    }
    match graded::work(parts) {
        Some(products) if products <= FEW_PRODUCTS => list.extend([Graded, Lattice(Effort::Much)]),
        Some(_) => list.extend([Lattice(Effort::Much), Graded]),
        None => list.push(Lattice(Effort::Much)),
    }
    if !list.contains(&Outcomes) {
        list.push(Outcomes);
    }
    if !long {
        list.push(Contour(Effort::Much));
    }
    list
}

/// Graded lists that take more products than this mostly take longer than a lattice.
const FEW_PRODUCTS: u32 = 4;

/// A lattice of more outcomes takes longer than a blurred contour.
const WIDE: f64 = 2000.0;

/// The exact list and a lattice of few places, in the order of their measured costs.
fn list_and_short_lattice(parts: &[CountedLoss], question: Question) -> Vec<MixedMethod> {
    let (list, lattice) = (MixedMethod::Outcomes, MixedMethod::Lattice(Effort::Little));
    let quick = if question == Question::Delta { 1.6e4 } else { 2e3 };
    match outcome_list::estimated_work(parts) {
        work if work <= quick => vec![list, lattice],
        work if work <= 1e4 => vec![lattice, list],
        _ => vec![lattice],
    }
}

/// The formulas that may apply.
fn formulas(parts: &[CountedLoss], question: Question) -> Vec<MixedMethod> {
    use MixedMethod::{Formula, Knots, NearMaxFirstOrder, NearMaxSecondOrder, SmallMu, Splines};
    if small_mu::mu(parts).is_some() {
        vec![SmallMu]
    } else if is_single_release(parts) && question == Question::Epsilon {
        // The formula is as precise as bounds near the largest loss.
        vec![Formula]
    } else if is_single_release(parts) {
        vec![NearMaxSecondOrder, Formula]
    } else if splines::is_for(parts) {
        vec![NearMaxFirstOrder, Splines(Effort::Much), NearMaxSecondOrder]
    } else if knots::is_for(parts) {
        vec![NearMaxSecondOrder, Knots]
    } else {
        vec![NearMaxSecondOrder]
    }
}

/// One contour, layers or a blurred contour, whichever suit these losses; layers come first where one contour will
/// hardly do.
fn contours(parts: &[CountedLoss], effort: Effort) -> Vec<MixedMethod> {
    use MixedMethod::{Blurred, Contour, Layers};
    if blurred::is_for(parts) {
        return vec![Blurred(effort), Contour(effort)];
    }
    match LayerUse::for_parts(parts) {
        LayerUse::None => vec![Contour(effort)],
        LayerUse::Possible => vec![Contour(effort), Layers],
        LayerUse::Needed => vec![Layers, Contour(effort)],
    }
}

/// True for one mechanism that is run once and has a formula. A single Gaussian is left to the contour, which is best
/// for it.
fn is_single_release(parts: &[CountedLoss]) -> bool {
    matches!(parts, [part] if part.count == 1 && part.law().normal_square().is_none())
}

/// True if the loss has atoms only; a contour does not end for it.
fn is_discrete(part: &CountedLoss) -> bool {
    part.law().listed_count().is_some()
}

/// True if the transform has a formula and stands for a list of more than so many outcomes.
fn has_more_outcomes(part: &CountedLoss, most: f64) -> bool {
    part.law().list_formula().is_some_and(|formula| formula.outcomes > most)
}

/// True if the atoms are so many that a contour takes long without the best result.
fn is_long(part: &CountedLoss) -> bool {
    part.law().listed_count().is_some_and(|atoms| atoms > 1000)
}

/// A bracket up to this many times as wide as aimed at is preferred to half a minute of further work.
const NEAR_MISS: f64 = 10.0;

/// Returns a predicate for methods that may take long and mostly do no better than a cheaper method that just missed.
/// With atoms beside a density, an epsilon next to an atom is equally hard for all of them.
pub(super) fn may_take_long(parts: &[CountedLoss]) -> impl Fn(MixedMethod) -> bool {
    use MixedMethod::{Blurred, Contour, Lattice};
    let has_edges = parts.iter().any(|part| part.law().has_edges());
    move |method| {
        has_edges
            && matches!(
                method,
                Lattice(Effort::Much) | Contour(Effort::Much) | Blurred(Effort::Much)
            )
    }
}

/// The result of the first method that succeeds. If the tolerance is only an aim, slow methods are skipped after a near
/// miss.
pub(super) fn first_success<W: Copy, T>(
    methods: &MethodOrder<W>,
    options: &Options<'_>,
    may_take_long: impl Fn(W) -> bool,
    by: impl Fn(W) -> Result<T, Failure>,
) -> Result<T, AskError> {
    let mut achieved = f64::INFINITY;
    let content = if options.tolerance.is_promise() { 0.0 } else { NEAR_MISS };
    for &method in &methods.list {
        if achieved <= content * options.tolerance.get() && may_take_long(method) {
            continue;
        }
        match by(method) {
            Ok(answer) => return Ok(answer),
            Err(Failure::Stopped) => return Err(AskError::Stopped),
            Err(Failure::TooWide(width)) => achieved = achieved.min(width),
            Err(Failure::TooMuch) => {}
        }
    }
    match (options.route, methods.refusal) {
        (Some(route), Some(reason)) if achieved.is_infinite() => Err(route_error(route, reason)),
        _ => {
            Err(AskError::ToleranceNotMet { asked: options.tolerance.get(), achieved, best: None })
        }
    }
}
