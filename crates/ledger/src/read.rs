//! What is told about a ledger.

use counterpoint_wire::adjacency_name;
use counterpoint_wire::ledger::{
    AccountStatus, Event, HistoryEntry, QuotaStatus, Response, Rule, SlotStatus, Status,
};

use crate::cells::{Stored, damaged};
use crate::chain::{Hash, Head};
use crate::error::LedgerError;
use crate::ledger::{Ledger, find_account};
use crate::rows::{Account, Release, Share};
use crate::tables::Tables;
use crate::{name, rules};

/// How many entries are read at a time.
const PAGE: u64 = 1000;

/// How many releases are read at a time, with their responses.
const RELEASES: u64 = 100;

impl Ledger {
    /// The last entry's number and hash.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn head(&mut self) -> Result<Head, LedgerError> {
        self.read(|tables| tables.head())
    }

    /// What is promised, spent and left: of one account with its slots and quotas, or of all.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn status(&mut self, account: Option<&str>) -> Result<Status, LedgerError> {
        self.read(|tables| {
            let head = tables.head()?.to_string();
            let accounts = match account {
                Some(name) => {
                    let account = known(tables, name)?;
                    vec![in_full(tables, &account)?]
                }
                None => tables.accounts()?.iter().map(summary).collect::<Result<_, _>>()?,
            };
            Ok(Status { head, accounts })
        })
    }

    /// Gives each entry of the history, or of one account's part of it, to a function.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn history(
        &mut self,
        account: Option<&str>,
        mut each: impl FnMut(HistoryEntry),
    ) -> Result<Head, LedgerError> {
        self.read(|tables| {
            if let Some(name) = account {
                known(tables, name)?;
            }
            entries(tables, account, &mut each)?;
            tables.head()
        })
    }

    /// Gives each entry to a function; the head, and all stored responses in the order of
    /// their reservations.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn export(
        &mut self,
        mut each: impl FnMut(HistoryEntry),
    ) -> Result<(Head, Vec<Response>), LedgerError> {
        let told = self.read(|tables| {
            entries(tables, None, &mut each)?;
            let (mut responses, mut after) = (Vec::new(), 0);
            loop {
                let page = tables.releases(after, RELEASES)?;
                let Some(last) = page.last() else { break };
                after = i64::try_from(last.reserved).unwrap_or(i64::MAX);
                let response = |release: Release| {
                    Some(Response { bytes: release.response?, key: release.key })
                };
                responses.extend(page.into_iter().filter_map(response));
            }
            Ok((tables.head()?, responses))
        })?;
        self.settle()?;
        Ok(told)
    }

    /// Whether an account is a plan account.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn is_plan(&mut self, account: &str) -> Result<bool, LedgerError> {
        self.read(|tables| Ok(matches!(find_account(tables, account)?.rule, Rule::Plan(_))))
    }

    /// The stored response of a key, if it was committed. It may be shown: it is durable.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the key was not reserved.
    pub fn response(&mut self, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        name::word("key", key)?;
        let response = self.read(|tables| {
            let legal = "one that was reserved";
            let unknown = || LedgerError::Unknown { what: "key", name: key.to_owned(), legal };
            Ok(tables.release(key)?.ok_or_else(unknown)?.response)
        })?;
        if response.is_some() {
            self.settle()?;
        }
        Ok(response)
    }
}

/// Gives each entry, of one account or of all, to a function.
fn entries(
    tables: &mut Tables<'_>,
    account: Option<&str>,
    each: &mut impl FnMut(HistoryEntry),
) -> Result<(), LedgerError> {
    let mut after = 0;
    loop {
        let page = match account {
            Some(name) => tables.entries_of(name, after, PAGE)?,
            None => tables.entries(after, PAGE)?,
        };
        let Some(last) = page.last() else { return Ok(()) };
        after = last.sequence;
        for stored in page {
            each(entry(stored)?);
        }
    }
}

fn known(tables: &mut Tables<'_>, name: &str) -> Result<Account, LedgerError> {
    let legal = "the name of a data set or an account";
    let unknown = || LedgerError::Unknown { what: "account", name: name.to_owned(), legal };
    tables.account(name)?.ok_or_else(unknown)
}

fn entry(stored: Stored) -> Result<HistoryEntry, LedgerError> {
    let place = |problem: String| damaged(&format!("entry {}: {problem}", stored.sequence));
    let event = Event::read(&stored.body).map_err(|error| place(error.problem))?;
    let hash: [u8; 32] = stored.hash.try_into().map_err(|_| damaged("a hash is none"))?;
    Ok(HistoryEntry { sequence: stored.sequence, hash: Hash(hash).to_string(), event })
}

/// An account with its slots and quotas.
fn in_full(tables: &mut Tables<'_>, account: &Account) -> Result<AccountStatus, LedgerError> {
    let mut slots: Vec<SlotStatus> = tables
        .slots(&account.name)?
        .into_iter()
        .map(|slot| SlotStatus { name: slot.name, count: slot.total, used: slot.used })
        .collect();
    slots.sort_by(|a, b| a.name.cmp(&b.name));
    let mut quotas: Vec<QuotaStatus> = tables.shares(&account.name)?.iter().map(quota).collect();
    quotas.sort_by(|a, b| a.analyst.cmp(&b.analyst));
    Ok(AccountStatus { slots, quotas, ..summary(account)? })
}

fn quota(share: &Share) -> QuotaStatus {
    QuotaStatus {
        analyst: share.analyst.clone(),
        capacity: share.balance.capacity.clone(),
        spent: share.balance.spent.clone(),
        releases: share.balance.charges,
    }
}

fn summary(account: &Account) -> Result<AccountStatus, LedgerError> {
    let (epsilon, delta) =
        rules::promise(&account.rule).ok_or_else(|| damaged("a rule promises nothing"))?;
    let (kind, order) = match &account.rule {
        Rule::Filter(record) => (record.kind.clone(), record.order.clone()),
        _ => ("plan".to_owned(), None),
    };
    Ok(AccountStatus {
        name: account.name.clone(),
        dataset: account.parent.clone(),
        adjacency: adjacency_name(account.adjacency),
        kind,
        order,
        epsilon,
        delta,
        unit: account.unit(),
        capacity: account.balance.capacity.clone(),
        spent: account.balance.spent.clone(),
        charges: account.balance.charges,
        slots: Vec::new(),
        quotas: Vec::new(),
    })
}
