//! Reads rows of cells, which may hold anything, as accounts, releases and so on.

use counterpoint::Relation;
use counterpoint_wire::adjacency_from_name;
use counterpoint_wire::ledger::{Cost, ReleaseRecord, Rule};

use super::sortable::{amount, sortable};
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{Result, damaged};
use crate::rules::rows::{Account, Alias, AnswerRow, Balance, QuotaRow, Release, SessionRow, Slot};
use crate::store::database::{Cell, Row};

/// An entry as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryRow {
    pub(crate) sequence: u64,
    pub(crate) previous: Vec<u8>,
    pub(crate) hash: Vec<u8>,
    pub(crate) account: Option<String>,
    pub(crate) body: String,
}

pub(crate) fn only_head(rows: &[Row]) -> Result<Head> {
    match rows {
        [row] if RowReader(row).whole(0)? == 1 => {
            Ok(Head { sequence: RowReader(row).count(1)?, hash: RowReader(row).hash(2)? })
        }
        _ => Err(damaged(format_args!("ledger_head has {} rows; legal: one, of id 1", rows.len()))),
    }
}

/// Takes an entry out of a row. There are many entries, so no cell is copied.
pub(crate) fn entry_row(row: Row) -> Result<EntryRow> {
    let sequence = RowReader(&row).count(0)?;
    match <[Cell; 5]>::try_from(row) {
        Ok(
            [_, Cell::Bytes(previous), Cell::Bytes(hash), Cell::Text(account), Cell::Text(body)],
        ) => Ok(EntryRow { sequence, previous, hash, account: Some(account), body }),
        Ok([_, Cell::Bytes(previous), Cell::Bytes(hash), Cell::Null, Cell::Text(body)]) => {
            Ok(EntryRow { sequence, previous, hash, account: None, body })
        }
        _ => Err(damaged("a cell of an entry is of another type")),
    }
}

pub(crate) fn account(row: &[Cell]) -> Result<Account> {
    let row = RowReader(row);
    let adjacency = adjacency_from_name(&row.text(4)?);
    let adjacency = adjacency.ok_or_else(|| damaged("an account's adjacency is unknown"))?;
    Ok(Account {
        name: row.text(0)?,
        parent: row.optional_text(1)?,
        slot: row.optional_text(2)?,
        opened: row.count(3)?,
        relation: Relation::new(adjacency, row.count(5)?).map_err(damaged)?,
        part: row.optional_text(6)?,
        rule: Rule::read(&row.text(7)?)?,
        quotas: row.count(8)?,
        closed: row.optional_count(9)?,
        balance: row.balance(10)?,
    })
}

/// An account, with the row that it was read from.
#[derive(Debug)]
pub(crate) struct AccountRow {
    pub(crate) account: Account,
    row: Row,
}

/// The number of the first columns of an account's row, which never change. The rule is the last of them.
const FIXED: usize = 8;
/// The columns with the capacity. The columns with the spent amount follow.
const CAPACITY: std::ops::Range<usize> = 11..14;

impl AccountRow {
    pub(crate) fn read(row: Row) -> Result<Self> {
        Ok(Self { account: account(&row)?, row })
    }

    /// The account as another row has it. The columns that never change are compared without reading them.
    pub(crate) fn now(&self, row: &[Cell]) -> Result<Account> {
        if row.get(..FIXED) != self.row.get(..FIXED) {
            return Err(damaged("the account's rule has changed; legal: open the ledger again"));
        }
        // The capacity seldom changes.
        let is_same = row.get(CAPACITY) == self.row.get(CAPACITY);
        let row = RowReader(row);
        let capacity =
            if is_same { self.account.balance.capacity.clone() } else { row.cost(CAPACITY.start)? };
        let balance = Balance { charges: row.count(10)?, capacity, spent: row.cost(CAPACITY.end)? };
        Ok(Account {
            quotas: row.count(8)?,
            closed: row.optional_count(9)?,
            balance,
            ..self.account.clone()
        })
    }
}

pub(crate) fn slot(row: &[Cell]) -> Result<Slot> {
    let row = RowReader(row);
    let release = ReleaseRecord::read(&row.text(3)?)?;
    Ok(Slot { name: row.text(0)?, total: row.count(1)?, used: row.count(2)?, release })
}

pub(crate) fn quota(row: &[Cell]) -> Result<QuotaRow> {
    let row = RowReader(row);
    Ok(QuotaRow { analyst: row.text(0)?, balance: row.balance(1)? })
}

pub(crate) fn release(row: &[Cell]) -> Result<Release> {
    let row = RowReader(row);
    Ok(Release {
        key: row.text(0)?,
        account: row.text(1)?,
        analyst: row.optional_text(2)?,
        session: match row.whole(3)? {
            0 => false,
            1 => true,
            _ => return Err(damaged("a cell is neither 0 nor 1")),
        },
        request: row.hash(4)?,
        reserved: row.count(5)?,
        committed: row.optional_count(6)?,
        response: match row.cell(7) {
            Cell::Null => None,
            _ => Some(row.bytes(7)?),
        },
    })
}

