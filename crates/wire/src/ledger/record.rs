//! Rules as they are stored: nothing is derived again to find out what they meant.

use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::{Amount, Charge, Currency, Filter, Promise, Terms};
use serde::{Deserialize, Serialize};

use super::described::Described;

/// Exact totals: what something costs, or what there is to spend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// In the account's currency; releases in a plan account.
    #[serde(with = "amount")]
    pub main: Amount,
    /// The releases' own deltas.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// The sum of own epsilons where all is pure, and the account goes by that sum too.
    #[serde(default, with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub pure: Option<Amount>,
}

/// What an account as a whole guarantees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum Promised {
    /// (epsilon, delta)-privacy.
    ApproxDp {
        /// The multiplicative part.
        #[serde(with = "amount")]
        epsilon: Amount,
        /// The additive part.
        #[serde(with = "amount")]
        delta: Amount,
    },
    /// Concentrated privacy, but for a leak.
    Zcdp {
        /// The slope of the Rényi curve.
        #[serde(with = "amount")]
        rho: Amount,
        /// The leak.
        #[serde(with = "amount")]
        delta: Amount,
    },
    /// Gaussian privacy.
    Gdp {
        /// How many standard deviations apart.
        #[serde(with = "amount")]
        mu: Amount,
    },
    /// A Rényi divergence at one order.
    Renyi {
        /// The order.
        #[serde(with = "amount")]
        order: Amount,
        /// The divergence.
        #[serde(with = "amount")]
        tau: Amount,
    },
}

/// The rule of an open account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterRecord {
    /// The currency's name.
    pub kind: String,
    /// The Rényi order, if that is the currency.
    #[serde(with = "optional_amount")]
    pub order: Option<Amount>,
    /// What the account as a whole promises.
    pub promise: Promised,
    /// What there is to spend.
    pub capacity: Cost,
}

/// The slots of a plan account, and what they cost together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRecord {
    /// What all slots together cost, certified.
    #[serde(with = "amount")]
    pub epsilon: Amount,
    /// At this delta.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// What may be opened.
    pub slots: Vec<Slot>,
    /// The ledger's format when the slots were priced, which says how their numbers are read; none before 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<u64>,
}

/// A release declared up front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// What it is reserved by.
    pub name: String,
    /// How often it may be opened.
    pub count: u64,
    /// What may be run in it, count included.
    pub release: Described,
}

impl From<Charge> for Cost {
    fn from(charge: Charge) -> Self {
        Self { main: charge.main, delta: charge.delta, pure: charge.pure }
    }
}

impl From<Cost> for Charge {
    fn from(cost: Cost) -> Self {
        Self { main: cost.main, delta: cost.delta, pure: cost.pure }
    }
}

impl Promised {
    /// What a filter promises; `None` if it cannot be written.
    #[must_use]
    pub fn of(promise: &Promise) -> Option<Self> {
        match promise.clone() {
            Promise::ApproxDp { epsilon, delta } => Some(Self::ApproxDp { epsilon, delta }),
            Promise::Zcdp { rho, delta } => Some(Self::Zcdp { rho, delta }),
            Promise::Gdp { mu } => Some(Self::Gdp { mu }),
            Promise::Renyi { order, tau } => {
                Some(Self::Renyi { order: Amount::from_f64(order.get())?, tau })
            }
            _ => None,
        }
    }

    /// The promise; `None` if there is no such filter.
    #[must_use]
    pub fn promise(&self) -> Option<Promise> {
        match self.clone() {
            Self::ApproxDp { epsilon, delta } => Some(Promise::ApproxDp { epsilon, delta }),
            Self::Zcdp { rho, delta } => Some(Promise::Zcdp { rho, delta }),
            Self::Gdp { mu } => Some(Promise::Gdp { mu }),
            Self::Renyi { order, tau } => Some(Promise::Renyi { order: exact_order(&order)?, tau }),
        }
    }
}

impl FilterRecord {
    /// A filter as it is stored; `None` if it promises what cannot be written.
    #[must_use]
    pub fn of(filter: &Filter) -> Option<Self> {
        let order = match filter.currency() {
            Currency::Renyi { order } => Some(Amount::from_f64(order.get())?),
            _ => None,
        };
        Some(Self {
            kind: filter.currency().name().to_owned(),
            order,
            promise: Promised::of(filter.promise())?,
            capacity: filter.capacity().clone().into(),
        })
    }

    /// The filter that was stored; `None` if no filter is stored so.
    #[must_use]
    pub fn filter(&self, adjacency: Adjacency) -> Option<Filter> {
        let currency = match (self.kind.as_str(), &self.order) {
            ("sums", None) => Currency::Sums,
            ("renyi", Some(order)) => Currency::Renyi { order: exact_order(order)? },
            ("zcdp", None) => Currency::Zcdp,
            ("gdp", None) => Currency::Gdp,
            _ => return None,
        };
        let (promise, capacity) = (self.promise.promise()?, self.capacity.clone().into());
        Some(Filter::restored(currency, promise, capacity, Terms::new(adjacency)))
    }
}

/// An order, if it is exactly a double.
fn exact_order(order: &Amount) -> Option<Order> {
    let double = order.lower();
    let exact = Amount::from_f64(double).is_some_and(|exact| exact == *order);
    Order::new(double).ok().filter(|_| exact)
}

/// An amount as decimal text.
pub(super) mod amount {
    use counterpoint_budget::Amount;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::ledger) fn serialize<S: Serializer>(
        amount: &Amount,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(amount)
    }

    pub(in crate::ledger) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Amount, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// An amount as decimal text, or null.
pub(super) mod optional_amount {
    use counterpoint_budget::Amount;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::ledger) fn serialize<S: Serializer>(
        amount: &Option<Amount>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match amount {
            Some(amount) => serializer.collect_str(amount),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::ledger) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Amount>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

/// What neighbours are, by its word in a plan.
pub(super) mod neighbours {
    use counterpoint::Adjacency;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::plan::adjacency_name;

    pub(in crate::ledger) fn serialize<S: Serializer>(
        adjacency: &Adjacency,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(adjacency_name(*adjacency))
    }

    pub(in crate::ledger) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Adjacency, D::Error> {
        let text = String::deserialize(deserializer)?;
        crate::plan::adjacency_named(&text)
            .ok_or_else(|| D::Error::custom("legal: add-remove, replace"))
    }
}
