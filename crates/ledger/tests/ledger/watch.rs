//! Databases that are watched: what is done to them is told to a function, which may do something itself.

use counterpoint_ledger::Ledger;
use counterpoint_ledger::database::{Access, Cell, Database, DatabaseError, Dialect, Row};

use crate::Place;

/// What happens to a database.
pub(crate) enum Event<'a> {
    /// A transaction is about to begin.
    Begin(Access),
    /// A statement that reads came to something.
    Queried(&'a str, &'a [Cell]),
    /// A statement that writes succeeded.
    Executed(&'a str),
    /// A transaction is about to be committed.
    Commit,
    /// It was committed.
    Committed,
}

struct Watched<F> {
    inner: Box<dyn Database>,
    told: F,
}

/// The ledger in a place; what is done to its database from now on is told to a function.
pub(crate) fn open(place: &Place, told: impl FnMut(Event<'_>) + Send + 'static) -> Ledger {
    let inner = place.url().open(false).unwrap();
    Ledger::open_in(Box::new(Watched { inner, told })).unwrap()
}

impl<F: FnMut(Event<'_>) + Send> Database for Watched<F> {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        (self.told)(Event::Begin(access));
        self.inner.begin(access)
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        let rows = self.inner.query(sql, parameters);
        (self.told)(Event::Queried(sql, parameters));
        rows
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        let changed = self.inner.execute(sql, parameters)?;
        (self.told)(Event::Executed(sql));
        Ok(changed)
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        (self.told)(Event::Commit);
        self.inner.commit()?;
        (self.told)(Event::Committed);
        Ok(())
    }

    fn rollback(&mut self) {
        self.inner.rollback();
    }

    fn copy(&mut self, file: &str, secrets: bool) -> Result<(), DatabaseError> {
        self.inner.copy(file, secrets)
    }

    fn wait_until_durable(&mut self) -> Result<(), DatabaseError> {
        self.inner.wait_until_durable()
    }

    fn is_stopped(&self) -> bool {
        self.inner.is_stopped()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }
}
