//! Every statement of the ledger, in SQL that both databases understand.

use counterpoint_wire::adjacency_name;

pub(crate) use crate::cells::damaged;
use crate::cells::{
    Reader, Stored, account, alias, balance_cells, cost_cells, only_head, optional, release, share,
    slot, spent_cells, stored, unwritable, whole,
};
use crate::chain::{Hash, Head};
use crate::database::{
    Cell, Database, Dialect, Row, Statement, VERSION, WITHOUT_SECRETS, added, difference, schema,
};
use crate::error::LedgerError;
use crate::rows::{Account, Alias, Balance, Release, Share, Slot, sortable};

/// The tables, within a transaction.
pub(crate) struct Tables<'a> {
    database: &'a mut dyn Database,
    /// The last head that was read or written.
    pub(crate) head: Head,
    /// What is to be written before anything more is read: each must change one row.
    writes: Vec<Statement>,
    /// Whether the server tells digests, once that is known.
    has_digests: Option<bool>,
}

/// A row without its response, and the response's digest and length.
pub(crate) type Digested<T> = (T, Option<(Hash, u64)>);

type Outcome<T> = Result<T, LedgerError>;

/// How many releases are read at a time, and how many bytes their responses have together if there are several.
const RELEASES: u64 = 500;
const RESPONSES: u64 = 1 << 20;

impl<'a> Tables<'a> {
    pub(crate) fn new(database: &'a mut dyn Database) -> Self {
        Self { database, head: Head::NONE, writes: Vec::new(), has_digests: None }
    }

    /// Makes the tables.
    pub(crate) fn create(&mut self) -> Outcome<()> {
        for statement in schema(self.database.dialect(), VERSION) {
            self.database.execute(&statement, &[])?;
        }
        self.set_version(VERSION)?;
        self.set_out()
    }

    /// Makes what a later version has more, one version after the other.
    pub(crate) fn upgrade(&mut self, from: i64, to: i64) -> Outcome<()> {
        for version in from + 1..=to {
            for statement in added(self.database.dialect(), version) {
                self.database.execute(&statement, &[])?;
            }
        }
        let sql = "UPDATE ledger_version SET version = $1 WHERE id = 1 AND version = $2";
        self.one(sql, vec![to.into(), from.into()])
    }

    /// Whether there are tables at all.
    pub(crate) fn exist(&mut self) -> Outcome<bool> {
        let sql = match self.database.dialect() {
            Dialect::Sqlite => "SELECT name FROM sqlite_master WHERE name = 'ledger_version'",
            Dialect::Postgres => "SELECT 1::bigint WHERE to_regclass('ledger_version') IS NOT NULL",
        };
        Ok(!self.rows(sql, &[])?.is_empty())
    }

    /// The version that is stored.
    pub(crate) fn version(&mut self) -> Outcome<i64> {
        match self.rows("SELECT id, version FROM ledger_version", &[])?.as_slice() {
            [row] if Reader(row).whole(0)? == 1 => Reader(row).whole(1),
            [_] => Err(damaged("ledger_version has a row that is not of id 1")),
            rows => Err(damaged(&format!("ledger_version has {} rows", rows.len()))),
        }
    }

    /// What the database has otherwise than a ledger of a version, but for rows: tables, indexes, triggers, rules.
    pub(crate) fn difference(&mut self, version: i64) -> Outcome<Option<String>> {
        self.write()?;
        Ok(difference(self.database, version)?)
    }

