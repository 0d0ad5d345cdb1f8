//! Every statement about accounts, slots and quotas.

use counterpoint_wire::adjacency_name;

use super::Tables;
use super::cells::{
    AccountRow, account, balance_cells, cost_cells, optional, quota, slot, spent_cells, whole,
};
use super::sortable::sortable;
use crate::rules::error::{Result, damaged};
use crate::rules::rows::{Account, Balance, QuotaRow, Slot};
use crate::store::database::{Cell, Statement};

/// A statement that reads whole accounts.
macro_rules! accounts {
    ($which:literal) => {
        concat!(
            "SELECT name, parent, slot, opened, adjacency, records, part, rule, quotas, closed, charges, ",
            "capacity_main, capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure ",
            "FROM ledger_account ",
            $which
        )
    };
}

/// All accounts, slots and quotas.
pub(crate) const ACCOUNTS: &str = accounts!("ORDER BY opened");
pub(crate) const SLOTS: &str =
    "SELECT account, name, total, used, release FROM ledger_slot ORDER BY account, name";
pub(crate) const QUOTAS: &str = "SELECT account, analyst, charges, capacity_main, capacity_delta, capacity_pure, \
     spent_main, spent_delta, spent_pure FROM ledger_quota ORDER BY account, analyst";

impl Tables<'_> {
    pub(crate) fn account(&mut self, name: &str) -> Result<Option<Account>> {
        self.first(&account_named(name), account)
    }

    /// An account with the row that it was read from.
    pub(crate) fn account_row(&mut self, name: &str) -> Result<Option<AccountRow>> {
        self.first(&account_named(name), |row| AccountRow::read(row.to_vec()))
    }

    /// All data sets and accounts, in the order they were opened.
    pub(crate) fn accounts(&mut self) -> Result<Vec<Account>> {
        self.list(ACCOUNTS, &[], account)
    }

    /// At most `most` accounts that were opened after an entry, in order.
    pub(crate) fn accounts_after(&mut self, after: u64, most: u64) -> Result<Vec<Account>> {
        let sql = accounts!("WHERE opened > $1 ORDER BY opened LIMIT $2");
        self.list(sql, &[whole(after)?, whole(most)?], account)
    }

    pub(crate) fn add_account(&mut self, account: &Account) -> Result<()> {
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
            Cell::Text(account.rule.text().map_err(damaged)?),
            whole(account.quotas)?,
        ];
        cells.extend(balance_cells(&account.balance)?);
        self.write_one(sql, cells)
    }

    /// Writes an account's new balance, if the stored balance is the old one.
    pub(crate) fn charge_account(&mut self, old: &Account, new: &Balance) -> Result<()> {
        let sql = "UPDATE ledger_account SET charges = $1, spent_main = $2, spent_delta = $3, \
                   spent_pure = $4 WHERE name = $5 AND charges = $6 AND spent_main = $7 \
                   AND spent_delta = $8 AND spent_pure IS NOT DISTINCT FROM $9 \
                   AND closed IS NULL";
        let mut cells = spent_cells(new)?;
        cells.push(old.name.as_str().into());
        cells.extend(spent_cells(&old.balance)?);
        self.write_one(sql, cells)
    }

    /// Closes an account, if it is open.
    pub(crate) fn close(&mut self, account: &str, entry: u64) -> Result<()> {
        let sql = "UPDATE ledger_account SET closed = $1 WHERE name = $2 AND closed IS NULL";
        self.write_one(sql, [whole(entry)?, account.into()])
    }

    /// Writes an account's capacity and spent amount after a recut, if the stored ones are the old ones.
    pub(crate) fn recut_account(&mut self, old: &Account, new: &Balance) -> Result<()> {
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
        self.write_one(sql, cells)
    }

    /// Writes an account's capacity, if the whole stored balance is the old one.
    pub(crate) fn change_capacity(&mut self, old: &Account, new: &Balance) -> Result<()> {
        let sql = "UPDATE ledger_account SET capacity_main = $1, capacity_delta = $2, \
                   capacity_pure = $3 WHERE name = $4 AND charges = $5 AND capacity_main = $6 \
                   AND capacity_delta = $7 AND capacity_pure IS NOT DISTINCT FROM $8 \
                   AND spent_main = $9 AND spent_delta = $10 \
                   AND spent_pure IS NOT DISTINCT FROM $11 AND closed IS NULL";
        let mut cells = cost_cells(&new.capacity).to_vec();
        cells.push(old.name.as_str().into());
        cells.extend(balance_cells(&old.balance)?);
        self.write_one(sql, cells)
    }

    /// Counts one more quota, if the stored number is the one that was read.
    pub(crate) fn count_quota(&mut self, account: &Account) -> Result<()> {
        let sql = "UPDATE ledger_account SET quotas = quotas + 1 WHERE name = $1 AND quotas = $2";
        self.write_one(sql, [account.name.as_str().into(), whole(account.quotas)?])
    }

    pub(crate) fn slot(&mut self, account: &str, name: &str) -> Result<Option<Slot>> {
        self.first(&slot_named(account, name), slot)
    }

    pub(crate) fn slots(&mut self, account: &str) -> Result<Vec<Slot>> {
        let sql = "SELECT name, total, used, release FROM ledger_slot WHERE account = $1";
        self.list(sql, &[account.into()], slot)
    }

    pub(crate) fn add_slot(&mut self, account: &str, slot: &Slot) -> Result<()> {
        let sql = "INSERT INTO ledger_slot (account, name, total, used, release) \
                   VALUES ($1, $2, $3, $4, $5)";
        let cells = [
            account.into(),
            slot.name.as_str().into(),
            whole(slot.total)?,
            whole(slot.used)?,
            Cell::Text(slot.release.text().map_err(damaged)?),
        ];
        self.write_one(sql, cells)
    }

    /// Writes the uses of a slot, if the stored number is the one that was read.
    pub(crate) fn use_slot(&mut self, account: &str, old: &Slot, used: u64) -> Result<()> {
        let sql = "UPDATE ledger_slot SET used = $1 WHERE account = $2 AND name = $3 AND used = $4";
        let cells = [whole(used)?, account.into(), old.name.as_str().into(), whole(old.used)?];
        self.write_one(sql, cells)
    }

    pub(crate) fn quota(&mut self, account: &str, analyst: &str) -> Result<Option<QuotaRow>> {
        self.first(&quota_of(account, analyst), quota)
    }

    pub(crate) fn quotas(&mut self, account: &str) -> Result<Vec<QuotaRow>> {
        let sql = "SELECT analyst, charges, capacity_main, capacity_delta, capacity_pure, \
                   spent_main, spent_delta, spent_pure FROM ledger_quota WHERE account = $1";
        self.list(sql, &[account.into()], quota)
    }

    pub(crate) fn add_quota(&mut self, account: &str, quota: &QuotaRow) -> Result<()> {
        let sql = "INSERT INTO ledger_quota (account, analyst, charges, capacity_main, \
                   capacity_delta, capacity_pure, spent_main, spent_delta, spent_pure) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let mut cells = vec![account.into(), quota.analyst.as_str().into()];
        cells.extend(balance_cells(&quota.balance)?);
        self.write_one(sql, cells)
    }

    /// Writes the capacity of a quota, if the whole stored balance is the old one.
    pub(crate) fn change_quota_row(
        &mut self,
        account: &str,
        old: &QuotaRow,
        new: &Balance,
    ) -> Result<()> {
        let sql = "UPDATE ledger_quota SET capacity_main = $1, capacity_delta = $2, \
                   capacity_pure = $3 WHERE account = $4 AND analyst = $5 AND charges = $6 \
                   AND capacity_main = $7 AND capacity_delta = $8 \
                   AND capacity_pure IS NOT DISTINCT FROM $9 AND spent_main = $10 \
                   AND spent_delta = $11 AND spent_pure IS NOT DISTINCT FROM $12";
        let mut cells = cost_cells(&new.capacity).to_vec();
        cells.extend([account.into(), old.analyst.as_str().into()]);
        cells.extend(balance_cells(&old.balance)?);
        self.write_one(sql, cells)
    }

    /// Writes the new balance of a quota, if the stored balance is the old one.
    pub(crate) fn charge_quota(
        &mut self,
        account: &str,
        old: &QuotaRow,
        new: &Balance,
    ) -> Result<()> {
        let sql = "UPDATE ledger_quota SET charges = $1, spent_main = $2, spent_delta = $3, \
                   spent_pure = $4 WHERE account = $5 AND analyst = $6 AND charges = $7 \
                   AND spent_main = $8 AND spent_delta = $9 \
                   AND spent_pure IS NOT DISTINCT FROM $10";
        let mut cells = spent_cells(new)?;
        cells.extend([account.into(), old.analyst.as_str().into()]);
        cells.extend(spent_cells(&old.balance)?);
        self.write_one(sql, cells)
    }
}

pub(crate) fn account_named(name: &str) -> Statement {
    Statement { sql: accounts!("WHERE name = $1"), parameters: vec![name.into()] }
}

pub(crate) fn slot_named(account: &str, name: &str) -> Statement {
    let sql = "SELECT name, total, used, release FROM ledger_slot \
               WHERE account = $1 AND name = $2";
    Statement { sql, parameters: vec![account.into(), name.into()] }
}

pub(crate) fn quota_of(account: &str, analyst: &str) -> Statement {
    let sql = "SELECT analyst, charges, capacity_main, capacity_delta, capacity_pure, \
               spent_main, spent_delta, spent_pure \
               FROM ledger_quota WHERE account = $1 AND analyst = $2";
    Statement { sql, parameters: vec![account.into(), analyst.into()] }
}
