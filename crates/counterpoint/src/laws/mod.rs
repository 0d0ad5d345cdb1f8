//! Laws of privacy losses, and what each can say of itself.
//!
//! Each mechanism has a pair (P, Q) that no mechanism with its description is easier to tell apart than; its privacy loss is
//! ln P/Q under P. A law is that of the finite part of a loss. Each has a file of its own and implements [`Law`]; methods ask
//! for abilities, and never which law it is. A new law is one file and one line in the list below.

mod amplified;
mod atoms;
pub(crate) mod cells;
mod closed_form;
mod cumulant;
mod gaussian;
mod laplace;
mod mixture;
mod moments;
mod range;
mod response;
mod sampled;
mod subset;
pub(crate) mod transform;

pub(crate) use amplified::{amplified, mixed};
pub(crate) use atoms::{
    Atom, Atoms, LOSS, List, NOTHING, WholeGaussian, gaussian_atoms, largest_first,
    sampled_outcomes, sum, two_outcomes,
};
pub(crate) use closed_form::{FORMULA, scaled};
pub(crate) use cumulant::{LEAST, MOST, cumulant, quick_cumulant};
pub(crate) use gaussian::Gaussian;
pub(crate) use laplace::Laplace;
pub(crate) use mixture::{Mixture, Shift};
pub(crate) use moments::{Moments, moments};
pub(crate) use range::Range;
pub(crate) use response::Response;
pub(crate) use sampled::{SampledGaussian, SampledLaplace, SampledRange};
pub(crate) use subset::Subset;

use crate::ends::Ends;
use cells::{Cut, Point, Side};
use counterpoint_numerics::{Dd, Wide};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use transform::Tilted;

/// Which of two neighbouring data sets P is: under add/remove the direction is shared
/// by all releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// P has the person's data, Q does not.
    Remove,
    /// Q has the person's data, P does not.
    Add,
}

/// Makes [`Loss`] of the list of laws, in the canonical order of the parts of a composition.
macro_rules! laws {
    ($($name:ident($law:ident: $type:ty) => $as_law:expr,)*) => {
        /// The law of a finite loss. Parameters carry a relative error of at most 2^-94.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Loss {
            $($name($type),)*
        }

        impl Loss {
            /// What the law can say.
            pub(crate) fn law(&self) -> &dyn Law {
                match self {
                    $(Self::$name($law) => $as_law,)*
                }
            }

            /// The place of the law in the list.
            fn place(&self) -> usize {
                enum Place {
                    $($name,)*
                }
                match self {
                    $(Self::$name(_) => Place::$name as usize,)*
                }
            }
        }

        $(impl From<$type> for Loss {
            fn from(law: $type) -> Self {
                Self::$name(law)
            }
        })*
    };
}

laws! {
    Response(law: Response) => law,
    Laplace(law: Laplace) => law,
    Range(law: Range) => law,
    SampledGaussian(law: SampledGaussian) => law,
    SampledLaplace(law: SampledLaplace) => law,
    SampledRange(law: SampledRange) => law,
    Mixture(law: Arc<Mixture>) => law.as_ref(),
    Subset(law: Subset) => law,
    Gaussian(law: Gaussian) => law,
    Atoms(law: Arc<Atoms>) => law.as_ref(),
}

impl Loss {
    /// The canonical order: by law, then by numbers.
    pub(crate) fn compared(&self, other: &Self) -> Ordering {
        let numbers = || {
            let (mine, others) = (self.law().numbers(), other.law().numbers());
            let pairs = mine.iter().zip(&others).map(|(a, b)| a.total_cmp(b));
            pairs.fold(Ordering::Equal, Ordering::then).then(mine.len().cmp(&others.len()))
        };
        self.place().cmp(&other.place()).then_with(numbers)
    }
}

/// An estimate of K, K' and K'' at some t.
pub(crate) type Jet = [f64; 3];

/// A pair whose profile above zero is that of another pair on a Poisson sample.
pub(crate) struct Sample {
    /// The pair that is sampled; it is its own mirror image.
    pub(crate) inner: Loss,
    pub(crate) rate: f64,
    pub(crate) direction: Direction,
    /// Whether the pair is that of the sample itself, below zero too.
    pub(crate) is_whole: bool,
}

/// A law that some mechanism has, where a law stands for a class of mechanisms.
pub(crate) enum Attained {
    /// The law is that of one pair.
    Itself,
    Other(Loss),
    /// One that cannot be written down.
    Unknown,
}

/// How the contour of a blurred loss serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blurring {
    /// Not at all.
    Impossible,
    /// It may be among others that need it.
    Possible,
    /// Its transform does not fade by itself.
    Needed,
}

/// P mass that a law leaves out, to be added to delta wherever an upper bound is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LeftOut {
    /// All of it, wherever its losses are.
    pub(crate) mass: f64,
    /// The part that may have a loss above the largest one known.
    pub(crate) above: f64,
}

impl LeftOut {
    /// Of a law that is known whole.
    pub(crate) const NOTHING: Self = Self { mass: 0.0, above: 0.0 };
}

/// A list of atoms on a lattice that has a formula: made only when it is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Formula {
    /// How many atoms the list has, or a few less.
    pub(crate) outcomes: f64,
    /// A loss that is listed, and near the largest one.
    pub(crate) far: f64,
}

/// What a law can say of itself. Where a law has no answer a default says so.
pub(crate) trait Law: fmt::Debug {
    // What it is.

