//! Randomized responses and leaks alone: the least epsilon and delta of (epsilon, delta) guarantees, for all mechanisms
//! that have them (MV Theorem 1.5).

use super::choose::{Question, ResponseMethod, first_success, response_methods};
use super::{Answer, AskError, Options, bits};
use crate::citation::Theorem;
use crate::composition::leak::{self, Remainder, Target};
use crate::composition::{Factor, Guarantees};
use crate::delta_bounds::DeltaBounds;
use crate::methods::responses::exact::ExactMethod;
use crate::methods::responses::{is_at_max, largest_error, largest_loss, near_max, two_lattices};
use crate::methods::saddle::Cumulant;
use crate::methods::{Failure, Route, tail};
use crate::quantity::{Delta, Epsilon};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;

pub(super) fn epsilon(
    guarantees: &Guarantees<'_>,
    delta: Delta,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    let factors = &guarantees.factors;
    let target = match leak::remainder(guarantees.leaks, delta.get()) {
        Remainder::Negative => return Err(AskError::below_leak(delta, guarantees.leaks)),
        _ if factors.is_empty() => return Ok(of_leaks(Bracket::exact(0.0))),
        Remainder::Zero => return Ok(of_leaks(largest(factors))),
        Remainder::Positive(target) => target,
    };
    if options.route == Some(Route::Precise) {
        return bits::epsilon_bracket(guarantees, delta, options.watch);
    }
    let (bracket, route) = pure_epsilon(factors, &target, options)?;
    Ok(Answer::new(bracket, route, Theorem::Optimal))
}

pub(super) fn delta(
    guarantees: &Guarantees<'_>,
    epsilon: Epsilon,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    let is_at_max = is_at_max(&guarantees.factors, epsilon.get());
    if options.route == Some(Route::Precise) && !is_at_max {
        return bits::delta_bracket(guarantees, epsilon, options.watch);
    }
    let (DeltaBounds { lower, upper }, route) = if is_at_max {
        (DeltaBounds::ZERO, Route::Leaks)
    } else {
        pure_delta(&guarantees.factors, epsilon.get(), options)?
    };
    let bracket = leak::with_leaks(guarantees.leaks, lower, upper);
    Ok(Answer::new(bracket, route, Theorem::Optimal))
}

fn of_leaks(bracket: Bracket) -> Answer {
    Answer::new(bracket, Route::Leaks, Theorem::Optimal)
}

/// The sum of all epsilons, rounded outward.
fn largest(factors: &[Factor]) -> Bracket {
    let sum = largest_loss(factors);
    let error = largest_error(factors) * sum.hi;
    Bracket { lower: (sum - error.into()).lower(), upper: (sum + error.into()).upper() }
}

/// The least epsilon whose pure delta is within the target.
pub(super) fn pure_epsilon(
    factors: &[Factor],
    target: &Target,
    options: &Options<'_>,
) -> Result<(Bracket, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    let candidates = response_methods(factors, Question::Epsilon, options.route)?;
    first_success(
        &candidates,
        options,
        |_| false,
        |method| match method {
            ResponseMethod::NearMax(most) => {
                let bracket = near_max::epsilon(factors, target, most).ok_or(Failure::TooMuch)?;
                let narrow = bracket.relative_width() <= tolerance;
                narrow.then_some((bracket, Route::NearLargestLoss)).ok_or(Failure::TooMuch)
            }
            ResponseMethod::Exact(route) => exact_epsilon(factors, target, route, watch),
            ResponseMethod::Lattices(method, work) => {
                two_lattices::epsilon(factors, target, tolerance, (method, work), watch)
            }
        },
    )
}

fn exact_epsilon(
    factors: &[Factor],
    target: &Target,
    route: Route,
    watch: Watch<'_>,
) -> Result<(Bracket, Route), Failure> {
    let mut exact = ExactMethod::new(factors, route, &watch)?;
    let saddle = Cumulant::new(factors).at_ln_delta(target.upper.ln_estimate());
    let guess = exact.first_guess(target, saddle.epsilon)?;
    let largest = exact.largest();
    let bracket = tail::solve(|e| exact.tail(e, &watch), target, guess, largest)?;
    Ok((bracket, route))
}

/// The pure delta at an epsilon below the largest loss.
pub(super) fn pure_delta(
    factors: &[Factor],
    epsilon: f64,
    options: &Options<'_>,
) -> Result<(DeltaBounds, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    let candidates = response_methods(factors, Question::Delta, options.route)?;
    first_success(
        &candidates,
        options,
        |_| false,
        |method| match method {
            ResponseMethod::NearMax(most) => {
                let ends = near_max::delta(factors, epsilon, most).ok_or(Failure::TooMuch)?;
                Ok((ends, Route::NearLargestLoss))
            }
            ResponseMethod::Exact(route) => {
                let mut exact = ExactMethod::new(factors, route, &watch)?;
                Ok((exact.tail(epsilon, &watch)?.delta(epsilon), route))
            }
            ResponseMethod::Lattices(method, work) => {
                two_lattices::delta(factors, epsilon, tolerance, (method, work), watch)
            }
        },
    )
}