pub(crate) fn alias(row: &[Cell]) -> Result<Alias> {
    let row = RowReader(row);
    Ok(Alias {
        account: row.text(0)?,
        analyst: row.text(1)?,
        alias: row.hash(2)?,
        key: row.text(3)?,
        entry: row.count(4)?,
    })
}

pub(crate) fn session(row: &[Cell]) -> Result<SessionRow> {
    let row = RowReader(row);
    Ok(SessionRow {
        key: row.text(0)?,
        account: row.text(1)?,
        begun: row.count(2)?,
        answered: row.count(3)?,
        ended: row.optional_count(4)?,
        declaration: row.bytes(5)?,
    })
}

pub(crate) fn answer(row: &[Cell]) -> Result<AnswerRow> {
    let row = RowReader(row);
    Ok(AnswerRow {
        key: row.text(0)?,
        account: row.text(1)?,
        number: row.count(2)?,
        ask: row.text(3)?,
        question: row.hash(4)?,
        entry: row.count(5)?,
        response: row.bytes(6)?,
    })
}

pub(crate) fn balance_cells(balance: &Balance) -> Result<Vec<Cell>> {
    let charges = whole(balance.charges)?;
    let (capacity, spent) = (cost_cells(&balance.capacity), cost_cells(&balance.spent));
    Ok(std::iter::once(charges).chain(capacity).chain(spent).collect())
}

pub(crate) fn spent_cells(balance: &Balance) -> Result<Vec<Cell>> {
    Ok(std::iter::once(whole(balance.charges)?).chain(cost_cells(&balance.spent)).collect())
}

pub(crate) fn cost_cells(cost: &Cost) -> [Cell; 3] {
    let text = |amount| Cell::Text(sortable(amount));
    let pure = cost.pure.as_ref().map_or(Cell::Null, text);
    [text(&cost.main), text(&cost.delta), pure]
}

impl From<Hash> for Cell {
    fn from(hash: Hash) -> Self {
        Self::Bytes(hash.0.to_vec())
    }
}

pub(crate) fn optional(text: Option<&str>) -> Cell {
    text.map_or(Cell::Null, Cell::from)
}

pub(crate) fn whole(number: u64) -> Result<Cell> {
    i64::try_from(number).map(Cell::Whole).map_err(|_| damaged("a number is too large"))
}

/// Reads the cells of a row, which may hold anything.
pub(crate) struct RowReader<'a>(pub(crate) &'a [Cell]);

impl RowReader<'_> {
    pub(crate) fn cell(&self, index: usize) -> &Cell {
        self.0.get(index).unwrap_or(&Cell::Null)
    }

    pub(crate) fn whole(&self, index: usize) -> Result<i64> {
        match self.cell(index) {
            Cell::Whole(number) => Ok(*number),
            _ => Err(damaged("a cell is not a whole number")),
        }
    }

    pub(crate) fn count(&self, index: usize) -> Result<u64> {
        u64::try_from(self.whole(index)?).map_err(|_| damaged("a cell is below zero"))
    }

    pub(crate) fn optional_count(&self, index: usize) -> Result<Option<u64>> {
        match self.cell(index) {
            Cell::Null => Ok(None),
            _ => self.count(index).map(Some),
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<String> {
        self.optional_text(index)?.ok_or_else(|| damaged("a cell has no text"))
    }

    pub(crate) fn optional_text(&self, index: usize) -> Result<Option<String>> {
        match self.cell(index) {
            Cell::Text(text) => Ok(Some(text.clone())),
            Cell::Null => Ok(None),
            _ => Err(damaged("a cell is not text")),
        }
    }

    pub(crate) fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        match self.cell(index) {
            Cell::Bytes(bytes) => Ok(bytes.clone()),
            _ => Err(damaged("a cell holds no bytes")),
        }
    }

    pub(crate) fn hash(&self, index: usize) -> Result<Hash> {
        let hash = self.bytes(index)?.try_into();
        hash.map(Hash).map_err(|_| damaged("a cell holds no hash"))
    }

    /// The charges, the capacity and the spent amount, from a column on.
    pub(crate) fn balance(&self, index: usize) -> Result<Balance> {
        let (capacity, spent) = (self.cost(index + 1)?, self.cost(index + 4)?);
        Ok(Balance { charges: self.count(index)?, capacity, spent })
    }

    fn cost(&self, index: usize) -> Result<Cost> {
        let read = |text: String| amount(&text).ok_or_else(|| damaged("a cell holds no amount"));
        Ok(Cost {
            main: read(self.text(index)?)?,
            delta: read(self.text(index + 1)?)?,
            pure: self.optional_text(index + 2)?.map(read).transpose()?,
        })
    }
}
