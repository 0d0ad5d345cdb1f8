//! Odometers: no budget, but a bound that holds at all times at once.
//!
//! A level has an epsilon, an order a and a capacity B for the queries' divergences tau at this order. Let L be the
//! loss so far and t = a - 1. Then exp(t (L - sum tau)) is a supermartingale in either direction. So while the
//! divergences add up to at most B, the loss ever exceeds epsilon with probability at most `exp(t (B - epsilon))`. The
//! levels' probabilities add up to at most delta, so all levels hold at once. The least epsilon of a level whose
//! capacity is not exceeded is a bound, at whatever time it is read.

use crate::amount::Amount;
use crate::charge;
use crate::convert::{self, Tail};
use crate::error::FilterError;
use crate::query::Query;
use crate::terms::{Concurrency, Currency, Terms};
use counterpoint::mechanism::Guarantee;
use counterpoint::quantity::Order;
use counterpoint::theorem::{ParameterChoice, Setting, Theorem};

/// A bound on the loss that holds while the divergences at an order stay within a capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The bound on the loss.
    pub epsilon: Amount,
    /// The order.
    pub order: Order,
    /// The largest sum of divergences.
    pub capacity: Amount,
}

/// The charge of one query at every level, or the sum of charges so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OdometerTotals {
    /// The sum of epsilons; `None` once a query has no epsilon.
    pub epsilon: Option<Amount>,
    /// The divergences at each level's order; `None` once a divergence is unknown.
    pub divergences: Vec<Option<Amount>>,
    /// The queries' own deltas.
    pub delta: Amount,
}

/// A running bound on the privacy loss.
///
/// ```
/// use counterpoint::Adjacency;
/// use counterpoint_budget::{Odometer, Query, Terms};
///
/// let terms = Terms::new(Adjacency::AddRemove);
/// let odometer = Odometer::new("1e-6".parse()?, "0".parse()?, terms)?;
/// let price = odometer.charge(&Query::approx_dp("0.1".parse()?, "0".parse()?)?)?;
/// let mut spent = odometer.start();
/// for _ in 0..100 {
///     spent = spent.plus(&price);
/// }
/// // Less than the sum of epsilons, 10.
/// assert!(odometer.bound(&spent).is_some_and(|bound| bound < "7".parse().unwrap()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Odometer {
    terms: Terms,
    delta: Amount,
    leaks: Amount,
    levels: Vec<Level>,
}

impl Odometer {
    /// An odometer with levels from epsilon 0.1 to about 110, each a ninth above the one before. `leaks` is the share
    /// of delta for the queries' own deltas.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal.
    pub fn new(delta: Amount, leaks: Amount, terms: Terms) -> Result<Self, FilterError> {
        let tenth = Amount::from(1).div_up(&Amount::from(10)).unwrap_or_default();
        let ratio = Amount::from(10).div_up(&Amount::from(9)).unwrap_or_default();
        Self::with_levels(delta, leaks, (&tenth, &ratio, 64), terms)
    }

    /// An odometer with given levels: the first level, the ratio of each level to the one before, and their number.
    ///
    /// # Errors
    /// [`FilterError`] if an amount is not legal, or no level leaves anything to spend.
    pub fn with_levels(
        delta: Amount,
        leaks: Amount,
        (first, ratio, count): (&Amount, &Amount, u32),
        terms: Terms,
    ) -> Result<Self, FilterError> {
        let legal =
            |what, value: &Amount, legal| FilterError::Levels { what, value: value.clone(), legal };
        if !(1..=1024).contains(&count) {
            return Err(legal(
                "the number of levels",
                &Amount::from(u64::from(count)),
                "1 to 1024",
            ));
        }
        if ratio <= &Amount::from(1) || ratio > &Amount::from(1000) {
            return Err(legal("the ratio of levels", ratio, "above 1, at most 1000"));
        }
        let rest = delta.checked_sub(&leaks).filter(|rest| !rest.is_zero());
        let rest =
            rest.ok_or_else(|| FilterError::Leaks { leaks: leaks.clone(), delta: delta.clone() })?;
        // All levels get the same share of delta. Delta is halved until there are enough shares, because halving is
        // exact.
        let halvings = count.next_power_of_two().trailing_zeros();
        let share = (0..halvings).fold(rest, |share, _| share.half());
        let (mut epsilon, mut levels) = (first.clone(), Vec::new());
        for _ in 0..count {
            Guarantee::new(epsilon.upper(), delta.upper())?;
            levels.extend(level(&epsilon, &share));
            epsilon = (&epsilon * ratio).ceil(6);
        }
        if levels.is_empty() {
            let at = format!("any of {count} levels");
            return Err(FilterError::NoBudget { epsilon, delta: share, at, hint: "" });
        }
        Ok(Self { terms, delta, leaks, levels })
    }

