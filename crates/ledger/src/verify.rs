//! Everything recomputed, and compared.

use std::collections::BTreeMap;

use counterpoint_wire::ledger::Event;

use crate::cells::Stored;
use crate::chain::{Hash, Head};
use crate::database::DatabaseError;
use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::replay::{ALIASES, Books, Kept};
use crate::rows::{Account, Alias, Release};
use crate::session;
use crate::tables::Tables;

/// What verification came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The head that the history leads to.
    pub head: Head,
    /// The head that was expected to be in it.
    pub expected: Option<Head>,
    /// The first thing found wrong; `None` if all is well.
    pub problem: Option<String>,
}

/// How many entries are read at a time.
const PAGE: u64 = 1000;

/// How many releases are read at a time, with their responses.
const RELEASES: u64 = 100;

impl Ledger {
    /// Derives everything from the history again and compares it with what is stored. With a
    /// head that was kept elsewhere, entries up to that one are known to be those that were.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read at all; what is wrong *in* it is the
    /// verification's problem.
    pub fn verify(&mut self, expected: Option<Head>) -> Result<Verification, LedgerError> {
        let mut head = Head::NONE;
        let problem = match self.read(|tables| verify(tables, expected, &mut head)) {
            Ok(problem) => problem,
            Err(LedgerError::Damaged(problem)) => Some(problem),
            Err(LedgerError::Database(DatabaseError::Failed(problem))) => Some(problem),
            Err(error) => return Err(error),
        };
        Ok(Verification { head, expected, problem })
    }
}

/// The first problem, if there is one.
fn verify(
    tables: &mut Tables<'_>,
    expected: Option<Head>,
    head: &mut Head,
) -> Result<Option<String>, LedgerError> {
    if let Some(problem) = tables.own_problem()? {
        return Ok(Some(format!("the database: {problem}")));
    }
    let version = tables.version()?;
    if let Some(problem) = tables.difference(version)? {
        return Ok(Some(problem));
    }
    if expected.is_some_and(|known| known.sequence == 0 && known != Head::NONE) {
        return Ok(Some(format!("every history begins at {}, not as expected", Head::NONE)));
    }
    let mut books = Books::default();
    if let Some(problem) = history(tables, expected, head, &mut books)? {
        return Ok(Some(problem));
    }
    let stored = tables.head()?;
    if stored != *head {
        return Ok(Some(format!("ledger_head is {stored}, and the history leads to {head}")));
    }
    if let Some(expected) = expected.filter(|expected| expected.sequence > head.sequence) {
        return Ok(Some(format!(
            "entry {} is expected and missing: the history ends at {head}",
            expected.sequence
        )));
    }
    if let Some(problem) = accounts(tables, &books)? {
        return Ok(Some(problem));
    }
    if version != books.format.cast_signed() {
        return Ok(Some(format!("ledger_version is not {}, which the history says", books.format)));
    }
    let due = std::mem::take(&mut books.sessions);
    if let Some(problem) = aliases(tables, &mut books)? {
        return Ok(Some(problem));
    }
    match releases(tables, books)? {
        None => session::sessions(tables, due),
        problem => Ok(problem),
    }
}

