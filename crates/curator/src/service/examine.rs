//! The operator's check before the service starts: do the sources match their declarations, and how long do questions
//! take? Times are measured on rows that the engine makes up from the public description.

use super::config::Config;
use crate::answer::PreparedQuestion;
use crate::engine::{EngineError, OpenTable, SourceColumn, TableConfig};
use crate::state::Tokens;
use counterpoint_ledger::{OpenOptions, Pool};
use counterpoint_questions::public::{ColumnKind, Table};
use counterpoint_questions::question::{Aggregate, AggregateKind, ClampedColumn, Question};
use counterpoint_questions::{MOST_AGGREGATES, Spend};
use std::time::{Duration, Instant};

/// The number of made-up rows for measuring a question's fixed cost.
const FEW: u64 = 1_000;
/// The numbers of made-up rows to try in turn, until the time differs from the fixed cost.
const MANY: [u64; 4] = [10_000, 100_000, 1_000_000, 5_000_000];
/// The ratio of times from which they differ.
const MIN_RATIO: f64 = 2.0;
/// The longest wait for an engine.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The longest time for checking a file's rows.
const CHECK: Duration = Duration::from_secs(3600);

/// The findings about a table.
#[derive(Clone, Debug, Default)]
pub struct TableReport {
    /// The table's name.
    pub table: String,
    /// The data set that pays.
    pub dataset: String,
    /// The problems that must be solved.
    pub problems: Vec<String>,
    /// Facts that the owner should know and that may be intended.
    pub warnings: Vec<String>,
    /// The declared columns and the person column, with their types in the source; an absent column has an empty type.
    pub columns: Vec<(String, String)>,
    /// The approximate number of rows: configured, reported by the source's catalogue, or else the largest number that
    /// its people have.
    pub rows: Option<u64>,
    /// The times of several kinds of questions.
    pub times: Vec<Pace>,
}

/// The time of a question as a function of the number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// The question, in SQL.
    pub question: String,
    /// Seconds for any number of rows.
    pub start: f64,
    /// Additional seconds for each million rows.
    pub million: f64,
}

impl Pace {
    /// Computes a pace from the times of few and of many rows. If these do not differ, the whole time is attributed to
    /// the rows.
    fn between(question: String, few: (u64, f64), many: (u64, f64)) -> Self {
        let [first, last] = [few.0, many.0].map(|rows| rows as f64 / 1e6);
        if many.1 < MIN_RATIO * few.1 {
            return Self { question, start: few.1, million: many.1 / last };
        }
        let million = (many.1 - few.1) / (last - first);
        Self { question, start: (few.1 - million * first).max(0.0), million }
    }

    /// The seconds for this number of rows.
    #[must_use]
    pub fn seconds(&self, rows: u64) -> f64 {
        self.start + self.million * rows as f64 / 1e6
    }
}

/// Checks everything that a configuration names. Reads no rows in SQL engines; reads files once, to check that every
/// row can be read.
#[must_use]
pub fn examine(config: &Config) -> Vec<TableReport> {
    let pool = Pool::new(&config.ledger, &OpenOptions::default(), 1);
    let secret = Tokens::open(&config.state).and_then(|tokens| tokens.secret());
    let one = |source: &TableConfig| {
        let mut found = TableReport {
            table: source.public.name().to_owned(),
            dataset: source.dataset.clone(),
            rows: source.size,
            ..TableReport::default()
        };
        match &pool {
            Ok(pool) => found.problems.extend(dataset_problem(pool, source)),
            Err(error) => found.problems.push(format!("the ledger: {error}")),
        }
        match &secret {
            Ok(secret) => found.inspect(source, *secret, config.timing.limit),
            Err(error) => found.problems.push(format!("the tokens: {error}")),
        }
        found
    };
    config.tables.iter().map(one).collect()
}

/// The problem with the data set that pays, if there is one.
fn dataset_problem(pool: &Pool, source: &TableConfig) -> Option<String> {
    let (dataset, public) = (&source.dataset, source.public.relation());
    match pool.with(|ledger| ledger.relation(dataset)) {
        Ok(relation) if relation == public => None,
        Ok(relation) => Some(relation_mismatch(dataset, &relation, &public)),
        Err(error) => Some(format!("the ledger: {error}")),
    }
}

/// The error for a data set with another neighbouring relation than the table.
pub(super) fn relation_mismatch(
    dataset: &str,
    relation: &impl std::fmt::Display,
    public: &impl std::fmt::Display,
) -> String {
    format!("data set {dataset:?} is {relation}, and the table {public}")
}

impl TableReport {
    /// Checks the table in its source, and its engine.
    fn inspect(&mut self, source: &TableConfig, secret: [u8; 32], limit: Duration) {
        if let Err(EngineError { why }) = self.try_inspect(source, secret, limit) {
            self.problems.push(why);
        }
    }

