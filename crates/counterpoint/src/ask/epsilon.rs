use super::choose::{choose, refusal};
use super::{Answer, AskError, Options, bits};
use crate::bracket::Bracket;
use crate::composition::{Composition, Factor};
use crate::leak::{self, Room, Target};
use crate::quantity::Delta;
use crate::route::saddle::Cumulant;
use crate::route::sandwich::{self, Method};
use crate::route::{self, Exact, Route, crown, tail};
use crate::theorem::Theorem;

/// The least epsilon at which the composition is (epsilon, delta)-private, whatever
/// mechanisms with these guarantees were run (MV Theorem 1.5).
///
/// ```
/// use counterpoint::{Composition, Count, Delta, Guarantee, Options, epsilon};
///
/// let weekly = Guarantee::pure(0.1)?;
/// let plan = Composition::new([(weekly, Count::new(100)?)])?;
/// let answer = epsilon(&plan, Delta::new(1e-6)?, &Options::default())?;
/// assert!((answer.bracket.upper - 4.774567588108).abs() < 1e-12);
/// assert!(answer.bracket.relative_width() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`AskError`].
pub fn epsilon(
    composition: &Composition,
    delta: Delta,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    let factors = composition.factors();
    let target = match leak::room(composition, delta.get()) {
        Room::Negative => {
            let least = leak::least_delta(composition);
            return Err(AskError::BelowLeak { delta: delta.get(), least });
        }
        _ if factors.is_empty() => return Ok(closed(Bracket::exact(0.0))),
        Room::Zero => return Ok(closed(largest(factors))),
        Room::Positive(target) => target,
    };
    if options.route == Some(Route::Precise) {
        return bits::epsilon_bracket(composition, delta, options.watch);
    }
    let (bracket, route) = pure_epsilon(factors, &target, options)?;
    Ok(Answer { bracket, route, theorem: Theorem::Optimal })
}

fn closed(bracket: Bracket) -> Answer {
    Answer { bracket, route: Route::Closed, theorem: Theorem::Optimal }
}

/// The sum of all epsilons, rounded outward.
fn largest(factors: &[Factor]) -> Bracket {
    let sum = route::largest_loss(factors);
    let error = route::largest_error(factors) * sum.hi;
    Bracket { lower: (sum - error.into()).lower(), upper: (sum + error.into()).upper() }
}

pub(super) fn pure_epsilon(
    factors: &[Factor],
    target: &Target,
    options: &Options<'_>,
) -> Result<(Bracket, Route), AskError> {
    let near_the_top = |most: usize| {
        let bracket = crown::epsilon(factors, target, most)?;
        (bracket.relative_width() <= options.tolerance.get()).then_some((bracket, Route::Grouped))
    };
    if options.route.is_none()
        && route::quick(factors).is_none()
        && let Some(answer) = near_the_top(crown::FEW_ATOMS)
    {
        return Ok(answer);
    }
    let exact = |route| exact_epsilon(factors, target, route, options);
    let on_lattices = |limits| sandwiched(factors, target, limits, options);
    match choose(factors, options, exact, on_lattices) {
        Err(refusal @ AskError::ToleranceNotMet { .. }) if options.route.is_none() => {
            near_the_top(crown::MANY_ATOMS).ok_or(refusal)
        }
        answer => answer,
    }
}

fn exact_epsilon(
    factors: &[Factor],
    target: &Target,
    route: Route,
    options: &Options<'_>,
) -> Result<(Bracket, Route), AskError> {
    if let Some(reason) = route::obstacle(factors, route) {
        return Err(AskError::RouteDoesNotApply { route, reason });
    }
    let mut exact = Exact::new(factors, route, &options.watch)?;
    let saddle = Cumulant::new(factors).at_ln_delta(target.upper.ln_estimate());
    let guess = exact.first_guess(target, saddle.epsilon)?;
    let largest = exact.largest();
    let bracket = tail::solve(|e| exact.tail(e, &options.watch), target, guess, largest)?;
    Ok((bracket, route))
}

fn sandwiched(
    factors: &[Factor],
    target: &Target,
    (method, most_work): (Method, f64),
    options: &Options<'_>,
) -> Result<(Bracket, Route), AskError> {
    let tolerance = options.tolerance.get();
    let (bracket, contour) =
        sandwich::epsilon(factors, target, tolerance, (method, most_work), options.watch)
            .map_err(|failure| refusal(failure, method, tolerance))?;
    Ok((bracket, if contour { Route::Contour } else { Route::Convolution }))
}
