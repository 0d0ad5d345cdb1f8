//! Verification: everything is derived from the history again and compared with the stored rows.

mod sessions;

use std::collections::BTreeMap;
use std::fmt;

use counterpoint_wire::ledger::Event;

use super::checkpoint::Checkpoint;
use super::replay::{ALIASES_SINCE, Books, ReleaseRecord, ReplayError, UnstoredState};
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{DatabaseError, LedgerError, Result, damaged};
use crate::rules::name::NameInAccount;
use crate::rules::rows::{Account, Alias, Release};
use crate::store::ledger::Ledger;
use crate::store::tables::cells::EntryRow;
use crate::store::tables::{DigestRow, Tables};

/// The outcome of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The head that follows from the history.
    pub head: Head,
    /// The head that was expected in the history.
    pub expected: Option<Head>,
    /// The checkpoint's head, if the verification began at a checkpoint.
    pub after: Option<Head>,
    /// True if the file has digests in the place of private states.
    pub lacks_secrets: bool,
    /// The first problem; `None` if there is none.
    pub problem: Option<String>,
}

/// The number of entries that are read at a time.
const PAGE: u64 = 1000;

impl Ledger {
    /// Derives everything from the history again and compares it with the stored rows. With an expected head that was
    /// kept elsewhere, this also proves that the entries up to that head have not changed.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be read at all. A problem *in* the ledger is no error:
    /// [`Verification::problem`] describes it.
    pub fn verify(&mut self, expected: Option<Head>) -> Result<Verification> {
        Ok(self.verify_with(None, expected, false)?.0)
    }

    /// Verifies from a checkpoint on, or from the first entry. If there is no problem, returns a checkpoint for the
    /// next time.
    ///
    /// From a checkpoint on, these are verified: the schema; the checkpoint's own entry and all later entries; every
    /// balance, slot and quota; all releases, sessions, states, answers and aliases that later entries are about or
    /// that had not ended at the checkpoint; and the numbers of all of these rows. Not read are earlier entries,
    /// releases and sessions that had ended, and the database's file as a whole.
    ///
    /// # Errors
    /// Those of [`Ledger::verify`], and [`LedgerError::Checkpoint`] if the checkpoint cannot be read.
    pub fn verify_from(
        &mut self,
        checkpoint: Option<&Checkpoint>,
        expected: Option<Head>,
    ) -> Result<(Verification, Option<Checkpoint>)> {
        self.verify_with(checkpoint, expected, true)
    }

    fn verify_with(
        &mut self,
        checkpoint: Option<&Checkpoint>,
        expected: Option<Head>,
        keep: bool,
    ) -> Result<(Verification, Option<Checkpoint>)> {
        let unreadable = |error: LedgerError| LedgerError::Checkpoint(error.to_string());
        let books = checkpoint.map_or(Ok(Books::default()), Checkpoint::books);
        let books = books.map_err(unreadable)?;
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
            let unstored = verify(tables, expected, (checkpoint, books), head)?;
            keep.then(|| Checkpoint::take(tables, *head, &unstored)).transpose()
        });
        verification.problem = match verified {
            Ok(kept) => return Ok((verification, kept)),
            Err(LedgerError::Damaged(problem)) => Some(problem),
            Err(LedgerError::Database(DatabaseError::Failed(problem))) => Some(problem),
            Err(error) => return Err(error),
        };
        Ok((verification, None))
    }
}

