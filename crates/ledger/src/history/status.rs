//! Reports about a ledger: promises, spent and remaining budgets, and open releases and sessions.

use counterpoint::Relation;
use counterpoint_wire::adjacency_name;
use counterpoint_wire::ledger::{
    AccountStatus, OdometerStatus, PendingKey, PendingList, QuotaStatus, ReleaseRecord, Rule,
    SessionStatus, SlotStatus, SpentEpsilon, Status,
};

use super::spent::AccountOdometer;
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result, damaged, unknown};
use crate::rules::rows::{self, Account, QuotaRow, Release};
use crate::rules::{debit, name};
use crate::store::entries::each_entry;
use crate::store::find;
use crate::store::ledger::Ledger;
use crate::store::tables::Tables;

/// A session that was begun, without its private state and its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The session's key.
    pub key: String,
    /// The declaration of its mechanism.
    pub declaration: Vec<u8>,
    /// The entry that began the session.
    pub begun: u64,
    /// The number of answers.
    pub answered: u64,
    /// The entry that ended the session, if it has ended.
    pub ended: Option<u64>,
}

impl Ledger {
    /// The last entry's number and hash.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn head(&mut self) -> Result<Head> {
        self.read(|tables| tables.head())
    }

    /// The promise, the spent amount and the capacity of one account with its slots and quotas, or of all accounts.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn status(&mut self, account: Option<&str>) -> Result<Status> {
        self.read(|tables| {
            let head = tables.head()?.to_string();
            let accounts = match account {
                Some(name) => {
                    let account = find::account(tables, name)?;
                    vec![full_status(tables, &account)?]
                }
                None => tables.accounts()?.iter().map(summary).collect::<Result<_, _>>()?,
            };
            Ok(Status { head, accounts })
        })
    }

    /// At most `most` accounts that were opened after an entry of the history, in this order. Each comes with the
    /// number of the entry that opened it, without its slots and quotas.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn accounts_after(&mut self, after: u64, most: u64) -> Result<Vec<(u64, AccountStatus)>> {
        self.read(|tables| {
            let accounts = tables.accounts_after(after, most)?;
            accounts.iter().map(|account| Ok((account.opened, summary(account)?))).collect()
        })
    }

    /// The amount that an open account has spent so far, as an epsilon at the delta that the account promises. The
    /// bound holds at all times at once, for any choice of later queries. `None` for other accounts, and if no bound
    /// below the account's promise is known.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn spent_epsilon(&mut self, account: &str) -> Result<Option<SpentEpsilon>> {
        self.read(|tables| {
            let account = find::account(tables, account)?;
            let Some(mut spent) = AccountOdometer::for_status(&account) else { return Ok(None) };
            add_charges(tables, &account, &mut spent)?;
            Ok(spent.bound())
        })
    }

    /// Reads the odometer of an open account, which adds up its releases, or of a data set, which adds up its accounts'
    /// promises. The bound holds at all times at once, for any choice of later queries. The odometer's levels and delta
    /// are fixed by the parameters that the account was opened with.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account, [`LedgerError::Unfit`] if it has no odometer.
    pub fn odometer(&mut self, account: &str) -> Result<OdometerStatus> {
        self.read(|tables| {
            let account = find::account(tables, account)?;
            let mut spent = AccountOdometer::new(&account)?;
            add_charges(tables, &account, &mut spent)?;
            spent.read(&account, tables.head()?.to_string())
        })
    }

    /// The unit of an account's charges.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn unit(&mut self, account: &str) -> Result<&'static str> {
        self.read(|tables| Ok(find::account(tables, account)?.unit()))
    }

    /// The debits, in one account or in all, that have no response yet, including sessions that have not ended.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn pending(&mut self, account: Option<&str>) -> Result<PendingList> {
        self.read(|tables| {
            find::check_named(tables, account)?;
            let mut pending = Vec::new();
            for release in tables.uncommitted()? {
                if account.is_some_and(|account| account != release.account) {
                    continue;
                }
                let Release { account, key, analyst, reserved: entry, session, .. } = release;
                let found = if session { tables.session(&account, &key)? } else { None };
                if found.as_ref().is_some_and(|found| found.ended.is_some()) {
                    continue;
                }
                let answered = found.map(|found| found.answered);
                pending.push(PendingKey { account, key, analyst, entry, session, answered });
            }
            Ok(PendingList { head: tables.head()?.to_string(), pending })
        })
    }

    /// The public status of a session, without its state and its answers.
    ///
    /// # Errors
    /// [`LedgerError`] if the key was not reserved for a session.
    pub fn session_status(&mut self, account: &str, key: &str) -> Result<SessionStatus> {
        name::check_account_and_key(account, key)?;
        self.read(|tables| {
            // The response itself is not read, because some roles may not read it.
            let release = match tables.digested_release(account, key)? {
                Some((release, _)) if release.session => release,
                _ => find::session(tables, account, key)?,
            };
            let found = tables.session(account, key)?;
            Ok(SessionStatus {
                account: release.account,
                key: release.key,
                analyst: release.analyst,
                entry: release.reserved,
                begun: found.as_ref().map(|found| found.begun),
                ended: found.and_then(|found| found.ended),
                answers: tables.asks(account, key)?,
                head: tables.head()?.to_string(),
            })
        })
    }

    /// At most `most` sessions of an analyst in an account that began after an entry of the history, in this order.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn sessions_of(
        &mut self,
        account: &str,
        analyst: &str,
        after: u64,
        most: u64,
    ) -> Result<Vec<SessionSummary>> {
        self.read(|tables| {
            find::account(tables, account)?;
            let to_summary = |session: rows::SessionRow| {
                let rows::SessionRow { key, declaration, begun, answered, ended, .. } = session;
                SessionSummary { key, declaration, begun, answered, ended }
            };
            let sessions = tables.sessions_of(account, analyst, after, most)?;
            Ok(sessions.into_iter().map(to_summary).collect())
        })
    }

    /// The only account in which a key was reserved.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account, [`LedgerError::UnfitKey`] if there are several.
    pub fn account_of(&mut self, key: &str) -> Result<String> {
        name::check_name("key", key)?;
        let mut accounts = self.read(|tables| tables.accounts_with(key))?;
        let key = key.to_owned();
        match (accounts.pop(), accounts.as_slice()) {
            (Some(only), []) => Ok(only),
            (Some(last), others) => {
                let problem = format!("is in {} and {last}", others.join(", "));
                Err(LedgerError::UnfitKey { key, problem, legal: "the account's name with it" })
            }
            (None, _) => Err(unknown("key", &key, "one that was reserved")),
        }
    }

    /// The neighbouring relation of an account's data set.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such data set or account.
    pub fn relation(&mut self, account: &str) -> Result<Relation> {
        self.read(|tables| Ok(find::account(tables, account)?.relation))
    }

    /// The data set that an account is under, at any depth, and the part of the data that the account is about, if not
    /// all.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn dataset_of(&mut self, account: &str) -> Result<(String, Option<String>)> {
        self.read(|tables| {
            let mut found = find::account(tables, account)?;
            let mut part = found.part.clone();
            while let Some(parent) = found.parent {
                found = find::account(tables, &parent)?;
                part = part.or_else(|| found.part.clone());
            }
            Ok((found.name, part))
        })
    }

    /// The release that a slot of a plan account was declared as.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account or slot.
    pub fn slot_release(&mut self, account: &str, slot: &str) -> Result<ReleaseRecord> {
        self.read(|tables| {
            find::account_not_dataset(tables, account)?;
            Ok(find::slot(tables, account, slot)?.release)
        })
    }

    /// True if an account is a plan account.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn is_plan(&mut self, account: &str) -> Result<bool> {
        self.read(|tables| {
            Ok(matches!(find::account_not_dataset(tables, account)?.rule, Rule::Plan(_)))
        })
    }
}