    /// Rebuilds an odometer from its stored parts; the levels must come from a constructor.
    #[must_use]
    pub fn from_stored(delta: Amount, leaks: Amount, levels: Vec<Level>, terms: Terms) -> Self {
        Self { terms, delta, leaks, levels }
    }

    /// The totals before the first query.
    #[must_use]
    pub fn start(&self) -> OdometerTotals {
        let divergences = vec![Some(Amount::ZERO); self.levels.len()];
        OdometerTotals { epsilon: Some(Amount::ZERO), divergences, delta: Amount::ZERO }
    }

    /// The charge of a query, count included.
    ///
    /// # Errors
    /// [`FilterError`] if the query has no meaning under the terms, no theorem covers it, or it has neither an epsilon
    /// nor a divergence.
    pub fn charge(&self, query: &Query) -> Result<OdometerTotals, FilterError> {
        charge::losses(query, self.terms)?;
        let count = query.count().get();
        let pure = charge::charge_once(query, Currency::Sums, self.terms).ok();
        let (mut divergences, mut delta) = (Vec::new(), None);
        let mut last = None;
        for level in &self.levels {
            match charge::charge_once(query, Currency::Renyi { order: level.order }, self.terms) {
                Ok(one) => {
                    delta = Some(one.delta);
                    divergences.push(Some(one.main.times(count)));
                }
                Err(error) => {
                    last = Some(error);
                    divergences.push(None);
                }
            }
        }
        let delta = match (delta, &pure, last) {
            (Some(delta), ..) => delta,
            (None, Some(pure), _) => pure.delta.clone(),
            (None, None, Some(error)) => return Err(error),
            (None, None, None) => Amount::ZERO,
        };
        let epsilon = pure.map(|pure| pure.main.times(count));
        Ok(OdometerTotals { epsilon, divergences, delta: delta.times(count) })
    }

    /// The bound that the loss has never exceeded, with probability at least 1 - delta at all times at once. `None` if
    /// no bound is known, or the queries' own deltas exceed their share.
    #[must_use]
    pub fn bound(&self, spent: &OdometerTotals) -> Option<Amount> {
        if spent.delta > self.leaks {
            return None;
        }
        let pairs = self.levels.iter().zip(&spent.divergences);
        let holds = |(level, total): (&Level, &Option<Amount>)| {
            let within = total.as_ref().is_some_and(|total| total <= &level.capacity);
            within.then(|| level.epsilon.clone())
        };
        pairs.filter_map(holds).chain(spent.epsilon.clone()).min()
    }

    /// The levels, lowest first.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The probability that the bound ever fails.
    #[must_use]
    pub fn delta(&self) -> &Amount {
        &self.delta
    }

    /// The share of delta for the queries' own deltas.
    #[must_use]
    pub fn leaks(&self) -> &Amount {
        &self.leaks
    }

    /// The terms that all queries share.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The theorem that proves the bound.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        Theorem::RenyiOdometer
    }

    /// The setting in which the bound holds.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let concurrent = self.terms.concurrency == Concurrency::Concurrent;
        Setting { parameters: ParameterChoice::Adaptive, concurrent }
    }
}

/// A level at the best order for many small queries; `None` if it leaves nothing to spend.
fn level(epsilon: &Amount, share: &Amount) -> Option<Level> {
    let order = convert::best_order(epsilon, share, Tail::Ever, |t| 1.0 + t)?;
    let capacity = convert::spendable(epsilon, share, order, Tail::Ever)?;
    Some(Level { epsilon: epsilon.clone(), order, capacity })
}

impl OdometerTotals {
    /// Adds two totals.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: &Option<Amount>, b: &Option<Amount>| Some(a.as_ref()? + b.as_ref()?);
        let pairs = self.divergences.iter().zip(&other.divergences);
        Self {
            epsilon: sum(&self.epsilon, &other.epsilon),
            divergences: pairs.map(|(a, b)| sum(a, b)).collect(),
            delta: &self.delta + &other.delta,
        }
    }
}
