//! Which route answers a question.

use super::{AskError, Options};
use crate::composition::Factor;
use crate::route::sandwich::{Failure, MOST_WORK, Method};
use crate::route::{self, Route};

/// Takes the route that was asked for, or the cheapest: an exact one if it is quick,
/// else the lattices, else an exact one that is bearable.
pub(super) fn choose<T>(
    factors: &[Factor],
    options: &Options<'_>,
    exact: impl Fn(Route) -> Result<T, AskError>,
    on_lattices: impl Fn((Method, f64)) -> Result<T, AskError>,
) -> Result<T, AskError> {
    match options.route {
        Some(Route::Contour | Route::Lattice) => {
            return on_lattices((Method::Contour, MOST_WORK));
        }
        Some(Route::Renyi) => {
            let reason = "it is for plans of mechanisms".into();
            return Err(AskError::RouteDoesNotApply { route: Route::Renyi, reason });
        }
        Some(Route::Convolution) => return on_lattices((Method::Convolution, MOST_WORK)),
        Some(route) => return exact(route),
        None => {}
    }
    match (route::quick(factors), route::bearable(factors)) {
        (Some(route), _) => exact(route),
        (None, None) => on_lattices((Method::Either, MOST_WORK)),
        (None, Some(route)) => match on_lattices((Method::Either, route::work(factors))) {
            Err(AskError::Stopped) => Err(AskError::Stopped),
            Err(_) => exact(route),
            answer => answer,
        },
    }
}

/// A lattice's failure in the caller's words.
pub(super) fn refusal(failure: Failure, method: Method, asked: f64) -> AskError {
    let route = if method == Method::Convolution { Route::Convolution } else { Route::Contour };
    match failure {
        Failure::Stopped => AskError::Stopped,
        Failure::TooWide(achieved) => AskError::ToleranceNotMet { asked, achieved },
        Failure::TooMuch if method == Method::Either => {
            AskError::ToleranceNotMet { asked, achieved: f64::INFINITY }
        }
        Failure::TooMuch => AskError::RouteDoesNotApply {
            route,
            reason: "it would take too much work on this input".into(),
        },
    }
}
