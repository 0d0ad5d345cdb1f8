//! The engine for rows in files and in memory: CSV, Parquet, JSON lines, Arrow record batches. It counts what an SQL engine would be
//! asked for, directly, in one pass, on all processors.
//!
//! Rows that are people's own are counted as they are read. Rows of people who may have several are kept, as numbers and categories of
//! the columns that are used, until all have been read: up to a gigabyte of them, and beyond that twice as much as people x rows
//! that questions use.

mod count;
mod read;
mod row_source;

pub use read::{Inspection, Values};
pub use row_source::RowSource;

use super::choice::ChoiceKey;
use super::failed::{Failed, Found};
use super::tabulation::{Counted, Tabulation};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use count::{Question, ROOM};
use counterpoint_questions::public::{CodeText, Table};
use counterpoint_questions::question::Condition;
use read::Layout;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::time::Instant;

/// A pass counts so many numbers at most, in all groups together. A legal question has fewer.
const MOST_NUMBERS: usize = 1 << 25;

impl RowSource {
    /// Copies of batches that somebody else may write to, such as those of a data frame; there may be none.
    ///
    /// # Errors
    /// [`Failed`] if a column is not what its type says, such as a text that is not UTF-8.
    pub fn of_frame(batches: &[RecordBatch], schema: &SchemaRef) -> Result<Self, Failed> {
        Ok(Self::Batches(read::copied(batches, schema)?))
    }

    /// The columns, and what each holds.
    ///
    /// # Errors
    /// [`Failed`], naming what is wrong, for the owner alone.
    pub fn columns(&self) -> Result<Vec<Found>, Failed> {
        read::columns(self)
    }

    /// The SHA-256 of a file's bytes; of batches in memory the SHA-256 of what is in their columns, whatever types and encodings they
    /// have and however they are cut. A file and a frame of the same rows have different ones.
    ///
    /// # Errors
    /// [`Failed`] if they cannot be read.
    pub fn fingerprint(&self) -> Result<[u8; 32], Failed> {
        match self {
            Self::File(path, _) => {
                let named = |error| Failed::new(format!("{}: {error}", path.display()));
                let (mut file, mut sum) = (File::open(path).map_err(named)?, Sha256::new());
                let mut buffer = vec![0; 1 << 20];
                loop {
                    match file.read(&mut buffer).map_err(named)? {
                        0 => return Ok(sum.finalize().into()),
                        some => sum.update(buffer.get(..some).unwrap_or_default()),
                    }
                }
            }
            Self::Batches(batches) => Ok(read::fingerprint(batches)),
            Self::MadeUp(rows) => Ok(Sha256::digest(rows.to_be_bytes()).into()),
        }
    }
}

/// All columns of a table.
fn all(table: &Table) -> Layout {
    Layout::of(table, |_| true)
}

/// Checks that the columns of a table are in a source, and hold what is declared.
pub(crate) fn fits(table: &Table, source: &RowSource) -> Result<(), Failed> {
    match source {
        RowSource::MadeUp(_) => Ok(()),
        source => read::places(source, &all(table)).map(drop),
    }
}

/// Reads all rows of a source, and says what was found in them. A source without rows is an error.
pub(crate) fn inspect(
    table: &Table,
    source: &RowSource,
    deadline: Instant,
) -> Result<Inspection, Failed> {
    let codes = table.text().columns.iter().map(|column| {
        let code = |code: &CodeText| match code {
            CodeText::Number(number) => number.to_string(),
            CodeText::Text(text) => text.trim().to_owned(),
        };
        column.missing_codes.iter().map(code).collect()
    });
    let watch = read::watch(source, &all(table), codes.collect(), deadline)?;
    let problem = match (watch.problem, watch.inspection.rows) {
        (Some(problem), _) => problem,
        (None, 0) => "there are no rows".to_owned(),
        (None, _) => return Ok(watch.inspection),
    };
    Err(match source {
        RowSource::File(path, _) => Failed::new(format!("{}, {problem}", path.display())),
        _ => Failed::new(problem),
    })
}

/// Counts for questions about a table. The key decides which rows are used of people who have too many. **What it says is as
/// secret as the data.**
pub(crate) fn count(
    table: &Table,
    source: &RowSource,
    key: ChoiceKey,
    tabulations: &[&Tabulation],
    deadline: Instant,
) -> Result<Vec<Vec<Counted>>, Failed> {
    count_within(table, source, (key.get(), ROOM), tabulations, deadline)
}

