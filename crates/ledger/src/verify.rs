//! Everything recomputed, and compared.

use std::collections::BTreeMap;

use counterpoint_wire::ledger::Event;

use crate::cells::Stored;
use crate::chain::{Hash, Head};
use crate::checkpoint::Checkpoint;
use crate::database::DatabaseError;
use crate::error::{LedgerError, Problem};
use crate::ledger::Ledger;
use crate::name::Place;
use crate::replay::{ALIASES, Books, Kept, Unstored};
use crate::rows::{Account, Alias, Release};
use crate::session;
use crate::tables::{Digested, Tables};

/// What verification came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The head that the history leads to.
    pub head: Head,
    /// The head that was expected to be in it.
    pub expected: Option<Head>,
    /// The checkpoint's head, if it began at one.
    pub after: Option<Head>,
    /// Whether the file has digests in the place of private states.
    pub lacks_secrets: bool,
    /// The first thing found wrong; `None` if all is well.
    pub problem: Option<String>,
}

/// How many entries are read at a time.
const PAGE: u64 = 1000;

impl Ledger {
    /// Derives everything from the history again and compares it with what is stored. With a
    /// head that was kept elsewhere, entries up to that one are known to be those that were.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read at all; what is wrong *in* it is the
    /// verification's problem.
    pub fn verify(&mut self, expected: Option<Head>) -> Result<Verification, LedgerError> {
        Ok(self.look_through(None, expected, false)?.0)
    }

    /// The same from a checkpoint on, or from the first entry: with what to keep for the next time if all is well.
    ///
    /// From a checkpoint on the schema, the checkpoint's own entry, all later entries, every balance, slot and quota, and
    /// all releases, sessions, states, answers and aliases that later entries are about or that were not over are
    /// verified, and how many there are. Entries before it, what was over by then, and the database's file are not read.
    ///
    /// # Errors
    /// As [`Ledger::verify`]; [`LedgerError::Checkpoint`] if the checkpoint cannot be read.
    pub fn verify_from(
        &mut self,
        checkpoint: Option<&Checkpoint>,
        expected: Option<Head>,
    ) -> Result<(Verification, Option<Checkpoint>), LedgerError> {
        self.look_through(checkpoint, expected, true)
    }

    fn look_through(
        &mut self,
        checkpoint: Option<&Checkpoint>,
        expected: Option<Head>,
        keep: bool,
    ) -> Result<(Verification, Option<Checkpoint>), LedgerError> {
        let unreadable = |error: LedgerError| LedgerError::Checkpoint(error.to_string());
        let books =
            checkpoint.map_or(Ok(Books::default()), |kept| kept.books().map_err(unreadable))?;
        let mut verification = Verification {
            head: Head::NONE,
            expected,
            after: checkpoint.map(Checkpoint::head),
            lacks_secrets: false,
            problem: None,
        };
        let verified = self.read(|tables| {
            verification.lacks_secrets = tables.lacks_secrets()?;
            let head = &mut verification.head;
            match verify(tables, expected, (checkpoint, books), head)? {
                Ok(unstored) if keep => Ok(Ok(Some(Checkpoint::take(tables, *head, &unstored)?))),
                Ok(_) => Ok(Ok(None)),
                Err(problem) => Ok(Err(problem)),
            }
        });
        verification.problem = match verified {
            Ok(Ok(kept)) => return Ok((verification, kept)),
            Ok(Err(problem)) | Err(LedgerError::Damaged(problem)) => Some(problem),
            Err(LedgerError::Database(DatabaseError::Failed(problem))) => Some(problem),
            Err(error) => return Err(error),
        };
        Ok((verification, None))
    }
}

/// What follows from the history alone, or the first problem.
fn verify(
    tables: &mut Tables<'_>,
    expected: Option<Head>,
    (from, mut books): (Option<&Checkpoint>, Books),
    head: &mut Head,
) -> Result<Result<Unstored, Problem>, LedgerError> {
    if from.is_none()
        && let Some(problem) = tables.own_problem()?
    {
        return Ok(Err(format!("the database: {problem}")));
    }
    let version = tables.version()?;
    if let Some(problem) = tables.difference(version)? {
        return Ok(Err(problem));
    }
    if expected.is_some_and(|known| known.sequence == 0 && known != Head::NONE) {
        return Ok(Err(format!("every history begins at {}, not as expected", Head::NONE)));
    }
    if let Some(kept) = from {
        if let Some(problem) = go_on(tables, kept.head, expected)? {
            return Ok(Err(problem));
        }
        *head = kept.head;
    }
    if let Some(problem) = history(tables, expected, head, &mut books)? {
        return Ok(Err(problem));
    }
    let stored = tables.head()?;
    if stored != *head {
        return Ok(Err(format!("ledger_head is {stored}, and the history leads to {head}")));
    }
    if let Some(expected) = expected.filter(|expected| expected.sequence > head.sequence) {
        return Ok(Err(format!(
            "entry {} is expected and missing: the history ends at {head}",
            expected.sequence
        )));
    }
    if let Some(problem) = accounts(tables, &books)? {
        return Ok(Err(problem));
    }
    if version != books.format.cast_signed() {
        return Ok(Err(format!("ledger_version is not {}, which the history says", books.format)));
    }
    let due = std::mem::take(&mut books.sessions);
    let after = from.map_or(i64::MIN, |kept| i64::try_from(kept.head.sequence).unwrap_or(i64::MAX));
    let [releases_before, aliases_before, sessions_before, answers_before] =
        from.map_or([0; 4], |kept| kept.counts);
    if let Some(problem) = aliases(tables, &mut books, after, aliases_before)? {
        return Ok(Err(problem));
    }
    let unstored = std::mem::take(&mut books.unstored);
    if let Some(problem) = releases(tables, books, after, releases_before)? {
        return Ok(Err(problem));
    }
    let problem = session::sessions(tables, due, after, [sessions_before, answers_before])?;
    Ok(problem.map_or(Ok(unstored), Err))
}

