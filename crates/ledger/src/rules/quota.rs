//! Analysts' shares of an account.

use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{Cost, Rule};

use super::error::Result;
use super::filter::Kind;
use super::rows::{self, Account, Balance, Share};

/// An analyst's share of an account.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NewQuota {
    /// This part of what the account has to spend: above 0, at most 1.
    Share(Amount),
    /// So many releases, in a plan account.
    Releases(u64),
    /// So much, in an account that adds up epsilons and deltas.
    Cost {
        /// The multiplicative part.
        epsilon: Amount,
        /// The additive part.
        delta: Amount,
    },
}

/// Digits after the point that a share of an amount is kept to, well within what can be read.
const SHARE_PLACES: u32 = 2000;

/// What an analyst may spend, in the account's currency.
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
            if record.kind == Kind::Sums.name() =>
        {
            Ok(Cost { main: epsilon.clone(), delta: delta.clone(), pure: None })
        }
        (Rule::Plan(_), _) => Err(account.unfit("is a plan account", "--releases, or --share")),
        (_, NewQuota::Cost { .. }) => {
            let problem = format!("adds up {}, no epsilons", account.unit());
            Err(account.unfit(&problem, "--share"))
        }
        _ => Err(account.unfit("is an open account", "--share, or --epsilon and --delta")),
    }
}

/// A share as it is after a change in its history.
pub(crate) fn changed_share(share: &Share, capacity: &Cost) -> Option<Share> {
    let balance = Balance { capacity: capacity.clone(), ..share.balance.clone() };
    balance.holds().then(|| Share { analyst: share.analyst.clone(), balance })
}
