//! The choice among a person's rows: by a keyed hash of the person, the group and the units, and by these values where
//! hashes are equal. SQLite chooses the same rows.

use super::evaluate::{BlockValues, NO_CELL};
use crate::engine::choice::first_64_bits;
use sha2::{Digest, Sha256};
use std::cmp::Ordering;

/// The limits on the rows of a person.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub rows: usize,
    /// The largest numbers of groups, and of rows in each group, if the question limits groups.
    pub groups: Option<(usize, usize)>,
    /// The key of the hashes.
    pub key: i64,
}

/// A row with its hash, and the hash of its group if groups are limited.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    group: i64,
    cell: u32,
    order: i64,
    row: u32,
}

/// The chosen rows of one person, and reusable memory for the choice.
#[derive(Debug, Default)]
pub(super) struct Choice {
    candidates: Vec<Candidate>,
    message: Vec<u8>,
    pub rows: Vec<u32>,
}

impl Choice {
    /// Chooses among the rows of a person. With `all`, keeps every row that may still be chosen when more rows of the
    /// person are read.
    pub(super) fn choose(
        &mut self,
        limits: &Limits,
        person: &[u8],
        rows: &[u32],
        of: &BlockValues,
        all: bool,
    ) {
        let cell = |row: u32| of.cells.get(row as usize).copied().unwrap_or(NO_CELL);
        self.rows.clear();
        self.rows.extend(rows.iter().copied().filter(|row| cell(*row) != NO_CELL));
        if limits.groups.is_none() && self.rows.len() <= limits.rows {
            return;
        }
        self.candidates.clear();
        for row in self.rows.drain(..) {
            let cell = cell(row);
            let group = match limits.groups {
                Some(_) => hash(&mut self.message, limits.key, cell, [].into_iter(), person),
                None => 0,
            };
            let order = hash(&mut self.message, limits.key, cell, of.numbers(row), person);
            self.candidates.push(Candidate { group, cell, order, row });
        }
        if let Some((groups, each)) = limits.groups {
            self.limit_groups(groups, each, of);
        }
        if self.candidates.len() > limits.rows && (limits.groups.is_none() || !all) {
            let by = |one: &Candidate, other: &Candidate| one.before(other, of);
            self.candidates.select_nth_unstable_by(limits.rows, by);
            self.candidates.truncate(limits.rows);
        }
        self.rows.extend(self.candidates.iter().map(|candidate| candidate.row));
    }

    /// Keeps the rows of the first groups, and the first rows of each group.
    fn limit_groups(&mut self, groups: usize, each: usize, of: &BlockValues) {
        self.candidates.sort_unstable_by(|one, other| {
            let group = (one.group, one.cell).cmp(&(other.group, other.cell));
            group.then_with(|| one.before(other, of))
        });
        let (mut last, mut group_rank, mut rank) = (None, 0, 0);
        self.candidates.retain(|candidate| {
            if last != Some(candidate.cell) {
                (last, group_rank, rank) = (Some(candidate.cell), group_rank + 1, 0);
            }
            rank += 1;
            group_rank <= groups && rank <= each
        });
    }
}

impl Candidate {
    /// Compares by hash, and where hashes are equal by group and numbers.
    fn before(&self, other: &Self, of: &BlockValues) -> Ordering {
        let first = (self.order, self.cell).cmp(&(other.order, other.cell));
        first.then_with(|| of.numbers(self.row).cmp(of.numbers(other.row)))
    }
}

impl BlockValues {
    /// The units and gaps of a row.
    fn numbers(&self, row: u32) -> impl Iterator<Item = i64> {
        let units = self.units.iter().filter_map(move |units| units.get(row as usize).copied());
        let gaps = self.gaps.iter().filter_map(move |gaps| gaps.get(row as usize));
        units.chain(gaps.map(|gap| i64::from(*gap)))
    }
}

/// The first 64 bits of the SHA-256 of the key, the whole numbers and the person.
fn hash(
    message: &mut Vec<u8>,
    key: i64,
    cell: u32,
    numbers: impl Iterator<Item = i64>,
    person: &[u8],
) -> i64 {
    message.clear();
    for number in [key, cell.into()].into_iter().chain(numbers) {
        message.extend_from_slice(&number.to_be_bytes());
    }
    message.extend_from_slice(&(person.len() as u64).to_be_bytes());
    message.extend_from_slice(person);
    first_64_bits(Sha256::digest(&message))
}
