//! Data sets and accounts: opened, and closed for good.

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
    /// [`LedgerError`] if the name is taken or something is not legal.
    pub fn dataset(&mut self, name: &str, relation: Relation, budget: &NewFilter) -> Result<Head> {
        name::word("data set", name)?;
        let (adjacency, records) = (relation.adjacency(), relation.records());
        let filter = budget.record(adjacency)?;
        self.write(|tables, head| {
            find::vacant(tables, name)?;
            let rule = Rule::Filter(filter.clone());
            let (at, name_) = (now(), name.to_owned());
            let event = Event::Dataset { at, name: name_, adjacency, records, filter };
            let head = append(tables, head, &event)?;
            tables.add_account(&Account::new(name, None, head.sequence, relation, rule))?;
            Ok(head)
        })
    }

    /// Opens an account and charges its data set for all of it.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if the data set's budget does not allow it.
    pub fn open_account(&mut self, account: &str, dataset: &str, new: &NewAccount) -> Result<Head> {
        name::word("account", account)?;
        // A data set's relation never changes, so that the rule, which may take long to
        // certify, can be made before the ledger is locked.
        let relation = self.read(|tables| Ok(find::dataset(tables, dataset)?.relation))?;
        let rule = rule(new, relation)?;
        rows::capacity(&rule).ok_or_else(|| {
            let (account, problem) = (account.to_owned(), "has too many slots".to_owned());
            LedgerError::Unfit { account, problem, legal: "less than 2^64 uses" }
        })?;
        self.write(|tables, head| {
            find::vacant(tables, account)?;
            let parent = find::dataset(tables, dataset)?;
            debit::is_open(&parent)?;
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
    ) -> Result<Head> {
        name::word("account", account)?;
        // What a slot declares never changes, so that it can be compared before the ledger is
        // locked.
        let (parent, declared) = self.read(|tables| unshared(tables, within, slot))?;
        let rule = Rule::Filter(filter.record(parent.relation.adjacency())?);
        slots::holds(&parent, &declared, &slots::stored(&parent, &rule)?)?;
        self.write(|tables, head| {
            find::vacant(tables, account)?;
            let (parent, found) = unshared(tables, within, slot)?;
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
            tables.add_account(&parent.within(&found, account, head.sequence, rule))?;
            Ok(head)
        })
    }

    /// Closes an account for good: there are no new releases, quotas, slots or accounts in it.
    /// What was paid for goes on: responses to what was reserved, answers of sessions, accounts
    /// within its slots.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn close(&mut self, account: &str) -> Result<Head> {
        self.write(|tables, head| {
            if find::opened(tables, account)?.closed.is_some() {
                return tables.touch(head);
            }
            let event = Event::Close { at: now(), account: account.to_owned() };
            let head = append(tables, head, &event)?;
            tables.close(account, head.sequence)?;
            Ok(head)
        })
    }

    /// Closes a data set for good, and with it every account under it: nothing more is opened or reserved. What was paid
    /// for goes on: responses to what was reserved, answers of sessions.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such data set.
    pub fn close_dataset(&mut self, name: &str) -> Result<Head> {
        self.write(|tables, mut head| {
            if find::dataset(tables, name)?.closed.is_some() {
                return tables.touch(head);
            }
            let all = tables.accounts()?;
            let open = beneath(name, &all).filter(|account| account.closed.is_none());
            for account in open.map(|account| account.name.as_str()).chain([name]) {
                let event = Event::Close { at: now(), account: account.to_owned() };
                head = append(tables, head, &event)?;
                tables.close(account, head.sequence)?;
            }
            Ok(head)
        })
    }
}

/// The accounts under a data set, however deep. Parents are older than what is under them.
fn beneath<'a>(dataset: &str, all: &'a [Account]) -> impl Iterator<Item = &'a Account> {
    let mut families = std::collections::BTreeSet::from([dataset.to_owned()]);
    all.iter().filter(move |account| {
        let is_beneath = account.parent.as_ref().is_some_and(|parent| families.contains(parent));
        is_beneath && families.insert(account.name.clone())
    })
}

/// A plan account whose slots are not shared out, and one of them.
fn unshared(tables: &mut Tables<'_>, account: &str, slot: &str) -> Result<(Account, Slot)> {
    let found = find::opened(tables, account)?;
    slots::unshared(&found)?;
    let slot = find::slot(tables, account, slot)?;
    Ok((found, slot))
}
