//! What is told about a ledger.

use std::collections::BTreeSet;

use counterpoint::Relation;
use counterpoint_wire::adjacency_name;
use counterpoint_wire::ledger::{
    AccountStatus, Described, Event, HistoryEntry, OdometerRead, Pending, PendingKey, QuotaStatus,
    Response, Responses, Rule, SessionStatus, SlotStatus, SpentEpsilon, Status,
};

use crate::cells::{Stored, damaged};
use crate::chain::{Hash, Head};
use crate::error::LedgerError;
use crate::ledger::{Ledger, find_account};
use crate::release::{find_release, find_slot};
use crate::rows::{Account, Release, Share};
use crate::session::find_session;
use crate::spent::Spent;
use crate::tables::Tables;
use crate::{name, rows, rules};

/// How many entries are read at a time.
const PAGE: u64 = 1000;

/// How many answers of a session are read at a time.
const ANSWERS: u64 = 10;

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

/// A part of an export, in the order in which they come.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // There is one at a time.
pub enum Exported {
    /// The head that the export is of.
    Head(Head),
    /// An entry of the history.
    Entry(HistoryEntry),
    /// A stored response, or an answer of a session.
    Response(Response),
}

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

    /// At most so many accounts that were opened after an entry of the history, in that order: each with the number of the
    /// entry that opened it, without its slots and quotas.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn accounts_after(
        &mut self,
        after: u64,
        most: u64,
    ) -> Result<Vec<(u64, AccountStatus)>, LedgerError> {
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
    pub fn spent_epsilon(&mut self, account: &str) -> Result<Option<SpentEpsilon>, LedgerError> {
        self.read(|tables| {
            let account = known(tables, account)?;
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
    pub fn odometer(&mut self, account: &str) -> Result<OdometerRead, LedgerError> {
        self.read(|tables| {
            let account = known(tables, account)?;
            let mut spent = Spent::new(&account)?;
            follow(tables, &account, &mut spent)?;
            spent.read(&account, tables.head()?.to_string())
        })
    }

    /// What the charges of an account are amounts of.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn unit(&mut self, account: &str) -> Result<&'static str, LedgerError> {
        self.read(|tables| Ok(known(tables, account)?.unit()))
    }

    /// Gives each entry of the history, or of one account's or one analyst's part of it, to a
    /// function. An analyst's are those that name the analyst, and what became of their keys.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn history(
        &mut self,
        account: Option<&str>,
        analyst: Option<&str>,
        mut each: impl FnMut(HistoryEntry),
    ) -> Result<Head, LedgerError> {
        let mut keys = BTreeSet::new();
        self.read(|tables| {
            if let Some(name) = account {
                known(tables, name)?;
            }
            let mut of_analyst = |entry: HistoryEntry| {
                if analyst.is_none_or(|who| is_of(&entry.event, who, &mut keys)) {
                    each(entry);
                }
            };
            entries(tables, account, &mut of_analyst)?;
            tables.head()
        })
    }

    /// The head, and at most so many entries of the history that come after one.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn history_after(
        &mut self,
        after: u64,
        most: u64,
    ) -> Result<(Head, Vec<HistoryEntry>), LedgerError> {
        self.read(|tables| {
            let entries = tables.entries(after, most)?.into_iter().map(entry);
            Ok((tables.head()?, entries.collect::<Result<_, _>>()?))
        })
    }

    /// The stored responses of one account or all, of one analyst or all, in the order of their
    /// reservations. They may be shown: they are durable.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn responses(
        &mut self,
        account: Option<&str>,
        analyst: Option<&str>,
    ) -> Result<Responses, LedgerError> {
        let mut responses = Vec::new();
        let head = self.each_response(account, analyst, |part| {
            if let Exported::Response(response) = part {
                responses.push(response);
            }
            Ok::<_, LedgerError>(())
        })?;
        Ok(Responses { head: head.to_string(), responses })
    }

    /// Gives the head to a function and then the same responses, one by one. An error of the function ends it.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read, or the function's.
    pub fn each_response<E: From<LedgerError>>(
        &mut self,
        account: Option<&str>,
        analyst: Option<&str>,
        mut each: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<Head, E> {
        self.durable(|tables, head| {
            if let Some(name) = account {
                known(tables, name)?;
            }
            each(Exported::Head(head))?;
            responses(tables, (account, analyst), head, &mut each)
        })
    }

    /// What is debited, in one account or in all, and has no response, or is a session that is
    /// not over.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn pending(&mut self, account: Option<&str>) -> Result<Pending, LedgerError> {
        self.read(|tables| {
            if let Some(name) = account {
                known(tables, name)?;
            }
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
    pub fn session_status(
        &mut self,
        account: &str,
        key: &str,
    ) -> Result<SessionStatus, LedgerError> {
        name::place(account, key)?;
        self.read(|tables| {
            // Without its response, which not everybody may read.
            let release = match tables.digested_release(account, key)? {
                Some((release, _)) if release.session => release,
                _ => find_session(tables, account, key)?,
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
    ) -> Result<Vec<OpenedSession>, LedgerError> {
        self.read(|tables| {
            known(tables, account)?;
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
    pub fn account_of(&mut self, key: &str) -> Result<String, LedgerError> {
        name::word("key", key)?;
        let mut accounts = self.read(|tables| tables.accounts_with(key))?;
        let key = key.to_owned();
        match (accounts.pop(), accounts.as_slice()) {
            (Some(only), []) => Ok(only),
            (Some(last), others) => {
                let problem = format!("is in {} and {last}", others.join(", "));
                Err(LedgerError::UnfitKey { key, problem, legal: "the account's name with it" })
            }
            (None, _) => {
                let legal = "one that was reserved";
                Err(LedgerError::Unknown { what: "key", name: key, legal })
            }
        }
    }

    /// Which data sets an account's releases have to take for neighbours.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such data set or account.
    pub fn relation(&mut self, account: &str) -> Result<Relation, LedgerError> {
        self.read(|tables| Ok(known(tables, account)?.relation))
    }

    /// Gives the head to a function, then every entry up to it, and then every response that was stored by then, in the
    /// order of their reservations: one by one, so that a ledger of any length takes little memory. They may be shown: they
    /// are durable. An error of the function ends it.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read, or the function's.
    pub fn export<E: From<LedgerError>>(
        &mut self,
        mut each: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<Head, E> {
        self.durable(|tables, head| {
            each(Exported::Head(head))?;
            each_entry(tables, None, head.sequence, &mut |entry| each(Exported::Entry(entry)))?;
            responses(tables, (None, None), head, &mut each)
        })
    }

    /// The same without the responses, whose digests are in the entries: for a role that may not read them.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read, or the function's.
    pub fn export_entries<E: From<LedgerError>>(
        &mut self,
        mut each: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<Head, E> {
        self.durable(|tables, head| {
            each(Exported::Head(head))?;
            each_entry(tables, None, head.sequence, &mut |entry| each(Exported::Entry(entry)))
        })
    }

    /// Tells what the ledger holds up to a head, all of which is durable before any of it is told. What others write
    /// meanwhile comes after that head.
    fn durable<E: From<LedgerError>>(
        &mut self,
        tell: impl FnOnce(&mut Tables<'_>, Head) -> Result<(), E>,
    ) -> Result<Head, E> {
        let head = self.head()?;
        self.settle()?;
        self.read(|tables| {
            if !tables.contains(head)? {
                return Err(LedgerError::OtherHistory { expected: head, head: tables.head()? });
            }
            Ok(tell(tables, head))
        })??;
        Ok(head)
    }

    /// The data set that an account is under, however deep, and the part of it that the account is about, if not all.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn dataset_of(&mut self, account: &str) -> Result<(String, Option<String>), LedgerError> {
        self.read(|tables| {
            let mut found = known(tables, account)?;
            let mut part = found.part.clone();
            while let Some(parent) = found.parent {
                found = known(tables, &parent)?;
                part = part.or_else(|| found.part.clone());
            }
            Ok((found.name, part))
        })
    }

    /// What a slot of a plan account was declared as.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account or slot.
    pub fn declared(&mut self, account: &str, slot: &str) -> Result<Described, LedgerError> {
        self.read(|tables| {
            find_account(tables, account)?;
            Ok(find_slot(tables, account, slot)?.release)
        })
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
    pub fn response(&mut self, account: &str, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        name::place(account, key)?;
        let response = self.read(|tables| Ok(find_release(tables, account, key)?.response))?;
        if response.is_some() {
            self.settle()?;
        }
        Ok(response)
    }
}

/// Whether an event is an analyst's, who has the keys of earlier ones.
fn is_of(event: &Event, analyst: &str, keys: &mut BTreeSet<(String, String)>) -> bool {
    let place = event.account().zip(event.key());
    let place = place.map(|(account, key)| (account.to_owned(), key.to_owned()));
    if event.analyst() == Some(analyst) {
        keys.extend(place);
        return true;
    }
    place.is_some_and(|place| keys.contains(&place))
}

/// Gives responses and answers that were stored up to a head to a function, in the order of their reservations.
fn responses<E: From<LedgerError>>(
    tables: &mut Tables<'_>,
    (account, analyst): (Option<&str>, Option<&str>),
    head: Head,
    each: &mut impl FnMut(Exported) -> Result<(), E>,
) -> Result<(), E> {
    let last = i64::try_from(head.sequence).unwrap_or(i64::MAX);
    let mut after = 0;
    while after < last {
        let page = tables.releases(after)?;
        let Some(newest) = page.last() else { return Ok(()) };
        after = i64::try_from(newest.reserved).unwrap_or(i64::MAX);
        let is_asked = |release: &Release| {
            release.reserved <= head.sequence
                && account.is_none_or(|name| name == release.account)
                && analyst.is_none_or(|who| Some(who) == release.analyst.as_deref())
        };
        for release in page.into_iter().filter(is_asked) {
            let is_stored = release.committed.is_some_and(|entry| entry <= head.sequence);
            let Release { account, key, analyst, session, response, .. } = release;
            if session {
                answers(tables, (&account, &key, &analyst), head, each)?;
            }
            if let Some(bytes) = response.filter(|_| is_stored) {
                each(Exported::Response(Response { account, key, ask: None, analyst, bytes }))?;
            }
        }
    }
    Ok(())
}

/// The same of the answers of a session.
fn answers<E: From<LedgerError>>(
    tables: &mut Tables<'_>,
    (account, key, analyst): (&str, &str, &Option<String>),
    head: Head,
    each: &mut impl FnMut(Exported) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = 0;
    loop {
        let page = tables.answers_after(account, key, after, ANSWERS)?;
        let Some(newest) = page.last() else { return Ok(()) };
        after = newest.number;
        for answer in page.into_iter().take_while(|answer| answer.entry <= head.sequence) {
            each(Exported::Response(Response {
                account: account.to_owned(),
                key: key.to_owned(),
                ask: Some(answer.ask),
                analyst: analyst.clone(),
                bytes: answer.response,
            }))?;
        }
    }
}

/// Gives each entry, of one account or of all, to a function.
fn entries(
    tables: &mut Tables<'_>,
    account: Option<&str>,
    each: &mut impl FnMut(HistoryEntry),
) -> Result<(), LedgerError> {
    each_entry(tables, account, u64::MAX, &mut |entry| {
        each(entry);
        Ok(())
    })
}

/// Gives each entry up to one, of one account or of all, to a function.
fn each_entry<E: From<LedgerError>>(
    tables: &mut Tables<'_>,
    account: Option<&str>,
    last: u64,
    each: &mut impl FnMut(HistoryEntry) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = 0;
    while after < last {
        let page = match account {
            Some(name) => tables.entries_of(name, after, PAGE)?,
            None => tables.entries(after, PAGE)?,
        };
        let Some(newest) = page.last() else { return Ok(()) };
        after = newest.sequence;
        for stored in page.into_iter().take_while(|stored| stored.sequence <= last) {
            each(entry(stored)?)?;
        }
    }
    Ok(())
}

/// Everything that an account, or a data set, was charged with.
fn follow(
    tables: &mut Tables<'_>,
    account: &Account,
    spent: &mut Spent,
) -> Result<(), LedgerError> {
    let mut failed = Ok(());
    let mut each = |entry: HistoryEntry| {
        let added = spent.add(account, &entry.event);
        if failed.is_ok() {
            failed = added;
        }
    };
    // What a data set is charged with are entries of its accounts.
    let of = account.parent.as_ref().map(|_| account.name.as_str());
    entries(tables, of, &mut each)?;
    failed
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

fn summary(account: &Account) -> Result<AccountStatus, LedgerError> {
    let promise = rules::promise_of(account);
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
