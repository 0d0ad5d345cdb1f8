//! Recuts: unused openings of a plan account's slots, exchanged for new slots.

use counterpoint_wire::ledger::{self as wire, Event, ExactPlan, Openings};

use crate::rules::account::check_plan;
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result};
use crate::rules::rows::{Account, Balance, Slot};
use crate::rules::{debit, recut, slots};
use crate::store::find;
use crate::store::ledger::{Ledger, append, now};
use crate::store::tables::Tables;

impl Ledger {
    /// Checks an exchange of openings like [`Ledger::recut`], and changes nothing.
    ///
    /// # Errors
    /// As for [`Ledger::recut`].
    pub fn check_recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<()> {
        let made = self.check_new_slots(account, openings, into)?;
        self.read(|tables| compute_exchange(tables, account, openings, &made)).map(drop)
    }

    /// The new slots, if the given openings dominate them. The declarations of slots never change, so they are compared
    /// before the ledger is locked.
    fn check_new_slots(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<Vec<wire::Slot>> {
        let made = slots::declared(into)?;
        recut::check(account, openings)?;
        let (found, given) = self.read(|tables| find_openings(tables, account, openings))?;
        check_plan(into, found.relation)?;
        recut::check_domination(&found, &given, &made)?;
        Ok(made)
    }

    /// Exchanges unused openings of a plan account's slots for new slots. The openings together must dominate the new
    /// slots together. The account's promise does not change.
    ///
    /// # Errors
    /// [`LedgerError::Uncovered`] if the openings are not shown to dominate the new slots, [`LedgerError::Refused`] if
    /// fewer openings are left.
    pub fn recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<Head> {
        let made = self.check_new_slots(account, openings, into)?;
        self.write(|tables, head| {
            let (found, given, used, balance) = compute_exchange(tables, account, openings, &made)?;
            let event = Event::Recut {
                at: now(),
                account: account.to_owned(),
                unused: openings.to_vec(),
                into: made.clone(),
            };
            let head = append(tables, head, &event)?;
            tables.recut_account(&found, &balance)?;
            for ((slot, _), used) in given.iter().zip(used) {
                tables.use_slot(account, slot, used)?;
            }
            for slot in made {
                tables.add_slot(account, &Slot::new(slot))?;
            }
            Ok(head)
        })
    }
}

/// The account, its slots with the number of openings each gives up, the uses of each slot afterwards, and the
/// account's balance afterwards.
type Exchange = (Account, Vec<(Slot, u64)>, Vec<u64>, Balance);

/// Computes an exchange of openings, or refuses it.
fn compute_exchange(
    tables: &mut Tables<'_>,
    account: &str,
    openings: &[Openings],
    made: &[wire::Slot],
) -> Result<Exchange> {
    let (found, given) = find_openings(tables, account, openings)?;
    let (used, balance) = recut::recut(&found, &given, made)?;
    for slot in made {
        if tables.slot(account, &slot.name)?.is_some() {
            return Err(LedgerError::Exists { what: "slot", name: slot.name.clone() });
        }
    }
    Ok((found, given, used, balance))
}

/// Finds the account, and the slots that give up openings.
fn find_openings(
    tables: &mut Tables<'_>,
    account: &str,
    openings: &[Openings],
) -> Result<(Account, Vec<(Slot, u64)>)> {
    let found = find::account_not_dataset(tables, account)?;
    debit::check_open(&found)?;
    slots::check_plan_without_quotas(&found)?;
    let slot = |one: &Openings| Ok((find::slot(tables, account, &one.slot)?, one.count));
    let given: Result<Vec<(Slot, u64)>> = openings.iter().map(slot).collect();
    Ok((found, given?))
}
