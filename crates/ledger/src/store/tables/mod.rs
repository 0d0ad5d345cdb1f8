//! Every statement of the ledger, in SQL that both databases understand.

mod accounts;
pub(crate) mod cells;
mod entries;
mod releases;
mod sessions;
mod sortable;

pub(crate) use accounts::{ACCOUNTS, QUOTAS, SLOTS, account_named, share_of, slot_named};
pub(crate) use releases::{Digested, OPEN_RELEASES, alias_of, release_under};
pub(crate) use sessions::OPEN_SESSIONS;

use super::database::{
    Cell, Database, Dialect, Row, Statement, WITHOUT_SECRETS, added, difference, schema,
};
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::VERSION;
use cells::Reader;

/// The tables, within a transaction.
pub(crate) struct Tables<'a> {
    database: &'a mut dyn Database,
    /// The last head that was read or written.
    pub(crate) head: Head,
    /// What is to be written before anything more is read: each must change one row.
    writes: Vec<Statement>,
    /// Whether the server tells digests, and whether a file lacks secrets, once that is known.
    has_digests: Option<bool>,
    lacks_secrets: Option<bool>,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(database: &'a mut dyn Database) -> Self {
        let (has_digests, lacks_secrets) = (None, None);
        Self { database, head: Head::NONE, writes: Vec::new(), has_digests, lacks_secrets }
    }

    /// Makes the tables.
    pub(crate) fn create(&mut self) -> Result<()> {
        for statement in schema(self.database.dialect(), VERSION) {
            self.database.execute(&statement, &[])?;
        }
        let sql = "INSERT INTO ledger_version (id, version) VALUES (1, $1)";
        self.one(sql, [VERSION.into()])?;
        self.set_out()
    }

    /// Makes what a later version has more, one version after the other.
    pub(crate) fn upgrade(&mut self, from: i64, to: i64) -> Result<()> {
        for version in from + 1..=to {
            for statement in added(self.database.dialect(), version) {
                self.database.execute(&statement, &[])?;
            }
        }
        let sql = "UPDATE ledger_version SET version = $1 WHERE id = 1 AND version = $2";
        self.one(sql, [to.into(), from.into()])
    }

    /// Whether there are tables at all.
    pub(crate) fn exist(&mut self) -> Result<bool> {
        let sql = match self.database.dialect() {
            Dialect::Sqlite => "SELECT name FROM sqlite_master WHERE name = 'ledger_version'",
            Dialect::Postgres => "SELECT 1::bigint WHERE to_regclass('ledger_version') IS NOT NULL",
        };
        Ok(!self.rows(sql, &[])?.is_empty())
    }

    /// Waits until nobody else makes tables: PostgreSQL fails one of two transactions that make the same table at once. In
    /// SQLite a writer is alone.
    pub(crate) fn wait_to_create(&mut self) -> Result<()> {
        if self.database.dialect() == Dialect::Postgres {
            // Any number; it is ours alone in a database of ours.
            self.rows("SELECT count(pg_advisory_xact_lock(7166086437)::text)", &[])?;
        }
        Ok(())
    }

    /// The version that is stored.
    pub(crate) fn version(&mut self) -> Result<i64> {
        match self.rows("SELECT id, version FROM ledger_version", &[])?.as_slice() {
            [row] if Reader(row).whole(0)? == 1 => Reader(row).whole(1),
            [_] => Err(damaged("ledger_version has a row that is not of id 1")),
            rows => Err(damaged(format_args!("ledger_version has {} rows", rows.len()))),
        }
    }

    /// What the database has otherwise than a ledger of a version, but for rows: tables, indexes, triggers, rules.
    pub(crate) fn difference(&mut self, version: i64) -> Result<Option<String>> {
        self.write()?;
        Ok(difference(self.database, version)?)
    }

    /// What the database itself finds wrong with its file, if it can look.
    pub(crate) fn own_problem(&mut self) -> Result<Option<String>> {
        if self.database.dialect() != Dialect::Sqlite {
            return Ok(None);
        }
        // Every row is looked up in every index: most of them are then in memory.
        self.rows("PRAGMA cache_size = -131072", &[])?;
        let rows = self.rows("PRAGMA integrity_check(1)", &[]);
        self.rows("PRAGMA cache_size = -2000", &[])?;
        let rows = rows?;
        let first = Reader(rows.first().map_or(&[][..], |row| row)).text(0)?;
        Ok((first != "ok").then_some(first))
    }

    /// Whether the server tells digests of states and responses.
    pub(crate) fn has_digests(&mut self) -> Result<bool> {
        if self.database.dialect() == Dialect::Sqlite {
            return Ok(false);
        }
        if self.has_digests.is_none() {
            self.has_digests = Some(self.version()? >= 4);
        }
        Ok(self.has_digests == Some(true))
    }

    /// Whether it is a file with digests in the place of private states.
    pub(crate) fn lacks_secrets(&mut self) -> Result<bool> {
        if self.database.dialect() != Dialect::Sqlite {
            return Ok(false);
        }
        if self.lacks_secrets.is_none() {
            let rows = self.rows("PRAGMA application_id", &[])?;
            self.lacks_secrets = Some(rows == [[Cell::Whole(WITHOUT_SECRETS)]]);
        }
        Ok(self.lacks_secrets == Some(true))
    }

    /// How many rows there are in some tables.
    pub(crate) fn counts<const N: usize>(&mut self, tables: [&str; N]) -> Result<[usize; N]> {
        let mut counts = [0; N];
        for (count, table) in counts.iter_mut().zip(tables) {
            let rows = self.rows(&format!("SELECT count(*) FROM {table}"), &[])?;
            let rows = Reader(rows.first().map_or(&[][..], |row| row)).whole(0)?;
            *count = usize::try_from(rows).unwrap_or(usize::MAX);
        }
        Ok(counts)
    }

    /// What the first row of a statement says.
    fn first<T>(
        &mut self,
        read: &Statement,
        meaning: impl Fn(&[Cell]) -> Result<T>,
    ) -> Result<Option<T>> {
        // No name has one, and PostgreSQL has no such text.
        let is_none = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
        if read.parameters.iter().any(is_none) {
            return Ok(None);
        }
        self.rows(read.sql, &read.parameters)?.first().map(|row| meaning(row)).transpose()
    }

    /// What the rows of a statement say.
    fn list<T>(
        &mut self,
        sql: &str,
        cells: &[Cell],
        meaning: impl Fn(&[Cell]) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows(sql, cells)?.iter().map(|row| meaning(row)).collect()
    }

    /// The rows of several statements, after all that is to be written.
    pub(crate) fn all_rows(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>> {
        self.write()?;
        Ok(self.database.query_all(reads)?)
    }

    /// The rows of a statement, after all that is to be written.
    pub(crate) fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>> {
        self.write()?;
        Ok(self.database.query(sql, cells)?)
    }

    /// A statement that must change one row; anything else means that something moved. It may be
    /// put off until something is read, or all is written.
    fn one(&mut self, sql: &'static str, cells: impl Into<Vec<Cell>>) -> Result<()> {
        self.writes.push(Statement { sql, parameters: cells.into() });
        Ok(())
    }

    /// How much is to be written.
    pub(crate) fn put_off(&self) -> usize {
        self.writes.len()
    }

    /// Writes what was put off, and makes the transaction durable; or forgets the transaction.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let writes = std::mem::take(&mut self.writes);
        match self.database.commit_after(&writes)? {
            None => Ok(()),
            Some(place) => Err(unlike(writes.get(place))),
        }
    }

    /// Writes what was put off: statements of which none waits for another can be sent at once.
    pub(crate) fn write(&mut self) -> Result<()> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let writes = std::mem::take(&mut self.writes);
        let changed = self.database.execute_all(&writes)?;
        if changed.len() != writes.len() {
            return Err(damaged("the database did not say what was changed"));
        }
        match changed.iter().position(|changed| *changed != 1) {
            None => Ok(()),
            Some(place) => Err(unlike(writes.get(place))),
        }
    }
}

/// A statement did not change one row.
fn unlike(write: Option<&Statement>) -> LedgerError {
    let start: String = write.map_or("", |write| write.sql).chars().take(32).collect();
    damaged(format_args!("{start}... did not change one row"))
}
