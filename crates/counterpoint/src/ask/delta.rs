use super::choose::{choose, refusal};
use super::{Answer, AskError, Options, bits};
use crate::bracket::Bracket;
use crate::composition::{Composition, Factor};
use crate::leak;
use crate::quantity::Epsilon;
use crate::rounding::Wide;
use crate::route::sandwich::{self, Ends, Method};
use crate::route::{self, Exact, Route, crown};
use crate::theorem::Theorem;

/// The least delta at which the composition is (epsilon, delta)-private, whatever
/// mechanisms with these guarantees were run (MV Theorem 1.5).
///
/// ```
/// use counterpoint::{Composition, Count, Epsilon, Guarantee, Options, delta};
///
/// let plan = Composition::new([(Guarantee::pure(0.1)?, Count::new(100)?)])?;
/// let answer = delta(&plan, Epsilon::new(4.0)?, &Options::default())?;
/// assert!((answer.bracket.upper / 3.4223123191967733e-5 - 1.0).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`AskError`].
pub fn delta(
    composition: &Composition,
    epsilon: Epsilon,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    let factors = composition.factors();
    let at_the_top = route::is_at_the_top(factors, epsilon.get());
    if options.route == Some(Route::Precise) && !at_the_top {
        return bits::delta_bracket(composition, epsilon, options.watch);
    }
    let ((lower, upper), route) = if at_the_top {
        ((Wide::ZERO, Wide::ZERO), Route::Closed)
    } else {
        pure_delta(factors, epsilon.get(), options)?
    };
    let (lower, upper) = leak::with_leaks(composition, lower, upper);
    Ok(Answer { bracket: Bracket { lower, upper }, route, theorem: Theorem::Optimal })
}

pub(super) fn pure_delta(
    factors: &[Factor],
    epsilon: f64,
    options: &Options<'_>,
) -> Result<(Ends, Route), AskError> {
    if options.route.is_none()
        && let Some(ends) = crown::delta(factors, epsilon, crown::FEW_ATOMS)
    {
        return Ok((ends, Route::Grouped));
    }
    let exact = |route| exact_delta(factors, epsilon, route, options);
    choose(factors, options, exact, |limits| sandwiched(factors, epsilon, limits, options))
}

fn exact_delta(
    factors: &[Factor],
    epsilon: f64,
    route: Route,
    options: &Options<'_>,
) -> Result<(Ends, Route), AskError> {
    if let Some(reason) = route::obstacle(factors, route) {
        return Err(AskError::RouteDoesNotApply { route, reason });
    }
    let mut exact = Exact::new(factors, route, &options.watch)?;
    Ok((exact.tail(epsilon, &options.watch)?.delta(epsilon), route))
}

fn sandwiched(
    factors: &[Factor],
    epsilon: f64,
    (method, most_work): (Method, f64),
    options: &Options<'_>,
) -> Result<(Ends, Route), AskError> {
    let tolerance = options.tolerance.get();
    let (ends, contour) =
        sandwich::delta(factors, epsilon, tolerance, (method, most_work), options.watch)
            .map_err(|failure| refusal(failure, method, tolerance))?;
    Ok((ends, if contour { Route::Contour } else { Route::Convolution }))
}
