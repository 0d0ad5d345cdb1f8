//! Laws of privacy losses, and the abilities of each law.
//!
//! For each description of a mechanism, other than a Rényi curve, there is a pair (P, Q) that dominates the outputs of
//! every mechanism with this description. The privacy loss of the pair is ln P/Q under P, and a law here is the
//! probability distribution of the finite part of a loss. Each law has a file of its own and implements [`Law`]. Methods
//! ask for abilities, and never which law they deal with. A new law is one file and one line in the list below.

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

pub(crate) use amplified::{amplified, log_mixture};
pub(crate) use atoms::{
    Atom, AtomList, Atoms, LOSS, NOTHING, WholeGaussian, gaussian_atoms, largest_first,
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

use crate::delta_bounds::DeltaBounds;
use cells::{CellAtom, CellFineness, Domination};
use counterpoint_numerics::{Dd, Wide};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use transform::TiltedLaw;

/// The direction of a pair: the neighbouring data set that P belongs to. Under add/remove all releases have the same
/// direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// P has the person's data, Q does not.
    Remove,
    /// Q has the person's data, P does not.
    Add,
}

/// Defines [`Loss`] from the list of laws, in the canonical order of the parts of a composition.
macro_rules! laws {
    ($($name:ident($law:ident: $type:ty) => $as_law:expr,)*) => {
        /// The law of a finite loss. Parameters carry a relative error of at most 2^-94.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Loss {
            $($name($type),)*
        }

        impl Loss {
            /// Returns the law, with its abilities.
            pub(crate) fn law(&self) -> &dyn Law {
                match self {
                    $(Self::$name($law) => $as_law,)*
                }
            }

            /// Returns the law's index in the list.
            fn place(&self) -> usize {
                enum Index {
                    $($name,)*
                }
                match self {
                    $(Self::$name(_) => Index::$name as usize,)*
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
    /// Compares in the canonical order: by law, then by numbers.
    pub(crate) fn compared(&self, other: &Self) -> Ordering {
        let parameters = || {
            let (mine, others) = (self.law().parameters(), other.law().parameters());
            let pairs = mine.iter().zip(&others).map(|(a, b)| a.total_cmp(b));
            pairs.fold(Ordering::Equal, Ordering::then).then(mine.len().cmp(&others.len()))
        };
        self.place().cmp(&other.place()).then_with(parameters)
    }
}

/// Estimates of K, K' and K'' at one t.
pub(crate) type Jet = [f64; 3];

/// A Poisson sample of a pair, whose profile at epsilons above zero is that of another pair.
pub(crate) struct SampledPair {
    /// The loss of the pair before sampling, which is symmetric.
    pub(crate) inner: Loss,
    pub(crate) rate: f64,
    pub(crate) direction: Direction,
    /// True if the other pair is that of the sample itself, so that the profiles agree below zero too.
    pub(crate) is_whole: bool,
}

/// The law of a single mechanism, for a law that stands for a class of mechanisms.
pub(crate) enum AttainedLaw {
    /// The law itself, which is that of one pair.
    Itself,
    Other(Loss),
    /// A law that cannot be written down.
    Unknown,
}

/// Whether the contour of a law can, or must, be that of a blurred loss (theory 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlurNeed {
    /// The law cannot be blurred.
    Impossible,
    /// The law can be blurred together with others that need it.
    Possible,
    /// The law must be blurred, since its transform does not vanish at high frequencies.
    Needed,
}

/// The mass under P that a law leaves out; every upper bound adds it to delta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OmittedMass {
    /// All of the mass that is left out, at any loss.
    pub(crate) mass: f64,
    /// The part that may have a loss above the largest known one.
    pub(crate) above: f64,
}

impl OmittedMass {
    /// The omitted mass of a law that leaves out nothing.
    pub(crate) const NOTHING: Self = Self { mass: 0.0, above: 0.0 };
}

/// A list of atoms on a lattice that is given by a formula and computed only on access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListFormula {
    /// The number of atoms of the list, or slightly less.
    pub(crate) outcomes: f64,
    /// A loss in the list near the largest one.
    pub(crate) far: f64,
}

/// The abilities of a law. A law without an ability keeps the default, which says so.
pub(crate) trait Law: fmt::Debug {
    // Its identity.

    /// True if exchanging P and Q does not change the law.
    fn is_symmetric(&self) -> bool;

    /// Its parameters, for the canonical order.
    fn parameters(&self) -> Vec<f64>;

    /// The epsilon of a randomized response, whose losses are plus or minus epsilon.
    fn response_epsilon(&self) -> Option<Dd> {
        None
    }

    /// The square s of a normal law N(s/2, s).
    fn normal_square(&self) -> Option<Dd> {
        None
    }

    /// The parameters of a normal pair on a Poisson sample.
    fn sampled_normal(&self) -> Option<&SampledGaussian> {
        None
    }

    /// The epsilon of Laplace noise.
    fn laplace_epsilon(&self) -> Option<Dd> {
        None
    }

