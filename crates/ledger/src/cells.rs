//! Rows of cells, which may hold anything, as what they should mean.

use counterpoint_wire::adjacency_named;
use counterpoint_wire::ledger::{Cost, Described, Rule};

use crate::chain::{Hash, Head};
use crate::database::{Cell, Row};
use crate::error::LedgerError;
use crate::rows::{Account, Balance, Release, Share, Slot, amount, sortable};

/// An entry as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) sequence: u64,
    pub(crate) previous: Vec<u8>,
    pub(crate) hash: Vec<u8>,
    pub(crate) account: Option<String>,
    pub(crate) body: String,
}

type Outcome<T> = Result<T, LedgerError>;

pub(crate) fn only_head(rows: &[Row]) -> Outcome<Head> {
    match rows {
        [row] if Reader(row).whole(0)? == 1 => {
            Ok(Head { sequence: Reader(row).count(1)?, hash: Reader(row).hash(2)? })
        }
        _ => Err(damaged(&format!("ledger_head has {} rows; legal: one, of id 1", rows.len()))),
    }
}

pub(crate) fn stored(row: &[Cell]) -> Outcome<Stored> {
    let row = Reader(row);
    Ok(Stored {
        sequence: row.count(0)?,
        previous: row.bytes(1)?,
        hash: row.bytes(2)?,
        account: row.optional_text(3)?,
        body: row.text(4)?,
    })
}

pub(crate) fn account(row: &[Cell]) -> Outcome<Account> {
    let row = Reader(row);
    let adjacency = adjacency_named(&row.text(3)?);
    let rule = Rule::read(&row.text(4)?).map_err(|error| damaged(&error.problem))?;
    Ok(Account {
        name: row.text(0)?,
        parent: row.optional_text(1)?,
        opened: row.count(2)?,
        adjacency: adjacency.ok_or_else(|| damaged("an adjacency is none"))?,
        rule,
        quotas: row.count(5)?,
        balance: row.balance(6)?,
    })
}

pub(crate) fn slot(row: &[Cell]) -> Outcome<Slot> {
    let row = Reader(row);
    let release = Described::read(&row.text(3)?).map_err(|error| damaged(&error.problem))?;
    Ok(Slot { name: row.text(0)?, total: row.count(1)?, used: row.count(2)?, release })
}

pub(crate) fn share(row: &[Cell]) -> Outcome<Share> {
    let row = Reader(row);
    Ok(Share { analyst: row.text(0)?, balance: row.balance(1)? })
}

pub(crate) fn release(row: &[Cell]) -> Outcome<Release> {
    let row = Reader(row);
    Ok(Release {
        key: row.text(0)?,
        account: row.text(1)?,
        request: row.hash(2)?,
        reserved: row.count(3)?,
        committed: match row.cell(4) {
            Cell::Null => None,
            _ => Some(row.count(4)?),
        },
        response: match row.cell(5) {
            Cell::Null => None,
            _ => Some(row.bytes(5)?),
        },
    })
}

pub(crate) fn balance_cells(balance: &Balance) -> Outcome<Vec<Cell>> {
    let text = |amount| Cell::Text(sortable(amount));
    Ok(vec![
        whole(balance.charges)?,
        text(&balance.capacity.main),
        text(&balance.capacity.delta),
        text(&balance.spent.main),
        text(&balance.spent.delta),
    ])
}

pub(crate) fn spent_cells(balance: &Balance) -> Outcome<Vec<Cell>> {
    let text = |amount| Cell::Text(sortable(amount));
    Ok(vec![whole(balance.charges)?, text(&balance.spent.main), text(&balance.spent.delta)])
}

pub(crate) fn whole(number: u64) -> Outcome<Cell> {
    i64::try_from(number).map(Cell::Whole).map_err(|_| damaged("a number is too large"))
}

pub(crate) fn damaged(what: &str) -> LedgerError {
    LedgerError::Damaged(what.to_owned())
}

pub(crate) fn unwritable(error: impl std::fmt::Display) -> LedgerError {
    damaged(&error.to_string())
}

/// Reads the cells of a row, which may hold anything.
pub(crate) struct Reader<'a>(pub(crate) &'a [Cell]);

impl Reader<'_> {
    pub(crate) fn cell(&self, index: usize) -> &Cell {
        self.0.get(index).unwrap_or(&Cell::Null)
    }

    pub(crate) fn whole(&self, index: usize) -> Outcome<i64> {
        match self.cell(index) {
            Cell::Whole(number) => Ok(*number),
            _ => Err(damaged("a cell is no whole number")),
        }
    }

    pub(crate) fn count(&self, index: usize) -> Outcome<u64> {
        u64::try_from(self.whole(index)?).map_err(|_| damaged("a cell is below zero"))
    }

    pub(crate) fn text(&self, index: usize) -> Outcome<String> {
        self.optional_text(index)?.ok_or_else(|| damaged("a cell has no text"))
    }

    pub(crate) fn optional_text(&self, index: usize) -> Outcome<Option<String>> {
        match self.cell(index) {
            Cell::Text(text) => Ok(Some(text.clone())),
            Cell::Null => Ok(None),
            _ => Err(damaged("a cell is no text")),
        }
    }

    pub(crate) fn bytes(&self, index: usize) -> Outcome<Vec<u8>> {
        match self.cell(index) {
            Cell::Bytes(bytes) => Ok(bytes.clone()),
            _ => Err(damaged("a cell holds no bytes")),
        }
    }

    pub(crate) fn hash(&self, index: usize) -> Outcome<Hash> {
        let hash = self.bytes(index)?.try_into();
        hash.map(Hash).map_err(|_| damaged("a cell holds no hash"))
    }

    /// Charges, capacity and what is spent, from a column on.
    pub(crate) fn balance(&self, index: usize) -> Outcome<Balance> {
        let amount =
            |index| amount(&self.text(index)?).ok_or_else(|| damaged("a cell holds no amount"));
        Ok(Balance {
            charges: self.count(index)?,
            capacity: Cost { main: amount(index + 1)?, delta: amount(index + 2)? },
            spent: Cost { main: amount(index + 3)?, delta: amount(index + 4)? },
        })
    }
}
