//! Chooses among the exact routes and dispatches to them.

use super::equal::EqualResponses;
use super::halves::{self, Halves};
use crate::composition::{Factor, leak::Target};
use crate::methods::Route;
use crate::methods::tail::{self, Tail};
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::Dd;

/// An exact route with its precomputed lists.
pub(crate) enum ExactMethod {
    Equal(EqualResponses),
    Halves(Halves),
}

/// The largest number of atoms in a list: if the route is chosen because it is quick, if it is chosen because the
/// lattices fail, and if it is requested.
const QUICK_ATOMS: f64 = 2048.0;
const BEARABLE_ATOMS: f64 = 4_194_304.0;
const MOST_ATOMS: f64 = 16_777_216.0;

/// The exact route, if it is quick.
pub(crate) fn quick(factors: &[Factor]) -> Option<Route> {
    exact_within(factors, QUICK_ATOMS)
}

/// The exact route to take if the lattices fail.
pub(crate) fn bearable(factors: &[Factor]) -> Option<Route> {
    exact_within(factors, BEARABLE_ATOMS)
}

fn exact_within(factors: &[Factor], most: f64) -> Option<Route> {
    if factors.len() == 1 {
        Some(Route::Equal)
    } else if longer_half(factors) <= most {
        Some(Route::Halves)
    } else {
        None
    }
}

fn longer_half(factors: &[Factor]) -> f64 {
    let (left, right) = halves::balance(factors);
    halves::atoms_of(&left).max(halves::atoms_of(&right))
}

/// The work of two halves in multiplications, which another route may cost at most.
pub(crate) fn work(factors: &[Factor]) -> f64 {
    300.0 * longer_half(factors)
}

/// The reason why an exact route does not apply, if any.
pub(crate) fn obstacle(factors: &[Factor], route: Route) -> Option<String> {
    match route {
        Route::Equal if factors.len() > 1 => {
            Some(format!("there are {} different epsilons", factors.len()))
        }
        Route::Halves => {
            let atoms = longer_half(factors);
            (atoms > MOST_ATOMS).then(|| format!("it would list {atoms:.3e} atoms; at most 2^24"))
        }
        _ => None,
    }
}

impl ExactMethod {
    pub(crate) fn new(
        factors: &[Factor],
        route: Route,
        watch: &Watch<'_>,
    ) -> Result<Self, StopRequest> {
        match (route, factors) {
            (Route::Equal, &[factor]) => Ok(Self::Equal(EqualResponses::new(factor))),
            _ => {
                let (left, right) = halves::balance(factors);
                Ok(Self::Halves(Halves::new(&left, &right, watch)?))
            }
        }
    }

    pub(crate) fn largest(&self) -> Dd {
        match self {
            Self::Equal(equal) => equal.largest(),
            Self::Halves(halves) => halves.largest(),
        }
    }

    pub(crate) fn tail(&mut self, epsilon: f64, watch: &Watch<'_>) -> Result<Tail, StopRequest> {
        match self {
            Self::Equal(equal) => Ok(equal.tail(epsilon)),
            Self::Halves(halves) => {
                watch.check(0.5)?;
                Ok(halves.tail(epsilon))
            }
        }
    }

    /// An epsilon at which to start a search. Where a step of the search is expensive, it is better than the saddle
    /// point's.
    pub(crate) fn first_guess(&self, target: &Target, saddle: f64) -> Result<f64, StopRequest> {
        match self {
            Self::Equal(equal) if equal.is_large() => {
                let rough = |epsilon: f64| Ok(equal.rough_tail(epsilon));
                Ok(tail::solve(rough, target, saddle, equal.largest())?.upper)
            }
            _ => Ok(saddle),
        }
    }
}
