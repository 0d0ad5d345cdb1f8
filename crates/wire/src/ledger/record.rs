//! Rules as they are stored. Their meaning is stored with them and never derived again.

use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::{Amount, Charge, Currency, Filter, Promise, Terms};
use serde::{Deserialize, Serialize};

use super::release_record::ReleaseRecord;

/// Exact totals: the cost of a release, or a capacity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The amount in the account's currency; in a plan account, the number of releases.
    #[serde(with = "amount")]
    pub main: Amount,
    /// The sum of the releases' own deltas.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// The sum of the releases' own epsilons, if all releases are pure and the account counts that sum too.
    #[serde(default, with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub pure: Option<Amount>,
}

/// The guarantee of an account as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum PromiseRecord {
    /// (epsilon, delta)-privacy.
    ApproxDp {
        /// The multiplicative part.
        #[serde(with = "amount")]
        epsilon: Amount,
        /// The additive part.
        #[serde(with = "amount")]
        delta: Amount,
    },
    /// Concentrated privacy, except for a leak.
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
        /// The distance of the two normal distributions in standard deviations.
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

/// The rule of an account with a filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterRecord {
    /// The name of the currency.
    pub kind: String,
    /// The Rényi order, if that is the currency.
    #[serde(with = "optional_amount")]
    pub order: Option<Amount>,
    /// The guarantee of the account as a whole.
    pub promise: PromiseRecord,
    /// The largest total of the charges.
    pub capacity: Cost,
}

/// The slots of a plan account, and their cost together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRecord {
    /// The certified epsilon of all slots together.
    #[serde(with = "amount")]
    pub epsilon: Amount,
    /// The delta at which epsilon is measured.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// The slots.
    pub slots: Vec<Slot>,
    /// The ledger's format when the slots were priced, which determines how their numbers are read; `None` before
    /// format 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<u64>,
}

/// A release that a plan reserves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The name by which the slot is opened.
    pub name: String,
    /// The number of openings.
    pub count: u64,
    /// The release that the slot covers, count included.
    pub release: ReleaseRecord,
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

impl PromiseRecord {
    /// The record of a promise; `None` if the format cannot express it.
    #[must_use]
    pub fn from_promise(promise: &Promise) -> Option<Self> {
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

    /// The promise; `None` if no filter makes it.
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
    /// The record of a filter; `None` if the format cannot express its promise.
    #[must_use]
    pub fn from_filter(filter: &Filter) -> Option<Self> {
        let order = match filter.currency() {
            Currency::Renyi { order } => Some(Amount::from_f64(order.get())?),
            _ => None,
        };
        Some(Self {
            kind: filter.currency().name().to_owned(),
            order,
            promise: PromiseRecord::from_promise(filter.promise())?,
            capacity: filter.capacity().clone().into(),
        })
    }

    /// The filter of the record; `None` if no filter has this record.
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
        Some(Filter::from_stored(currency, promise, capacity, Terms::new(adjacency)))
    }
}

/// The order of an amount that is exactly a double.
fn exact_order(order: &Amount) -> Option<Order> {
    let double = order.lower();
    let exact = Amount::from_f64(double).is_some_and(|exact| exact == *order);
    Order::new(double).ok().filter(|_| exact)
}

/// Reads and writes an amount as decimal text.
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

/// Reads and writes an amount as decimal text, or null.
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

/// Reads and writes an adjacency by its name in plans.
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
        crate::plan::adjacency_from_name(&text)
            .ok_or_else(|| D::Error::custom("legal: add-remove, replace"))
    }
}
