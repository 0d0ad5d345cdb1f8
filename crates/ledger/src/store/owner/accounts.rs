//! Data sets and accounts: opening them, and closing them for good.

use counterpoint::Relation;
use counterpoint_wire::ledger::{Event, Rule};

use crate::rules::account::{NewAccount, rule};
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result};
use crate::rules::filter::NewFilter;
use crate::rules::rows::{self, Account, Slot};
use crate::rules::{debit, name, slots};
use crate::store::find;
use crate::store::ledger::{Ledger, append, now};
use crate::store::tables::Tables;

impl Ledger {
    /// Adds a data set with its neighbouring relation and its budget.
    ///
    /// # Errors
    /// [`LedgerError`] if the name is taken or an argument is not legal.
    pub fn add_dataset(
        &mut self,
        name: &str,
        relation: Relation,
        budget: &NewFilter,
    ) -> Result<Head> {
        name::check_name("data set", name)?;
        let (adjacency, records) = (relation.adjacency(), relation.records());
        let filter = budget.record(adjacency)?;
        self.write(|tables, head| {
            find::check_vacant(tables, name)?;
            let rule = Rule::Filter(filter.clone());
            let (at, name_) = (now(), name.to_owned());
            let event = Event::Dataset { at, name: name_, adjacency, records, filter };
            let head = append(tables, head, &event)?;
            tables.add_account(&Account::new(name, None, head.sequence, relation, rule))?;
            Ok(head)
        })
    }

    /// Opens an account and charges its data set for the whole account.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if the data set's budget does not allow it.
    pub fn open_account(&mut self, account: &str, dataset: &str, new: &NewAccount) -> Result<Head> {
        name::check_name("account", account)?;
        // A data set's relation never changes, so the rule, which may take long to certify, is made before the ledger
        // is locked.
        let relation = self.read(|tables| Ok(find::dataset(tables, dataset)?.relation))?;
        let rule = rule(new, relation)?;
        rows::capacity(&rule).ok_or_else(|| {
            let (account, problem) = (account.to_owned(), "has too many slots".to_owned());
            LedgerError::Unfit { account, problem, legal: "fewer than 2^64 openings" }
        })?;
        self.write(|tables, head| {
            find::check_vacant(tables, account)?;
            let parent = find::dataset(tables, dataset)?;
            debit::check_open(&parent)?;
            let (charge, balance) = debit::open(&parent, &rule)?;
            let slots = Slot::all(&rule);
            let event = Event::Open {
                at: now(),
                account: account.to_owned(),
                parent: dataset.to_owned(),
                slot: None,
                part: None,
                rule: rule.clone(),
                charge,
            };
            let head = append(tables, head, &event)?;
            tables.charge_account(&parent, &balance)?;
            let parent = Some(dataset);
            tables.add_account(&Account::new(account, parent, head.sequence, relation, rule))?;
            for slot in slots {
                tables.add_slot(account, &slot)?;
            }
            Ok(head)
        })
    }

    /// Opens an open account in one opening of a plan account's slot, which must dominate the account's whole promise.
    ///
    /// # Errors
    /// [`LedgerError::Uncovered`] if the slot does not dominate the promise, [`LedgerError::Refused`] if the slot has
    /// no opening left.
    pub fn open_in_slot(
        &mut self,
        account: &str,
        within: &str,
        slot: &str,
        filter: &NewFilter,
    ) -> Result<Head> {
        name::check_name("account", account)?;
        // A slot's declaration never changes, so it is compared before the ledger is locked.
        let (parent, declared) = self.read(|tables| plan_slot(tables, within, slot))?;
        let rule = Rule::Filter(filter.record(parent.relation.adjacency())?);
        slots::check_promise_covered(&parent, &declared, &slots::filter_of_rule(&parent, &rule)?)?;
        self.write(|tables, head| {
            find::check_vacant(tables, account)?;
            let (parent, found) = plan_slot(tables, within, slot)?;
            let debit = debit::open_within(&parent, &found)?;
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
            tables.add_account(&parent.new_in_slot(&found, account, head.sequence, rule))?;
            Ok(head)
        })
    }

    /// Closes an account for good: it takes no new releases, quotas, slots or accounts. Everything that is paid for
    /// continues: responses to reserved releases, answers of sessions, and accounts within its slots.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn close(&mut self, account: &str) -> Result<Head> {
        self.write(|tables, head| {
            if find::account_not_dataset(tables, account)?.closed.is_some() {
                return tables.touch(head);
            }
            let event = Event::Close { at: now(), account: account.to_owned() };
            let head = append(tables, head, &event)?;
            tables.close(account, head.sequence)?;
            Ok(head)
        })
    }

    /// Closes a data set for good, with every account under it: nothing more is opened or reserved. Everything that is
    /// paid for continues: responses to reserved releases, and answers of sessions.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such data set.
    pub fn close_dataset(&mut self, name: &str) -> Result<Head> {
        self.write(|tables, mut head| {
            if find::dataset(tables, name)?.closed.is_some() {
                return tables.touch(head);
            }
            let all = tables.accounts()?;
            let open = accounts_under(name, &all).filter(|account| account.closed.is_none());
            for account in open.map(|account| account.name.as_str()).chain([name]) {
                let event = Event::Close { at: now(), account: account.to_owned() };
                head = append(tables, head, &event)?;
                tables.close(account, head.sequence)?;
            }
            Ok(head)
        })
    }
}

/// The accounts under a data set, at any depth. Parents come before their children in `all`.
fn accounts_under<'a>(dataset: &str, all: &'a [Account]) -> impl Iterator<Item = &'a Account> {
    let mut families = std::collections::BTreeSet::from([dataset.to_owned()]);
    all.iter().filter(move |account| {
        let is_under = account.parent.as_ref().is_some_and(|parent| families.contains(parent));
        is_under && families.insert(account.name.clone())
    })
}

/// Finds a plan account without quotas, and one of its slots.
fn plan_slot(tables: &mut Tables<'_>, account: &str, slot: &str) -> Result<(Account, Slot)> {
    let found = find::account_not_dataset(tables, account)?;
    slots::check_plan_without_quotas(&found)?;
    let slot = find::slot(tables, account, slot)?;
    Ok((found, slot))
}
