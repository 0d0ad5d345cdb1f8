//! A ledger: creating it, opening it, and its transactions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use counterpoint_wire::ledger::{Cost, Event, ReleaseRequest};

use super::database::{Access, Database, DatabaseError, Row, Statement, Url};
use super::find;
use super::tables::Tables;
use super::tables::cells::AccountRow;
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::{FORMAT, VERSION};

/// A durable ledger of privacy budgets, through one handle. Any number of handles, in any number of processes, may be
/// open on the same ledger.
pub struct Ledger {
    pub(super) database: Box<dyn Database>,
    /// The accounts that this handle has read, with their rules, which never change. Balances may be out of date.
    known: BTreeMap<String, Arc<AccountRow>>,
    /// The charges computed so far, by account and the text of the request.
    pub(super) prices: BTreeMap<(String, String), Cost>,
    /// The charge that was looked up last.
    pub(super) last_price: Option<(String, ReleaseRequest, Cost)>,
    /// True if this handle refuses to write.
    read_only: bool,
    /// The latest entry that the history must hold, because this handle expected or acknowledged it. Every write checks
    /// that the history still holds it.
    pub(super) seen: Head,
}

/// Options for opening a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// If true, every call that would write is refused.
    pub read_only: bool,
    /// An entry that the history must hold; without it the ledger is not opened. Keep the last head that an earlier
    /// call returned in another place, and give it here.
    pub expect: Option<Head>,
}

impl Ledger {
    /// Creates a new ledger.
    ///
    /// # Errors
    /// [`LedgerError::Initialised`] if there is a ledger already.
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

    /// Opens a ledger with options: for reading only, or only if it holds an expected entry.
    ///
    /// # Errors
    /// [`LedgerError::OtherHistory`] if the ledger does not hold the expected entry.
    pub fn open_with(url: &Url, options: &OpenOptions) -> Result<Self> {
        Self::open_version(url, options, VERSION)
    }

    /// Opens a ledger whose format is of the given version.
    pub(crate) fn open_version(url: &Url, options: &OpenOptions, version: i64) -> Result<Self> {
        let database = if options.read_only { url.open_read_only() } else { url.open(false) };
        let mut ledger = Self::new(database?);
        ledger.check_version(version)?;
        ledger.read_only = options.read_only;
        ledger.expect(options.expect.unwrap_or(Head::NONE));
        let seen = ledger.seen;
        ledger.read(|tables| {
            let (head, is_there) = (tables.head()?, tables.contains(seen)?);
            check_continuation(seen, head, is_there)
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

    /// Checks the version of the format, and that the database holds exactly the tables of that version and nothing
    /// more: a trigger could undo a write.
    fn check_version(&mut self, legal: i64) -> Result<()> {
        let found = self.version()?;
        if found != legal {
            return Err(LedgerError::Version { found });
        }
        self.read(|tables| tables.difference(legal))?.map_or(Ok(()), |found| Err(damaged(found)))
    }

    /// The version of the ledger's format.
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

    /// Requires the history to hold this entry at every later write, unless a later entry is required already.
    pub(crate) fn expect(&mut self, entry: Head) {
        if self.seen.sequence <= entry.sequence {
            self.seen = entry;
        }
    }

    /// True if the handle stopped at a failure. Every later call is then an error.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.database.is_stopped()
    }

    /// An account with its rule. The balance may be out of date.
    pub(crate) fn cached_account(&mut self, name: &str) -> Result<Arc<AccountRow>> {
        if let Some(known) = self.known.get(name) {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(self.read(|tables| find::account_row(tables, name))?);
        self.known.insert(name.to_owned(), Arc::clone(&known));
        Ok(known)
    }

    /// Runs a function within a transaction that reads one snapshot.
    pub(crate) fn read<T>(&mut self, work: impl FnOnce(&mut Tables<'_>) -> Result<T>) -> Result<T> {
        self.database.begin(Access::Read)?;
        let outcome = work(&mut Tables::new(&mut *self.database));
        self.database.rollback();
        outcome
    }

    /// Waits until all rows that were read are durable. The process that wrote them may have died between its write and
    /// its sync, and an answer that was shown must not be lost: a retry would draw new noise.
    pub(crate) fn wait_until_durable(&mut self) -> Result<()> {
        if self.read_only {
            return Ok(self.database.wait_until_durable()?);
        }
        self.write(|tables, head| tables.touch(head)).map(drop)
    }

    /// Runs a function within a transaction that holds the ledger's lock and knows the head.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Tables<'_>, Head) -> Result<T>,
    ) -> Result<T> {
        self.write_after(Vec::new(), |tables, head, _| work(tables, head))
    }

    /// Like [`Ledger::write`], with the rows of some statements, which are read together with the lock. If the function
    /// reads nothing more, the lock on a server is held for a single round trip.
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
            check_continuation(self.seen, head, is_there)?;
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

    /// Copies the ledger to a new file, with or without private states.
    pub(crate) fn copy(&mut self, file: &str, secrets: bool) -> Result<()> {
        Ok(self.database.copy(file, secrets)?)
    }
}

/// Refuses a history that lacks an entry which was seen.
fn check_continuation(seen: Head, head: Head, is_there: bool) -> Result<()> {
    if [Head::NONE, head].contains(&seen) || is_there {
        return Ok(());
    }
    Err(LedgerError::OtherHistory { expected: seen, head })
}

/// Creates the tables and the first entry.
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

/// A new random name for a ledger. It is stored in the first entry, or in the entry of an upgrade, so that no two
/// ledgers have a head in common.
pub(crate) fn new_identity() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        let problem = format!("the system gives no random bytes for an identity: {error}");
        LedgerError::from(DatabaseError::Unusable(problem))
    })?;
    Ok(Hash(bytes).to_string())
}

/// Adds an event to the history and moves the head to it.
pub(crate) fn append(tables: &mut Tables<'_>, head: Head, event: &Event) -> Result<Head> {
    let next = add_entry(tables, head, event)?;
    tables.move_head(head, next)?;
    Ok(next)
}

/// Adds an event to the history. The caller has to move the head.
pub(crate) fn add_entry(tables: &mut Tables<'_>, head: Head, event: &Event) -> Result<Head> {
    tables.add_entry(head, event.account(), &event.body().map_err(damaged)?)
}

/// The present time in Unix seconds.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
