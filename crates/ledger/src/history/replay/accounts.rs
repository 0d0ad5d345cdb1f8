//! Data sets, accounts, slots and quotas.

use counterpoint_wire::ledger::{self as wire, Cost, Openings, Rule};

use super::{Books, OWNER_EVENTS_SINCE, ReplayError, check_once};
use crate::rules::error::{LedgerError, Result};
use crate::rules::rows::{self, Account, Balance, QuotaRow, Slot};
use crate::rules::{debit, filter, name, quota, recut, slots, transfer};

impl Books {
    /// Closes an account, or a data set after its accounts.
    pub(super) fn close(&mut self, sequence: u64, account: &str) -> Result<(), ReplayError> {
        let is_dataset = self.accounts.get(account).is_some_and(|found| found.parent.is_none());
        if is_dataset {
            self.check_owner_events()?;
            let is_open = |one: &Account| one.closed.is_none() && one.name != account;
            if self.accounts.values().any(|one| is_open(one) && self.dataset_of(one) == account) {
                return Err("an account of the data set is open".into());
            }
        }
        let found = self.accounts.get_mut(account).ok_or("its account did not exist")?;
        check_once(found.closed.replace(sequence), "it was closed before")
    }

    /// The data set that an account is under, at any depth.
    fn dataset_of<'a>(&'a self, mut account: &'a Account) -> &'a str {
        // A parent was opened before its children, so this ends.
        while let Some(parent) = account.parent.as_ref().and_then(|name| self.accounts.get(name)) {
            account = parent;
        }
        &account.name
    }

    pub(super) fn open(
        &mut self,
        sequence: u64,
        account: &str,
        dataset: &str,
        rule: &Rule,
        charge: &Cost,
    ) -> Result<(), ReplayError> {
        let parent = self.accounts.get(dataset).filter(|found| found.parent.is_none());
        let parent = parent.ok_or("its data set did not exist")?;
        debit::check_open(parent)?;
        let (relation, adjacency) = (parent.relation, parent.relation.adjacency());
        let wrong = match rule {
            Rule::Plan(plan) if !slots::has_format(plan, self.format) => Ok(true),
            Rule::Plan(plan) => slots::is_understated(plan, relation),
            Rule::Filter(filter) => filter::is_overstated(filter, adjacency),
            _ => Ok(true),
        };
        if wrong? {
            return Err("its rule costs more than it promises".into());
        }
        let (due, balance) = debit::open(parent, rule)?;
        if due != *charge {
            return Err("the charge is not what the rule costs".into());
        }
        rows::capacity(rule).ok_or("its rule has no capacity")?;
        if let Some(parent) = self.accounts.get_mut(dataset) {
            parent.balance = balance;
        }
        self.add_slots(account, Slot::all(rule), slots::format_of(rule))?;
        self.add(Account::new(account, Some(dataset), sequence, relation, rule.clone()))
    }

    pub(super) fn open_in_slot(
        &mut self,
        sequence: u64,
        account: &str,
        (within, name, part): (&str, &str, Option<&str>),
        rule: &Rule,
        charge: &Cost,
    ) -> Result<(), ReplayError> {
        let parent = self.account(within)?.clone();
        slots::check_plan_without_quotas(&parent)?;
        let filter = slots::filter_of_rule(&parent, rule)?;
        let Rule::Filter(record) = rule else { return Err("its rule is not a filter".into()) };
        if filter::is_overstated(record, parent.relation.adjacency())? {
            return Err("its rule costs more than it promises".into());
        }
        let slot = self.slot(within, name)?;
        slots::check_promise_covered(&parent, slot, &filter)?;
        if slot.release.part() != part {
            return Err("it is about another part of the data than its slot".into());
        }
        let debit = debit::open_within(&parent, slot)?;
        if debit.charge != *charge {
            return Err("the charge is not that of one opening".into());
        }
        let opened = parent.new_in_slot(slot, account, sequence, rule.clone());
        slot.used = debit.used.unwrap_or(slot.total);
        self.account(within)?.balance = debit.account;
        self.add(opened)
    }

