use super::choose::{ResponseWay, Wanted, first_of, response_ways};
use super::{Answer, AskError, Options, bits};
use crate::bracket::Bracket;
use crate::composition::leak;
use crate::composition::{Composition, Factor};
use crate::quantity::Epsilon;
use crate::rounding::Wide;
use crate::route::responses::exact::Exact;
use crate::route::responses::{is_at_the_top, near_top, two_lattices};
use crate::route::{Ends, Failure, Route};
use crate::source::Theorem;

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
    let at_the_top = is_at_the_top(factors, epsilon.get());
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

/// The pure delta at an epsilon below the largest loss.
pub(super) fn pure_delta(
    factors: &[Factor],
    epsilon: f64,
    options: &Options<'_>,
) -> Result<(Ends, Route), AskError> {
    let (tolerance, watch) = (options.tolerance.get(), options.watch);
    let ways = response_ways(factors, Wanted::Delta, options.route)?;
    first_of(&ways, options, |way| match way {
        ResponseWay::NearTop(most) => {
            let ends = near_top::delta(factors, epsilon, most).ok_or(Failure::TooMuch)?;
            Ok((ends, Route::Grouped))
        }
        ResponseWay::Exact(route) => {
            let mut exact = Exact::new(factors, route, &watch)?;
            Ok((exact.tail(epsilon, &watch)?.delta(epsilon), route))
        }
        ResponseWay::Lattices(method, work) => {
            two_lattices::delta(factors, epsilon, tolerance, (method, work), watch)
        }
    })
}