/// The same; rows have so much room, in bytes, before some are left out that no question uses.
fn count_within(
    table: &Table,
    source: &RowSource,
    within: (i64, usize),
    tabulations: &[&Tabulation],
    deadline: Instant,
) -> Result<Vec<Vec<Counted>>, Failed> {
    let mut used: BTreeSet<&str> = tabulations.iter().flat_map(|one| used(one)).collect();
    if used.is_empty() {
        // Rows are counted all the same: as many as a column has values.
        used.extend(table.columns().first().map(|column| column.name.as_str()));
    }
    let layout = Layout::of(table, |column| used.contains(column));
    let questions = tabulations.iter().map(|one| Question::new(one, table, &layout));
    let questions: Option<Vec<Question<'_>>> = questions.collect();
    let questions = questions.ok_or_else(|| Failed::new("a question is about another table"))?;
    let mut counted = Vec::new();
    let mut left = questions.as_slice();
    while !left.is_empty() {
        let sizes = left.iter().scan(0_usize, |sum, question| {
            *sum = sum.saturating_add(question.size());
            Some(*sum)
        });
        let some = sizes.take_while(|size| *size <= MOST_NUMBERS).count().max(1);
        let (now, later) = left.split_at(some.min(left.len()));
        counted.extend(count::count(now, (source, &layout), within, deadline)?);
        left = later;
    }
    Ok(counted)
}

/// The columns that a question uses.
fn used(tabulation: &Tabulation) -> Vec<&str> {
    fn filtered<'a>(condition: &'a Condition, list: &mut Vec<&'a str>) {
        match condition {
            Condition::All(all) | Condition::Any(all) => {
                all.iter().for_each(|one| filtered(one, list));
            }
            Condition::Not(one) => filtered(one, list),
            Condition::Between { column, .. }
            | Condition::Above { column, .. }
            | Condition::Below { column, .. }
            | Condition::In { column, .. }
            | Condition::Missing { column } => list.push(column),
        }
    }
    let groupings = tabulation.checked.groupings().iter().map(|grouping| &grouping.column);
    let units = tabulation.units().flat_map(|added| added.columns.iter().chain(&added.required));
    let counts = tabulation.counts.iter().map(|places| &places.column);
    let mut list: Vec<&str> = groupings.chain(units).chain(counts).map(String::as_str).collect();
    let indicators = tabulation.units().filter_map(|added| added.indicator.as_ref());
    let conditions = tabulation.checked.filter().into_iter().chain(indicators);
    conditions.for_each(|condition| filtered(condition, &mut list));
    list
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::engine::tabulation::Wanted;
    use arrow_array::{ArrayRef, Float64Array, Int64Array};
    use counterpoint_questions::{Spend, question::sql};
    use counterpoint_testing::Random;
    use std::sync::Arc;
    use std::time::Duration;

    /// Rows that are left out while others are still to come change no choice.
    #[test]
    fn rows_are_left_out_early_without_another_choice() {
        let text = "name = \"t\"\nperson = \"nr\"\nrows = 4\nadjacency = \"add-remove\"\n\
                    [[column]]\nname = \"x\"\nbounds = [0, 10]\n\
                    [[column]]\nname = \"k\"\ncategories = [0, 1, 2, 3, 4]\n";
        let mut random = Random::new(9);
        let mut batch = |_| {
            let mut column = |most: u64| (0..200).map(|_| random.below(most) as i64).collect();
            let (nr, k): (Vec<i64>, Vec<i64>) = (column(40), column(6));
            let x: Vec<f64> = (0..200).map(|_| random.unit() * 12.0).collect();
            let columns: [(&str, ArrayRef); 3] = [
                ("nr", Arc::new(Int64Array::from(nr))),
                ("x", Arc::new(Float64Array::from(x))),
                ("k", Arc::new(Int64Array::from(k))),
            ];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let source = RowSource::Batches((0..20).map(&mut batch).collect());
        let asked = [
            "SELECT SUM(x), COUNT(DISTINCT nr) FROM t WHERE x > 1",
            "SELECT k, AVG(x), MEDIAN(x) FROM t GROUP BY k",
            "SELECT k, COUNT(DISTINCT nr) FROM t GROUP BY k",
        ];
        for (groups, each) in [(4, 4), (2, 4), (3, 3), (1, 3), (4, 2)] {
            let text = format!("groups = {groups}\n{text}");
            let table = Table::new(toml::from_str(&text).unwrap()).unwrap();
            let tabulation = |text: &&str| {
                let mut question = sql::read(text, |_| Some(&table)).unwrap();
                question.rows_in_group = Some(each);
                let checked = question.check(&table).unwrap();
                let measured = checked.measured(Spend::Epsilon(1.0)).unwrap();
                let wanted: Option<Vec<Wanted>> = measured.iter().map(Wanted::of).collect();
                Tabulation::new(&checked, &wanted.unwrap()).unwrap()
            };
            let all: Vec<Tabulation> = asked.iter().map(tabulation).collect();
            let all: Vec<&Tabulation> = all.iter().collect();
            let deadline = Instant::now() + Duration::from_secs(300);
            let count = |room| count_within(&table, &source, (7, room), &all, deadline).unwrap();
            assert!(count(0) == count(ROOM), "{groups} groups, {each} rows in each");
        }
    }
}
