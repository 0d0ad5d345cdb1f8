//! The engine for rows in files and in memory: CSV, Parquet, JSON lines, Arrow record batches. It counts directly, in
//! one pass, on all processors.
//!
//! If each row is a person, rows are counted as they are read. If people may have several rows, the used columns are
//! kept in memory, as numbers and category codes, until all rows are read. They take up to a gigabyte, and beyond that
//! at most twice the number of people times the rows that questions use.

mod count;
mod read;
mod row_source;

pub use read::{ColumnInspection, Inspection};
pub use row_source::RowSource;

use super::choice::ChoiceKey;
use super::error::{EngineError, SourceColumn};
use super::tabulation::{RawGroup, Tabulation};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use count::{ROOM, ResolvedQuestion};
use counterpoint_questions::public::{CodeText, Table};
use counterpoint_questions::question::Condition;
use read::Layout;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::time::Instant;

/// The largest number of numbers that one pass counts in all groups together. A legal question has fewer.
const MOST_NUMBERS: usize = 1 << 25;

impl RowSource {
    /// Copies batches whose memory another program may change, such as those of a data frame. There may be no batches.
    ///
    /// # Errors
    /// [`EngineError`] if a column does not conform to its type, such as a text that is not UTF-8.
    pub fn of_frame(batches: &[RecordBatch], schema: &SchemaRef) -> Result<Self, EngineError> {
        Ok(Self::Batches(read::copied(batches, schema)?))
    }

    /// The columns and their types.
    ///
    /// # Errors
    /// [`EngineError`] for the owner alone, naming the problem.
    pub fn columns(&self) -> Result<Vec<SourceColumn>, EngineError> {
        read::columns(self)
    }

    /// The SHA-256 of a file's bytes, or of the values in memory. The digest of batches does not depend on how they are
    /// cut, encoded and typed. A file and a frame with the same rows have different digests.
    ///
    /// # Errors
    /// [`EngineError`] if the rows cannot be read.
    pub fn fingerprint(&self) -> Result<[u8; 32], EngineError> {
        match self {
            Self::File(path, _) => {
                let named = |error| EngineError::new(format!("{}: {error}", path.display()));
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

/// The layout of all columns of a table.
fn all(table: &Table) -> Layout {
    Layout::of(table, |_| true)
}

/// Checks that a source has the declared columns, with types that fit.
pub(crate) fn fits(table: &Table, source: &RowSource) -> Result<(), EngineError> {
    match source {
        RowSource::MadeUp(_) => Ok(()),
        source => read::places(source, &all(table)).map(drop),
    }
}

/// Reads all rows of a source and describes them. A source without rows is an error.
pub(crate) fn inspect(
    table: &Table,
    source: &RowSource,
    deadline: Instant,
) -> Result<Inspection, EngineError> {
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
        RowSource::File(path, _) => EngineError::new(format!("{}: {problem}", path.display())),
        _ => EngineError::new(problem),
    })
}

/// Counts for questions about a table. The key decides which rows of people with too many rows are used. **The result
/// is as secret as the data.**
pub(crate) fn count(
    table: &Table,
    source: &RowSource,
    key: ChoiceKey,
    tabulations: &[&Tabulation],
    deadline: Instant,
) -> Result<Vec<Vec<RawGroup>>, EngineError> {
    count_within(table, source, (key.get(), ROOM), tabulations, deadline)
}

/// Counts as [`count`] does. When the kept rows take more than `room` bytes, rows that no question can use are dropped.
fn count_within(
    table: &Table,
    source: &RowSource,
    within: (i64, usize),
    tabulations: &[&Tabulation],
    deadline: Instant,
) -> Result<Vec<Vec<RawGroup>>, EngineError> {
    let mut used: BTreeSet<&str> = tabulations.iter().flat_map(|one| used(one)).collect();
    if used.is_empty() {
        // Some column must be read for the rows to be counted.
        used.extend(table.columns().first().map(|column| column.name.as_str()));
    }
    let layout = Layout::of(table, |column| used.contains(column));
    let questions = tabulations.iter().map(|one| ResolvedQuestion::new(one, table, &layout));
    let questions: Option<Vec<ResolvedQuestion<'_>>> = questions.collect();
    let questions =
        questions.ok_or_else(|| EngineError::new("a question is about another table"))?;
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
    let group_columns =
        tabulation.checked.group_columns().iter().map(|group_column| &group_column.column);
    let units = tabulation.units().flat_map(|added| added.columns.iter().chain(&added.required));
    let counts = tabulation.counts.iter().map(|bins| &bins.column);
    let mut list: Vec<&str> =
        group_columns.chain(units).chain(counts).map(String::as_str).collect();
    let indicators = tabulation.units().filter_map(|added| added.indicator.as_ref());
    let conditions = tabulation.checked.filter().into_iter().chain(indicators);
    conditions.for_each(|condition| filtered(condition, &mut list));
    list
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::engine::tabulation::TallySpec;
    use arrow_array::{ArrayRef, Float64Array, Int64Array};
    use counterpoint_questions::{Spend, question::sql};
    use counterpoint_testing::Random;
    use std::sync::Arc;
    use std::time::Duration;

    /// Dropping rows before all rows are read does not change the choice.
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
                let measurements = checked.measurements(Spend::Epsilon(1.0)).unwrap();
                let wanted: Option<Vec<TallySpec>> =
                    measurements.iter().map(TallySpec::of).collect();
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