    /// True if the law stands for every mechanism of a class rather than for one pair.
    fn is_class(&self) -> bool;

    /// A law of a single mechanism of the class, with two losses, the larger of which is this share of the range.
    fn attained_law(&self, _share: f64) -> AttainedLaw {
        AttainedLaw::Itself
    }

    /// True if the law is known to dominate another, e.g. the same law with a smaller parameter. `is_complete` says that
    /// no outcome of the other mechanism is impossible under P (theory 9.2).
    fn dominates(&self, _other: &Loss, _is_complete: bool) -> bool {
        false
    }

    /// A rho such that every mechanism of the class, or the law itself, has Rényi divergences of at most rho times the
    /// order.
    fn concentration(&self) -> Option<f64> {
        None
    }

    // Its largest loss.

    /// The largest loss and its mass under P, which is zero if the largest loss is not attained.
    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        None
    }

    /// The mass within s of the largest loss but below it, relative to the mass at it; accurate to 64 u.
    fn growth(&self, _s: f64) -> Option<f64> {
        None
    }

    /// The mass under P of losses within a gap of the largest, from above except for a few roundings of doubles.
    fn mass_within(&self, _gap: f64) -> Dd {
        Dd::ONE * (1.0 + closed_form::FOUR_ROUNDINGS)
    }

    /// The mass that no answer about the finite loss includes. There is no default, because a law that omitted it would
    /// make every upper bound unsound.
    fn omitted_mass(&self) -> OmittedMass;

    // Its atoms.

    /// All atoms, if the law consists of atoms.
    fn atoms(&self) -> Option<Vec<Atom>> {
        None
    }

    /// The number of listed atoms, if the law consists of atoms and has no formula.
    fn listed_count(&self) -> Option<usize> {
        None
    }

    /// The formula of a list that is not computed yet.
    fn list_formula(&self) -> Option<ListFormula> {
        None
    }

    /// True if the law is a list of atoms, computed or not.
    fn is_list(&self) -> bool {
        false
    }

    /// True if the law has finitely many losses and leaves out none.
    fn is_finite(&self) -> bool {
        false
    }

    /// The profile at an epsilon of any sign, by a formula good to a relative 2^-90.
    fn profile(&self, _epsilon: Dd) -> Option<DeltaBounds> {
        None
    }

    /// The pair on a Poisson sample that has the same profile at epsilons above zero.
    fn sampled_pair(&self) -> Option<SampledPair> {
        None
    }

    // Its moments.

    /// K(t) = ln E[e^(t L)] and a bound on its absolute error, for t from [`LEAST`] to [`MOST`]; `None` if the cost
    /// would be unreasonable. K does not include the mass that is left out: see [`Law::omitted_mass`].
    fn cumulant(&self, _t: f64) -> Option<(Dd, f64)> {
        None
    }

    /// K(t) with its error in plain doubles, where these suffice.
    fn cumulant_in_doubles(&self, _t: f64) -> Option<(Dd, f64)> {
        None
    }

    /// True if the law has a cumulant, and hence a Rényi curve.
    fn has_cumulant(&self) -> bool {
        true
    }

    /// Estimates of K, K' and K'' in plain doubles, where these suffice, for t from 10^-3 to 10^6.
    fn jet(&self, _t: f64) -> Option<Jet> {
        None
    }

    /// Estimates of K, K' and K'' by a rule of the law's own, where no other estimate exists.
    fn own_jet(&self, _t: f64) -> Option<Option<Jet>> {
        None
    }

    /// The mean and the variance, where they cannot be derived from the cumulant.
    fn own_moments(&self) -> Option<Moments> {
        None
    }

    // Its transform.

    /// True if the law has a moment generating function off the real axis.
    fn has_transform(&self) -> bool {
        true
    }

    /// The moment generating function off the real axis, relative to its value at t.
    fn tilted(&self, _t: f64) -> Option<TiltedLaw> {
        None
    }

    /// Whether the law can, or must, be blurred.
    fn blur_need(&self) -> BlurNeed {
        BlurNeed::Impossible
    }

    /// True if the law has atoms beside a density. An epsilon next to such an atom is hard for every method.
    fn has_edges(&self) -> bool {
        false
    }

    // Its cells.

    /// Passes all atoms, or cells of the density as atoms, to `sink`, on one side; returns a bound on the mass under P
    /// that is left out. `None` if there would be too many.
    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide>;

    /// The loss from which losses are counted on a lattice: the largest one, if it is known.
    fn offset(&self) -> Dd {
        Dd::ZERO
    }

    /// The distances of the losses from the offset, if the law consists of atoms.
    fn spacings(&self) -> Option<Vec<f64>> {
        None
    }
}

/// True if `more` is certainly larger than `less`: parameters are known to a relative 2^-94.
fn exceeds(more: Dd, less: Dd) -> bool {
    (more - less).hi > 1e-26 * more.hi
}