    /// Whether exchanging P and Q makes no difference.
    fn is_symmetric(&self) -> bool;

    /// Its numbers, for the canonical order.
    fn numbers(&self) -> Vec<f64>;

    /// The epsilon of the guarantee whose law it is: plus or minus epsilon.
    fn guarantee(&self) -> Option<Dd> {
        None
    }

    /// The square s of a normal law N(s/2, s).
    fn normal(&self) -> Option<Dd> {
        None
    }

    /// The parameters of a normal pair on a Poisson sample.
    fn sampled_normal(&self) -> Option<&SampledGaussian> {
        None
    }

    /// The epsilon of Laplace noise.
    fn laplace(&self) -> Option<Dd> {
        None
    }

    /// Whether it stands for every mechanism of a class rather than for one pair.
    fn is_class(&self) -> bool;

    /// A law that a mechanism of the class has: of those with two losses, with the larger one at this share of the range.
    fn attained(&self, _share: f64) -> Attained {
        Attained::Itself
    }

    /// Whether it is known to dominate another: the same law with a larger parameter, or more.
    fn dominates(&self, _other: &Loss) -> bool {
        false
    }

    /// A rho such that every mechanism of the class, or the law itself, has Rényi divergences of at most rho times the order.
    fn concentration(&self) -> Option<f64> {
        None
    }

    // Its largest loss.

    /// The largest loss and its P mass, zero if it is not attained.
    fn top(&self) -> Option<(Dd, Dd)> {
        None
    }

    /// By how much the mass within s of the largest loss exceeds the mass at it, relative to that; good to 64 u.
    fn growth(&self, _s: f64) -> Option<f64> {
        None
    }

    /// The P mass of losses within a gap of the largest, from above but for a few roundings of doubles.
    fn mass_within(&self, _gap: f64) -> Dd {
        Dd::ONE * (1.0 + closed_form::FOUR_ROUNDINGS)
    }

    /// The mass that no answer about the finite loss includes. A law that forgot it would make every upper bound unsound, so there
    /// is no default.
    fn left_out(&self) -> LeftOut;

    // Its atoms.

    /// All atoms, if there is nothing else.
    fn atoms(&self) -> Option<Vec<Atom>> {
        None
    }

    /// How many atoms are listed, if there is nothing else and no formula.
    fn listed(&self) -> Option<usize> {
        None
    }

    /// The formula of a list that is not made yet.
    fn formula(&self) -> Option<Formula> {
        None
    }

    /// Whether it is a list of atoms, made or not.
    fn is_list(&self) -> bool {
        false
    }

    /// Whether it has finitely many losses, none left out.
    fn is_finite(&self) -> bool {
        false
    }

    /// Its profile at an epsilon of any sign, by a formula good to a relative 2^-90.
    fn profile(&self, _epsilon: Dd) -> Option<Ends> {
        None
    }

    /// The pair on a Poisson sample that has the same profile above zero.
    fn sample(&self) -> Option<Sample> {
        None
    }

    // Its moments.

    /// K(t) = ln E[e^(t L)] and a bound on its absolute error, for t from [`LEAST`] to [`MOST`]; `None` where it cannot be
    /// had at a reasonable cost. What was cut off is not in it: see [`Law::left_out`].
    fn cumulant(&self, _t: f64) -> Option<(Dd, f64)> {
        None
    }

    /// The same in plain doubles, where these will do.
    fn cumulant_in_doubles(&self, _t: f64) -> Option<(Dd, f64)> {
        None
    }

    /// Whether it has a cumulant at all, and hence a Rényi curve.
    fn has_cumulant(&self) -> bool {
        true
    }

    /// An estimate of K, K' and K'' in plain doubles, where these say enough, for t from 10^-3 to 10^6.
    fn jet(&self, _t: f64) -> Option<Jet> {
        None
    }

    /// The same by a rule of its own, where no other estimate is to be had.
    fn own_jet(&self, _t: f64) -> Option<Option<Jet>> {
        None
    }

    /// Mean and variance, where they are not to be found from the cumulant.
    fn own_moments(&self) -> Option<Moments> {
        None
    }

    // Its transform.

    /// Whether it has a moment generating function off the real axis.
    fn has_transform(&self) -> bool {
        true
    }

    /// Its moment generating function off the real axis, relative to its value at t.
    fn tilted(&self, _t: f64) -> Option<Tilted> {
        None
    }

    /// How blurring it serves.
    fn blurring(&self) -> Blurring {
        Blurring::Impossible
    }

    /// Whether it has atoms beside a density: an epsilon next to one of them is hard for every method.
    fn has_edges(&self) -> bool {
        false
    }

    // Its cells.

    /// All its atoms, or cells of its density as atoms, on one side; and a bound on the P mass that is left out. `None` if
    /// they were too many.
    fn points(
        &self,
        side: Side,
        cut: Option<&Cut<'_>>,
        sink: &mut dyn FnMut(Point),
    ) -> Option<Wide>;

    /// Where its losses are counted from on a lattice: the largest one, if that is simple to tell.
    fn offset(&self) -> Dd {
        Dd::ZERO
    }

    /// The distances of its losses from the offset, if it has atoms alone.
    fn spacings(&self) -> Option<Vec<f64>> {
        None
    }
}

/// Surely larger: parameters are known to a relative 2^-94.
fn exceeds(more: Dd, less: Dd) -> bool {
    (more - less).hi > 1e-26 * more.hi
}
