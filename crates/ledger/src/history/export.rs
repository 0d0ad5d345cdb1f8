//! What is handed out whole: the history and the responses, one by one.

use std::collections::BTreeSet;

use counterpoint_wire::ledger::{Event, HistoryEntry, Response, Responses};

use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result};
use crate::rules::name::{self, Place};
use crate::rules::rows::Release;
use crate::store::entries::{each_entry, entry};
use crate::store::find;
use crate::store::ledger::Ledger;
use crate::store::tables::Tables;

/// How many answers of a session are read at a time.
const ANSWERS: u64 = 10;

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
    ) -> Result<Head> {
        let mut keys = BTreeSet::new();
        self.read(|tables| {
            find::named(tables, account)?;
            each_entry(tables, account, u64::MAX, |entry| {
                if analyst.is_none_or(|who| is_of(&entry.event, who, &mut keys)) {
                    each(entry);
                }
                Ok::<_, LedgerError>(())
            })?;
            tables.head()
        })
    }

    /// The head, and at most so many entries of the history that come after one.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn history_after(&mut self, after: u64, most: u64) -> Result<(Head, Vec<HistoryEntry>)> {
        self.read(|tables| {
            let entries = tables.entries(after, most)?.into_iter().map(entry);
            Ok((tables.head()?, entries.collect::<Result<_>>()?))
        })
    }

    /// The stored responses of one account or all, of one analyst or all, in the order of their
    /// reservations. They may be shown: they are durable.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn responses(&mut self, account: Option<&str>, analyst: Option<&str>) -> Result<Responses> {
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
            find::named(tables, account)?;
            each(Exported::Head(head))?;
            responses(tables, (account, analyst), head, &mut each)
        })
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
            each_entry(tables, None, head.sequence, |entry| each(Exported::Entry(entry)))?;
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
            each_entry(tables, None, head.sequence, |entry| each(Exported::Entry(entry)))
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

    /// The stored response of a key, if it was committed. It may be shown: it is durable.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the key was not reserved.
    pub fn response(&mut self, account: &str, key: &str) -> Result<Option<Vec<u8>>> {
        name::place(account, key)?;
        let response = self.read(|tables| Ok(find::release(tables, account, key)?.response))?;
        if response.is_some() {
            self.settle()?;
        }
        Ok(response)
    }
}

/// Whether an event is an analyst's, who has the keys of earlier ones.
fn is_of(event: &Event, analyst: &str, keys: &mut BTreeSet<Place>) -> bool {
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
