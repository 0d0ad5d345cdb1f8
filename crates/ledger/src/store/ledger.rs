//! A ledger: making it, opening it, and its transactions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use counterpoint_wire::ledger::{Asked, Cost, Event};

use super::database::{Access, Database, DatabaseError, Row, Statement, Url};
use super::find;
use super::tables::Tables;
use super::tables::cells::Known;
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::{FORMAT, VERSION};

/// A ledger, through one handle. Any number of handles, in any number of processes, may be
/// open on the same one.
pub struct Ledger {
    pub(super) database: Box<dyn Database>,
    /// Accounts that were reserved from, for their rules, which never change.
    known: BTreeMap<String, Arc<Known>>,
    /// Prices that were computed, by account and what was asked.
    pub(super) prices: BTreeMap<(String, String), Cost>,
    /// The last of them that was looked up.
    pub(super) last_price: Option<(String, Asked, Cost)>,
    /// Whether nothing is to be written.
    read_only: bool,
    /// The last entry that is known to have been durable: it was expected, or acknowledged here.
    /// Every write must find it.
    pub(super) seen: Head,
}

/// How a ledger is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Nothing is written, whatever is asked.
    pub read_only: bool,
    /// An entry that the history must hold, or nothing is written: the last head that an earlier
    /// call returned, kept elsewhere.
    pub expect: Option<Head>,
}

impl Ledger {
    /// Makes a new ledger.
    ///
    /// # Errors
    /// [`LedgerError::Initialised`] if there is one.
    pub fn init(url: &Url) -> Result<Self> {
        let mut database = url.open(true)?;
        database.begin(Access::Write)?;
        let seen = create(&mut *database).inspect_err(|_| database.rollback())?;
        database.commit()?;
        Ok(Self { seen, ..Self::new(database) })
    }

    /// Opens a ledger.
    ///
    /// # Errors
    /// [`LedgerError`] if there is none, or one of another version.
    pub fn open(url: &Url) -> Result<Self> {
        Self::open_in(url.open(false)?)
    }

    /// Opens a ledger, to read it alone or if it is the one that is expected.
    ///
    /// # Errors
    /// [`LedgerError::OtherHistory`] if the expected entry is not in it.
    pub fn open_with(url: &Url, options: &OpenOptions) -> Result<Self> {
        Self::open_version(url, options, VERSION)
    }

    /// The same of a ledger whose format is of some version.
    pub(crate) fn open_version(url: &Url, options: &OpenOptions, version: i64) -> Result<Self> {
        let database = if options.read_only { url.open_read_only() } else { url.open(false) };
        let mut ledger = Self::new(database?);
        ledger.check_version(version)?;
        ledger.read_only = options.read_only;
        ledger.expect(options.expect.unwrap_or(Head::NONE));
        let seen = ledger.seen;
        ledger.read(|tables| {
            let (head, is_there) = (tables.head()?, tables.contains(seen)?);
            goes_on(seen, head, is_there)
        })?;
        Ok(ledger)
    }

    /// Opens the ledger in an open database.
    ///
    /// # Errors
    /// [`LedgerError`] if there is none, or one of another version.
    pub fn open_in(database: Box<dyn Database>) -> Result<Self> {
        let mut ledger = Self::new(database);
        ledger.check_version(VERSION)?;
        Ok(ledger)
    }

    /// Whether it is of a version, with nothing more and nothing less than its tables: a trigger could undo what is
    /// written.
    fn check_version(&mut self, legal: i64) -> Result<()> {
        let found = self.version()?;
        if found != legal {
            return Err(LedgerError::Version { found });
        }
        self.read(|tables| tables.difference(legal))?.map_or(Ok(()), |found| Err(damaged(found)))
    }

    /// The version of its format.
    pub(crate) fn version(&mut self) -> Result<i64> {
        self.read(
            |tables| if tables.exist()? { tables.version() } else { Err(LedgerError::NotLedger) },
        )
    }

    pub(crate) fn new(database: Box<dyn Database>) -> Self {
        let (known, prices) = (BTreeMap::new(), BTreeMap::new());
        let last_price = None;
        Self { database, known, prices, last_price, read_only: false, seen: Head::NONE }
    }

