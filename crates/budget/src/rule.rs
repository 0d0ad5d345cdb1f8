//! Open accounts: a budget fixed first, queries chosen as one goes.
//!
//! A [`Filter`] is the rule and a [`Charge`] its whole state, a few running totals. A query is
//! admitted iff the totals *including it* stay within the capacity. Every rule here adds up
//! quantities that no choice of a later query can undo; "the optimal composition of what was
//! accepted is still within the budget" is no such rule, and is unsound.
//!
//! An account that promises (epsilon, delta) by a curve also admits what keeps the plain sum
//! of pure epsilons within that epsilon. (That two rules may stand side by side here is an
//! exception: theory 8.4.)

use crate::amount::{Amount, MOST_PLACES};
use crate::charge;
use crate::convert;
use crate::error::{FilterError, Refused};
use crate::order;
use crate::query::Query;
use crate::terms::{Charge, Currency, Interleaving, Promise, Terms};
use counterpoint::mechanism::Guarantee;
use counterpoint::quantity::{Delta, Group, Mu, Order, Rho};
use counterpoint::theorem::{Parameters, Setting, Theorem};

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
    /// Sums of epsilon and of delta (Rogers, Roth, Ullman and Vadhan 2016). The only one
    /// whose promise may have delta 0.
    ///
    /// # Errors
    /// [`FilterError::Range`] naming the amount that is not legal.
    pub fn sums(epsilon: Amount, delta: Amount, terms: Terms) -> Result<Self, FilterError> {
        legal_target(&epsilon, &delta)?;
        let capacity = Charge { main: epsilon.clone(), delta: delta.clone(), pure: None };
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
        let capacity = Charge { main, delta: leaks, pure: Some(epsilon.clone()) };
        let promise = Promise::ApproxDp { epsilon, delta };
        Ok(Self { currency: Currency::Renyi { order }, terms, promise, capacity })
    }

    /// A budget that is itself one of Rényi divergence, at one order.
    ///
    /// # Errors
    /// [`FilterError::Range`] if tau is not legal.
    pub fn renyi_budget(order: Order, tau: Amount, terms: Terms) -> Result<Self, FilterError> {
        Query::renyi(order, tau.clone())?;
        let capacity = Charge { main: tau.clone(), delta: Amount::ZERO, pure: None };
        let promise = Promise::Renyi { order, tau };
        Ok(Self { currency: Currency::Renyi { order }, terms, promise, capacity })
    }

    /// The same as [`Filter::renyi`] at the order at which the expected use fits most often, deltas included.
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
        let (order, leaks) = order::choose(&epsilon, &delta, None, expected, terms)?;
        Self::renyi(epsilon, delta, leaks, order, terms)
    }

    /// The same with a given share of delta set aside for the queries' own deltas. With zero all of delta is there for
    /// their divergences, and a query that has one is refused.
    ///
    /// # Errors
    /// [`FilterError`] as [`Filter::renyi_for`], or if the share is not below delta.
    pub fn renyi_leaking(
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
        let capacity = Charge { main, delta: leaks, pure: Some(epsilon.clone()) };
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
        let capacity = Charge { main: rho.clone(), delta: delta.clone(), pure: None };
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
        let budget = Self::gdp_budget(mu, terms)?;
        let capacity = Charge { pure: Some(epsilon.clone()), ..budget.capacity };
        Ok(Self { capacity, promise: Promise::ApproxDp { epsilon, delta }, ..budget })
    }

    /// A budget that is itself one of Gaussian privacy.
    ///
    /// # Errors
    /// [`FilterError::Range`] if mu is not legal.
    pub fn gdp_budget(mu: Amount, terms: Terms) -> Result<Self, FilterError> {
        Mu::new(mu.upper())?;
        let main = (&mu * &mu).floor(MOST_PLACES);
        let capacity = Charge { main, delta: Amount::ZERO, pure: None };
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

    /// What an account opened under this one costs it: its whole promise, at opening. The
    /// promise must be about the same neighbours and the same group.
    ///
    /// # Errors
    /// [`FilterError`] if this kind of account cannot charge it, or no theorem covers it.
    pub fn charge_account(&self, promise: &Promise) -> Result<Charge, FilterError> {
        let alone = Terms { group: Group::ONE, ..self.terms };
        charge::of(&promise.query()?, self.currency, alone)
    }

    /// The totals with a charge added, if they stay within the capacity: the account's own
    /// totals, or else the sum of epsilons if all of them are pure and that is a rule here.
    ///
    /// # Errors
    /// [`Refused`] naming the total that would be exceeded.
    pub fn admit(&self, spent: &Charge, charge: &Charge) -> Result<Charge, Refused> {
        let total = spent.plus(charge);
        let sums = total.pure.as_ref().zip(self.capacity.pure.as_ref());
        if sums.is_some_and(|(sum, most)| sum <= most) {
            return Ok(total);
        }
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
