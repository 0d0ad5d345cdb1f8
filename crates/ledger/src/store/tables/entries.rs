//! Every statement about the history and its head.

use super::Tables;
use super::cells::{EntryRow, RowReader, entry_row, only_head, whole};
use crate::rules::chain::Head;
use crate::rules::error::Result;
use crate::store::database::{Cell, Dialect, Row, Statement};

const HEAD: &str = "SELECT id, sequence, hash FROM ledger_head";
const HEAD_LOCKED: &str = "SELECT id, sequence, hash FROM ledger_head FOR UPDATE";

impl Tables<'_> {
    /// Takes the ledger's lock and reads, in one round trip: the head, whether an entry is in the history, and the rows
    /// of more statements.
    pub(crate) fn lock(
        &mut self,
        entry: Head,
        more: Vec<Statement>,
    ) -> Result<(Head, bool, Vec<Vec<Row>>)> {
        let sql = match self.database.dialect() {
            // BEGIN IMMEDIATE has taken the lock.
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

    /// True if an entry is in the history.
    pub(crate) fn contains(&mut self, entry: Head) -> Result<bool> {
        Ok(self.all_rows(&[containing(entry)?])?.iter().any(|rows| !rows.is_empty()))
    }

    pub(crate) fn head(&mut self) -> Result<Head> {
        only_head(&self.rows(HEAD, &[])?)
    }

    /// Writes the first head, before any entry.
    pub(super) fn add_first_head(&mut self) -> Result<()> {
        let sql = "INSERT INTO ledger_head (id, sequence, hash) VALUES (1, $1, $2)";
        self.write_one(sql, [0.into(), Head::NONE.hash.into()])
    }

    /// Adds an entry after the head. The caller has to move the head.
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
        self.write_one(sql, [whole(next.sequence)?, previous, hash, account, body.into()])?;
        Ok(next)
    }

    /// Moves the head, if the stored head is still `from`.
    pub(crate) fn move_head(&mut self, from: Head, to: Head) -> Result<()> {
        let sql = "UPDATE ledger_head SET sequence = $1, hash = $2 \
                   WHERE id = 1 AND sequence = $3 AND hash = $4";
        let (new, old) = (to.hash.into(), from.hash.into());
        self.write_one(sql, [whole(to.sequence)?, new, whole(from.sequence)?, old])?;
        self.head = to;
        Ok(())
    }

    /// Writes the head once more, so that the commit syncs every row that was read: the process that wrote a row may
    /// have died before its sync. The sequence is changed and changed back, because SQLite skips a write that changes
    /// nothing.
    pub(crate) fn touch(&mut self, head: Head) -> Result<Head> {
        let away = "UPDATE ledger_head SET sequence = sequence + 1 WHERE id = 1 AND sequence = $1";
        self.write_one(away, [whole(head.sequence)?])?;
        let back = "UPDATE ledger_head SET sequence = sequence - 1 WHERE id = 1 AND sequence > $1";
        self.write_one(back, [whole(head.sequence)?])?;
        Ok(head)
    }

    /// At most `most` entries after one, in order.
    pub(crate) fn entries(&mut self, after: u64, most: u64) -> Result<Vec<EntryRow>> {
        let sql = "SELECT sequence, previous, hash, account, body FROM ledger_entry \
                   WHERE sequence > $1 ORDER BY sequence LIMIT $2";
        let rows = self.rows(sql, &[whole(after)?, whole(most)?])?;
        rows.into_iter().map(entry_row).collect()
    }

    /// At most `most` entries about one account after one, in order.
    pub(crate) fn entries_of(
        &mut self,
        account: &str,
        after: u64,
        most: u64,
    ) -> Result<Vec<EntryRow>> {
        let sql = "SELECT sequence, previous, hash, account, body FROM ledger_entry \
                   WHERE account = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";
        let rows = self.rows(sql, &[account.into(), whole(after)?, whole(most)?])?;
        rows.into_iter().map(entry_row).collect()
    }

    /// The bodies of the entries that moved budget out of an account.
    pub(crate) fn moves_of(&mut self, account: &str) -> Result<Vec<String>> {
        let sql = "SELECT body FROM ledger_entry WHERE account = $1 AND body LIKE $2";
        let cells = [account.into(), "{\"event\":\"move\",%".into()];
        self.list(sql, &cells, |row| RowReader(row).text(0))
    }

    /// True if there is an entry with a sequence number below 1, which is damage.
    pub(crate) fn has_entry_before_the_first(&mut self) -> Result<bool> {
        let sql = "SELECT sequence FROM ledger_entry WHERE sequence < 1 LIMIT 1";
        Ok(!self.rows(sql, &[])?.is_empty())
    }
}

/// The statement that finds an entry in the history.
fn containing(entry: Head) -> Result<Statement> {
    let sql = "SELECT sequence FROM ledger_entry WHERE sequence = $1 AND hash = $2";
    let parameters = vec![whole(entry.sequence)?, entry.hash.into()];
    Ok(Statement { sql, parameters })
}
