//! Open accounts: a budget fixed first, queries chosen as one goes.
//!
//! A [`Filter`] is the rule and a [`Charge`] its whole state, two running totals. A query is
//! admitted iff the totals *including it* stay within the capacity. Every rule here adds up
//! quantities that no choice of a later query can undo; "the optimal composition of what was
//! accepted is still within the budget" is no such rule, and is unsound.

use super::amount::Amount;
use super::charge;
use super::convert;
use super::error::{FilterError, Refused};
use super::order;
use super::query::Query;
use crate::mechanism::{Adjacency, Guarantee};
use crate::quantity::{Delta, Group, Mu, Order, Rho};
use crate::theorem::{Parameters, Setting, Theorem};
use std::fmt;

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

/// What an account adds up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Currency {
    /// Epsilons.
    Sums,
    /// Rényi divergences at one order, fixed when the account is opened.
    Renyi {
        /// The order.
        order: Order,
    },
    /// The rho of concentrated privacy.
    Zcdp,
    /// The squares of Gaussian privacy's mu.
    Gdp,
}

impl Currency {
    /// The kind's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sums => "sums",
            Self::Renyi { .. } => "renyi",
            Self::Zcdp => "zcdp",
            Self::Gdp => "gdp",
        }
    }

    /// What its first total is a total of.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Sums => "epsilon",
            Self::Renyi { .. } => "Rényi divergence",
            Self::Zcdp => "rho",
            Self::Gdp => "mu squared",
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An amount of an account's currency and a delta: what a query costs, what has been spent,
/// or what there is to spend.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Charge {
    /// In the account's currency.
    pub main: Amount,
    /// The queries' own deltas.
    pub delta: Amount,
}

impl Charge {
    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { main: &self.main + &other.main, delta: &self.delta + &other.delta }
    }

    /// This many of them.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self { main: self.main.times(count), delta: self.delta.times(count) }
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
}

/// The rule of an open account.
///
/// ```
/// use counterpoint::Adjacency;
/// use counterpoint::filter::{Charge, Filter, Query, Terms};
///
/// // 100 queries of epsilon 0.1 are expected; which ones, nobody knows.
/// let terms = Terms::new(Adjacency::AddRemove);
/// let query = Query::approx_dp("0.1".parse()?, "0".parse()?)?;
/// let hundred = query.clone().times(counterpoint::Count::new(100)?);
/// let filter = Filter::renyi_for("5.08".parse()?, "1e-6".parse()?, &[hundred], terms)?;
///
/// let (mut spent, mut answered) = (Charge::default(), 0);
/// let price = filter.charge(&query)?;
/// while let Ok(total) = filter.admit(&spent, &price) {
///     (spent, answered) = (total, answered + 1);
/// }
/// assert_eq!(answered, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    currency: Currency,
    terms: Terms,
    promise: Promise,
    capacity: Charge,
}

