//! A block of rows as it is read, and what the owner of the data is told about it.

use super::columns::{Cell, Column, Found, Layout};
use std::collections::BTreeSet;

/// A block of rows as it is read.
pub(super) struct Block<'a> {
    layout: &'a Layout,
    pub columns: Vec<Column>,
    watch: Option<&'a mut Watch>,
}

/// What was found in the rows. **It is as secret as the data.**
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// How many rows there are.
    pub rows: u64,
    /// What was found in each declared column, and in that of people.
    pub columns: Vec<Values>,
}

/// What was found in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The column.
    pub column: String,
    /// How many values are missing.
    pub missing: u64,
    /// How many values are there and cannot be read, or are no declared category, nor declared to stand for a missing one. They count
    /// as missing, or as no group.
    pub unreadable: u64,
    /// The first of these: its row, from 1, and the value.
    pub example: Option<(u64, String)>,
}

/// Looks for rows that cannot be read.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub inspection: Inspection,
    /// The first row that cannot be read, and why.
    pub problem: Option<String>,
    /// For each column the values that stand for a missing one.
    codes: Vec<BTreeSet<String>>,
}

impl Watch {
    pub(super) fn new(layout: &Layout, codes: Vec<BTreeSet<String>>) -> Self {
        let values = |(name, _): &(String, _)| Values { column: name.clone(), ..Values::default() };
        let columns = layout.columns.iter().map(values).collect();
        Self { inspection: Inspection { rows: 0, columns }, problem: None, codes }
    }

    /// Whether a value of a column stands for a missing one.
    fn is_code(&self, place: usize, cell: Cell<'_>) -> bool {
        self.codes.get(place).is_some_and(|codes| codes.contains(cell.shown().trim()))
    }
}

impl<'a> Block<'a> {
    pub(super) fn new(layout: &'a Layout, watch: Option<&'a mut Watch>) -> Self {
        let columns = layout.columns.iter().map(|(_, reading)| Column::new(reading)).collect();
        Self { layout, columns, watch }
    }

    /// Adds a value to a column.
    pub(super) fn push(&mut self, place: usize, cell: Cell<'_>) {
        let (Some((_, reading)), Some(column)) =
            (self.layout.columns.get(place), self.columns.get_mut(place))
        else {
            return;
        };
        let found = column.push(reading, cell);
        let Some(watch) = &mut self.watch else { return };
        let row = watch.inspection.rows + column.len() as u64;
        let is_code = found == Found::Unreadable && watch.is_code(place, cell);
        let Some(values) = watch.inspection.columns.get_mut(place) else { return };
        match found {
            Found::Value => (),
            _ if is_code => values.missing += 1,
            Found::Missing => values.missing += 1,
            Found::Unreadable => {
                values.unreadable += 1;
                values.example.get_or_insert_with(|| (row, cell.shown()));
            }
        }
    }

    /// Adds a row of which nothing can be read.
    pub(super) fn push_unreadable(&mut self, problem: impl FnOnce() -> String) {
        for place in 0..self.columns.len() {
            self.push(place, Cell::Missing);
        }
        self.complain(problem);
    }

    /// Whether somebody looks for what cannot be read.
    pub(super) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Tells whoever looks for it what cannot be read.
    pub(super) fn complain(&mut self, problem: impl FnOnce() -> String) {
        if let Some(watch) = &mut self.watch {
            watch.problem.get_or_insert_with(problem);
        }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map(Column::len).unwrap_or_default()
    }

    /// The columns, once all rows are there.
    pub(super) fn finish(self) -> Vec<Column> {
        let rows = self.rows() as u64;
        if let Some(watch) = self.watch {
            watch.inspection.rows += rows;
        }
        self.columns
    }
}
