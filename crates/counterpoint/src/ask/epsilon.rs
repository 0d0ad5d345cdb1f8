use super::{Answer, AskError, Options};
use crate::bracket::Bracket;
use crate::composition::Composition;
use crate::leak::{self, Room};
use crate::quantity::Delta;
use crate::rounding::Dd;
use crate::route::equal::Equal;
use crate::route::halves::{self, Halves};
use crate::route::saddle::Cumulant;
use crate::route::{Route, tail};
use crate::theorem::Theorem;

/// The least epsilon at which the composition is (epsilon, delta)-private.
///
/// # Errors
/// See [`AskError`].
pub fn epsilon(
    composition: &Composition,
    delta: Delta,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    let target = match leak::room(composition, delta.get()) {
        Room::Negative => {
            let least = leak::least_delta(composition);
            return Err(AskError::BelowLeak { delta: delta.get(), least });
        }
        Room::Zero => {
            let largest = composition.factors().iter().fold(Dd::ZERO, |sum, f| sum + Dd::product(f.count as f64, f.epsilon));
            return Ok(Answer{bracket: Bracket{lower: largest.lower(), upper: largest.upper()}, route: Route::Equal, theorem: Theorem::Optimal});
        }
        Room::Positive(target) => target,
    };
    let factors = composition.factors();
    let guess = Cumulant::new(factors).at_ln_delta(target.upper.ln_estimate()).epsilon;
    if factors.len() > 1 && options.route != Some(Route::Halves) {
        use crate::route::sandwich::{self, Method};
        let m = match options.route { Some(Route::Contour) => Method::Contour, Some(Route::Convolution) => Method::Convolution, _ => Method::Either };
        let r = sandwich::epsilon(factors, &target, options.tolerance.get(), m, options.watch);
        match r { Ok((bracket, c)) => return Ok(Answer { bracket, route: if c {Route::Contour} else {Route::Convolution}, theorem: Theorem::Optimal }),
        Err(f) => return Err(AskError::RouteDoesNotApply{route: Route::Contour, reason: format!("{f:?}")}) }
    }
    let (bracket, route) = if let [factor] = factors {
        let mut equal = Equal::new(*factor);
        let largest = equal.largest();
        let guess = if factor.count > 1_000_000 {
            tail::solve(|e| Ok(equal.rough_tail(e)), &target, guess, largest).map_err(|_| AskError::Stopped)?.upper
        } else { guess };
        (tail::solve(|e| Ok(equal.tail(e)), &target, guess, largest), Route::Equal)
    } else {
        let (left, right) = halves::balanced(factors);
        let halves = Halves::new(&left, &right, &options.watch).map_err(|_| AskError::Stopped)?;
        (tail::solve(|e| Ok(halves.tail(e)), &target, guess, halves.largest()), Route::Halves)
    };
    let bracket = bracket.map_err(|_| AskError::Stopped)?;
    Ok(Answer { bracket, route, theorem: Theorem::Optimal })
}
