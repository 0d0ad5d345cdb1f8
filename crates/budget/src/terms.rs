//! The terms, currency and promise with which an account is opened.

use crate::amount::Amount;
pub use crate::currency::Currency;
use crate::error::FilterError;
use crate::query::Query;
use counterpoint::mechanism::Adjacency;
use counterpoint::quantity::{GroupSize, Order};

/// The properties that all queries of an account share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The adjacency, which says which data sets are neighbours.
    pub adjacency: Adjacency,
    /// The number of people who are protected together.
    pub group: GroupSize,
    /// The way in which interactive mechanisms may overlap.
    pub concurrency: Concurrency,
}

impl Terms {
    /// Terms for one person, and for interactive mechanisms whose queries may interleave.
    #[must_use]
    pub fn new(adjacency: Adjacency) -> Self {
        Self { adjacency, group: GroupSize::ONE, concurrency: Concurrency::Concurrent }
    }
}

/// The ways in which queries of one account may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// Each query ends before the next is asked.
    Sequential,
    /// Interactive mechanisms run side by side, their queries interleaved in any order. Queries that no theorem covers
    /// are refused.
    Concurrent,
}

/// An amount of an account's currency and a delta: the charge of a query, the sum of charges so far, or the capacity of
/// an account. The default is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The amount in the account's currency.
    pub main: Amount,
    /// The queries' own deltas.
    pub delta: Amount,
    /// The sum of the queries' own epsilons while all queries are pure, else `None`. In a capacity: the largest such
    /// sum that is admitted whatever the other totals are, or `None` if there is no such rule.
    pub pure: Option<Amount>,
}

impl Default for Charge {
    fn default() -> Self {
        Self { main: Amount::ZERO, delta: Amount::ZERO, pure: Some(Amount::ZERO) }
    }
}

impl Charge {
    /// Adds two charges.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let both = self.pure.as_ref().zip(other.pure.as_ref());
        Self {
            main: &self.main + &other.main,
            delta: &self.delta + &other.delta,
            pure: both.map(|(own, more)| own + more),
        }
    }

    /// Multiplies the charge by a count.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self {
            main: self.main.times(count),
            delta: self.delta.times(count),
            pure: self.pure.as_ref().map(|pure| pure.times(count)),
        }
    }
}

/// The guarantee of an account as a whole, whatever is asked of it.
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
    /// Concentrated privacy, except for a leak.
    Zcdp {
        /// The slope of the Rényi curve.
        rho: Amount,
        /// The leak.
        delta: Amount,
    },
    /// Gaussian privacy.
    Gdp {
        /// The distance of the two Gaussians in standard deviations.
        mu: Amount,
    },
    /// A bound on the Rényi divergence at one order, in both directions.
    Renyi {
        /// The order.
        order: Order,
        /// The divergence.
        tau: Amount,
    },
}

impl Promise {
    /// The promise as one query. If the account is opened under a filter, the filter charges this query; if it is
    /// opened in a plan, a slot must cover this query.
    ///
    /// # Errors
    /// [`FilterError::Range`] if an amount is not legal. No constructor makes such a promise.
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
