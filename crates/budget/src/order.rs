//! Choosing the order of a Rényi account, once, before the account is opened.
//!
//! Every order is sound. Choosing it after the first answer is not.

use crate::amount::{Amount, GRID_PLACES};
use crate::charge;
use crate::convert::{self, Tail};
use crate::error::FilterError;
use crate::query::Query;
use crate::terms::{Currency, Terms};
use counterpoint::ask::ReleaseLoss;
use counterpoint::quantity::{Delta, Epsilon, Order};

/// The expected queries, prepared so that their cost can be estimated at many orders.
struct ExpectedQueries<'a> {
    list: Vec<(&'a Query, [ReleaseLoss; 2])>,
    terms: Terms,
}

impl<'a> ExpectedQueries<'a> {
    fn new(queries: &'a [Query], terms: Terms) -> Result<Self, FilterError> {
        let one = |query| Ok((query, charge::chargeable(query, terms)?));
        let list: Result<_, FilterError> = queries.iter().map(one).collect();
        Ok(Self { list: list?, terms })
    }

    /// An estimate of the cost of all expected queries at order 1 + t.
    fn cost(&self, t: f64) -> f64 {
        let one = |(query, losses): &(&Query, [ReleaseLoss; 2])| {
            charge::estimate(losses, query, self.terms, t)
        };
        self.list.iter().map(one).sum()
    }

    /// The sum of the queries' own deltas.
    fn leaks(&self) -> Amount {
        let one =
            |(query, losses): &(&Query, [ReleaseLoss; 2])| charge::leaks(query, self.terms, losses);
        self.list.iter().map(one).fold(Amount::ZERO, |sum, next| &sum + &next)
    }

    /// The sum of the divergences at an order, as an account would charge them.
    fn charge(&self, order: Order) -> Result<Amount, FilterError> {
        let mut sum = Amount::ZERO;
        for (query, _) in &self.list {
            let one = charge::charge_once(query, Currency::Renyi { order }, self.terms)?;
            sum = &sum + &one.times(query.count().get()).main;
        }
        Ok(sum)
    }
}

/// Chooses the order at which the expected queries fit most often, and the share of delta for their own deltas unless
/// the share is given.
pub(super) fn choose(
    epsilon: &Amount,
    delta: &Amount,
    leaks: Option<Amount>,
    expected: &[Query],
    terms: Terms,
) -> Result<(Order, Amount), FilterError> {
    let expected = ExpectedQueries::new(expected, terms)?;
    let nothing_expected = expected.list.is_empty();
    let needed = || if nothing_expected { delta.half() } else { expected.leaks() };
    let leaks = leaks.unwrap_or_else(needed);
    let rest = rest(delta, &leaks)?;
    if !nothing_expected && expected.cost(1.0) <= 0.0 {
        return Err(FilterError::NothingExpected);
    }
    // The divergence of many small queries is nearly proportional to the order.
    let cost = |t: f64| if nothing_expected { 1.0 + t } else { expected.cost(t) };
    let order = convert::best_order(epsilon, &rest, Tail::Privacy, cost);
    let order = order.ok_or_else(|| FilterError::NoBudget {
        epsilon: epsilon.clone(),
        delta: rest,
        at: "any order".to_owned(),
        hint: "",
    })?;
    Ok((order, leaks))
}

/// The least epsilon that admits all expected queries, with its order and the share of delta for their own deltas.
pub(super) fn least_epsilon(
    delta: &Amount,
    expected: &[Query],
    terms: Terms,
) -> Result<(Amount, Order, Amount), FilterError> {
    Delta::new(delta.upper())?;
    let expected = ExpectedQueries::new(expected, terms)?;
    let leaks = expected.leaks();
    let rest = rest(delta, &leaks)?;
    if expected.cost(1.0) <= 0.0 {
        return Err(FilterError::NothingExpected);
    }
    let ln_delta = rest.to_wide(false).ln_estimate();
    let least = |t: f64| expected.cost(t) - convert::estimate(0.0, ln_delta, t, Tail::Privacy);
    let t = convert::minimizer(least).ok_or(FilterError::NothingExpected)?;
    let order = Order::new(1.0 + t)?;
    let total = expected.charge(order)?;
    let mut epsilon = Amount::from_f64(least(t).max(1e-9)).unwrap_or_default().ceil(GRID_PLACES);
    for _ in 0..16 {
        Epsilon::new(epsilon.upper())?;
        // The budget grows with epsilon, one for one.
        match convert::budget(&epsilon, &rest, order) {
            Some(budget) if budget >= total => return Ok((epsilon, order, leaks)),
            Some(budget) => {
                let short = total.checked_sub(&budget).unwrap_or_default();
                epsilon = &epsilon + &short;
            }
            None => epsilon = &epsilon + &total,
        }
    }
    Err(FilterError::NoBudget {
        epsilon,
        delta: rest,
        at: format!("order {}", order.get()),
        hint: "",
    })
}

fn rest(delta: &Amount, leaks: &Amount) -> Result<Amount, FilterError> {
    let rest = delta.checked_sub(leaks).filter(|rest| !rest.is_zero());
    rest.ok_or_else(|| FilterError::Leaks { leaks: leaks.clone(), delta: delta.clone() })
}
