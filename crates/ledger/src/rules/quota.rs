//! Analysts' quotas of an account.

use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{Cost, Rule};

use super::error::Result;
use super::filter::FilterKind;
use super::rows::{self, Account, Balance, QuotaRow};

/// An analyst's new quota of an account.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NewQuota {
    /// This share of the account's capacity: above 0, at most 1.
    Share(Amount),
    /// This number of releases, in a plan account.
    Releases(u64),
    /// This much privacy loss, in an account that adds up epsilons and deltas.
    Cost {
        /// The epsilon of the quota.
        epsilon: Amount,
        /// The delta of the quota.
        delta: Amount,
    },
}

/// The number of digits after the point to which a share of an amount is rounded down. An amount with this many digits
/// can still be read back.
const SHARE_PLACES: u32 = 2000;

/// The capacity of a quota, in the account's currency.
pub(crate) fn capacity_of(account: &Account, quota: &NewQuota) -> Result<Cost> {
    let Cost { main, delta, pure } = &account.balance.capacity;
    match (&account.rule, quota) {
        (_, NewQuota::Share(share)) if share.is_zero() || *share > Amount::from(1) => {
            Err(account.unfit(&format!("gets a share of {share}"), "above 0, at most 1"))
        }
        (Rule::Plan(_), NewQuota::Share(share)) => {
            Ok(Cost { main: (main * share).floor(0), ..Cost::default() })
        }
        (_, NewQuota::Share(share)) => {
            let part = |amount: &Amount| (amount * share).floor(SHARE_PLACES);
            Ok(Cost { main: part(main), delta: part(delta), pure: pure.as_ref().map(part) })
        }
        (Rule::Plan(_), NewQuota::Releases(count)) => Ok(rows::releases(*count)),
        (Rule::Filter(record), NewQuota::Cost { epsilon, delta })
            if record.kind == FilterKind::Sums.name() =>
        {
            Ok(Cost { main: epsilon.clone(), delta: delta.clone(), pure: None })
        }
        (Rule::Plan(_), _) => Err(account.unfit("is a plan account", "--releases, or --share")),
        (_, NewQuota::Cost { .. }) => {
            let problem = format!("adds up {}, not epsilons", account.unit());
            Err(account.unfit(&problem, "--share"))
        }
        _ => Err(account.unfit("is an open account", "--share, or --epsilon and --delta")),
    }
}

/// The quota with a changed capacity, for replay; `None` if more is spent than the new capacity.
pub(crate) fn changed_quota(quota: &QuotaRow, capacity: &Cost) -> Option<QuotaRow> {
    let balance = Balance { capacity: capacity.clone(), ..quota.balance.clone() };
    balance.is_within_capacity().then(|| QuotaRow { analyst: quota.analyst.clone(), balance })
}
