//! Keeps the rows of people who may have several until all rows are read. When the rows take too much memory, rows that
//! no question can use any more are dropped, so that a person takes memory only for rows that questions use.

use crate::engine::files::read::ColumnValues;
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

/// The number of shards. A person's hash selects the shard. A shard fits a processor's cache and is counted on its own.
pub(super) const SHARDS: usize = 256;
/// The bytes of rows, over all shards, at which rows are dropped for the first time.
pub(crate) const ROOM: usize = 1 << 30;

/// A share of the people, with their rows.
#[derive(Debug)]
pub(super) struct Shard {
    /// The indices of people, by their hashes.
    numbers: HashTable<u32>,
    /// The people's identifiers, one after the other, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The index of each row's person.
    rows: Vec<u32>,
    columns: Vec<ColumnValues>,
    /// The number of rows at which some should be dropped.
    full: usize,
}

impl Shard {
    pub(super) fn new(columns: Vec<ColumnValues>, room: usize) -> Self {
        let width: usize = columns.iter().map(ColumnValues::width).sum();
        Self {
            numbers: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            columns,
            full: room / SHARDS / (width + size_of::<u32>()),
        }
    }

    fn person(&self, number: u32) -> &[u8] {
        person(&self.bytes, &self.ends, number)
    }

    /// Adds rows of a block, each with its person and that person's hash.
    pub(super) fn add<'a>(
        &mut self,
        state: &RandomState,
        rows: impl Iterator<Item = (&'a [u8], u64)>,
        columns: &[ColumnValues],
        places: &[u32],
    ) {
        for (who, hash) in rows {
            let is_it = |number: &u32| self.person(*number) == who;
            let number = match self.numbers.find(hash, is_it) {
                Some(number) => *number,
                None => {
                    let number = self.ends.len() as u32;
                    self.bytes.extend_from_slice(who);
                    self.ends.push(self.bytes.len());
                    let (bytes, ends) = (&self.bytes, &self.ends);
                    let again = |number: &u32| state.hash_one(person(bytes, ends, *number));
                    self.numbers.insert_unique(hash, number, again);
                    number
                }
            };
            self.rows.push(number);
        }
        for (to, from) in self.columns.iter_mut().zip(columns) {
            to.append(from, places);
        }
    }

    /// True if some rows should be dropped.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= self.full
    }

    /// Drops all rows but the marked ones.
    pub(super) fn keep(&mut self, is_kept: &[bool]) {
        let kept = (0_u32..).zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(row, _)| row);
        let kept: Vec<u32> = kept.collect();
        self.rows = kept.iter().filter_map(|row| self.rows.get(*row as usize)).copied().collect();
        self.columns.iter_mut().for_each(|column| column.retain(&kept));
        self.full = self.full.max(2 * self.rows.len());
    }

    /// The columns and their number of rows.
    pub(super) fn columns(&self) -> (&[ColumnValues], usize) {
        (&self.columns, self.rows.len())
    }

    /// Groups the rows by person.
    pub(super) fn by_person(&self) -> ByPerson<'_> {
        let mut ends = vec![0_u32; self.ends.len() + 1];
        for person in &self.rows {
            ends.get_mut(*person as usize + 1).into_iter().for_each(|end| *end += 1);
        }
        let mut sum = 0;
        ends.iter_mut().for_each(|end| {
            sum += *end;
            *end = sum;
        });
        let mut order = vec![0; self.rows.len()];
        // The next free place of each person. At the end it is the start of the next person.
        let mut next = ends.clone();
        for (row, person) in (0_u32..).zip(&self.rows) {
            if let Some(next) = next.get_mut(*person as usize) {
                order.get_mut(*next as usize).into_iter().for_each(|place| *place = row);
                *next += 1;
            }
        }
        ByPerson { shard: self, ends, order }
    }
}

fn person<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let end = |number: usize| ends.get(number).copied().unwrap_or_default();
    let start = (number as usize).checked_sub(1).map(end).unwrap_or_default();
    bytes.get(start..end(number as usize)).unwrap_or_default()
}

/// The rows of a shard, grouped by person.
#[derive(Debug)]
pub(super) struct ByPerson<'a> {
    shard: &'a Shard,
    ends: Vec<u32>,
    order: Vec<u32>,
}

impl ByPerson<'_> {
    /// Each person with rows, and the indices of these rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u32])> {
        (0_u32..).zip(self.ends.windows(2)).filter_map(|(number, ends)| {
            let [start, end] = ends else { return None };
            let rows = self.order.get(*start as usize..*end as usize)?;
            (!rows.is_empty()).then(|| (self.shard.person(number), rows))
        })
    }
}
