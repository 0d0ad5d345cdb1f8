//! Blocks of rows, and the inspection of all rows for their owner.

use super::columns::{Cell, ColumnValues, Layout, ReadOutcome};
use std::collections::BTreeSet;

/// A block of rows that is being read.
pub(super) struct Block<'a> {
    layout: &'a Layout,
    pub columns: Vec<ColumnValues>,
    watch: Option<&'a mut Inspector>,
}

/// The number of rows of a source and the quality of its columns. **It is as secret as the data.**
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The number of rows.
    pub rows: u64,
    /// The quality of each declared column, and of the person column.
    pub columns: Vec<ColumnInspection>,
}

/// The number of missing and unreadable values of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnInspection {
    /// The column's name in the source.
    pub column: String,
    /// The number of missing values.
    pub missing: u64,
    /// The number of values that are present but cannot be read: they fit neither the declaration nor a missing code.
    /// In answers they count as missing, or belong to no group.
    pub unreadable: u64,
    /// The first unreadable value, with its row (from 1).
    pub example: Option<(u64, String)>,
}

/// Collects an inspection while rows are read.
#[derive(Debug, Default)]
pub(crate) struct Inspector {
    pub inspection: Inspection,
    /// The problem of the first row that cannot be read.
    pub problem: Option<String>,
    /// For each column, the codes of missing values.
    codes: Vec<BTreeSet<String>>,
}

impl Inspector {
    pub(super) fn new(layout: &Layout, codes: Vec<BTreeSet<String>>) -> Self {
        let values = |(name, _): &(String, _)| ColumnInspection {
            column: name.clone(),
            ..ColumnInspection::default()
        };
        let columns = layout.columns.iter().map(values).collect();
        Self { inspection: Inspection { rows: 0, columns }, problem: None, codes }
    }

    /// True if a value is a code of a missing value.
    fn is_code(&self, place: usize, cell: Cell<'_>) -> bool {
        self.codes.get(place).is_some_and(|codes| codes.contains(cell.shown().trim()))
    }
}

impl<'a> Block<'a> {
    pub(super) fn new(layout: &'a Layout, watch: Option<&'a mut Inspector>) -> Self {
        let columns =
            layout.columns.iter().map(|(_, reading)| ColumnValues::new(reading)).collect();
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
        let is_code = found == ReadOutcome::Unreadable && watch.is_code(place, cell);
        let Some(values) = watch.inspection.columns.get_mut(place) else { return };
        match found {
            ReadOutcome::Value => (),
            _ if is_code => values.missing += 1,
            ReadOutcome::Missing => values.missing += 1,
            ReadOutcome::Unreadable => {
                values.unreadable += 1;
                values.example.get_or_insert_with(|| (row, cell.shown()));
            }
        }
    }

    /// Adds a row that cannot be read: all its values are missing.
    pub(super) fn push_unreadable(&mut self, problem: impl FnOnce() -> String) {
        for place in 0..self.columns.len() {
            self.push(place, Cell::Missing);
        }
        self.complain(problem);
    }

    /// True if the rows are being inspected.
    pub(super) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Reports a row that cannot be read to the inspector, if there is one.
    pub(super) fn complain(&mut self, problem: impl FnOnce() -> String) {
        if let Some(watch) = &mut self.watch {
            watch.problem.get_or_insert_with(problem);
        }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map(ColumnValues::len).unwrap_or_default()
    }

    /// Returns the columns of the finished block.
    pub(super) fn finish(self) -> Vec<ColumnValues> {
        let rows = self.rows() as u64;
        if let Some(watch) = self.watch {
            watch.inspection.rows += rows;
        }
        self.columns
    }
}
