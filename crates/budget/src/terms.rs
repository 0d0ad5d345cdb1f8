//! What an account is opened with: its terms, its currency and its promise.

use crate::amount::Amount;
pub use crate::currency::Currency;
use crate::error::FilterError;
use crate::query::Query;
use counterpoint::mechanism::Adjacency;
use counterpoint::quantity::{Group, Order};

/// What all queries of an account have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Which data sets are neighbours.
    pub adjacency: Adjacency,
    /// How many people are protected together.
    pub group: Group,
    /// Whether interactive mechanisms may be interleaved.
    pub interleaving: Interleaving,
}

impl Terms {
    /// One person, and interactive mechanisms interleaved at will.
    #[must_use]
    pub fn new(adjacency: Adjacency) -> Self {
        Self { adjacency, group: Group::ONE, interleaving: Interleaving::Concurrent }
    }
}

/// How queries of one account may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleaving {
    /// Each query is over before the next is asked.
    Sequential,
    /// Interactive mechanisms run side by side, their queries interleaved at will. What no
    /// theorem covers is refused.
    Concurrent,
}

/// An amount of an account's currency and a delta: what a query costs, what has been spent,
/// or what there is to spend. The default is nothing at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// In the account's currency.
    pub main: Amount,
    /// The queries' own deltas.
    pub delta: Amount,
    /// The queries' own epsilons, as long as all of them are pure; `None` from the first that
    /// is not. Of what there is to spend: up to where the sum of epsilons is a rule of its
    /// own, `None` if it is not.
    pub pure: Option<Amount>,
}

impl Default for Charge {
    fn default() -> Self {
        Self { main: Amount::ZERO, delta: Amount::ZERO, pure: Some(Amount::ZERO) }
    }
}

impl Charge {
    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let both = self.pure.as_ref().zip(other.pure.as_ref());
        Self {
            main: &self.main + &other.main,
            delta: &self.delta + &other.delta,
            pure: both.map(|(own, more)| own + more),
        }
    }

    /// This many of them.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self {
            main: self.main.times(count),
            delta: self.delta.times(count),
            pure: self.pure.as_ref().map(|pure| pure.times(count)),
        }
    }
}

/// What an account as a whole guarantees, whatever is asked of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Promise {
    /// (epsilon, delta)-privacy.
    ApproxDp {
        /// The multiplicative part.
        epsilon: Amount,
        /// The additive part.
        delta: Amount,
    },
    /// Concentrated privacy, but for a leak.
    Zcdp {
        /// The slope of the Rényi curve.
        rho: Amount,
        /// The leak.
        delta: Amount,
    },
    /// Gaussian privacy.
    Gdp {
        /// How many standard deviations apart.
        mu: Amount,
    },
    /// A Rényi divergence of at most so much at one order, in both directions.
    Renyi {
        /// The order.
        order: Order,
        /// The divergence.
        tau: Amount,
    },
}

impl Promise {
    /// The promise as one query, which is what an account costs the account above it, and
    /// what fits in a slot.
    ///
    /// # Errors
    /// [`FilterError::Range`] if an amount is not legal, which no constructor lets happen.
    pub fn query(&self) -> Result<Query, FilterError> {
        match self {
            Self::ApproxDp { epsilon, delta } => {
                Ok(Query::approx_dp(epsilon.clone(), delta.clone())?)
            }
            Self::Zcdp { rho, delta } => Ok(Query::zcdp(rho.clone(), delta.clone())?),
            Self::Gdp { mu } => Ok(Query::gdp(mu.clone())?),
            Self::Renyi { order, tau } => Ok(Query::renyi(*order, tau.clone())?),
        }
    }
}
