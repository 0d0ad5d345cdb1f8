//! Unused openings of a plan account's slots, exchanged for new slots.

use counterpoint_wire::ledger::{self as wire, Event, ExactPlan, Openings};

use crate::rules::account::is_about;
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result};
use crate::rules::rows::{Account, Balance, Slot};
use crate::rules::{debit, recut, slots};
use crate::store::find;
use crate::store::ledger::{Ledger, append, now};
use crate::store::tables::Tables;

impl Ledger {
    /// Checks an exchange of openings as [`Ledger::recut`] does, and changes nothing.
    ///
    /// # Errors
    /// As for [`Ledger::recut`].
    pub fn check_recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<()> {
        let made = self.dominated(account, openings, into)?;
        self.read(|tables| exchanged(tables, account, openings, &made)).map(drop)
    }

    /// The slots that openings are exchanged for, if they dominate them. What slots declare never changes, so that they can be
    /// compared before the ledger is locked.
    fn dominated(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<Vec<wire::Slot>> {
        let made = slots::declared(into)?;
        recut::check(account, openings)?;
        let (found, given) = self.read(|tables| given(tables, account, openings))?;
        is_about(into, found.relation)?;
        recut::dominate(&found, &given, &made)?;
        Ok(made)
    }

    /// Exchanges unused openings of a plan account's slots for new slots, which they must
    /// dominate all together. What the account promises stays as it is.
    ///
    /// # Errors
    /// [`LedgerError::Uncovered`] if the openings are not shown to dominate the new slots,
    /// [`LedgerError::Refused`] if there are not so many left.
    pub fn recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<Head> {
        let made = self.dominated(account, openings, into)?;
        self.write(|tables, head| {
            let (found, given, used, balance) = exchanged(tables, account, openings, &made)?;
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

/// What an exchange of openings comes to.
type Exchange = (Account, Vec<(Slot, u64)>, Vec<u64>, Balance);

/// The account, its slots that are given up, how often each is used then, and the account's balance; or why not.
fn exchanged(
    tables: &mut Tables<'_>,
    account: &str,
    openings: &[Openings],
    made: &[wire::Slot],
) -> Result<Exchange> {
    let (found, given) = given(tables, account, openings)?;
    let (used, balance) = recut::recut(&found, &given, made)?;
    for slot in made {
        if tables.slot(account, &slot.name)?.is_some() {
            return Err(LedgerError::Exists { what: "slot", name: slot.name.clone() });
        }
    }
    Ok((found, given, used, balance))
}

/// The account and its slots that are to be given up.
fn given(
    tables: &mut Tables<'_>,
    account: &str,
    openings: &[Openings],
) -> Result<(Account, Vec<(Slot, u64)>)> {
    let found = find::opened(tables, account)?;
    debit::is_open(&found)?;
    slots::unshared(&found)?;
    let slot = |one: &Openings| Ok((find::slot(tables, account, &one.slot)?, one.count));
    let given: Result<Vec<(Slot, u64)>> = openings.iter().map(slot).collect();
    Ok((found, given?))
}
