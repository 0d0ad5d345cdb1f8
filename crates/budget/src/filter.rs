//! Open accounts: the budget is fixed first, the queries are chosen one after the other.
//!
//! A [`Filter`] is the rule, and a [`Charge`] (a few running totals) is its whole state. A query is admitted iff the
//! totals *including this query* stay within the capacity. Every rule here adds up quantities that no choice of a later
//! query can undo. The rule "the optimal composition of the accepted queries is still within the budget" is unsound.
//!
//! An account that promises (epsilon, delta) by a curve also admits queries that keep the plain sum of pure epsilons
//! within that epsilon. (In general it is unsound to admit what either of two rules admits; theory 8.4 proves that
//! it is sound for these two.)

use crate::amount::{Amount, MOST_PLACES};
use crate::charge;
use crate::convert;
use crate::error::{CapacityError, FilterError};
use crate::order;
use crate::query::Query;
use crate::terms::{Charge, Concurrency, Currency, Promise, Terms};
use counterpoint::mechanism::Guarantee;
use counterpoint::quantity::{Delta, GroupSize, Mu, Order, Rho};
use counterpoint::theorem::{ParameterChoice, Setting, Theorem};

/// The rule of an open account.
///
/// ```
/// use counterpoint::Adjacency;
/// use counterpoint_budget::{Charge, Filter, Query, Terms};
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
    /// A filter for sums of epsilon and of delta (Rogers, Roth, Ullman and Vadhan 2016). Only this filter can promise
    /// delta 0.
    ///
    /// # Errors
    /// [`FilterError::Range`] naming the amount that is not legal.
    pub fn sums(epsilon: Amount, delta: Amount, terms: Terms) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let capacity = Charge { main: epsilon.clone(), delta: delta.clone(), pure: None };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Sums, terms, promise, capacity })
    }

    /// A filter for Rényi divergences at one order, the larger of both directions. It is the recommended filter for
    /// guarantees and for every mechanism with a Rényi curve (Feldman and Zrnic 2021). `leaks` is the share of delta
    /// for the queries' own deltas.
    ///
    /// If the queries' divergences at order a add up to at most B, and their own deltas to at most `leaks`, all queries
    /// together are (epsilon, d + leaks)-private with `d = exp((a-1)(B-epsilon)) (1/a) (1-1/a)^(a-1)`.
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
        let capacity = Charge { main, delta: leaks, pure: Some(epsilon.clone()) };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Renyi { order }, terms, promise, capacity })
    }

    /// A filter whose budget is a Rényi divergence at one order.
    ///
    /// # Errors
    /// [`FilterError::Range`] if tau is not legal.
    pub fn renyi_budget(order: Order, tau: Amount, terms: Terms) -> Result<Self, FilterError> {
        Query::renyi(order, tau.clone())?;
        let capacity = Charge { main: tau.clone(), delta: Amount::ZERO, pure: None };
        let promise = Promise::Renyi { order, tau };
        Ok(Self { currency: Currency::Renyi { order }, terms, promise, capacity })
    }

    /// Like [`Filter::renyi`], at the order at which the expected queries fit most often, with a share of delta for
    /// their deltas. Without expected queries: at the best order for many small queries, with half of delta for their
    /// deltas.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal, an expected query has no charge, or no order leaves anything to
    /// spend.
    pub fn renyi_for(
        epsilon: Amount,
        delta: Amount,
        expected: &[Query],
        terms: Terms,
    ) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let (order, leaks) = order::choose(&epsilon, &delta, None, expected, terms)?;
        Self::renyi(epsilon, delta, leaks, order, terms)
    }

    /// Like [`Filter::renyi_for`], with a given share of delta for the queries' own deltas. With a share of zero all of
    /// delta serves their divergences, and a query with a delta is refused.
    ///
    /// # Errors
    /// [`FilterError`] as [`Filter::renyi_for`], or if the share is not below delta.
    pub fn renyi_with_leaks(
        epsilon: Amount,
        delta: Amount,
        leaks: Amount,
        expected: &[Query],
        terms: Terms,
    ) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let (order, leaks) = order::choose(&epsilon, &delta, Some(leaks), expected, terms)?;
        Self::renyi(epsilon, delta, leaks, order, terms)
    }

    /// The filter with the least epsilon, at a given delta, that admits all expected queries.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal or an expected query has no charge.
    pub fn renyi_least_epsilon(
        delta: Amount,
        expected: &[Query],
        terms: Terms,
    ) -> Result<Self, FilterError> {
        let (epsilon, order, leaks) = order::least_epsilon(&delta, expected, terms)?;
        Self::renyi(epsilon, delta, leaks, order, terms)
    }

    /// A filter for the rho of concentrated privacy, as large as (epsilon, delta) allows. `leaks` is the share of delta
    /// for the queries' own deltas.
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
        let capacity = Charge { main, delta: leaks, pure: Some(epsilon.clone()) };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Zcdp, terms, promise, capacity })
    }

    /// A filter whose budget is a rho of concentrated privacy, and a delta.
    ///
    /// # Errors
    /// [`FilterError::Range`] naming the amount that is not legal.
    pub fn zcdp_budget(rho: Amount, delta: Amount, terms: Terms) -> Result<Self, FilterError> {
        Rho::new(rho.upper())?;
        Delta::new(delta.upper())?;
        let capacity = Charge { main: rho.clone(), delta: delta.clone(), pure: None };
        let promise = Promise::Zcdp { rho, delta };
        Ok(Self { currency: Currency::Zcdp, terms, promise, capacity })
    }

    /// A filter for squares of Gaussian privacy's mu, with the largest sum that (epsilon, delta) allows (Smith and
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
        let budget = Self::gdp_budget(mu, terms)?;
        let capacity = Charge { pure: Some(epsilon.clone()), ..budget.capacity };
        Ok(Self { capacity, promise: Promise::ApproxDp { epsilon, delta }, ..budget })
    }

    /// A filter whose budget is a mu of Gaussian privacy.
    ///
    /// # Errors
    /// [`FilterError::Range`] if mu is not legal.
    pub fn gdp_budget(mu: Amount, terms: Terms) -> Result<Self, FilterError> {
        Mu::new(mu.upper())?;
        let main = (&mu * &mu).floor(MOST_PLACES);
        let capacity = Charge { main, delta: Amount::ZERO, pure: None };
        Ok(Self { currency: Currency::Gdp, terms, promise: Promise::Gdp { mu }, capacity })
    }

    /// Rebuilds a filter from its stored parts. Nothing is derived again: the capacity must come from a constructor.
    #[must_use]
    pub fn from_stored(
        currency: Currency,
        promise: Promise,
        capacity: Charge,
        terms: Terms,
    ) -> Self {
        Self { currency, terms, promise, capacity }
    }

    /// The charge of a query, count included.
    ///
    /// It depends on the description alone, so a count of two costs exactly as much as two queries.
    ///
    /// # Errors
    /// [`FilterError`] if the query has no meaning under the account's terms, this kind of account cannot charge it, or
    /// no theorem covers it.
    pub fn charge(&self, query: &Query) -> Result<Charge, FilterError> {
        let once = charge::charge_once(query, self.currency, self.terms)?;
        Ok(once.times(query.count().get()))
    }

    /// The charge for opening an account under this one: the charge of the new account's whole promise. The new account
    /// must have the same adjacency and group.
    ///
    /// # Errors
    /// [`FilterError`] if this kind of account cannot charge it, or no theorem covers it.
    pub fn charge_account(&self, promise: &Promise) -> Result<Charge, FilterError> {
        let alone = Terms { group: GroupSize::ONE, ..self.terms };
        charge::charge_once(&promise.query()?, self.currency, alone)
    }

    /// Adds a charge to the totals, if the new totals are within the capacity. This means: the main total and the delta
    /// are at most the capacity's, or all queries are pure and their epsilons add up to at most the capacity's `pure`.
    ///
    /// # Errors
    /// [`CapacityError`] naming the total that would be exceeded.
    pub fn admit(&self, spent: &Charge, charge: &Charge) -> Result<Charge, CapacityError> {
        let total = spent.plus(charge);
        let sums = total.pure.as_ref().zip(self.capacity.pure.as_ref());
        if sums.is_some_and(|(sum, most)| sum <= most) {
            return Ok(total);
        }
        let over = |what, total: &Amount, spent: &Amount, asked: &Amount, capacity: &Amount| {
            if total <= capacity {
                return Ok(());
            }
            let left = capacity.checked_sub(spent).unwrap_or_default();
            Err(CapacityError { what, asked: asked.clone(), left, capacity: capacity.clone() })
        };
        let (unit, most) = (self.currency.unit(), &self.capacity);
        over(unit, &total.main, &spent.main, &charge.main, &most.main)?;
        over("delta", &total.delta, &spent.delta, &charge.delta, &most.delta)?;
        Ok(total)
    }

    /// The quantity that the account adds up.
    #[must_use]
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// The terms that all queries share.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The guarantee of the account from the day it is opened, whatever queries follow. It does not depend on the
    /// charges so far.
    #[must_use]
    pub fn promise(&self) -> &Promise {
        &self.promise
    }

    /// The largest totals that the account admits.
    #[must_use]
    pub fn capacity(&self) -> &Charge {
        &self.capacity
    }

    /// The theorem that proves the promise.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        match self.currency {
            Currency::Sums => Theorem::SumsFilter,
            Currency::Renyi { .. } => Theorem::RenyiFilter,
            Currency::Zcdp => Theorem::ZcdpFilter,
            Currency::Gdp => Theorem::GdpFilter,
        }
    }

    /// The setting in which the promise holds.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let concurrent = self.terms.concurrency == Concurrency::Concurrent;
        Setting { parameters: ParameterChoice::Adaptive, concurrent }
    }
}

/// Checks that epsilon and delta are legal.
fn legal_target(epsilon: &Amount, delta: &Amount) -> Result<(), FilterError> {
    Guarantee::new(epsilon.upper(), delta.upper())?;
    Ok(())
}

/// Delta without the share for the queries' own deltas; it must be positive.
fn rest_of(epsilon: &Amount, delta: &Amount, leaks: &Amount) -> Result<Amount, FilterError> {
    legal_target(epsilon, delta)?;
    let rest = delta.checked_sub(leaks).filter(|rest| !rest.is_zero());
    rest.ok_or_else(|| FilterError::Leaks { leaks: leaks.clone(), delta: delta.clone() })
}
