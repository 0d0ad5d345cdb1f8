use super::choose::{ResponseWay, Wanted, first_of, response_ways};
use super::{Answer, AskError, Options, bits};
use crate::bracket::Bracket;
use crate::composition::leak::{self, Remainder, Target};
use crate::composition::{Composition, Factor};
use crate::quantity::Delta;
use crate::route::responses::exact::Exact;
use crate::route::responses::{largest_error, largest_loss, near_top, two_lattices};
use crate::route::saddle::Cumulant;
use crate::route::{Failure, Route, tail};
use crate::source::Theorem;
use crate::watch::Watch;

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
    let target = match leak::remainder(composition, delta.get()) {
        Remainder::Negative => {
            let least = leak::least_delta(composition);
            return Err(AskError::BelowLeak { delta: delta.get(), least });
        }
        _ if factors.is_empty() => return Ok(closed(Bracket::exact(0.0))),
        Remainder::Zero => return Ok(closed(largest(factors))),
        Remainder::Positive(target) => target,
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
    let ways = response_ways(factors, Wanted::Epsilon, options.route)?;
    first_of(&ways, options, |way| match way {
        ResponseWay::NearTop(most) => {
            let bracket = near_top::epsilon(factors, target, most).ok_or(Failure::TooMuch)?;
            let narrow = bracket.relative_width() <= tolerance;
            narrow.then_some((bracket, Route::Grouped)).ok_or(Failure::TooMuch)
        }
        ResponseWay::Exact(route) => exact_epsilon(factors, target, route, watch),
        ResponseWay::Lattices(method, work) => {
            two_lattices::epsilon(factors, target, tolerance, (method, work), watch)
        }
    })
}

fn exact_epsilon(
    factors: &[Factor],
    target: &Target,
    route: Route,
    watch: Watch<'_>,
) -> Result<(Bracket, Route), Failure> {
    let mut exact = Exact::new(factors, route, &watch)?;
    let saddle = Cumulant::new(factors).at_ln_delta(target.upper.ln_estimate());
    let guess = exact.first_guess(target, saddle.epsilon)?;
    let largest = exact.largest();
    let bracket = tail::solve(|e| exact.tail(e, &watch), target, guess, largest)?;
    Ok((bracket, route))
}
