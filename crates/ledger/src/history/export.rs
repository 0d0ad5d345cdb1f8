//! Exports: the history and the responses, one by one.

use std::collections::BTreeSet;

use counterpoint_wire::ledger::{Event, HistoryEntry, Response, Responses};

use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result};
use crate::rules::name::{self, NameInAccount};
use crate::rules::rows::Release;
use crate::store::entries::{each_entry, entry};
use crate::store::find;
use crate::store::ledger::Ledger;
use crate::store::tables::Tables;

/// The number of answers of a session that are read at a time.
const ANSWERS: u64 = 10;

/// One item of an export. The items come in the order of these variants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // Only one item exists at a time.
pub enum ExportItem {
    /// The head of the ledger that is exported.
    Head(Head),
    /// An entry of the history.
    Entry(HistoryEntry),
    /// A stored response, or an answer of a session.
    Response(Response),
}

impl Ledger {
    /// Calls a function with entries of the history: all of them, those of one account, or those of one analyst. The
    /// entries of an analyst are those that name the analyst, and all later ones about the analyst's keys.
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
            find::check_named(tables, account)?;
            each_entry(tables, account, u64::MAX, |entry| {
                if analyst.is_none_or(|who| is_of(&entry.event, who, &mut keys)) {
                    each(entry);
                }
                Ok::<_, LedgerError>(())
            })?;
            tables.head()
        })
    }

    /// The head, and at most `most` entries of the history that come after one.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn history_after(&mut self, after: u64, most: u64) -> Result<(Head, Vec<HistoryEntry>)> {
        self.read(|tables| {
            let entries = tables.entries(after, most)?.into_iter().map(entry);
            Ok((tables.head()?, entries.collect::<Result<_>>()?))
        })
    }

    /// The stored responses of one account or all, and of one analyst or all, in the order of their reservations. They
    /// are durable and may be shown.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read.
    pub fn responses(&mut self, account: Option<&str>, analyst: Option<&str>) -> Result<Responses> {
        let mut responses = Vec::new();
        let head = self.each_response(account, analyst, |part| {
            if let ExportItem::Response(response) = part {
                responses.push(response);
            }
            Ok::<_, LedgerError>(())
        })?;
        Ok(Responses { head: head.to_string(), responses })
    }

    /// Calls a function with the head, and then with each response that [`Ledger::responses`] returns. An error of the
    /// function ends the export.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read, or the error of the function.
    pub fn each_response<E: From<LedgerError>>(
        &mut self,
        account: Option<&str>,
        analyst: Option<&str>,
        mut each: impl FnMut(ExportItem) -> Result<(), E>,
    ) -> Result<Head, E> {
        self.with_durable_head(|tables, head| {
            find::check_named(tables, account)?;
            each(ExportItem::Head(head))?;
            responses(tables, (account, analyst), head, &mut each)
        })
    }

    /// Calls a function with the head, then with every entry up to it, and then with every response that was stored by
    /// then, in the order of their reservations. Items come one by one, so that a ledger of any length takes little
    /// memory. They are durable and may be shown. An error of the function ends the export.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read, or the error of the function.
    pub fn export<E: From<LedgerError>>(
        &mut self,
        mut each: impl FnMut(ExportItem) -> Result<(), E>,
    ) -> Result<Head, E> {
        self.with_durable_head(|tables, head| {
            each(ExportItem::Head(head))?;
            each_entry(tables, None, head.sequence, |entry| each(ExportItem::Entry(entry)))?;
            responses(tables, (None, None), head, &mut each)
        })
    }

    /// Exports the history without the responses, for a role that may not read them. Their digests are in the entries.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read, or the error of the function.
    pub fn export_entries<E: From<LedgerError>>(
        &mut self,
        mut each: impl FnMut(ExportItem) -> Result<(), E>,
    ) -> Result<Head, E> {
        self.with_durable_head(|tables, head| {
            each(ExportItem::Head(head))?;
            each_entry(tables, None, head.sequence, |entry| each(ExportItem::Entry(entry)))
        })
    }

    /// Runs a function on the ledger up to a head, after everything up to this head is durable. Entries that others
    /// write meanwhile come after the head.
    fn with_durable_head<E: From<LedgerError>>(
        &mut self,
        work: impl FnOnce(&mut Tables<'_>, Head) -> Result<(), E>,
    ) -> Result<Head, E> {
        let head = self.head()?;
        self.wait_until_durable()?;
        self.read(|tables| {
            if !tables.contains(head)? {
                return Err(LedgerError::OtherHistory { expected: head, head: tables.head()? });
            }
            Ok(work(tables, head))
        })??;
        Ok(head)
    }

    /// The stored response of a key, if it was committed. It is durable and may be shown.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the key was not reserved.
    pub fn response(&mut self, account: &str, key: &str) -> Result<Option<Vec<u8>>> {
        name::check_account_and_key(account, key)?;
        let response = self.read(|tables| Ok(find::release(tables, account, key)?.response))?;
        if response.is_some() {
            self.wait_until_durable()?;
        }
        Ok(response)
    }
}

/// True if an event belongs to an analyst, by its name or by a key of the analyst's. `keys` collects the analyst's
/// keys.
fn is_of(event: &Event, analyst: &str, keys: &mut BTreeSet<NameInAccount>) -> bool {
    let place = event.account().zip(event.key());
    let place = place.map(|(account, key)| (account.to_owned(), key.to_owned()));
    if event.analyst() == Some(analyst) {
        keys.extend(place);
        return true;
    }
    place.is_some_and(|place| keys.contains(&place))
}

/// Calls a function with the responses and answers that were stored up to a head, in the order of their reservations.
fn responses<E: From<LedgerError>>(
    tables: &mut Tables<'_>,
    (account, analyst): (Option<&str>, Option<&str>),
    head: Head,
    each: &mut impl FnMut(ExportItem) -> Result<(), E>,
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
                each(ExportItem::Response(Response { account, key, ask: None, analyst, bytes }))?;
            }
        }
    }
    Ok(())
}

/// Calls the function with the answers of one session.
fn answers<E: From<LedgerError>>(
    tables: &mut Tables<'_>,
    (account, key, analyst): (&str, &str, &Option<String>),
    head: Head,
    each: &mut impl FnMut(ExportItem) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = 0;
    loop {
        let page = tables.answers_after(account, key, after, ANSWERS)?;
        let Some(newest) = page.last() else { return Ok(()) };
        after = newest.number;
        for answer in page.into_iter().take_while(|answer| answer.entry <= head.sequence) {
            each(ExportItem::Response(Response {
                account: account.to_owned(),
                key: key.to_owned(),
                ask: Some(answer.ask),
                analyst: analyst.clone(),
                bytes: answer.response,
            }))?;
        }
    }
}