    fn try_inspect(
        &mut self,
        source: &TableConfig,
        secret: [u8; 32],
        limit: Duration,
    ) -> Result<(), EngineError> {
        let table = OpenTable::open(source, secret)?;
        let (found, info) = table.source_info(&source.from)?;
        self.columns = declared(&source.public, &found);
        let inspection = table.check(Instant::now() + CHECK)?;
        self.warnings.extend(info.warnings);
        let (people, kept) = (source.public.people(), source.public.rows());
        let most = people.map(|people| people.saturating_mul(kept));
        let there = inspection.map(|inspection| inspection.rows);
        self.rows = self.rows.or(there).or(info.rows).or(most);
        let mut usual = usual_questions(&source.public);
        usual.push(largest_question(&source.public));
        for (_, question) in &usual {
            let prepared = PreparedQuestion::new(&table, question, Spend::Epsilon(1.0), None);
            table.plan(prepared.map_err(EngineError::new)?.tabulation())?;
        }
        let largest = usual.pop();
        for (name, question) in usual {
            let pace = measure_pace(&table, name, &question)?;
            self.problems.extend(self.time_problem(&pace, limit));
            self.times.push(pace);
        }
        if let Some((name, question)) = largest {
            match measure_pace(&table, name.clone(), &question) {
                Ok(pace) => {
                    self.warnings.extend(self.time_problem(&pace, limit));
                    self.times.push(pace);
                }
                Err(_) => self.warnings.push(format!("{name}: more than {} s", MAX_WAIT.as_secs())),
            }
        }
        Ok(())
    }

    /// The problem with a question that takes more than half of the time limit, if there is one.
    fn time_problem(&self, pace: &Pace, limit: Duration) -> Option<String> {
        let seconds = pace.seconds(self.rows?);
        (2.0 * seconds > limit.as_secs_f64()).then(|| {
            format!(
                "{} takes about {seconds:.1} s, and timing.limit is {} s; legal: more than twice as long",
                pace.question,
                limit.as_secs_f64()
            )
        })
    }
}

/// The declared columns with their types in the source.
fn declared(public: &Table, found: &[SourceColumn]) -> Vec<(String, String)> {
    let names = public.columns().iter().map(|column| column.name.as_str()).chain(public.person());
    let kind = |name: &str| {
        SourceColumn::named(found, name).map(|column| column.kind.clone()).unwrap_or_default()
    };
    names.map(|name| (name.to_owned(), kind(name))).collect()
}

/// A question with its name.
type NamedQuestion = (String, Question);

fn question(public: &Table, group: Vec<String>, list: Vec<AggregateKind>) -> Question {
    let aggregates = list.into_iter().map(|of| Aggregate { name: None, of }).collect();
    let table = public.name().to_owned();
    Question {
        table,
        filter: None,
        group,
        aggregates,
        rows: None,
        groups: None,
        rows_in_group: None,
    }
}

fn median(column: &str) -> AggregateKind {
    AggregateKind::Quantiles { column: column.to_owned(), shares: vec![0.5], candidates: None }
}

fn numbers(public: &Table) -> Vec<&str> {
    let numbers =
        public.columns().iter().filter(|column| matches!(column.kind, ColumnKind::Number(_)));
    numbers.map(|column| column.name.as_str()).collect()
}

/// Usual questions.
fn usual_questions(public: &Table) -> Vec<NamedQuestion> {
    let mut list = vec![("COUNT(*)".to_owned(), AggregateKind::Count)];
    if let Some(name) = numbers(public).first() {
        list.push((format!("AVG({name})"), AggregateKind::Mean(ClampedColumn::of(name))));
        list.push((format!("MEDIAN({name})"), median(name)));
    }
    list.into_iter().map(|(name, of)| (name, question(public, Vec::new(), vec![of]))).collect()
}

/// The question with the most aggregates (medians, or else counts) and the most groups.
fn largest_question(public: &Table) -> NamedQuestion {
    let (numbers, most) = (numbers(public), MOST_AGGREGATES);
    let list: Vec<AggregateKind> = match numbers.as_slice() {
        [] => vec![AggregateKind::Count; most],
        numbers => numbers.iter().map(|name| median(name)).cycle().take(most).collect(),
    };
    let mut group = Vec::new();
    for column in
        public.columns().iter().filter(|column| matches!(column.kind, ColumnKind::Category(_)))
    {
        group.push(column.name.clone());
        if question(public, group.clone(), list.clone()).check(public).is_err() {
            group.pop();
        }
    }
    let what = if numbers.is_empty() { "counts" } else { "medians" };
    let by = if group.is_empty() { String::new() } else { format!(" by {}", group.join(", ")) };
    (format!("{most} {what}{by}"), question(public, group, list))
}

/// Measures the time of a question on rows that the engine makes up.
fn measure_pace(table: &OpenTable, name: String, question: &Question) -> Result<Pace, EngineError> {
    let few = seconds_for(table, question, FEW)?.min(seconds_for(table, question, FEW)?);
    let (mut many, mut rows) = (few, FEW);
    for more in MANY {
        (many, rows) = (seconds_for(table, question, more)?, more);
        if many >= MIN_RATIO * few {
            break;
        }
    }
    Ok(Pace::between(name, (FEW, few), (rows, many)))
}

/// The seconds that a question about made-up rows takes.
fn seconds_for(table: &OpenTable, question: &Question, rows: u64) -> Result<f64, EngineError> {
    let table = table.with_made_up_rows(rows);
    let prepared = PreparedQuestion::new(&table, question, Spend::Epsilon(1.0), None)
        .map_err(EngineError::new)?;
    let start = Instant::now();
    table.count(&[prepared.tabulation()], start + MAX_WAIT)?;
    Ok(start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_never_nothing() {
        let pace = |few, many| Pace::between(String::new(), (1_000, few), (5_000_000, many));
        // 0.1 s fixed, and 0.4 s for a million rows.
        let measured = pace(0.1004, 2.1);
        assert!((measured.seconds(1_000_000) - 0.5).abs() < 1e-9, "{measured:?}");
        // The times do not differ, or by chance the larger table was faster: all of the time is attributed to the rows.
        for many in [0.9, 1.0, 1.9] {
            let measured = pace(1.0, many);
            assert!((measured.million - many / 5.0).abs() < 1e-9, "{measured:?}");
        }
    }
}
