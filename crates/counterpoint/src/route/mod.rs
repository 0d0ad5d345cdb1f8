//! Routes: ways to compute the composed profile, and the choice between them.
//!
//! An exact route gives the tail of the loss at any epsilon; a certified one gives the
//! profile between two lattices, to a tolerance.

pub(crate) mod closed;
pub(crate) mod contour;
pub(crate) mod convolution;
pub(crate) mod crown;
pub(crate) mod decay;
mod divisor;
pub(crate) mod equal;
pub(crate) mod grid;
pub(crate) mod halves;
pub(crate) mod lattice;
pub mod precise;
pub(crate) mod saddle;
pub(crate) mod sandwich;
pub(crate) mod smooth;
pub(crate) mod tail;

use crate::composition::Factor;
use crate::rounding::Dd;
use crate::watch::{Stopped, Watch};
use equal::Equal;
use halves::Halves;
use std::fmt;
use tail::Tail;

/// A way to compute the profile of a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// No computation: only leaks, or an epsilon at or above the largest loss.
    Closed,
    /// One binomial sum; all epsilons equal. Exact.
    Equal,
    /// Every atom of few distinct epsilons. Exact.
    Grouped,
    /// Two halves of the list, met in the middle. Exact.
    Halves,
    /// The saddle-point contour on a lattice. Certified to a tolerance.
    Contour,
    /// Fourier transforms on a lattice. Certified to a tolerance.
    Lattice,
    /// Direct convolution on a lattice. Certified to a tolerance.
    Convolution,
    /// Rényi divergences, added up and converted.
    Renyi,
    /// Arbitrary precision. Exact.
    Precise,
}

impl Route {
    /// Every route.
    pub const ALL: [Self; 9] = [
        Self::Closed,
        Self::Equal,
        Self::Grouped,
        Self::Halves,
        Self::Contour,
        Self::Lattice,
        Self::Convolution,
        Self::Renyi,
        Self::Precise,
    ];

    /// The name users know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Equal => "equal",
            Self::Grouped => "grouped",
            Self::Halves => "halves",
            Self::Contour => "contour",
            Self::Lattice => "lattice",
            Self::Convolution => "convolution",
            Self::Renyi => "renyi",
            Self::Precise => "precise",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The largest loss, the sum of all epsilons: relative error below [`largest_error`].
pub(crate) fn largest_loss(factors: &[Factor]) -> Dd {
    factors.iter().fold(Dd::ZERO, |sum, f| sum + Dd::product(f.count as f64, f.epsilon))
}

/// A bound on the relative error of [`largest_loss`]: 2^-102 an addition, none for one.
pub(crate) fn largest_error(factors: &[Factor]) -> f64 {
    factors.len().saturating_sub(1) as f64 * crate::rounding::STEP / 128.0
}

/// Whether an epsilon is at or above the largest loss; decided exactly if it is close.
pub(crate) fn is_at_the_top(factors: &[Factor], epsilon: f64) -> bool {
    let largest = largest_loss(factors);
    let error = Dd::from(2.0 * largest_error(factors) * largest.hi);
    let gap = largest - Dd::from(epsilon);
    if gap > error || gap < -error {
        return gap < Dd::ZERO;
    }
    // Exact: the epsilons are multiples of 2^-500 below 2^60.
    let big = |x: f64| precise::Big::try_from(x).unwrap_or(precise::Big::ZERO);
    let with_room = |x: precise::Big| x.with_precision(1000).value();
    let sum = factors.iter().fold(with_room(precise::Big::ZERO), |sum, factor| {
        sum + with_room(big(factor.epsilon)) * with_room(precise::Big::from(factor.count))
    });
    with_room(big(epsilon)) >= sum
}

/// An exact route, prepared.
pub(crate) enum Exact {
    Equal(Equal),
    Halves(Halves),
}

/// The most atoms a list may have: when chosen automatically because it is quick, when
/// chosen because nothing else will do, and when asked for.
const QUICK_ATOMS: f64 = 2048.0;
const BEARABLE_ATOMS: f64 = 4_194_304.0;
const MOST_ATOMS: f64 = 16_777_216.0;

/// The exact route to take if it is quick.
pub(crate) fn quick(factors: &[Factor]) -> Option<Route> {
    exact_within(factors, QUICK_ATOMS)
}

/// The exact route to take if the lattices do not do.
pub(crate) fn bearable(factors: &[Factor]) -> Option<Route> {
    exact_within(factors, BEARABLE_ATOMS)
}

fn exact_within(factors: &[Factor], most: f64) -> Option<Route> {
    if factors.len() == 1 {
        Some(Route::Equal)
    } else if halves::atoms_of(factors) <= most {
        Some(Route::Grouped)
    } else if longer_half(factors) <= most {
        Some(Route::Halves)
    } else {
        None
    }
}

fn longer_half(factors: &[Factor]) -> f64 {
    let (left, right) = halves::balanced(factors);
    halves::atoms_of(&left).max(halves::atoms_of(&right))
}

/// The work two halves take, in multiplications: what another route may cost at most.
pub(crate) fn work(factors: &[Factor]) -> f64 {
    300.0 * longer_half(factors)
}

/// Why an exact route does not apply, if it does not.
pub(crate) fn obstacle(factors: &[Factor], route: Route) -> Option<String> {
    let too_many = |atoms: f64| {
        (atoms > MOST_ATOMS).then(|| format!("it would list {atoms:.3e} atoms; at most 2^24"))
    };
    match route {
        Route::Closed => Some("the answer takes a computation".into()),
        Route::Equal if factors.len() > 1 => {
            Some(format!("there are {} different epsilons", factors.len()))
        }
        Route::Grouped => too_many(halves::atoms_of(factors)),
        Route::Halves => too_many(longer_half(factors)),
        _ => None,
    }
}

impl Exact {
    pub(crate) fn new(
        factors: &[Factor],
        route: Route,
        watch: &Watch<'_>,
    ) -> Result<Self, Stopped> {
        match (route, factors) {
            (Route::Equal, &[factor]) => Ok(Self::Equal(Equal::new(factor))),
            (Route::Halves, _) => {
                let (left, right) = halves::balanced(factors);
                Ok(Self::Halves(Halves::new(&left, &right, watch)?))
            }
            _ => Ok(Self::Halves(Halves::new(&[], factors, watch)?)),
        }
    }

    pub(crate) fn largest(&self) -> Dd {
        match self {
            Self::Equal(equal) => equal.largest(),
            Self::Halves(halves) => halves.largest(),
        }
    }

    pub(crate) fn tail(&mut self, epsilon: f64, watch: &Watch<'_>) -> Result<Tail, Stopped> {
        match self {
            Self::Equal(equal) => Ok(equal.tail(epsilon)),
            Self::Halves(halves) => {
                watch.at(0.5)?;
                Ok(halves.tail(epsilon))
            }
        }
    }

    /// An epsilon to start a search from, better than the saddle point's where a step
    /// of the search is dear.
    pub(crate) fn first_guess(
        &self,
        target: &crate::leak::Target,
        saddle: f64,
    ) -> Result<f64, Stopped> {
        match self {
            Self::Equal(equal) if equal.is_large() => {
                let rough = |epsilon: f64| Ok(equal.rough_tail(epsilon));
                Ok(tail::solve(rough, target, saddle, equal.largest())?.upper)
            }
            _ => Ok(saddle),
        }
    }
}