    /// What the database itself finds wrong with its file, if it can look.
    pub(crate) fn own_problem(&mut self) -> Outcome<Option<String>> {
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

    fn set_version(&mut self, version: i64) -> Outcome<()> {
        let sql = "INSERT INTO ledger_version (id, version) VALUES (1, $1)";
        self.one(sql, vec![version.into()])
    }

    /// Takes the ledger's lock. Under it, and in one go: the head, whether an entry is in the history, and the rows of
    /// more statements.
    pub(crate) fn lock(
        &mut self,
        entry: Head,
        more: Vec<Statement>,
    ) -> Outcome<(Head, bool, Vec<Vec<Row>>)> {
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
    pub(crate) fn contains(&mut self, entry: Head) -> Outcome<bool> {
        Ok(self.all_rows(&[containing(entry)?])?.iter().any(|rows| !rows.is_empty()))
    }

    pub(crate) fn head(&mut self) -> Outcome<Head> {
        only_head(&self.rows(HEAD, &[])?)
    }

    /// The first head, before any entry.
    fn set_out(&mut self) -> Outcome<()> {
        let sql = "INSERT INTO ledger_head (id, sequence, hash) VALUES (1, $1, $2)";
        self.one(sql, vec![0.into(), Cell::Bytes(Head::NONE.hash.0.to_vec())])
    }

    /// Adds an entry after another; the head is still to be moved.
    pub(crate) fn add_entry(
        &mut self,
        head: Head,
        account: Option<&str>,
        body: &str,
    ) -> Outcome<Head> {
        let next = head.then(body);
        let sql = "INSERT INTO ledger_entry (sequence, previous, hash, account, body) \
                   VALUES ($1, $2, $3, $4, $5)";
        let (previous, hash) = (Cell::from(&head.hash.0[..]), Cell::from(&next.hash.0[..]));
        let account = account.map_or(Cell::Null, Cell::from);
        self.one(sql, vec![whole(next.sequence)?, previous, hash, account, body.into()])?;
        Ok(next)
    }

    /// Moves the head, if it is still where it was.
    pub(crate) fn move_head(&mut self, from: Head, to: Head) -> Outcome<()> {
        let sql = "UPDATE ledger_head SET sequence = $1, hash = $2 \
                   WHERE id = 1 AND sequence = $3 AND hash = $4";
        let cells = |head: Head| Outcome::Ok([whole(head.sequence)?, Cell::from(&head.hash.0[..])]);
        self.one(sql, [cells(to)?, cells(from)?].concat())?;
        self.head = to;
        Ok(())
    }

    /// Writes the head once more, so that what was read waits for a sync of its own: who wrote
    /// it may have died between its write and its sync. Away and back, because SQLite skips a
    /// write that changes nothing.
    pub(crate) fn touch(&mut self, head: Head) -> Outcome<()> {
        let away = "UPDATE ledger_head SET sequence = sequence + 1 WHERE id = 1 AND sequence = $1";
        self.one(away, vec![whole(head.sequence)?])?;
        let back = "UPDATE ledger_head SET sequence = sequence - 1 WHERE id = 1 AND sequence > $1";
        self.one(back, vec![whole(head.sequence)?])
    }

    /// Entries after one, in order, at most so many.
    pub(crate) fn entries(&mut self, after: u64, most: u64) -> Outcome<Vec<Stored>> {
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
    ) -> Outcome<Vec<Stored>> {
        let sql = "SELECT sequence, previous, hash, account, body FROM ledger_entry \
                   WHERE account = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";
        let rows = self.rows(sql, &[account.into(), whole(after)?, whole(most)?])?;
        rows.into_iter().map(stored).collect()
    }

    /// The bodies of the entries by which budget left an account.
    pub(crate) fn moves_of(&mut self, account: &str) -> Outcome<Vec<String>> {
        let sql = "SELECT body FROM ledger_entry WHERE account = $1 AND body LIKE $2";
        let rows = self.rows(sql, &[account.into(), "{\"event\":\"move\",%".into()])?;
        rows.iter().map(|row| Reader(row).text(0)).collect()
    }

    /// Any entry that is not after the first: there must be none.
    pub(crate) fn has_entry_before_the_first(&mut self) -> Outcome<bool> {
        let sql = "SELECT sequence FROM ledger_entry WHERE sequence < 1 LIMIT 1";
        Ok(!self.rows(sql, &[])?.is_empty())
    }

    pub(crate) fn account(&mut self, name: &str) -> Outcome<Option<Account>> {
        self.account_row(name)?.as_deref().map(account).transpose()
    }

    /// An account as it is stored.
    pub(crate) fn account_row(&mut self, name: &str) -> Outcome<Option<Row>> {
        self.first(&account_named(name))
    }

    /// All data sets and accounts, in the order they were opened.
    pub(crate) fn accounts(&mut self) -> Outcome<Vec<Account>> {
        let rows = self.rows(
            "SELECT name, parent, slot, opened, adjacency, records, part, rule, quotas, closed, charges, \
             capacity_main, capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure \
             FROM ledger_account ORDER BY opened",
            &[],
        )?;
        rows.iter().map(|row| account(row)).collect()
    }

    /// Those that were opened after an entry, in order, at most so many.
    pub(crate) fn accounts_after(&mut self, after: u64, most: u64) -> Outcome<Vec<Account>> {
        let rows = self.rows(
            "SELECT name, parent, slot, opened, adjacency, records, part, rule, quotas, closed, charges, \
             capacity_main, capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure \
             FROM ledger_account WHERE opened > $1 ORDER BY opened LIMIT $2",
            &[whole(after)?, whole(most)?],
        )?;
        rows.iter().map(|row| account(row)).collect()
    }

    pub(crate) fn add_account(&mut self, account: &Account) -> Outcome<()> {
        let sql = "INSERT INTO ledger_account (name, parent, slot, opened, adjacency, records, \
                   part, rule, quotas, charges, capacity_main, capacity_delta, capacity_pure, \
                   spent_main, spent_delta, spent_pure) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
        let mut cells = vec![
            account.name.as_str().into(),
            optional(account.parent.as_deref()),
            optional(account.slot.as_deref()),
            whole(account.opened)?,
            adjacency_name(account.relation.adjacency()).into(),
            whole(account.relation.records())?,
            optional(account.part.as_deref()),
            Cell::Text(account.rule.text().map_err(unwritable)?),
            whole(account.quotas)?,
        ];
        cells.extend(balance_cells(&account.balance)?);
        self.one(sql, cells)
    }

    /// Writes an account's new balance, if the old one is still there.
    pub(crate) fn charge_account(&mut self, old: &Account, new: &Balance) -> Outcome<()> {
        let sql = "UPDATE ledger_account SET charges = $1, spent_main = $2, spent_delta = $3, \
                   spent_pure = $4 WHERE name = $5 AND charges = $6 AND spent_main = $7 \
                   AND spent_delta = $8 AND spent_pure IS NOT DISTINCT FROM $9 \
                   AND closed IS NULL";
        let mut cells = spent_cells(new)?;
        cells.push(old.name.as_str().into());
        cells.extend(spent_cells(&old.balance)?);
        self.one(sql, cells)
    }

    /// Closes an account, if it is open.
    pub(crate) fn close(&mut self, account: &str, entry: u64) -> Outcome<()> {
        let sql = "UPDATE ledger_account SET closed = $1 WHERE name = $2 AND closed IS NULL";
        self.one(sql, vec![whole(entry)?, account.into()])
    }

    /// Writes what there is and what is spent after a recut, if the old is still there.
    pub(crate) fn recut_account(&mut self, old: &Account, new: &Balance) -> Outcome<()> {
        let sql = "UPDATE ledger_account SET capacity_main = $1, spent_main = $2 \
                   WHERE name = $3 AND capacity_main = $4 AND spent_main = $5 AND closed IS NULL";
        let main = |amount| Cell::Text(sortable(amount));
        let was = &old.balance;
        let cells = [
            main(&new.capacity.main),
            main(&new.spent.main),
            old.name.as_str().into(),
            main(&was.capacity.main),
            main(&was.spent.main),
        ];
        self.one(sql, cells.into())
    }

    /// Writes what there is to spend, if all of the balance is what was read.
    pub(crate) fn change_capacity(&mut self, old: &Account, new: &Balance) -> Outcome<()> {
        let sql = "UPDATE ledger_account SET capacity_main = $1, capacity_delta = $2, \
                   capacity_pure = $3 WHERE name = $4 AND charges = $5 AND capacity_main = $6 \
                   AND capacity_delta = $7 AND capacity_pure IS NOT DISTINCT FROM $8 \
                   AND spent_main = $9 AND spent_delta = $10 \
                   AND spent_pure IS NOT DISTINCT FROM $11 AND closed IS NULL";
        let mut cells = cost_cells(&new.capacity).to_vec();
        cells.push(old.name.as_str().into());
        cells.extend(balance_cells(&old.balance)?);
        self.one(sql, cells)
    }

    /// Counts one more quota, if as many as were read are still there.
    pub(crate) fn count_quota(&mut self, account: &Account) -> Outcome<()> {
        let sql = "UPDATE ledger_account SET quotas = quotas + 1 WHERE name = $1 AND quotas = $2";
        self.one(sql, vec![account.name.as_str().into(), whole(account.quotas)?])
    }

    pub(crate) fn slot(&mut self, account: &str, name: &str) -> Outcome<Option<Slot>> {
        self.first(&slot_named(account, name))?.as_deref().map(slot).transpose()
    }

    pub(crate) fn slots(&mut self, account: &str) -> Outcome<Vec<Slot>> {
        let sql = "SELECT name, total, used, release FROM ledger_slot WHERE account = $1";
        self.rows(sql, &[account.into()])?.iter().map(|row| slot(row)).collect()
    }

    pub(crate) fn add_slot(&mut self, account: &str, slot: &Slot) -> Outcome<()> {
        let sql = "INSERT INTO ledger_slot (account, name, total, used, release) \
                   VALUES ($1, $2, $3, $4, $5)";
        let cells = [
            account.into(),
            slot.name.as_str().into(),
            whole(slot.total)?,
            whole(slot.used)?,
            Cell::Text(slot.release.text().map_err(unwritable)?),
        ];
        self.one(sql, cells.into())
    }

    /// Writes how often a slot was used, if it is what was read.
    pub(crate) fn use_slot(&mut self, account: &str, old: &Slot, used: u64) -> Outcome<()> {
        let sql = "UPDATE ledger_slot SET used = $1 WHERE account = $2 AND name = $3 AND used = $4";
        let cells = [whole(used)?, account.into(), old.name.as_str().into(), whole(old.used)?];
        self.one(sql, cells.into())
    }

    pub(crate) fn share(&mut self, account: &str, analyst: &str) -> Outcome<Option<Share>> {
        self.first(&share_of(account, analyst))?.as_deref().map(share).transpose()
    }

    pub(crate) fn shares(&mut self, account: &str) -> Outcome<Vec<Share>> {
        let sql = "SELECT analyst, charges, capacity_main, capacity_delta, capacity_pure, \
                   spent_main, spent_delta, spent_pure FROM ledger_quota WHERE account = $1";
        self.rows(sql, &[account.into()])?.iter().map(|row| share(row)).collect()
    }

    pub(crate) fn add_share(&mut self, account: &str, share: &Share) -> Outcome<()> {
        let sql = "INSERT INTO ledger_quota (account, analyst, charges, capacity_main, \
                   capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let mut cells = vec![account.into(), share.analyst.as_str().into()];
        cells.extend(balance_cells(&share.balance)?);
        self.one(sql, cells)
    }

    /// Writes what there is of a share, if all of its balance is what was read.
    pub(crate) fn change_share(
        &mut self,
        account: &str,
        old: &Share,
        new: &Balance,
    ) -> Outcome<()> {
        let sql = "UPDATE ledger_quota SET capacity_main = $1, capacity_delta = $2, \
                   capacity_pure = $3 WHERE account = $4 AND analyst = $5 AND charges = $6 \
                   AND capacity_main = $7 AND capacity_delta = $8 \
                   AND capacity_pure IS NOT DISTINCT FROM $9 AND spent_main = $10 \
                   AND spent_delta = $11 AND spent_pure IS NOT DISTINCT FROM $12";
        let mut cells = cost_cells(&new.capacity).to_vec();
        cells.extend([account.into(), old.analyst.as_str().into()]);
        cells.extend(balance_cells(&old.balance)?);
        self.one(sql, cells)
    }

    /// Writes a share's new balance, if the old one is still there.
    pub(crate) fn charge_share(
        &mut self,
        account: &str,
        old: &Share,
        new: &Balance,
    ) -> Outcome<()> {
        let sql = "UPDATE ledger_quota SET charges = $1, spent_main = $2, spent_delta = $3, \
                   spent_pure = $4 WHERE account = $5 AND analyst = $6 AND charges = $7 \
                   AND spent_main = $8 AND spent_delta = $9 \
                   AND spent_pure IS NOT DISTINCT FROM $10";
        let mut cells = spent_cells(new)?;
        cells.extend([account.into(), old.analyst.as_str().into()]);
        cells.extend(spent_cells(&old.balance)?);
        self.one(sql, cells)
    }

    pub(crate) fn release(&mut self, account: &str, key: &str) -> Outcome<Option<Release>> {
        self.first(&release_under(account, key))?.as_deref().map(release).transpose()
    }

    /// The accounts in which a key was reserved.
    pub(crate) fn accounts_with(&mut self, key: &str) -> Outcome<Vec<String>> {
        let sql = "SELECT account FROM ledger_release WHERE key = $1 ORDER BY account";
        self.rows(sql, &[key.into()])?.iter().map(|row| Reader(row).text(0)).collect()
    }

    /// Some of the releases reserved after an entry, in order; none if there are none. How many depends on how long their
    /// responses are: together they take little memory.
    pub(crate) fn releases(&mut self, after: i64) -> Outcome<Vec<Release>> {
        let sql = "SELECT reserved, CAST(coalesce(length(response), 0) AS BIGINT) FROM ledger_release \
                   WHERE reserved > $1 ORDER BY reserved LIMIT $2";
        let (mut last, mut bytes) = (None, 0);
        for row in self.rows(sql, &[after.into(), whole(RELEASES)?])? {
            bytes += Reader(&row).count(1)?;
            if last.is_some() && bytes > RESPONSES {
                break;
            }
            last = Some(Reader(&row).whole(0)?);
        }
        let Some(last) = last else { return Ok(Vec::new()) };
        let sql = "SELECT key, account, analyst, session, request, reserved, committed, response \
                   FROM ledger_release WHERE reserved > $1 AND reserved <= $2 ORDER BY reserved";
        self.rows(sql, &[after.into(), last.into()])?.iter().map(|row| release(row)).collect()
    }

    /// Some of the releases reserved after an entry, in order, with their responses' digests and lengths alone.
    pub(crate) fn digested_releases(&mut self, after: i64) -> Outcome<Vec<Digested<Release>>> {
        if !self.has_digests()? {
            return Ok(self.releases(after)?.into_iter().map(digested).collect());
        }
        let sql = "SELECT key, account, analyst, session, request, reserved, committed, response, length \
                   FROM ledger_release_digest WHERE reserved > $1 ORDER BY reserved LIMIT $2";
        let rows = self.rows(sql, &[after.into(), whole(RELEASES)?])?;
        rows.iter().map(|row| digested_release(row)).collect()
    }

    /// The same of one.
    pub(crate) fn digested_release(
        &mut self,
        account: &str,
        key: &str,
    ) -> Outcome<Option<Digested<Release>>> {
        if !self.has_digests()? {
            return Ok(self.release(account, key)?.map(digested));
        }
        let sql = "SELECT key, account, analyst, session, request, reserved, committed, response, length \
                   FROM ledger_release_digest WHERE key = $1 AND account = $2";
        let rows = self.rows(sql, &[key.into(), account.into()])?;
        rows.first().map(|row| digested_release(row)).transpose()
    }

    /// Whether the server tells digests of states and responses.
    pub(crate) fn has_digests(&mut self) -> Outcome<bool> {
        if self.database.dialect() == Dialect::Sqlite {
            return Ok(false);
        }
        match self.has_digests {
            Some(known) => Ok(known),
            None => {
                let known = self.version()? >= 4;
                Ok(*self.has_digests.insert(known))
            }
        }
    }

    /// Whether it is a file with digests in the place of private states.
    pub(crate) fn lacks_secrets(&mut self) -> Outcome<bool> {
        if self.database.dialect() != Dialect::Sqlite {
            return Ok(false);
        }
        let rows = self.rows("PRAGMA application_id", &[])?;
        Ok(rows == [[Cell::Whole(WITHOUT_SECRETS)]])
    }

    /// Releases without a response, sessions among them, in the order of their reservations.
    pub(crate) fn uncommitted(&mut self) -> Outcome<Vec<Release>> {
        let sql = "SELECT key, account, analyst, session, request, reserved, committed \
                   FROM ledger_release WHERE committed IS NULL ORDER BY reserved";
        self.rows(sql, &[])?.iter().map(|row| release(row)).collect()
    }

    pub(crate) fn add_release(&mut self, release: &Release) -> Outcome<()> {
        let sql = "INSERT INTO ledger_release (key, account, analyst, session, request, reserved) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let cells = [
            release.key.as_str().into(),
            release.account.as_str().into(),
            optional(release.analyst.as_deref()),
            i64::from(release.session).into(),
            Cell::from(&release.request.0[..]),
            whole(release.reserved)?,
        ];
        self.one(sql, cells.into())
    }

    /// Aliases that were given after an entry, in order, at most so many.
    pub(crate) fn aliases(&mut self, after: i64, most: u64) -> Outcome<Vec<Alias>> {
        let sql = "SELECT account, analyst, alias, key, entry FROM ledger_alias \
                   WHERE entry > $1 ORDER BY entry LIMIT $2";
        self.rows(sql, &[after.into(), whole(most)?])?.iter().map(|row| alias(row)).collect()
    }

    pub(crate) fn add_alias(&mut self, alias: &Alias) -> Outcome<()> {
        let sql = "INSERT INTO ledger_alias (account, analyst, alias, key, entry) \
                   VALUES ($1, $2, $3, $4, $5)";
        let cells = [
            alias.account.as_str().into(),
            alias.analyst.as_str().into(),
            Cell::from(&alias.alias.0[..]),
            alias.key.as_str().into(),
            whole(alias.entry)?,
        ];
        self.one(sql, cells.into())
    }

    /// Stores a response, if there is none.
    pub(crate) fn respond(
        &mut self,
        account: &str,
        key: &str,
        committed: u64,
        response: &[u8],
    ) -> Outcome<()> {
        let sql = "UPDATE ledger_release SET committed = $1, response = $2 \
                   WHERE key = $3 AND account = $4 AND session = 0 AND committed IS NULL";
        self.one(sql, vec![whole(committed)?, response.into(), key.into(), account.into()])
    }

    /// How many rows there are in some tables.
    pub(crate) fn counts<const N: usize>(&mut self, tables: [&str; N]) -> Outcome<[usize; N]> {
        let mut counts = [0; N];
        for (count, table) in counts.iter_mut().zip(tables) {
            let rows = self.rows(&format!("SELECT count(*) FROM {table}"), &[])?;
            let rows = Reader(rows.first().map_or(&[][..], |row| row)).whole(0)?;
            *count = usize::try_from(rows).unwrap_or(usize::MAX);
        }
        Ok(counts)
    }

    /// The first row of a statement.
    fn first(&mut self, read: &Statement) -> Outcome<Option<Row>> {
        // No name has one, and PostgreSQL has no such text.
        let is_none = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
        if read.parameters.iter().any(is_none) {
            return Ok(None);
        }
        Ok(self.rows(read.sql, &read.parameters)?.into_iter().next())
    }

    /// The rows of several statements, after all that is to be written.
    pub(crate) fn all_rows(&mut self, reads: &[Statement]) -> Outcome<Vec<Vec<Row>>> {
        self.write()?;
        Ok(self.database.query_all(reads)?)
    }

    /// The rows of a statement, after all that is to be written.
    pub(crate) fn rows(&mut self, sql: &str, cells: &[Cell]) -> Outcome<Vec<Row>> {
        self.write()?;
        Ok(self.database.query(sql, cells)?)
    }

    /// A statement that must change one row; anything else means that something moved. It may be
    /// put off until something is read, or all is written.
    pub(crate) fn one(&mut self, sql: &'static str, cells: Vec<Cell>) -> Outcome<()> {
        self.writes.push(Statement { sql, parameters: cells });
        Ok(())
    }

    /// How much is to be written.
    pub(crate) fn put_off(&self) -> usize {
        self.writes.len()
    }

    /// Writes what was put off, and makes the transaction durable; or forgets the transaction.
    pub(crate) fn finish(&mut self) -> Outcome<()> {
        let writes = std::mem::take(&mut self.writes);
        match self.database.commit_after(&writes)? {
            None => Ok(()),
            Some(place) => Err(unlike(writes.get(place))),
        }
    }

    /// Writes what was put off: statements of which none waits for another can be sent at once.
    pub(crate) fn write(&mut self) -> Outcome<()> {
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
    damaged(&format!("{start}... did not change one row"))
}

fn digested(mut release: Release) -> Digested<Release> {
    let response = release.response.take();
    (release, response.map(|bytes| (Hash::of(&bytes), bytes.len() as u64)))
}

/// A release whose response is a digest, with the length after it.
fn digested_release(row: &[Cell]) -> Outcome<Digested<Release>> {
    let found = Release { response: None, ..release(row)? };
    let response = match Reader(row).cell(7) {
        Cell::Null => None,
        _ => Some((Reader(row).hash(7)?, Reader(row).count(8)?)),
    };
    Ok((found, response))
}

/// Whether an entry is in the history.
fn containing(entry: Head) -> Outcome<Statement> {
    let sql = "SELECT sequence FROM ledger_entry WHERE sequence = $1 AND hash = $2";
    let parameters = vec![whole(entry.sequence)?, Cell::from(&entry.hash.0[..])];
    Ok(Statement { sql, parameters })
}

pub(crate) fn account_named(name: &str) -> Statement {
    let sql = "SELECT name, parent, slot, opened, adjacency, records, part, rule, quotas, closed, charges, \
               capacity_main, capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure \
               FROM ledger_account WHERE name = $1";
    Statement { sql, parameters: vec![name.into()] }
}

pub(crate) fn slot_named(account: &str, name: &str) -> Statement {
    let sql = "SELECT name, total, used, release FROM ledger_slot \
               WHERE account = $1 AND name = $2";
    Statement { sql, parameters: vec![account.into(), name.into()] }
}

pub(crate) fn share_of(account: &str, analyst: &str) -> Statement {
    let sql = "SELECT analyst, charges, capacity_main, capacity_delta, capacity_pure, \
               spent_main, spent_delta, spent_pure \
               FROM ledger_quota WHERE account = $1 AND analyst = $2";
    Statement { sql, parameters: vec![account.into(), analyst.into()] }
}

pub(crate) fn alias_of(account: &str, analyst: &str, alias: &Hash) -> Statement {
    let sql = "SELECT account, analyst, alias, key, entry FROM ledger_alias \
               WHERE account = $1 AND analyst = $2 AND alias = $3";
    let parameters = vec![account.into(), analyst.into(), Cell::from(&alias.0[..])];
    Statement { sql, parameters }
}

pub(crate) fn release_under(account: &str, key: &str) -> Statement {
    let sql = "SELECT key, account, analyst, session, request, reserved, committed, response \
               FROM ledger_release WHERE key = $1 AND account = $2";
    Statement { sql, parameters: vec![key.into(), account.into()] }
}

const HEAD: &str = "SELECT id, sequence, hash FROM ledger_head";
const HEAD_LOCKED: &str = "SELECT id, sequence, hash FROM ledger_head FOR UPDATE";
