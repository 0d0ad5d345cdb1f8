//! Counts for questions in one pass. Where each row is a person, blocks are counted as they are read. Where people may
//! have several rows, the rows are kept until all are read, and are then counted shard by shard.

mod choose;
mod evaluate;
mod people;

pub(super) use evaluate::ResolvedQuestion;
pub(super) use people::ROOM;

use super::read::{ColumnValues, Layout, in_parallel, in_time, lock, read_all};
use super::row_source::RowSource;
use crate::engine::error::EngineError;
use crate::engine::tabulation::{RawGroup, Sum};
use choose::{Choice, Limits};
use evaluate::{BlockValues, NO_CELL};
use people::{SHARDS, Shard};
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// The rows of a block that belong to a shard, with each row's person and the person's hash.
type ShardRows<'a> = (Vec<u32>, Vec<(&'a [u8], u64)>);

/// The sums of each question, group after group.
type Sums = Vec<Vec<i128>>;

/// The counters of a pass.
struct Counts<'a> {
    questions: &'a [ResolvedQuestion<'a>],
    key: i64,
    room: usize,
    /// For each question and binned column, the number of rows in each gap of each group.
    gap_counts: Vec<Vec<Vec<AtomicU64>>>,
}

/// Counts for questions about a source with this layout. The key decides which rows of people with too many rows are
/// used. When the kept rows take more than `room` bytes, rows that no question can use are dropped.
pub(super) fn count(
    questions: &[ResolvedQuestion<'_>],
    (source, layout): (&RowSource, &Layout),
    (key, room): (i64, usize),
    deadline: Instant,
) -> Result<Vec<Vec<RawGroup>>, EngineError> {
    let counts = Counts::new(questions, key, room);
    let none = || -> Sums {
        let size = |question: &ResolvedQuestion<'_>| {
            question.tabulation.checked.group_count() * question.tabulation.sums.len()
        };
        questions.iter().map(|question| vec![0; size(question)]).collect()
    };
    let sums = if layout.has_people {
        counts.of_people((source, layout), deadline, none)?
    } else {
        read_all(source, layout, deadline, none, |sums, columns| {
            counts.add_block(sums, &columns);
            Ok(())
        })?
    };
    let mut all = none();
    for (to, from) in sums.iter().flat_map(|sums| sums.iter().enumerate()) {
        if let Some(to) = all.get_mut(to) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }
    Ok(counts.raw_groups(&all))
}