impl Filter {
    /// Sums of epsilon and of delta (Rogers, Roth, Ullman and Vadhan 2016). The only one
    /// whose promise may have delta 0.
    ///
    /// # Errors
    /// [`FilterError::Range`] naming the amount that is not legal.
    pub fn sums(epsilon: Amount, delta: Amount, terms: Terms) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let capacity = Charge { main: epsilon.clone(), delta: delta.clone() };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Sums, terms, promise, capacity })
    }

    /// Rényi divergences at one order, the larger of both directions: the recommended filter
    /// for guarantees and for every mechanism with a Rényi curve (Feldman and Zrnic 2021).
    /// `leaks` is the share of delta set aside for the queries' own deltas.
    ///
    /// With `sum tau <= B` and `sum d <= leaks` the whole is (epsilon, d' + leaks)-private,
    /// `d' = exp((a-1)(B-epsilon)) (1/a) (1-1/a)^(a-1)`.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal, or nothing is left to spend at this order.
    pub fn renyi(
        epsilon: Amount,
        delta: Amount,
        leaks: Amount,
        order: Order,
        terms: Terms,
    ) -> Result<Self, FilterError> {
        let rest = rest_of(&epsilon, &delta, &leaks)?;
        let main =
            convert::budget(&epsilon, &rest, order).ok_or_else(|| FilterError::NoBudget {
                epsilon: epsilon.clone(),
                delta: rest.clone(),
                at: format!("order {}", order.get()),
                hint: ", or a larger order",
            })?;
        let capacity = Charge { main, delta: leaks };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Renyi { order }, terms, promise, capacity })
    }

    /// The same at the order at which the expected use fits most often, deltas included.
    /// Where nothing is expected, at the order best for many small queries, with half of
    /// delta set aside for their deltas.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal, an expected query has no charge, or no
    /// order leaves anything to spend.
    pub fn renyi_for(
        epsilon: Amount,
        delta: Amount,
        expected: &[Query],
        terms: Terms,
    ) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let (order, leaks) = order::choose(&epsilon, &delta, expected, terms)?;
        Self::renyi(epsilon, delta, leaks, order, terms)
    }

    /// The filter with the least epsilon at a delta that admits all of the expected use.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal or an expected query has no charge.
    pub fn renyi_needed(
        delta: Amount,
        expected: &[Query],
        terms: Terms,
    ) -> Result<Self, FilterError> {
        let (epsilon, order, leaks) = order::needed(&delta, expected, terms)?;
        Self::renyi(epsilon, delta, leaks, order, terms)
    }

    /// The rho of concentrated privacy, as much as (epsilon, delta) allows. `leaks` is the
    /// share of delta set aside for the queries' own deltas.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal, or nothing is left to spend.
    pub fn zcdp(
        epsilon: Amount,
        delta: Amount,
        leaks: Amount,
        terms: Terms,
    ) -> Result<Self, FilterError> {
        let rest = rest_of(&epsilon, &delta, &leaks)?;
        let main = convert::rho(&epsilon, &rest).ok_or_else(|| FilterError::NoBudget {
            epsilon: epsilon.clone(),
            delta: rest.clone(),
            at: "any order".to_owned(),
            hint: "",
        })?;
        let capacity = Charge { main, delta: leaks };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Zcdp, terms, promise, capacity })
    }

    /// A budget that is itself one of concentrated privacy.
    ///
    /// # Errors
    /// [`FilterError::Range`] naming the amount that is not legal.
    pub fn zcdp_budget(rho: Amount, delta: Amount, terms: Terms) -> Result<Self, FilterError> {
        Rho::new(rho.upper())?;
        Delta::new(delta.upper())?;
        let capacity = Charge { main: rho.clone(), delta: delta.clone() };
        let promise = Promise::Zcdp { rho, delta };
        Ok(Self { currency: Currency::Zcdp, terms, promise, capacity })
    }

    /// Squares of Gaussian privacy's mu, as many as (epsilon, delta) allows (Smith and
    /// Thakurta 2022; Koskela, Tobaben and Honkela 2023).
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal, or nothing is left to spend.
    pub fn gdp(epsilon: Amount, delta: Amount, terms: Terms) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let mu = convert::mu(&epsilon, &delta).ok_or_else(|| FilterError::NoBudget {
            epsilon: epsilon.clone(),
            delta: delta.clone(),
            at: "any mu".to_owned(),
            hint: "",
        })?;
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { promise, ..Self::gdp_budget(mu, terms)? })
    }

    /// A budget that is itself one of Gaussian privacy.
    ///
    /// # Errors
    /// [`FilterError::Range`] if mu is not legal.
    pub fn gdp_budget(mu: Amount, terms: Terms) -> Result<Self, FilterError> {
        Mu::new(mu.upper())?;
        let capacity = Charge { main: &mu * &mu, delta: Amount::ZERO };
        Ok(Self { currency: Currency::Gdp, terms, promise: Promise::Gdp { mu }, capacity })
    }

    /// A filter as it was stored. Nothing is derived again: the capacity must be the one that
    /// a constructor gave.
    #[must_use]
    pub fn restored(currency: Currency, promise: Promise, capacity: Charge, terms: Terms) -> Self {
        Self { currency, terms, promise, capacity }
    }

    /// What a query costs here, count included.
    ///
    /// It depends on nothing but the description, so that a count of two costs exactly what
    /// two queries do.
    ///
    /// # Errors
    /// [`FilterError`] if the query has no meaning under the account's terms, this kind of
    /// account cannot charge it, or no theorem covers it.
    pub fn charge(&self, query: &Query) -> Result<Charge, FilterError> {
        let once = charge::of(query, self.currency, self.terms)?;
        Ok(once.times(query.count().get()))
    }

    /// The totals with a charge added, if they stay within the capacity.
    ///
    /// # Errors
    /// [`Refused`] naming the total that would be exceeded.
    pub fn admit(&self, spent: &Charge, charge: &Charge) -> Result<Charge, Refused> {
        let total = spent.plus(charge);
        let over = |what, total: &Amount, spent: &Amount, asked: &Amount, capacity: &Amount| {
            if total <= capacity {
                return Ok(());
            }
            let left = capacity.less(spent).unwrap_or_default();
            Err(Refused { what, asked: asked.clone(), left, capacity: capacity.clone() })
        };
        let (unit, most) = (self.currency.unit(), &self.capacity);
        over(unit, &total.main, &spent.main, &charge.main, &most.main)?;
        over("delta", &total.delta, &spent.delta, &charge.delta, &most.delta)?;
        Ok(total)
    }

    /// What is added up.
    #[must_use]
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// What all queries have in common.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// What the account guarantees, from the day it is opened and whatever is asked: not what
    /// has been spent so far.
    #[must_use]
    pub fn promise(&self) -> &Promise {
        &self.promise
    }

    /// What there is to spend in all.
    #[must_use]
    pub fn capacity(&self) -> &Charge {
        &self.capacity
    }

    /// The theorem that makes the promise.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        match self.currency {
            Currency::Sums => Theorem::SumsFilter,
            Currency::Renyi { .. } => Theorem::RenyiFilter,
            Currency::Zcdp => Theorem::ZcdpFilter,
            Currency::Gdp => Theorem::GdpFilter,
        }
    }

    /// The setting the promise holds in.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let concurrent = self.terms.interleaving == Interleaving::Concurrent;
        Setting { parameters: Parameters::Adaptive, concurrent }
    }
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
        }
    }
}

/// Both parts legal.
fn legal_target(epsilon: &Amount, delta: &Amount) -> Result<(), FilterError> {
    Guarantee::new(epsilon.upper(), delta.upper())?;
    Ok(())
}

/// What is left of delta once a share is set aside; not nothing.
fn rest_of(epsilon: &Amount, delta: &Amount, leaks: &Amount) -> Result<Amount, FilterError> {
    legal_target(epsilon, delta)?;
    let rest = delta.less(leaks).filter(|rest| !rest.is_zero());
    rest.ok_or_else(|| FilterError::Leaks { leaks: leaks.clone(), delta: delta.clone() })
}