/// Verifies the ledger and returns the state that no table holds. A problem is an error: the ledger is damaged.
fn verify(
    tables: &mut Tables<'_>,
    expected: Option<Head>,
    (from, mut books): (Option<&Checkpoint>, Books),
    head: &mut Head,
) -> Result<UnstoredState> {
    if from.is_none()
        && let Some(problem) = tables.own_problem()?
    {
        return Err(damaged(format_args!("the database: {problem}")));
    }
    let version = tables.version()?;
    if let Some(problem) = tables.difference(version)? {
        return Err(damaged(problem));
    }
    if expected.is_some_and(|known| known.sequence == 0 && known != Head::NONE) {
        let none = Head::NONE;
        return Err(damaged(format_args!(
            "the expected head is not that of an empty history, {none}"
        )));
    }
    if let Some(kept) = from {
        check_checkpoint(tables, kept.head, expected)?;
        *head = kept.head;
    }
    history(tables, expected, head, &mut books)?;
    let stored = tables.head()?;
    if stored != *head {
        let problem = format!("ledger_head is {stored}, and the history leads to {head}");
        return Err(damaged(problem));
    }
    if let Some(Head { sequence, .. }) = expected.filter(|known| known.sequence > head.sequence) {
        let problem =
            format!("entry {sequence} is expected and missing: the history ends at {head}");
        return Err(damaged(problem));
    }
    accounts(tables, &books)?;
    if version != books.format.cast_signed() {
        let format = books.format;
        return Err(damaged(format_args!(
            "ledger_version is not {format}, the version of the history"
        )));
    }
    let due = std::mem::take(&mut books.sessions);
    let unstored = std::mem::take(&mut books.unstored);
    let after = from.map_or(i64::MIN, |kept| i64::try_from(kept.head.sequence).unwrap_or(i64::MAX));
    let [releases_before, aliases_before, sessions_before, answers_before] =
        from.map_or([0; 4], |kept| kept.counts);
    aliases(tables, &mut books, after, aliases_before)?;
    releases(tables, books, after, releases_before)?;
    sessions::sessions(tables, due, after, [sessions_before, answers_before])?;
    Ok(unstored)
}

/// Checks that the history still has the entry of a checkpoint.
fn check_checkpoint(tables: &mut Tables<'_>, kept: Head, expected: Option<Head>) -> Result<()> {
    let before = kept.sequence.checked_sub(1);
    let before = before.ok_or_else(|| damaged("the checkpoint is before the first entry"))?;
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
            format!("entry {} is not the checkpoint's: this is another history", kept.sequence);
        return Err(damaged(problem));
    }
    match expected.filter(|known| (1..=kept.sequence).contains(&known.sequence)) {
        Some(known) if !tables.contains(known)? => {
            let problem = "is not the expected entry: this is another history";
            Err(damaged(format_args!("entry {}: {problem}", known.sequence)))
        }
        _ => Ok(()),
    }
}

