//! Analysts' quotas.

use counterpoint_wire::ledger::Event;

use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result, unknown};
use crate::rules::quota::{NewQuota, capacity_of};
use crate::rules::rows::{Account, Balance, QuotaRow};
use crate::rules::{debit, name};
use crate::store::entries::each_entry;
use crate::store::find;
use crate::store::ledger::{Ledger, append, now};
use crate::store::tables::Tables;

impl Ledger {
    /// Gives an analyst a quota of an account, once. From then on, every release in the account must name an analyst
    /// who has a quota. The analyst's earlier releases in the account count against the quota; if they exceed it,
    /// nothing is left.
    ///
    /// # Errors
    /// [`LedgerError`] if the analyst has a quota already.
    pub fn add_quota(&mut self, account: &str, analyst: &str, quota: &NewQuota) -> Result<Head> {
        name::check_name("analyst", analyst)?;
        self.write(|tables, head| {
            let found = find::account_not_dataset(tables, account)?;
            debit::check_open(&found)?;
            if tables.quota(account, analyst)?.is_some() {
                let name = analyst.to_owned();
                return Err(LedgerError::Exists { what: "a quota of analyst", name });
            }
            let spent = spent_before(tables, &found, analyst)?;
            let balance = spent.with_capacity(capacity_of(&found, quota)?);
            let (at, account_, analyst) = (now(), account.to_owned(), analyst.to_owned());
            let (capacity, changed) = (balance.capacity.clone(), false);
            let row = QuotaRow { analyst: analyst.clone(), balance };
            let event = Event::Quota { at, account: account_, analyst, capacity, changed };
            let head = append(tables, head, &event)?;
            tables.count_quota(&found)?;
            tables.add_quota(account, &row)?;
            Ok(head)
        })
    }

    /// Changes an analyst's quota from now on. Spent budget stays spent: if it exceeds the new quota, nothing is left.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the analyst has no quota.
    pub fn change_quota(&mut self, account: &str, analyst: &str, quota: &NewQuota) -> Result<Head> {
        self.write(|tables, head| {
            let found = find::account_not_dataset(tables, account)?;
            debit::check_open(&found)?;
            let row = tables.quota(account, analyst)?;
            let legal = "an analyst who has a quota";
            let row = row.ok_or_else(|| unknown("quota of analyst", analyst, legal))?;
            let balance = row.balance.with_capacity(capacity_of(&found, quota)?);
            if balance == row.balance {
                return tables.touch(head);
            }
            let (at, account_, analyst) = (now(), account.to_owned(), analyst.to_owned());
            let capacity = balance.capacity.clone();
            let event = Event::Quota { at, account: account_, analyst, capacity, changed: true };
            let head = append(tables, head, &event)?;
            tables.change_quota_row(account, &row, &balance)?;
            Ok(head)
        })
    }
}

/// The sum of the charges that an analyst caused in the account before getting a quota.
fn spent_before(tables: &mut Tables<'_>, account: &Account, analyst: &str) -> Result<Balance> {
    let mut balance = Balance::new(account.balance.capacity.clone());
    // If every charge was made under a quota, no entry has to be read.
    let under_quotas: u64 =
        tables.quotas(&account.name)?.iter().map(|row| row.balance.charges).sum();
    if under_quotas >= account.balance.charges {
        return Ok(balance);
    }
    each_entry(tables, Some(&account.name), u64::MAX, |entry| {
        if let Event::Reserve { analyst: Some(who), charge, .. } = entry.event
            && who == analyst
        {
            balance = balance.plus(&charge);
        }
        Ok::<_, LedgerError>(())
    })?;
    Ok(balance)
}
