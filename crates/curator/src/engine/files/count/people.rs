//! Rows of people who may have several: kept, person by person, until all have been read. Rows that no question can use any more are
//! left out as soon as there are many, so that a person takes room for no more rows than questions use.

use crate::engine::files::read::Column;
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

/// People are in so many parts, by a hash of theirs: each part fits a processor's near memory, and is counted on its own.
pub(super) const PARTS: usize = 256;
/// All parts have so many bytes of rows before some are left out for the first time.
pub(crate) const ROOM: usize = 1 << 30;

/// Some of the people, and their rows.
#[derive(Debug)]
pub(super) struct Part {
    /// The numbers of people, by their hashes.
    numbers: HashTable<u32>,
    /// Who they are, one after the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Whose each row is.
    rows: Vec<u32>,
    columns: Vec<Column>,
    /// With so many rows it is time to leave some out.
    full: usize,
}

impl Part {
    pub(super) fn new(columns: Vec<Column>, room: usize) -> Self {
        let width: usize = columns.iter().map(Column::width).sum();
        Self {
            numbers: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            columns,
            full: room / PARTS / (width + size_of::<u32>()),
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
        columns: &[Column],
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

    /// Whether there are so many rows that it is time to leave some out.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= self.full
    }

    /// Leaves out all rows but these.
    pub(super) fn keep(&mut self, is_kept: &[bool]) {
        let kept = (0_u32..).zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(row, _)| row);
        let kept: Vec<u32> = kept.collect();
        self.rows = kept.iter().filter_map(|row| self.rows.get(*row as usize)).copied().collect();
        self.columns.iter_mut().for_each(|column| column.retain(&kept));
        self.full = self.full.max(2 * self.rows.len());
    }

    /// The columns, and how many rows they have.
    pub(super) fn columns(&self) -> (&[Column], usize) {
        (&self.columns, self.rows.len())
    }

    /// The rows of each person.
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
        // Each person's next place: it ends as the start of the next one.
        let mut next = ends.clone();
        for (row, person) in (0_u32..).zip(&self.rows) {
            if let Some(next) = next.get_mut(*person as usize) {
                order.get_mut(*next as usize).into_iter().for_each(|place| *place = row);
                *next += 1;
            }
        }
        ByPerson { part: self, ends, order }
    }
}

fn person<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let end = |number: usize| ends.get(number).copied().unwrap_or_default();
    let start = (number as usize).checked_sub(1).map(end).unwrap_or_default();
    bytes.get(start..end(number as usize)).unwrap_or_default()
}

/// The rows of each person of a part.
#[derive(Debug)]
pub(super) struct ByPerson<'a> {
    part: &'a Part,
    ends: Vec<u32>,
    order: Vec<u32>,
}

impl ByPerson<'_> {
    /// Each person who has rows, and which.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u32])> {
        (0_u32..).zip(self.ends.windows(2)).filter_map(|(number, ends)| {
            let [start, end] = ends else { return None };
            let rows = self.order.get(*start as usize..*end as usize)?;
            (!rows.is_empty()).then(|| (self.part.person(number), rows))
        })
    }
}