/// What analysts' own keys stand for.
fn aliases(tables: &mut Tables<'_>, books: &mut Books) -> Result<Option<String>, LedgerError> {
    if books.format < ALIASES {
        return Ok(None);
    }
    let (due, mut after) = (books.aliases.len(), i64::MIN);
    loop {
        let page = tables.aliases(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = i64::try_from(last.entry).unwrap_or(i64::MAX);
        for Alias { account, analyst, alias, key, entry } in page {
            let found = books.aliases.remove(&(account, analyst, alias));
            if found != Some((key, entry)) {
                return Ok(Some(format!("alias {alias} is not what its history says")));
            }
        }
    }
    let is_unlike = !books.aliases.is_empty() || tables.counts(["ledger_alias"])? != [due];
    Ok(is_unlike.then(|| "aliases are missing, or too many".to_owned()))
}

/// The chain, and what follows from it.
fn history(
    tables: &mut Tables<'_>,
    expected: Option<Head>,
    head: &mut Head,
    books: &mut Books,
) -> Result<Option<String>, LedgerError> {
    if tables.has_entry_before_the_first()? {
        return Ok(Some("there is an entry before the first".to_owned()));
    }
    loop {
        let page = tables.entries(head.sequence, PAGE)?;
        if page.is_empty() {
            return Ok(match head.sequence {
                0 => Some("the history is empty".to_owned()),
                _ => None,
            });
        }
        for entry in page {
            let next = head.then(&entry.body);
            if let Err(problem) = link(*head, next, &entry, expected, books) {
                return Ok(Some(format!("entry {}: {problem}", next.sequence)));
            }
            *head = next;
        }
    }
}

/// One entry: its place in the chain, and its event.
fn link(
    head: Head,
    next: Head,
    entry: &Stored,
    expected: Option<Head>,
    books: &mut Books,
) -> Result<(), String> {
    if entry.sequence != next.sequence {
        return Err(format!("is missing; the next one is {}", entry.sequence));
    }
    if entry.previous != head.hash.0 || entry.hash != next.hash.0 {
        return Err("its hash is not that of its content and of the entry before it".to_owned());
    }
    if expected.is_some_and(|known| known.sequence == next.sequence && known.hash != next.hash) {
        return Err("is not the one that was expected: the history is another".to_owned());
    }
    let event = Event::read(&entry.body).map_err(|error| error.problem)?;
    if entry.account.as_deref() != event.account() {
        return Err("is filed under another account".to_owned());
    }
    books.apply(next.sequence, &event)
}

/// Accounts, slots and quotas as they should be.
fn accounts(tables: &mut Tables<'_>, books: &Books) -> Result<Option<String>, LedgerError> {
    let stored = tables.accounts()?;
    let by_name: BTreeMap<&str, &Account> =
        stored.iter().map(|account| (account.name.as_str(), account)).collect();
    if by_name.len() != books.accounts.len() || stored.len() != books.accounts.len() {
        let (found, due) = (stored.len(), books.accounts.len());
        return Ok(Some(format!("there are {found} accounts, and {due} were opened")));
    }
    for (name, due) in &books.accounts {
        if by_name.get(name.as_str()) != Some(&due) {
            return Ok(Some(format!("the balance of {name:?} is not what its history says")));
        }
    }
    let mut counts = [0, 0];
    for name in books.accounts.keys() {
        for slot in tables.slots(name)? {
            counts[0] += 1;
            if books.slots.get(&(name.clone(), slot.name.clone())) != Some(&slot) {
                let problem =
                    format!("slot {:?} of {name:?} is not what its history says", slot.name);
                return Ok(Some(problem));
            }
        }
        for share in tables.shares(name)? {
            counts[1] += 1;
            if books.shares.get(&(name.clone(), share.analyst.clone())) != Some(&share) {
                let who = &share.analyst;
                let problem =
                    format!("the quota of {who:?} in {name:?} is not what its history says");
                return Ok(Some(problem));
            }
        }
    }
    let due = [books.slots.len(), books.shares.len()];
    if counts != due || tables.counts(["ledger_slot", "ledger_quota"])? != due {
        return Ok(Some("slots or quotas are missing, or too many".to_owned()));
    }
    Ok(None)
}

/// Keys and responses as they should be.
fn releases(tables: &mut Tables<'_>, mut books: Books) -> Result<Option<String>, LedgerError> {
    let (due, mut after) = (books.releases.len(), i64::MIN);
    loop {
        let page = tables.releases(after, RELEASES)?;
        let Some(last) = page.last() else { break };
        after = i64::try_from(last.reserved).unwrap_or(i64::MAX);
        for release in page {
            let Release { key, account, analyst, session, request, reserved, .. } = release;
            let Some(kept) = books.releases.remove(&(account, key.clone())) else {
                return Ok(Some(format!("key {key:?} was never reserved")));
            };
            let committed = release.response.as_ref().map(|response| {
                let hash = Hash::of(response).to_string();
                (release.committed.unwrap_or_default(), hash, response.len() as u64)
            });
            let both = release.committed.is_some() == committed.is_some();
            let stored = Kept { analyst, session, request, reserved, committed };
            if kept != stored || !both {
                return Ok(Some(format!("key {key:?} is not what its history says")));
            }
        }
    }
    if let Some((_, key)) = books.releases.keys().next() {
        return Ok(Some(format!("key {key:?} was reserved and is missing")));
    }
    // What comes before every entry was on no page.
    let too_many = tables.counts(["ledger_release"])? != [due];
    Ok(too_many.then(|| "there are more keys than were reserved".to_owned()))
}
