//! Every statement about the history and its head.

use super::Tables;
use super::cells::{Reader, Stored, only_head, stored, whole};
use crate::rules::chain::Head;
use crate::rules::error::Result;
use crate::store::database::{Cell, Dialect, Row, Statement};

const HEAD: &str = "SELECT id, sequence, hash FROM ledger_head";
const HEAD_LOCKED: &str = "SELECT id, sequence, hash FROM ledger_head FOR UPDATE";

impl Tables<'_> {
    /// Takes the ledger's lock. Under it, and in one go: the head, whether an entry is in the history, and the rows of
    /// more statements.
    pub(crate) fn lock(
        &mut self,
        entry: Head,
        more: Vec<Statement>,
    ) -> Result<(Head, bool, Vec<Vec<Row>>)> {
        let sql = match self.database.dialect() {
            // BEGIN IMMEDIATE has it.
            Dialect::Sqlite => HEAD,
            Dialect::Postgres => HEAD_LOCKED,
        };
        let mut reads = vec![Statement { sql, parameters: Vec::new() }, containing(entry)?];
        reads.extend(more);
        let mut rows = self.all_rows(&reads)?.into_iter();
        let (head, found) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
        self.head = only_head(&head)?;
        Ok((self.head, !found.is_empty(), rows.collect()))
    }

    /// Whether an entry is in the history.
    pub(crate) fn contains(&mut self, entry: Head) -> Result<bool> {
        Ok(self.all_rows(&[containing(entry)?])?.iter().any(|rows| !rows.is_empty()))
    }

    pub(crate) fn head(&mut self) -> Result<Head> {
        only_head(&self.rows(HEAD, &[])?)
    }

    /// The first head, before any entry.
    pub(super) fn set_out(&mut self) -> Result<()> {
        let sql = "INSERT INTO ledger_head (id, sequence, hash) VALUES (1, $1, $2)";
        self.one(sql, [0.into(), Head::NONE.hash.into()])
    }

    /// Adds an entry after another; the head is still to be moved.
    pub(crate) fn add_entry(
        &mut self,
        head: Head,
        account: Option<&str>,
        body: &str,
    ) -> Result<Head> {
        let next = head.then(body);
        let sql = "INSERT INTO ledger_entry (sequence, previous, hash, account, body) \
                   VALUES ($1, $2, $3, $4, $5)";
        let (previous, hash) = (Cell::from(head.hash), Cell::from(next.hash));
        let account = account.map_or(Cell::Null, Cell::from);
        self.one(sql, [whole(next.sequence)?, previous, hash, account, body.into()])?;
        Ok(next)
    }

    /// Moves the head, if it is still where it was.
    pub(crate) fn move_head(&mut self, from: Head, to: Head) -> Result<()> {
        let sql = "UPDATE ledger_head SET sequence = $1, hash = $2 \
                   WHERE id = 1 AND sequence = $3 AND hash = $4";
        let (new, old) = (to.hash.into(), from.hash.into());
        self.one(sql, [whole(to.sequence)?, new, whole(from.sequence)?, old])?;
        self.head = to;
        Ok(())
    }

    /// Writes the head once more, so that what was read waits for a sync of its own: who wrote
    /// it may have died between its write and its sync. Away and back, because SQLite skips a
    /// write that changes nothing.
    pub(crate) fn touch(&mut self, head: Head) -> Result<Head> {
        let away = "UPDATE ledger_head SET sequence = sequence + 1 WHERE id = 1 AND sequence = $1";
        self.one(away, [whole(head.sequence)?])?;
        let back = "UPDATE ledger_head SET sequence = sequence - 1 WHERE id = 1 AND sequence > $1";
        self.one(back, [whole(head.sequence)?])?;
        Ok(head)
    }

    /// Entries after one, in order, at most so many.
    pub(crate) fn entries(&mut self, after: u64, most: u64) -> Result<Vec<Stored>> {
        let sql = "SELECT sequence, previous, hash, account, body FROM ledger_entry \
                   WHERE sequence > $1 ORDER BY sequence LIMIT $2";
        let rows = self.rows(sql, &[whole(after)?, whole(most)?])?;
        rows.into_iter().map(stored).collect()
    }

    /// The same about one account.
    pub(crate) fn entries_of(
        &mut self,
        account: &str,
        after: u64,
        most: u64,
    ) -> Result<Vec<Stored>> {
        let sql = "SELECT sequence, previous, hash, account, body FROM ledger_entry \
                   WHERE account = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";
        let rows = self.rows(sql, &[account.into(), whole(after)?, whole(most)?])?;
        rows.into_iter().map(stored).collect()
    }

    /// The bodies of the entries by which budget left an account.
    pub(crate) fn moves_of(&mut self, account: &str) -> Result<Vec<String>> {
        let sql = "SELECT body FROM ledger_entry WHERE account = $1 AND body LIKE $2";
        let cells = [account.into(), "{\"event\":\"move\",%".into()];
        self.list(sql, &cells, |row| Reader(row).text(0))
    }

    /// Any entry that is not after the first: there must be none.
    pub(crate) fn has_entry_before_the_first(&mut self) -> Result<bool> {
        let sql = "SELECT sequence FROM ledger_entry WHERE sequence < 1 LIMIT 1";
        Ok(!self.rows(sql, &[])?.is_empty())
    }
}

/// Whether an entry is in the history.
fn containing(entry: Head) -> Result<Statement> {
    let sql = "SELECT sequence FROM ledger_entry WHERE sequence = $1 AND hash = $2";
    let parameters = vec![whole(entry.sequence)?, entry.hash.into()];
    Ok(Statement { sql, parameters })
}
