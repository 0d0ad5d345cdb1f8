//! Accounts and their budgets.

use counterpoint_curator::{Bearer, Curator};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{AccountStatus, ExactPlan, ReleaseRecord};
use serde::Serialize;
use utoipa::ToSchema;

use super::balance::BalanceView;
use crate::api::problem::{ILLEGAL, Problem};

/// An account: its budget, charges and slots.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AccountView {
    pub(crate) name: String,
    /// `plan`, or the currency that the account adds up.
    pub(crate) kind: String,
    /// The data set or account that it is under.
    pub(crate) parent: Option<String>,
    /// The remaining budget that the caller may spend.
    pub(crate) left: BalanceView,
    /// The number of charges.
    pub(crate) charges: u64,
    pub(crate) closed: bool,
    /// The slots of a plan.
    pub(crate) slots: Vec<SlotView>,
}

/// A slot of a plan.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SlotView {
    pub(crate) name: String,
    count: u64,
    used: u64,
    /// The release that the slot declares, as in a plan file; only for tokens that may ask the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) declares: Option<ReleaseRecord>,
}

impl AccountView {
    pub(crate) fn of(status: &AccountStatus) -> Self {
        let slot = |slot: &counterpoint_wire::ledger::SlotStatus| SlotView {
            name: slot.name.clone(),
            count: slot.count,
            used: slot.used,
            declares: None,
        };
        Self {
            name: status.name.clone(),
            kind: status.kind.clone(),
            parent: status.parent.clone(),
            left: BalanceView::of(status, None),
            charges: status.charges,
            closed: status.closed,
            slots: status.slots.iter().map(slot).collect(),
        }
    }
}

/// The number of slots that are returned with their declarations.
const MAX_DECLARED_SLOTS: usize = 200;

/// Returns an account with the declarations of its slots, for a bearer who may ask it.
pub(crate) fn account_view(
    curator: &Curator,
    bearer: &Bearer,
    account: &str,
) -> Result<AccountView, Problem> {
    let left = curator.balance(bearer, account, None)?;
    let mut shown = AccountView::of(&left.status);
    for slot in shown.slots.iter_mut().take(MAX_DECLARED_SLOTS) {
        slot.declares =
            Some(curator.pool().with(|ledger| ledger.slot_release(account, &slot.name))?);
    }
    Ok(shown)
}

/// Parses a plan from the text of its file.
pub(crate) fn parse_plan(text: &str) -> Result<ExactPlan, Problem> {
    let format = Format::detect(None, text.as_bytes());
    ExactPlan::parse(text.as_bytes(), format).map_err(|error| ILLEGAL.problem(error.to_string()))
}
