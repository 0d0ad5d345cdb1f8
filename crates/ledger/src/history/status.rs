//! What is told about a ledger: what is promised, spent and left, and what is going on.

use counterpoint::Relation;
use counterpoint_wire::adjacency_name;
use counterpoint_wire::ledger::{
    AccountStatus, Described, OdometerRead, Pending, PendingKey, QuotaStatus, Rule, SessionStatus,
    SlotStatus, SpentEpsilon, Status,
};

use super::spent::Spent;
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result, damaged, unknown};
use crate::rules::rows::{self, Account, Release, Share};
use crate::rules::{debit, name};
use crate::store::entries::each_entry;
use crate::store::find;
use crate::store::ledger::Ledger;
use crate::store::tables::Tables;

/// A session that has begun, without what is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenedSession {
    /// Its key.
    pub key: String,
    /// What it was declared to be.
    pub declaration: Vec<u8>,
    /// The entry that began it.
    pub begun: u64,
    /// How many answers there are.
    pub answered: u64,
    /// The entry that ended it, if it is over.
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

    /// What is promised, spent and left: of one account with its slots and quotas, or of all.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn status(&mut self, account: Option<&str>) -> Result<Status> {
        self.read(|tables| {
            let head = tables.head()?.to_string();
            let accounts = match account {
                Some(name) => {
                    let account = find::account(tables, name)?;
                    vec![in_full(tables, &account)?]
                }
                None => tables.accounts()?.iter().map(summary).collect::<Result<_, _>>()?,
            };
            Ok(Status { head, accounts })
        })
    }

    /// At most so many accounts that were opened after an entry of the history, in that order: each with the number of the
    /// entry that opened it, without its slots and quotas.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn accounts_after(&mut self, after: u64, most: u64) -> Result<Vec<(u64, AccountStatus)>> {
        self.read(|tables| {
            let accounts = tables.accounts_after(after, most)?;
            accounts.iter().map(|account| Ok((account.opened, summary(account)?))).collect()
        })
    }

    /// What is spent of an open account so far, as an epsilon at the delta that the account promises: a bound that holds
    /// at all times at once, whatever is asked next. `None` for other accounts, and where no bound below what the
    /// account promises is known.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn spent_epsilon(&mut self, account: &str) -> Result<Option<SpentEpsilon>> {
        self.read(|tables| {
            let account = find::account(tables, account)?;
            let Some(mut spent) = Spent::of(&account) else { return Ok(None) };
            follow(tables, &account, &mut spent)?;
            Ok(spent.bound())
        })
    }

    /// What the odometer of an open account reads for its releases, or that of a data set for what its accounts promise:
    /// a bound that holds at all times at once, whatever is asked next. Its levels and its delta are fixed by what the
    /// account was opened with.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account, [`LedgerError::Unfit`] if it has no odometer.
    pub fn odometer(&mut self, account: &str) -> Result<OdometerRead> {
        self.read(|tables| {
            let account = find::account(tables, account)?;
            let mut spent = Spent::new(&account)?;
            follow(tables, &account, &mut spent)?;
            spent.read(&account, tables.head()?.to_string())
        })
    }

    /// What the charges of an account are amounts of.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn unit(&mut self, account: &str) -> Result<&'static str> {
        self.read(|tables| Ok(find::account(tables, account)?.unit()))
    }

    /// What is debited, in one account or in all, and has no response, or is a session that is
    /// not over.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn pending(&mut self, account: Option<&str>) -> Result<Pending> {
        self.read(|tables| {
            find::named(tables, account)?;
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
            Ok(Pending { head: tables.head()?.to_string(), pending })
        })
    }

    /// What may be known of a session: neither its state nor its answers.
    ///
    /// # Errors
    /// [`LedgerError`] if the key was not reserved for a session.
    pub fn session_status(&mut self, account: &str, key: &str) -> Result<SessionStatus> {
        name::place(account, key)?;
        self.read(|tables| {
            // Without its response, which not everybody may read.
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

    /// At most so many of an analyst's sessions in an account that began after an entry of the history, in that order.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn sessions_of(
        &mut self,
        account: &str,
        analyst: &str,
        after: u64,
        most: u64,
    ) -> Result<Vec<OpenedSession>> {
        self.read(|tables| {
            find::account(tables, account)?;
            let told = |session: rows::Session| {
                let rows::Session { key, declaration, begun, answered, ended, .. } = session;
                OpenedSession { key, declaration, begun, answered, ended }
            };
            let sessions = tables.sessions_of(account, analyst, after, most)?;
            Ok(sessions.into_iter().map(told).collect())
        })
    }

    /// The only account in which a key was reserved.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is none, [`LedgerError::UnfitKey`] if there are several.
    pub fn account_of(&mut self, key: &str) -> Result<String> {
        name::word("key", key)?;
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

    /// Which data sets an account's releases have to take for neighbours.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such data set or account.
    pub fn relation(&mut self, account: &str) -> Result<Relation> {
        self.read(|tables| Ok(find::account(tables, account)?.relation))
    }

    /// The data set that an account is under, however deep, and the part of it that the account is about, if not all.
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

    /// What a slot of a plan account was declared as.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account or slot.
    pub fn declared(&mut self, account: &str, slot: &str) -> Result<Described> {
        self.read(|tables| {
            find::opened(tables, account)?;
            Ok(find::slot(tables, account, slot)?.release)
        })
    }

    /// Whether an account is a plan account.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn is_plan(&mut self, account: &str) -> Result<bool> {
        self.read(|tables| Ok(matches!(find::opened(tables, account)?.rule, Rule::Plan(_))))
    }
}

/// Everything that an account, or a data set, was charged with.
fn follow(tables: &mut Tables<'_>, account: &Account, spent: &mut Spent) -> Result<()> {
    // What a data set is charged with are entries of its accounts.
    let of = account.parent.as_ref().map(|_| account.name.as_str());
    each_entry(tables, of, u64::MAX, |entry| spent.add(account, &entry.event))
}

/// An account with its slots and quotas.
fn in_full(tables: &mut Tables<'_>, account: &Account) -> Result<AccountStatus> {
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

fn summary(account: &Account) -> Result<AccountStatus> {
    let promise = debit::promise_of(account);
    let promise = promise.ok_or_else(|| damaged("a rule promises nothing"))?;
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