    /// Later writes must find this entry, if it is later than what they must find anyway.
    pub(crate) fn expect(&mut self, entry: Head) {
        if self.seen.sequence <= entry.sequence {
            self.seen = entry;
        }
    }

    /// Whether the handle stopped at a failure: every later call is an error.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.database.is_stopped()
    }

    /// An account with its rule; what is spent of it may be out of date.
    pub(crate) fn known(&mut self, name: &str) -> Result<Arc<Known>> {
        if let Some(known) = self.known.get(name) {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(self.read(|tables| find::known(tables, name))?);
        self.known.insert(name.to_owned(), Arc::clone(&known));
        Ok(known)
    }

    /// Runs within a transaction that reads one snapshot.
    pub(crate) fn read<T>(&mut self, work: impl FnOnce(&mut Tables<'_>) -> Result<T>) -> Result<T> {
        self.database.begin(Access::Read)?;
        let outcome = work(&mut Tables::new(&mut *self.database));
        self.database.rollback();
        outcome
    }

    /// Waits until all that was read is durable. Whoever wrote it may have died between its write
    /// and its sync, and answers that are shown must not be lost: a retry would draw others.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if self.read_only {
            return Ok(self.database.settle()?);
        }
        self.write(|tables, head| tables.touch(head)).map(drop)
    }

    /// Runs within a transaction that has the ledger's lock and knows its head.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Tables<'_>, Head) -> Result<T>,
    ) -> Result<T> {
        self.write_after(Vec::new(), |tables, head, _| work(tables, head))
    }

    /// The same with the rows of statements, which come with the lock: on a server the lock is held while an answer is
    /// under way once if nothing more is read.
    pub(crate) fn write_after<T>(
        &mut self,
        reads: Vec<Statement>,
        work: impl FnOnce(&mut Tables<'_>, Head, Vec<Vec<Row>>) -> Result<T>,
    ) -> Result<T> {
        if self.read_only {
            return Err(LedgerError::ReadOnly);
        }
        self.database.begin(Access::Write)?;
        let mut tables = Tables::new(&mut *self.database);
        let outcome = tables.lock(self.seen, reads).and_then(|(head, is_there, rows)| {
            goes_on(self.seen, head, is_there)?;
            work(&mut tables, head, rows)
        });
        match outcome {
            Ok(value) => {
                tables.finish()?;
                self.seen = tables.head;
                Ok(value)
            }
            Err(error) => {
                self.database.rollback();
                Err(error)
            }
        }
    }

    /// Writes a copy of everything, or of everything but secrets, to a new file.
    pub(crate) fn copy(&mut self, file: &str, secrets: bool) -> Result<()> {
        Ok(self.database.copy(file, secrets)?)
    }
}

/// Refuses a history in which an entry that was seen is missing.
fn goes_on(seen: Head, head: Head, is_there: bool) -> Result<()> {
    if [Head::NONE, head].contains(&seen) || is_there {
        return Ok(());
    }
    Err(LedgerError::OtherHistory { expected: seen, head })
}

/// The tables and the first entry.
fn create(database: &mut dyn Database) -> Result<Head> {
    let mut tables = Tables::new(database);
    tables.wait_to_create()?;
    if tables.exist()? {
        return Err(LedgerError::Initialised);
    }
    tables.create()?;
    let event = Event::Init { at: now(), format: FORMAT, identity: Some(new_identity()?) };
    let head = append(&mut tables, Head::NONE, &event)?;
    tables.write()?;
    Ok(head)
}

/// A ledger's name for itself: random, in the first entry or that of its upgrade, so that no two ledgers have a head in
/// common.
pub(crate) fn new_identity() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        let problem = format!("the system gives no random bytes for an identity: {error}");
        LedgerError::from(DatabaseError::Unusable(problem))
    })?;
    Ok(Hash(bytes).to_string())
}

/// Writes an event after the head.
pub(crate) fn append(tables: &mut Tables<'_>, head: Head, event: &Event) -> Result<Head> {
    let next = add_entry(tables, head, event)?;
    tables.move_head(head, next)?;
    Ok(next)
}

/// Writes an event after another; the head is still to be moved.
pub(crate) fn add_entry(tables: &mut Tables<'_>, head: Head, event: &Event) -> Result<Head> {
    tables.add_entry(head, event.account(), &event.body().map_err(damaged)?)
}

/// The clock, in Unix seconds.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
