//! What else a plan account's slots are for: accounts of their own, and other slots.

use std::collections::BTreeSet;

use counterpoint_budget::Filter;
use counterpoint_wire::ledger::{self as wire, Asked, Event, ExactPlan, Openings, Rule};

use crate::chain::Head;
use crate::error::LedgerError;
use crate::ledger::{Ledger, append, find_account, now};
use crate::release::find_slot;
use crate::rows::{Account, Balance, Slot};
use crate::rules::NewFilter;
use crate::setup::{agree, declared, unfit_plan, unused, vacant};
use crate::tables::Tables;
use crate::{name, rows, rules, slots};

impl Ledger {
    /// Opens an open account in one opening of a plan account's slot, which must dominate all
    /// that the account promises.
    ///
    /// # Errors
    /// [`LedgerError::Uncovered`] if the slot does not dominate it, [`LedgerError::Refused`] if
    /// no opening is left.
    pub fn open_in_slot(
        &mut self,
        account: &str,
        within: &str,
        slot: &str,
        filter: &NewFilter,
    ) -> Result<Head, LedgerError> {
        name::word("account", account)?;
        // What a slot declares never changes, so that it can be compared before the ledger is
        // locked.
        let (parent, declared) = self.read(|tables| {
            let parent = find_account(tables, within)?;
            slots::unshared(&parent)?;
            let declared = find_slot(tables, within, slot)?;
            Ok((parent, declared))
        })?;
        let rule = Rule::Filter(filter.record(parent.relation.adjacency())?);
        let filter = stored(&parent, &rule)?;
        slots::holds(&parent, &declared, &filter)?;
        self.write(|tables, head| {
            vacant(tables, account)?;
            let parent = find_account(tables, within)?;
            slots::unshared(&parent)?;
            let found = find_slot(tables, within, slot)?;
            let asked = one_opening(slot);
            let debit = rules::reserve(&parent, Some(&found), None, &asked, rows::releases(1))?;
            let event = Event::Open {
                at: now(),
                account: account.to_owned(),
                parent: within.to_owned(),
                slot: Some(slot.to_owned()),
                part: found.part(),
                rule: rule.clone(),
                charge: debit.charge,
            };
            let head = append(tables, head, &event)?;
            tables.charge_account(&parent, &debit.account)?;
            tables.use_slot(within, &found, debit.used.unwrap_or(found.total))?;
            tables.add_account(&Account {
                slot: Some(slot.to_owned()),
                part: found.part(),
                ..Account::new(account, Some(&parent.name), head.sequence, parent.relation, rule)
            })?;
            Ok(head)
        })
    }

    /// Checks an exchange of openings as [`Ledger::recut`] does, and changes nothing.
    ///
    /// # Errors
    /// As for [`Ledger::recut`].
    pub fn check_recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &ExactPlan,
    ) -> Result<(), LedgerError> {
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
    ) -> Result<Vec<wire::Slot>, LedgerError> {
        let made = declared(into)?;
        check(account, openings)?;
        let (found, given) = self.read(|tables| given(tables, account, openings))?;
        agree(into.adjacency, None, found.relation)?;
        if into.group != 1 {
            return Err(unfit_plan(format!("group is {}", into.group), "1"));
        }
        slots::dominate(&found, &given, &made)?;
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
    ) -> Result<Head, LedgerError> {
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
                tables.add_slot(account, &unused(slot))?;
            }
            Ok(head)
        })
    }
}

/// To open a slot once.
pub(crate) fn one_opening(slot: &str) -> Asked {
    Asked::Slot { name: slot.to_owned(), count: 1, run: Vec::new() }
}

/// The filter that a rule stands for.
pub(crate) fn stored(parent: &Account, rule: &Rule) -> Result<Filter, LedgerError> {
    let filter = match rule {
        Rule::Filter(record) => record.filter(parent.relation.adjacency()),
        _ => None,
    };
    filter.ok_or_else(|| parent.unfit("gets an account of another kind", "an open one"))
}

/// Some openings, of each slot once.
pub(crate) fn check(account: &str, openings: &[Openings]) -> Result<(), LedgerError> {
    let names: BTreeSet<&str> = openings.iter().map(|one| one.slot.as_str()).collect();
    let problem = match openings {
        [] => "gives no openings",
        _ if names.len() < openings.len() => "gives openings of a slot twice",
        _ if openings.iter().any(|one| one.count == 0) => "gives no openings of a slot",
        _ => return Ok(()),
    };
    let (account, problem) = (account.to_owned(), problem.to_owned());
    Err(LedgerError::Unfit { account, problem, legal: "slots, each with a count from 1" })
}

/// What an exchange of openings comes to.
type Exchange = (Account, Vec<(Slot, u64)>, Vec<u64>, Balance);

/// The account, its slots that are given up, how often each is used then, and the account's balance; or why not.
fn exchanged(
    tables: &mut Tables<'_>,
    account: &str,
    openings: &[Openings],
    made: &[wire::Slot],
) -> Result<Exchange, LedgerError> {
    let (found, given) = given(tables, account, openings)?;
    let (used, balance) = slots::recut(&found, &given, made)?;
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
) -> Result<(Account, Vec<(Slot, u64)>), LedgerError> {
    let found = find_account(tables, account)?;
    rules::is_open(&found)?;
    slots::unshared(&found)?;
    let slot = |one: &Openings| Ok((find_slot(tables, account, &one.slot)?, one.count));
    let given: Result<Vec<(Slot, u64)>, LedgerError> = openings.iter().map(slot).collect();
    Ok((found, given?))
}
