//! Every statement of the ledger, in SQL that both databases understand.

mod accounts;
pub(crate) mod cells;
mod entries;
mod releases;
mod sessions;
mod sortable;

pub(crate) use accounts::{ACCOUNTS, QUOTAS, SLOTS, account_named, quota_of, slot_named};
pub(crate) use releases::{DigestRow, OPEN_RELEASES, alias_of, release_under};
pub(crate) use sessions::OPEN_SESSIONS;

use super::database::{
    Cell, Database, Dialect, Row, Statement, WITHOUT_SECRETS, added, difference, schema,
};
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::VERSION;
use cells::RowReader;

/// The tables, within a transaction.
pub(crate) struct Tables<'a> {
    database: &'a mut dyn Database,
    /// The last head that was read or written.
    pub(crate) head: Head,
    /// The pending writes, each of which must change one row. They are sent before anything more is read.
    writes: Vec<Statement>,
    /// True if the server offers digests of states and responses, and true if a file lacks secrets; `None` until known.
    has_digests: Option<bool>,
    lacks_secrets: Option<bool>,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(database: &'a mut dyn Database) -> Self {
        let (has_digests, lacks_secrets) = (None, None);
        Self { database, head: Head::NONE, writes: Vec::new(), has_digests, lacks_secrets }
    }

    /// Creates the tables.
    pub(crate) fn create(&mut self) -> Result<()> {
        for statement in schema(self.database.dialect(), VERSION) {
            self.database.execute(&statement, &[])?;
        }
        let sql = "INSERT INTO ledger_version (id, version) VALUES (1, $1)";
        self.write_one(sql, [VERSION.into()])?;
        self.add_first_head()
    }

    /// Adds the tables and views of later versions, one version after the other.
    pub(crate) fn upgrade(&mut self, from: i64, to: i64) -> Result<()> {
        for version in from + 1..=to {
            for statement in added(self.database.dialect(), version) {
                self.database.execute(&statement, &[])?;
            }
        }
        let sql = "UPDATE ledger_version SET version = $1 WHERE id = 1 AND version = $2";
        self.write_one(sql, [to.into(), from.into()])
    }

    /// True if the database holds a ledger's tables.
    pub(crate) fn exist(&mut self) -> Result<bool> {
        let sql = match self.database.dialect() {
            Dialect::Sqlite => "SELECT name FROM sqlite_master WHERE name = 'ledger_version'",
            Dialect::Postgres => "SELECT 1::bigint WHERE to_regclass('ledger_version') IS NOT NULL",
        };
        Ok(!self.rows(sql, &[])?.is_empty())
    }

    /// Waits until nobody else creates tables: if two transactions create the same table at once, PostgreSQL fails one
    /// of them. In SQLite there is only one writer at a time.
    pub(crate) fn wait_to_create(&mut self) -> Result<()> {
        if self.database.dialect() == Dialect::Postgres {
            // An arbitrary number: no other program locks in a ledger's database.
            self.rows("SELECT count(pg_advisory_xact_lock(7166086437)::text)", &[])?;
        }
        Ok(())
    }

    /// The stored version of the format.
    pub(crate) fn version(&mut self) -> Result<i64> {
        match self.rows("SELECT id, version FROM ledger_version", &[])?.as_slice() {
            [row] if RowReader(row).whole(0)? == 1 => RowReader(row).whole(1),
            [_] => Err(damaged("ledger_version has a row that is not of id 1")),
            rows => Err(damaged(format_args!("ledger_version has {} rows", rows.len()))),
        }
    }

    /// The first difference between the database's schema (tables, indexes, triggers, rules) and that of a ledger of a
    /// version.
    pub(crate) fn difference(&mut self, version: i64) -> Result<Option<String>> {
        self.write()?;
        Ok(difference(self.database, version)?)
    }

    /// The first problem that SQLite finds in its own file; always `None` for PostgreSQL.
    pub(crate) fn own_problem(&mut self) -> Result<Option<String>> {
        if self.database.dialect() != Dialect::Sqlite {
            return Ok(None);
        }
        // Every row is looked up in every index, so a large cache holds most of them in memory.
        self.rows("PRAGMA cache_size = -131072", &[])?;
        let rows = self.rows("PRAGMA integrity_check(1)", &[]);
        self.rows("PRAGMA cache_size = -2000", &[])?;
        let rows = rows?;
        let first = RowReader(rows.first().map_or(&[][..], |row| row)).text(0)?;
        Ok((first != "ok").then_some(first))
    }

    /// True if the server offers digests of states and responses.
    pub(crate) fn has_digests(&mut self) -> Result<bool> {
        if self.database.dialect() == Dialect::Sqlite {
            return Ok(false);
        }
        if self.has_digests.is_none() {
            self.has_digests = Some(self.version()? >= 4);
        }
        Ok(self.has_digests == Some(true))
    }

    /// True if the database is a file with digests in the place of private states.
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

    /// The number of rows of each table.
    pub(crate) fn counts<const N: usize>(&mut self, tables: [&str; N]) -> Result<[usize; N]> {
        let mut counts = [0; N];
        for (count, table) in counts.iter_mut().zip(tables) {
            let rows = self.rows(&format!("SELECT count(*) FROM {table}"), &[])?;
            let rows = RowReader(rows.first().map_or(&[][..], |row| row)).whole(0)?;
            *count = usize::try_from(rows).unwrap_or(usize::MAX);
        }
        Ok(counts)
    }

    /// Reads the first row of a statement, if there is one.
    fn first<T>(
        &mut self,
        read: &Statement,
        meaning: impl Fn(&[Cell]) -> Result<T>,
    ) -> Result<Option<T>> {
        // No name has a zero byte, and PostgreSQL refuses text with one.
        let is_none = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
        if read.parameters.iter().any(is_none) {
            return Ok(None);
        }
        self.rows(read.sql, &read.parameters)?.first().map(|row| meaning(row)).transpose()
    }

    /// Reads the rows of a statement.
    fn list<T>(
        &mut self,
        sql: &str,
        cells: &[Cell],
        meaning: impl Fn(&[Cell]) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows(sql, cells)?.iter().map(|row| meaning(row)).collect()
    }

    /// The rows of several statements, after all pending writes.
    pub(crate) fn all_rows(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>> {
        self.write()?;
        Ok(self.database.query_all(reads)?)
    }

    /// The rows of a statement, after all pending writes.
    pub(crate) fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>> {
        self.write()?;
        Ok(self.database.query(sql, cells)?)
    }

    /// Adds a pending write that must change one row. Any other number of rows means that a row is not what was read.
    /// The write is sent before the next read, or at the end of the transaction.
    fn write_one(&mut self, sql: &'static str, cells: impl Into<Vec<Cell>>) -> Result<()> {
        self.writes.push(Statement { sql, parameters: cells.into() });
        Ok(())
    }

    /// The number of pending writes.
    pub(crate) fn pending_writes(&self) -> usize {
        self.writes.len()
    }

    /// Sends the pending writes and makes the transaction durable, or rolls it back.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let writes = std::mem::take(&mut self.writes);
        match self.database.commit_after(&writes)? {
            None => Ok(()),
            Some(place) => Err(wrong_row_count(writes.get(place))),
        }
    }

    /// Sends the pending writes together, since none depends on the result of another.
    pub(crate) fn write(&mut self) -> Result<()> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let writes = std::mem::take(&mut self.writes);
        let changed = self.database.execute_all(&writes)?;
        if changed.len() != writes.len() {
            return Err(damaged("the database did not report the numbers of changed rows"));
        }
        match changed.iter().position(|changed| *changed != 1) {
            None => Ok(()),
            Some(place) => Err(wrong_row_count(writes.get(place))),
        }
    }
}

/// The error for a write that did not change one row.
fn wrong_row_count(write: Option<&Statement>) -> LedgerError {
    let start: String = write.map_or("", |write| write.sql).chars().take(32).collect();
    damaged(format_args!("{start}... did not change one row"))
}
