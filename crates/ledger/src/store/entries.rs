//! The entries of the history, page by page.

use counterpoint_wire::ledger::{Event, HistoryEntry};

use super::tables::Tables;
use super::tables::cells::EntryRow;
use crate::rules::chain::Hash;
use crate::rules::error::{LedgerError, Result, damaged};

/// The number of entries that are read at a time.
const PAGE: u64 = 1000;

/// Calls a function with each entry up to `last`, of one account or of all. An error of the function ends the loop.
pub(crate) fn each_entry<E: From<LedgerError>>(
    tables: &mut Tables<'_>,
    account: Option<&str>,
    last: u64,
    mut each: impl FnMut(HistoryEntry) -> Result<(), E>,
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

/// Parses a stored entry.
pub(crate) fn entry(stored: EntryRow) -> Result<HistoryEntry> {
    let EntryRow { sequence, hash, body, .. } = stored;
    let wrong = |problem: String| damaged(format_args!("entry {sequence}: {problem}"));
    let event = Event::read(&body).map_err(|error| wrong(error.problem))?;
    let hash: [u8; 32] = hash.try_into().map_err(|_| damaged("a hash does not have 32 bytes"))?;
    Ok(HistoryEntry { sequence, hash: Hash(hash).to_string(), event })
}