/// Whether the history still has the entry that a checkpoint was taken at.
fn go_on(
    tables: &mut Tables<'_>,
    kept: Head,
    expected: Option<Head>,
) -> Result<Option<String>, LedgerError> {
    let Some(before) = kept.sequence.checked_sub(1) else {
        return Ok(Some("the checkpoint is before the first entry".to_owned()));
    };
    let found = tables.entries(before, 1)?.into_iter().next();
    let is_same = found.is_some_and(|entry| {
        let previous = <[u8; 32]>::try_from(entry.previous.as_slice()).map(Hash);
        let event = Event::read(&entry.body);
        entry.sequence == kept.sequence
            && event.is_ok_and(|event| event.account() == entry.account.as_deref())
            && entry.hash == kept.hash.0
            && previous.is_ok_and(|hash| Head { sequence: before, hash }.then(&entry.body) == kept)
    });
    if !is_same {
        let problem =
            format!("entry {} is not the checkpoint's: the history is another", kept.sequence);
        return Ok(Some(problem));
    }
    match expected.filter(|known| (1..=kept.sequence).contains(&known.sequence)) {
        Some(known) if !tables.contains(known)? => {
            let problem = "is not the one that was expected: the history is another";
            Ok(Some(format!("entry {}: {problem}", known.sequence)))
        }
        _ => Ok(None),
    }
}

/// What analysts' own keys stand for, from an entry on before which there were so many.
fn aliases(
    tables: &mut Tables<'_>,
    books: &mut Books,
    mut after: i64,
    before: usize,
) -> Result<Option<String>, LedgerError> {
    if books.format < ALIASES {
        return Ok(None);
    }
    let due = before + books.aliases.len();
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
    for (account, key) in &books.earlier {
        let found = tables.digested_release(account, key)?;
        if found.is_none_or(|(release, _)| release.reserved > books.after) {
            return Ok(Some(format!("an alias is of key {key:?}, which was not reserved")));
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

/// Keys and responses as they should be, from an entry on before which there were so many, and those that were not over.
fn releases(
    tables: &mut Tables<'_>,
    mut books: Books,
    mut after: i64,
    before: usize,
) -> Result<Option<String>, LedgerError> {
    let is_earlier = |kept: &Kept| kept.reserved <= books.after;
    let earlier: Vec<Place> = books
        .releases
        .iter()
        .filter(|(_, kept)| is_earlier(kept))
        .map(|(place, _)| place.clone())
        .collect();
    let due = before + books.releases.len() - earlier.len();
    for (account, key) in earlier {
        if let Some(found) = tables.digested_release(&account, &key)?
            && let Some(problem) = unlike(&mut books, found)
        {
            return Ok(Some(problem));
        }
    }
    loop {
        let page = tables.digested_releases(after)?;
        let Some((last, _)) = page.last() else { break };
        after = i64::try_from(last.reserved).unwrap_or(i64::MAX);
        for found in page {
            if let Some(problem) = unlike(&mut books, found) {
                return Ok(Some(problem));
            }
        }
    }
    if let Some((_, key)) = books.releases.keys().next() {
        return Ok(Some(format!("key {key:?} was reserved and is missing")));
    }
    // What comes before every entry was on no page.
    let too_many = tables.counts(["ledger_release"])? != [due];
    Ok(too_many.then(|| "there are more or fewer keys than were reserved".to_owned()))
}

/// What is wrong with a stored release, which is taken off the books.
fn unlike(books: &mut Books, (release, response): Digested<Release>) -> Option<String> {
    let Release { key, account, analyst, session, request, reserved, committed, .. } = release;
    let Some(kept) = books.releases.remove(&(account, key.clone())) else {
        return Some(format!("key {key:?} was never reserved"));
    };
    let both = committed.is_some() == response.is_some();
    let committed =
        response.map(|(hash, length)| (committed.unwrap_or_default(), hash.to_string(), length));
    let stored = Kept { analyst, session, request, reserved, committed };
    (kept != stored || !both).then(|| format!("key {key:?} is not what its history says"))
}
