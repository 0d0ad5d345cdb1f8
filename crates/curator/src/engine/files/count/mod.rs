//! Counting for questions in one pass: blocks are evaluated as they are read; rows of people who may have several are kept until all
//! have been, and then counted part by part.

mod bound;
mod evaluate;
mod people;

pub(super) use evaluate::Question;
pub(super) use people::ROOM;

use super::read::{Column, Layout, in_parallel, in_time, lock, read_all};
use super::row_source::RowSource;
use crate::engine::failed::Failed;
use crate::engine::tabulation::{Counted, Sum};
use bound::{Choice, Limits};
use evaluate::{Evaluated, NO_CELL};
use people::{PARTS, Part};
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// The rows of a part of the people, and whose each is, with a hash of it.
type Own<'a> = (Vec<u32>, Vec<(&'a [u8], u64)>);

/// The sums of each question: for each group in turn.
type Sums = Vec<Vec<i128>>;

/// What is counted for questions.
struct Counts<'a> {
    questions: &'a [Question<'a>],
    key: i64,
    room: usize,
    /// For each question, and each column that is counted between places, how many rows are at each place of each group.
    places: Vec<Vec<Vec<AtomicU64>>>,
}

/// Counts for questions about a source, of whose columns this is the layout. The key decides which rows are used of people who
/// have too many. Rows have so much room, in bytes, before some are left out that no question uses.
pub(super) fn count(
    questions: &[Question<'_>],
    (source, layout): (&RowSource, &Layout),
    (key, room): (i64, usize),
    deadline: Instant,
) -> Result<Vec<Vec<Counted>>, Failed> {
    let counts = Counts::new(questions, key, room);
    let none = || -> Sums {
        let size = |question: &Question<'_>| {
            question.tabulation.checked.cells() * question.tabulation.sums.len()
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
    Ok(counts.counted(&all))
}

impl<'a> Counts<'a> {
    fn new(questions: &'a [Question<'a>], key: i64, room: usize) -> Self {
        let places = |question: &Question<'_>| {
            let cells = question.tabulation.checked.cells();
            let counts = question.counts.iter().map(|(_, places)| places.places.len() + 1);
            let none = |size: usize| (0..size).map(|_| AtomicU64::new(0)).collect();
            counts.map(|places| none(cells * places)).collect()
        };
        Self { questions, key, room, places: questions.iter().map(places).collect() }
    }

    /// Counts a block of rows, each of which is a person.
    fn add_block(&self, sums: &mut Sums, columns: &[Column]) {
        let rows = columns.first().map(Column::len).unwrap_or_default();
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

    /// Counts a row that is used, in its group.
    fn add(
        &self,
        sums: &mut [i128],
        (number, question): (usize, &Question<'_>),
        evaluated: &Evaluated,
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
        let counted = self.places.get(number).into_iter().flatten();
        for (counts, ((_, column), places)) in
            counted.zip(question.counts.iter().zip(&evaluated.places))
        {
            let (place, many) =
                (places.get(row).copied().unwrap_or(u32::MAX) as usize, column.places.len() + 1);
            if place < many
                && let Some(count) = counts.get(cell * many + place)
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
    ) -> Result<Vec<Sums>, Failed> {
        let state = RandomState::new();
        let readings = layout.columns.iter().take(layout.columns.len() - 1);
        let columns: Vec<Column> = readings.map(|(_, reading)| Column::new(reading)).collect();
        let parts: Vec<Mutex<Part>> =
            (0..PARTS).map(|_| Mutex::new(Part::new(columns.clone(), self.room))).collect();
        read_all(
            source,
            layout,
            deadline,
            || (),
            |(), columns| self.spread(&state, &parts, &columns, deadline),
        )?;
        let next = AtomicUsize::new(0);
        in_parallel(none, |sums| {
            let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return Ok(false);
            };
            // Its room is free again once it has been counted.
            let part = std::mem::replace(&mut *lock(part), Part::new(Vec::new(), 0));
            self.add_part(sums, &part, deadline)?;
            Ok(true)
        })
    }

    /// Gives the rows of a block to the parts that their people are in. Rows of nobody are not used.
    fn spread(
        &self,
        state: &RandomState,
        parts: &[Mutex<Part>],
        columns: &[Column],
        deadline: Instant,
    ) -> Result<(), Failed> {
        let Some(Column::People(people)) = columns.last() else { return Ok(()) };
        let mut own: Vec<Own<'_>> = vec![Default::default(); parts.len()];
        for (row, person) in (0_u32..).zip(people.iter()) {
            let Some(person) = person else { continue };
            let hash = state.hash_one(person);
            // Other bits than those that tables use.
            if let Some((rows, who)) = own.get_mut((hash >> 48) as usize % PARTS) {
                rows.push(row);
                who.push((person, hash));
            }
        }
        for (part, (rows, who)) in parts.iter().zip(own) {
            let mut part = lock(part);
            part.add(state, who.into_iter(), columns, &rows);
            if part.is_full() {
                let used = self.used(&part, deadline)?;
                part.keep(&used);
            }
        }
        Ok(())
    }

    /// Which rows of a part some question may use, whatever rows are still to come.
    fn used(&self, part: &Part, deadline: Instant) -> Result<Vec<bool>, Failed> {
        let (columns, rows) = part.columns();
        let (people, mut choice) = (part.by_person(), Choice::default());
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

    /// Counts all rows of some people.
    fn add_part(&self, sums: &mut Sums, part: &Part, deadline: Instant) -> Result<(), Failed> {
        let (columns, rows) = part.columns();
        let (people, mut choice, mut cells) = (part.by_person(), Choice::default(), Vec::new());
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

    fn limits(&self, question: &Question<'_>) -> Limits {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (rows, groups, each) = question.tabulation.checked.contribution();
        let limits_groups = question.tabulation.limits_groups();
        let groups = limits_groups.then(|| (size(groups), size(each)));
        Limits { rows: size(rows), groups, key: self.key }
    }

    /// The numbers of all aggregates, for each question and group.
    fn counted(&self, sums: &Sums) -> Vec<Vec<Counted>> {
        let one =
            |((question, sums), places): ((&Question<'_>, &Vec<i128>), &Vec<Vec<AtomicU64>>)| {
                let width = question.tabulation.sums.len();
                let own = |cell: usize| {
                    sums.get(cell * width..(cell + 1) * width).unwrap_or_default().to_vec()
                };
                let count = |number: usize, cell: usize, place: usize| {
                    let many =
                        question.counts.get(number).map(|(_, column)| column.places.len() + 1);
                    let counts = places.get(number).zip(many);
                    let count = counts.and_then(|(counts, many)| counts.get(cell * many + place));
                    count.map_or(0, |count| i128::from(count.load(Ordering::Relaxed)))
                };
                question.tabulation.counted(own, count)
            };
        self.questions.iter().zip(sums).zip(&self.places).map(one).collect()
    }
}

fn add(sums: &mut [i128], place: usize, more: i128) {
    sums.get_mut(place).into_iter().for_each(|sum| *sum += more);
}