/// Compares the aliases that were added after an entry with the books. Up to that entry, `before` aliases were added.
fn aliases(
    tables: &mut Tables<'_>,
    books: &mut Books,
    mut after: i64,
    before: usize,
) -> Result<()> {
    if books.format < ALIASES_SINCE {
        return Ok(());
    }
    let due = before + books.aliases.len();
    loop {
        let page = tables.aliases(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = i64::try_from(last.entry).unwrap_or(i64::MAX);
        for Alias { account, analyst, alias, key, entry } in page {
            let found = books.aliases.remove(&(account, analyst, alias));
            if found != Some((key, entry)) {
                return Err(damaged(format_args!("alias {alias} is not what its history says")));
            }
        }
    }
    for (account, key) in &books.earlier {
        let found = tables.digested_release(account, key)?;
        if found.is_none_or(|(release, _)| release.reserved > books.after) {
            let problem = format!("an alias stands for key {key:?}, which was not reserved");
            return Err(damaged(problem));
        }
    }
    if !books.aliases.is_empty() || tables.counts(["ledger_alias"])? != [due] {
        return Err(damaged("aliases are missing, or there are too many"));
    }
    Ok(())
}

/// Checks the chain, and applies its entries to the books.
fn history(
    tables: &mut Tables<'_>,
    expected: Option<Head>,
    head: &mut Head,
    books: &mut Books,
) -> Result<()> {
    if tables.has_entry_before_the_first()? {
        return Err(damaged("there is an entry before the first"));
    }
    loop {
        let page = tables.entries(head.sequence, PAGE)?;
        if page.is_empty() {
            return match head.sequence {
                0 => Err(damaged("the history is empty")),
                _ => Ok(()),
            };
        }
        for entry in page {
            let next = head.then(&entry.body);
            link(*head, next, &entry, expected, books)
                .map_err(|problem| damaged(format_args!("entry {}: {problem}", next.sequence)))?;
            *head = next;
        }
    }
}

/// Checks the place of one entry in the chain, and applies its event to the books.
fn link(
    head: Head,
    next: Head,
    entry: &EntryRow,
    expected: Option<Head>,
    books: &mut Books,
) -> Result<(), ReplayError> {
    if entry.sequence != next.sequence {
        return Err(format!("is missing; the next one is {}", entry.sequence).into());
    }
    if entry.previous != head.hash.0 || entry.hash != next.hash.0 {
        return Err("its hash is not that of its content and of the entry before it".into());
    }
    if expected.is_some_and(|known| known.sequence == next.sequence && known.hash != next.hash) {
        return Err("is not the expected entry: this is another history".into());
    }
    let event = Event::read(&entry.body)?;
    if entry.account.as_deref() != event.account() {
        return Err("is filed under another account".into());
    }
    books.apply(next.sequence, &event)
}

/// Compares accounts, slots and quotas with the books.
fn accounts(tables: &mut Tables<'_>, books: &Books) -> Result<()> {
    let unlike =
        |what: fmt::Arguments<'_>| damaged(format_args!("{what} is not what its history says"));
    let stored = tables.accounts()?;
    let by_name: BTreeMap<&str, &Account> =
        stored.iter().map(|account| (account.name.as_str(), account)).collect();
    if by_name.len() != books.accounts.len() || stored.len() != books.accounts.len() {
        let (found, due) = (stored.len(), books.accounts.len());
        return Err(damaged(format_args!("there are {found} accounts, and {due} were opened")));
    }
    for (name, due) in &books.accounts {
        if by_name.get(name.as_str()) != Some(&due) {
            return Err(unlike(format_args!("the balance of {name:?}")));
        }
    }
    let mut counts = [0, 0];
    for name in books.accounts.keys() {
        for slot in tables.slots(name)? {
            counts[0] += 1;
            if books.slots.get(&(name.clone(), slot.name.clone())) != Some(&slot) {
                return Err(unlike(format_args!("slot {:?} of {name:?}", slot.name)));
            }
        }
        for quota in tables.quotas(name)? {
            counts[1] += 1;
            if books.quotas.get(&(name.clone(), quota.analyst.clone())) != Some(&quota) {
                return Err(unlike(format_args!("the quota of {:?} in {name:?}", quota.analyst)));
            }
        }
    }
    let due = [books.slots.len(), books.quotas.len()];
    if counts != due || tables.counts(["ledger_slot", "ledger_quota"])? != due {
        return Err(damaged("slots or quotas are missing, or there are too many"));
    }
    Ok(())
}

/// Compares with the books the releases that were reserved after an entry, and those that had no response at that
/// entry. Up to that entry, `before` releases were reserved.
fn releases(
    tables: &mut Tables<'_>,
    mut books: Books,
    mut after: i64,
    before: usize,
) -> Result<()> {
    let is_earlier = |kept: &ReleaseRecord| kept.reserved <= books.after;
    let earlier = books.releases.iter().filter(|(_, kept)| is_earlier(kept));
    let earlier: Vec<NameInAccount> = earlier.map(|(place, _)| place.clone()).collect();
    let due = before + books.releases.len() - earlier.len();
    for (account, key) in earlier {
        if let Some(found) = tables.digested_release(&account, &key)? {
            check(&mut books, found)?;
        }
    }
    loop {
        let page = tables.digested_releases(after)?;
        let Some((last, _)) = page.last() else { break };
        after = i64::try_from(last.reserved).unwrap_or(i64::MAX);
        page.into_iter().try_for_each(|found| check(&mut books, found))?;
    }
    if let Some((_, key)) = books.releases.keys().next() {
        return Err(damaged(format_args!("key {key:?} was reserved and is missing")));
    }
    // A page begins after an entry, so a row whose entry number is below all entries is on no page. The count finds it.
    if tables.counts(["ledger_release"])? != [due] {
        return Err(damaged("there are more or fewer keys than were reserved"));
    }
    Ok(())
}

/// Compares a stored release with the books, and takes it off the books.
fn check(books: &mut Books, (release, response): DigestRow<Release>) -> Result<()> {
    let Release { key, account, analyst, session, request, reserved, committed, .. } = release;
    let kept = books.releases.remove(&(account, key.clone()));
    let kept = kept.ok_or_else(|| damaged(format_args!("key {key:?} was never reserved")))?;
    let both = committed.is_some() == response.is_some();
    let committed =
        response.map(|(hash, length)| (committed.unwrap_or_default(), hash.to_string(), length));
    let stored = ReleaseRecord { analyst, session, request, reserved, committed };
    if kept != stored || !both {
        return Err(damaged(format_args!("key {key:?} is not what its history says")));
    }
    Ok(())
}