impl<'a> Counts<'a> {
    fn new(questions: &'a [ResolvedQuestion<'a>], key: i64, room: usize) -> Self {
        let gap_counts = |question: &ResolvedQuestion<'_>| {
            let cells = question.tabulation.checked.group_count();
            let counts = question.counts.iter().map(|(_, bins)| bins.edges.len() + 1);
            let none = |size: usize| (0..size).map(|_| AtomicU64::new(0)).collect();
            counts.map(|gaps| none(cells * gaps)).collect()
        };
        Self { questions, key, room, gap_counts: questions.iter().map(gap_counts).collect() }
    }

    /// Counts a block of rows, each of another person.
    fn add_block(&self, sums: &mut Sums, columns: &[ColumnValues]) {
        let rows = columns.first().map(ColumnValues::len).unwrap_or_default();
        for (number, question) in self.questions.iter().enumerate() {
            let evaluated = question.evaluate(columns, rows);
            let Some(sums) = sums.get_mut(number) else { continue };
            let people = question.tabulation.sums.iter().position(|sum| *sum == Sum::People);
            let width = question.tabulation.sums.len();
            for (row, cell) in evaluated.cells.iter().enumerate() {
                if *cell == NO_CELL {
                    continue;
                }
                self.add(sums, (number, question), &evaluated, row as u32);
                if let Some(people) = people {
                    add(sums, *cell as usize * width + people, 1);
                }
            }
        }
    }

    /// Counts a chosen row in its group.
    fn add(
        &self,
        sums: &mut [i128],
        (number, question): (usize, &ResolvedQuestion<'_>),
        evaluated: &BlockValues,
        row: u32,
    ) {
        let row = row as usize;
        let Some(cell) = evaluated.cells.get(row).map(|cell| *cell as usize) else { return };
        let width = question.tabulation.sums.len();
        let own = sums.get_mut(cell * width..(cell + 1) * width).unwrap_or_default();
        let mut units = evaluated.units.iter();
        for (sum, to) in question.tabulation.sums.iter().zip(own) {
            *to += match sum {
                Sum::Rows => 1,
                Sum::People => 0,
                Sum::Units(_) => units
                    .next()
                    .and_then(|units| units.get(row))
                    .copied()
                    .unwrap_or_default()
                    .into(),
            };
        }
        let counted = self.gap_counts.get(number).into_iter().flatten();
        for (counts, ((_, bins), gaps)) in counted.zip(question.counts.iter().zip(&evaluated.gaps))
        {
            let (gap, many) =
                (gaps.get(row).copied().unwrap_or(u32::MAX) as usize, bins.edges.len() + 1);
            if gap < many
                && let Some(count) = counts.get(cell * many + gap)
            {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts rows of people who may have several.
    fn of_people(
        &self,
        (source, layout): (&RowSource, &Layout),
        deadline: Instant,
        none: impl Fn() -> Sums + Sync,
    ) -> Result<Vec<Sums>, EngineError> {
        let state = RandomState::new();
        let readings = layout.columns.iter().take(layout.columns.len() - 1);
        let columns: Vec<ColumnValues> =
            readings.map(|(_, reading)| ColumnValues::new(reading)).collect();
        let shards: Vec<Mutex<Shard>> =
            (0..SHARDS).map(|_| Mutex::new(Shard::new(columns.clone(), self.room))).collect();
        read_all(
            source,
            layout,
            deadline,
            || (),
            |(), columns| self.spread(&state, &shards, &columns, deadline),
        )?;
        let next = AtomicUsize::new(0);
        in_parallel(none, |sums| {
            let Some(shard) = shards.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return Ok(false);
            };
            // Frees the shard's memory as soon as it is counted.
            let shard = std::mem::replace(&mut *lock(shard), Shard::new(Vec::new(), 0));
            self.add_shard(sums, &shard, deadline)?;
            Ok(true)
        })
    }

    /// Distributes the rows of a block over the shards of their people. Rows without a person are not used.
    fn spread(
        &self,
        state: &RandomState,
        shards: &[Mutex<Shard>],
        columns: &[ColumnValues],
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let Some(ColumnValues::People(people)) = columns.last() else { return Ok(()) };
        let mut own: Vec<ShardRows<'_>> = vec![Default::default(); shards.len()];
        for (row, person) in (0_u32..).zip(people.iter()) {
            let Some(person) = person else { continue };
            let hash = state.hash_one(person);
            // The shard's index uses other bits of the hash than the hash table does.
            if let Some((rows, who)) = own.get_mut((hash >> 48) as usize % SHARDS) {
                rows.push(row);
                who.push((person, hash));
            }
        }
        for (shard, (rows, who)) in shards.iter().zip(own) {
            let mut shard = lock(shard);
            shard.add(state, who.into_iter(), columns, &rows);
            if shard.is_full() {
                let used = self.used(&shard, deadline)?;
                shard.keep(&used);
            }
        }
        Ok(())
    }

    /// Marks the rows of a shard that a question may use, whatever rows follow.
    fn used(&self, shard: &Shard, deadline: Instant) -> Result<Vec<bool>, EngineError> {
        let (columns, rows) = shard.columns();
        let (people, mut choice) = (shard.by_person(), Choice::default());
        let mut used = vec![false; rows];
        for question in self.questions {
            in_time(deadline)?;
            let (evaluated, limits) = (question.evaluate(columns, rows), self.limits(question));
            for (person, rows) in people.iter() {
                choice.choose(&limits, person, rows, &evaluated, true);
                for row in &choice.rows {
                    used.get_mut(*row as usize).into_iter().for_each(|used| *used = true);
                }
            }
        }
        Ok(used)
    }

    /// Counts all rows of a shard.
    fn add_shard(
        &self,
        sums: &mut Sums,
        shard: &Shard,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let (columns, rows) = shard.columns();
        let (people, mut choice, mut cells) = (shard.by_person(), Choice::default(), Vec::new());
        for (number, question) in self.questions.iter().enumerate() {
            in_time(deadline)?;
            let (evaluated, limits) = (question.evaluate(columns, rows), self.limits(question));
            let Some(sums) = sums.get_mut(number) else { continue };
            let counts_people = question.tabulation.sums.iter().position(|sum| *sum == Sum::People);
            let width = question.tabulation.sums.len();
            for (person, rows) in people.iter() {
                choice.choose(&limits, person, rows, &evaluated, false);
                for row in &choice.rows {
                    self.add(sums, (number, question), &evaluated, *row);
                }
                let Some(place) = counts_people else { continue };
                cells.clear();
                cells.extend(
                    choice.rows.iter().filter_map(|row| evaluated.cells.get(*row as usize)),
                );
                cells.sort_unstable();
                cells.dedup();
                cells.iter().for_each(|cell: &u32| add(sums, *cell as usize * width + place, 1));
            }
        }
        Ok(())
    }

    fn limits(&self, question: &ResolvedQuestion<'_>) -> Limits {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (rows, groups, each) = question.tabulation.checked.contribution_limits();
        let limits_groups = question.tabulation.limits_groups();
        let groups = limits_groups.then(|| (size(groups), size(each)));
        Limits { rows: size(rows), groups, key: self.key }
    }

    /// The raw groups of each question.
    fn raw_groups(&self, sums: &Sums) -> Vec<Vec<RawGroup>> {
        let one = |((question, sums), gap_counts): (
            (&ResolvedQuestion<'_>, &Vec<i128>),
            &Vec<Vec<AtomicU64>>,
        )| {
            let width = question.tabulation.sums.len();
            let own = |cell: usize| {
                sums.get(cell * width..(cell + 1) * width).unwrap_or_default().to_vec()
            };
            let count = |number: usize, cell: usize, place: usize| {
                let many = question.counts.get(number).map(|(_, bins)| bins.edges.len() + 1);
                let counts = gap_counts.get(number).zip(many);
                let count = counts.and_then(|(counts, many)| counts.get(cell * many + place));
                count.map_or(0, |count| i128::from(count.load(Ordering::Relaxed)))
            };
            question.tabulation.raw_groups(own, count)
        };
        self.questions.iter().zip(sums).zip(&self.gap_counts).map(one).collect()
    }
}

fn add(sums: &mut [i128], place: usize, more: i128) {
    sums.get_mut(place).into_iter().for_each(|sum| *sum += more);
}