/// Adds every charge of an account or a data set.
fn add_charges(
    tables: &mut Tables<'_>,
    account: &Account,
    spent: &mut AccountOdometer,
) -> Result<()> {
    // The charges of a data set are in the entries of its accounts.
    let of = account.parent.as_ref().map(|_| account.name.as_str());
    each_entry(tables, of, u64::MAX, |entry| spent.add(account, &entry.event))
}

/// An account with its slots and quotas.
fn full_status(tables: &mut Tables<'_>, account: &Account) -> Result<AccountStatus> {
    let mut slots: Vec<SlotStatus> = tables
        .slots(&account.name)?
        .into_iter()
        .map(|slot| SlotStatus {
            part: slot.part(),
            name: slot.name,
            count: slot.total,
            used: slot.used,
        })
        .collect();
    slots.sort_by(|a, b| a.name.cmp(&b.name));
    let mut quotas: Vec<QuotaStatus> =
        tables.quotas(&account.name)?.iter().map(quota_status).collect();
    quotas.sort_by(|a, b| a.analyst.cmp(&b.analyst));
    Ok(AccountStatus { slots, quotas, ..summary(account)? })
}

fn quota_status(quota: &QuotaRow) -> QuotaStatus {
    QuotaStatus {
        analyst: quota.analyst.clone(),
        capacity: quota.balance.capacity.clone(),
        spent: quota.balance.spent.clone(),
        releases: quota.balance.charges,
    }
}

fn summary(account: &Account) -> Result<AccountStatus> {
    let promise = debit::current_promise(account);
    let promise = promise.ok_or_else(|| damaged("a rule has no promise"))?;
    let (kind, order) = match &account.rule {
        Rule::Filter(record) => (record.kind.clone(), record.order.clone()),
        _ => ("plan".to_owned(), None),
    };
    Ok(AccountStatus {
        name: account.name.clone(),
        parent: account.parent.clone(),
        slot: account.slot.clone(),
        part: account.part.clone(),
        adjacency: adjacency_name(account.relation.adjacency()),
        records: account.relation.records(),
        kind,
        order,
        promise,
        unit: account.unit(),
        capacity: account.balance.capacity.clone(),
        spent: account.balance.spent.clone(),
        charges: account.balance.charges,
        closed: account.closed.is_some(),
        slots: Vec::new(),
        quotas: Vec::new(),
        spent_epsilon: None,
        room: None,
    })
}