    pub(super) fn recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &[wire::Slot],
    ) -> Result<(), ReplayError> {
        recut::check(account, openings)?;
        let found = self.account(account)?.clone();
        debit::check_open(&found)?;
        slots::check_plan_without_quotas(&found)?;
        let slot = |one: &Openings| Ok((self.slot(account, &one.slot)?.clone(), one.count));
        let given: Vec<(Slot, u64)> =
            openings.iter().map(slot).collect::<Result<_, ReplayError>>()?;
        recut::check_domination(&found, &given, into)?;
        let (used, balance) = recut::recut(&found, &given, into)?;
        for ((slot, _), used) in given.iter().zip(used) {
            self.slot(account, &slot.name)?.used = used;
        }
        self.account(account)?.balance = balance;
        let format = slots::format_of(&found.rule);
        self.add_slots(account, into.iter().cloned().map(Slot::new).collect(), format)
    }

    pub(super) fn quota(
        &mut self,
        account: &str,
        analyst: &str,
        capacity: &Cost,
    ) -> Result<(), ReplayError> {
        name::check_name("analyst", analyst)?;
        let format = self.format;
        let found = self.account(account)?;
        debit::check_open(found)?;
        if format < OWNER_EVENTS_SINCE && found.quotas == 0 && found.balance.charges > 0 {
            return Err("releases were made without a quota".into());
        }
        found.quotas += 1;
        let unspent = Balance::new(found.balance.capacity.clone());
        let (place, analyst) = ((account.to_owned(), analyst.to_owned()), analyst.to_owned());
        let spent = self.unstored.spent_without_quota.remove(&place).unwrap_or(unspent);
        let balance = Balance { capacity: capacity.clone(), ..spent };
        if !balance.is_within_capacity() {
            return Err("more is spent than the quota allows".into());
        }
        check_once(
            self.quotas.insert(place, QuotaRow { analyst, balance }),
            "the analyst had a quota",
        )
    }

    pub(super) fn change_quota(
        &mut self,
        account: &str,
        analyst: &str,
        capacity: &Cost,
    ) -> Result<(), ReplayError> {
        self.check_owner_events()?;
        debit::check_open(self.account(account)?)?;
        let quota = self.quotas.get_mut(&(account.to_owned(), analyst.to_owned()));
        let quota = quota.ok_or("the analyst had no quota")?;
        let changed = quota::changed_quota(quota, capacity);
        *quota = changed.ok_or("more is spent than the quota allows")?;
        Ok(())
    }

    pub(super) fn transfer(
        &mut self,
        (from, to): (&str, &str),
        key: &str,
        amount: &Cost,
    ) -> Result<(), ReplayError> {
        self.check_owner_events()?;
        name::check_name("key", key)?;
        let [gives, gets] = [self.account(from)?.clone(), self.account(to)?.clone()];
        let dataset = gives.parent.as_ref().and_then(|parent| self.accounts.get(parent));
        let dataset = dataset.filter(|found| found.parent.is_none());
        let dataset = dataset.ok_or("the account is within a slot")?;
        let (less, more) = transfer::transfer(dataset, &gives, &gets, amount)?;
        self.account(from)?.balance = less;
        self.account(to)?.balance = more;
        let place = (from.to_owned(), key.to_owned());
        check_once(self.unstored.moves.replace(place), "the key was used for an earlier transfer")
    }

    pub(super) fn add(&mut self, account: Account) -> Result<(), ReplayError> {
        name::check_name("account", &account.name)?;
        match self.accounts.insert(account.name.clone(), account) {
            None => Ok(()),
            Some(other) => Err(format!("{:?} existed already", other.name).into()),
        }
    }

    fn add_slots(
        &mut self,
        account: &str,
        slots: Vec<Slot>,
        format: u64,
    ) -> Result<(), ReplayError> {
        for slot in slots {
            name::check_label("slot", &slot.name)?;
            let part = slot.release.part();
            part.map_or(Ok(()), |part| name::check_label("partition", part))?;
            slot.release.opening_queries(format).map_err(LedgerError::from)?;
            if slot.release.count().map_err(LedgerError::from)? != slot.total {
                return Err("a slot opens more often than was declared".into());
            }
            let place = (account.to_owned(), slot.name.clone());
            check_once(self.slots.insert(place, slot), "two slots have one name")?;
        }
        Ok(())
    }

    pub(super) fn slot(&mut self, account: &str, name: &str) -> Result<&mut Slot, ReplayError> {
        let place = (account.to_owned(), name.to_owned());
        self.slots.get_mut(&place).ok_or_else(|| "its slot did not exist".into())
    }

    pub(super) fn account(&mut self, name: &str) -> Result<&mut Account, ReplayError> {
        let found = self.accounts.get_mut(name).filter(|found| found.parent.is_some());
        found.ok_or_else(|| "its account did not exist".into())
    }
}
