//! Accounts, and how they stand.

use counterpoint_curator::{Bearer, Curator};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{AccountStatus, Described, ExactPlan};
use serde::Serialize;
use utoipa::ToSchema;

use super::balance::Remaining;
use crate::api::problem::{ILLEGAL, Problem};

/// How an account stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AccountShown {
    pub(crate) name: String,
    /// `plan`, or what the account adds up.
    pub(crate) kind: String,
    /// The data set or account that it is under.
    pub(crate) parent: Option<String>,
    /// What is left of it, for the asker.
    pub(crate) left: Remaining,
    /// How many charges there were.
    pub(crate) charges: u64,
    pub(crate) closed: bool,
    /// The slots of a plan.
    pub(crate) slots: Vec<SlotShown>,
}

/// A slot of a plan.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SlotShown {
    pub(crate) name: String,
    count: u64,
    used: u64,
    /// What it declares, as a plan has it; told to those who may ask it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) declares: Option<Described>,
}

impl AccountShown {
    pub(crate) fn of(status: &AccountStatus) -> Self {
        let slot = |slot: &counterpoint_wire::ledger::SlotStatus| SlotShown {
            name: slot.name.clone(),
            count: slot.count,
            used: slot.used,
            declares: None,
        };
        Self {
            name: status.name.clone(),
            kind: status.kind.clone(),
            parent: status.parent.clone(),
            left: Remaining::of(status, None),
            charges: status.charges,
            closed: status.closed,
            slots: status.slots.iter().map(slot).collect(),
        }
    }
}

/// So many slots are told with what they declare.
const MOST_DECLARED: usize = 200;

/// How an account stands, for one who may ask it: with what its slots declare.
pub(crate) fn account_shown(
    curator: &Curator,
    bearer: &Bearer,
    account: &str,
) -> Result<AccountShown, Problem> {
    let left = curator.left(bearer, account, None)?;
    let mut shown = AccountShown::of(&left.status);
    for slot in shown.slots.iter_mut().take(MOST_DECLARED) {
        slot.declares = Some(curator.pool().with(|ledger| ledger.declared(account, &slot.name))?);
    }
    Ok(shown)
}

/// Reads a plan from the text of its file.
pub(crate) fn plan(text: &str) -> Result<ExactPlan, Problem> {
    let format = Format::detect(None, text.as_bytes());
    ExactPlan::parse(text.as_bytes(), format).map_err(|error| ILLEGAL.of(error.to_string()))
}
