//! Charges and balances.

use counterpoint_wire::ledger::{AccountStatus, Cost};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::json::finite;

/// A charge in an account's currency.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ChargeView {
    /// The amount.
    #[serde(serialize_with = "finite")]
    pub(crate) amount: f64,
    /// The unit of the amount: the account's currency.
    pub(crate) unit: String,
    /// The delta that is charged as well.
    #[serde(serialize_with = "finite")]
    pub(crate) delta: f64,
}

impl ChargeView {
    pub(crate) fn of(cost: &Cost, unit: &str) -> Self {
        Self { amount: cost.main.upper(), unit: unit.to_owned(), delta: cost.delta.upper() }
    }
}

/// The remaining budget of an account.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct BalanceView {
    /// The amount that is left.
    #[serde(serialize_with = "finite")]
    pub(crate) amount: f64,
    /// The amount at the start.
    #[serde(serialize_with = "finite")]
    pub(crate) of: f64,
    /// The unit of the amounts: the account's currency.
    pub(crate) unit: String,
    /// The delta that is left.
    #[serde(serialize_with = "finite")]
    pub(crate) delta: f64,
    /// The approximate number of further questions of the same cost.
    pub(crate) more: Option<u64>,
    /// The remaining budget in words.
    pub(crate) words: String,
}

impl BalanceView {
    pub(crate) fn of(status: &AccountStatus, more: Option<u64>) -> Self {
        let balances = status
            .quotas
            .first()
            .map_or((&status.capacity, &status.spent), |quota| (&quota.capacity, &quota.spent));
        let (capacity, spent) = balances;
        let left = |capacity: f64, spent: f64| (capacity - spent).max(0.0);
        let words = match more {
            Some(0) => "not enough for another question like this one".to_owned(),
            Some(1) => "enough for one more question like this one".to_owned(),
            Some(more) if more > 1_000_000 => {
                "more than a million questions like this one".to_owned()
            }
            Some(more) => format!("about {more} more questions like this one"),
            None => format!(
                "{} of {} {}",
                left(capacity.main.lower(), spent.main.upper()),
                capacity.main,
                status.unit
            ),
        };
        Self {
            amount: left(capacity.main.lower(), spent.main.upper()),
            of: capacity.main.lower(),
            unit: status.unit.to_owned(),
            delta: left(capacity.delta.lower(), spent.delta.upper()),
            more,
            words,
        }
    }
}
