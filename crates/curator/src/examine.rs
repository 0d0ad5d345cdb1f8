//! What an operator wants to know before anybody asks: whether every source is as it was declared, and how long questions
//! will take. The second is found out on rows that the engine makes up, from what is public alone.

use crate::config::{Config, Source};
use crate::engine::{self, Engine, Failed, Found};
use crate::public::{Kind, Table};
use crate::question::{Aggregate, Of, Question, Values};
use crate::table::{Held, Ready};
use crate::{Spend, Tokens};
use counterpoint_ledger::{OpenOptions, Pool};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So few rows are made up to see what a question costs without any.
const FEW: u64 = 1_000;
/// So many more are made up, in turn, until they can be told from none.
const MANY: [u64; 3] = [50_000, 500_000, 5_000_000];
/// They can, where the question takes so many times as long.
const TELLING: f64 = 2.0;
/// So long an engine is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was found out about a table.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Its name.
    pub table: String,
    /// The data set that is charged.
    pub dataset: String,
    /// What is wrong, if anything is.
    pub problems: Vec<String>,
    /// The declared columns and the person, with what the source says they hold; nothing if they are not there.
    pub columns: Vec<(String, String)>,
    /// How many rows are to be expected, if that is public.
    pub rows: Option<u64>,
    /// How long kinds of questions take.
    pub times: Vec<Pace>,
}

/// How long a question takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Which, in SQL.
    pub question: String,
    /// Seconds, whatever the number of rows.
    pub start: f64,
    /// Seconds for a million rows.
    pub million: f64,
}

impl Pace {
    /// From how long few rows took, and many. What took no longer may be chance: then all of it counts as the rows'.
    fn between(question: String, few: (u64, f64), many: (u64, f64)) -> Self {
        let [first, last] = [few.0, many.0].map(|rows| rows as f64 / 1e6);
        if many.1 < TELLING * few.1 {
            return Self { question, start: few.1, million: many.1 / last };
        }
        let million = (many.1 - few.1) / (last - first);
        Self { question, start: (few.1 - million * first).max(0.0), million }
    }

    /// Seconds for so many rows.
    #[must_use]
    pub fn seconds(&self, rows: u64) -> f64 {
        self.start + self.million * rows as f64 / 1e6
    }
}

/// Looks at everything that a configuration names. Tables' rows are not looked at.
#[must_use]
pub fn examine(config: &Config) -> Vec<Examined> {
    let pool = Pool::new(&config.ledger, &OpenOptions::default(), 1);
    let secret = Tokens::open(&config.state).and_then(|tokens| tokens.secret());
    let one = |source: &Source| {
        let mut found = Examined {
            table: source.public.name().to_owned(),
            dataset: source.dataset.clone(),
            problems: Vec::new(),
            columns: Vec::new(),
            rows: source.public.people().map(|people| people.saturating_mul(source.public.rows())),
            times: Vec::new(),
        };
        match &pool {
            Ok(pool) => found.problems.extend(charged(pool, source)),
            Err(error) => found.problems.push(format!("the ledger: {error}")),
        }
        match &secret {
            Ok(secret) => found.look(source, *secret, config.timing.limit),
            Err(error) => found.problems.push(format!("the tokens: {error}")),
        }
        found
    };
    config.tables.iter().map(one).collect()
}

/// What is wrong about the data set that is charged.
fn charged(pool: &Pool, source: &Source) -> Option<String> {
    let (dataset, public) = (&source.dataset, source.public.relation());
    match pool.with(|ledger| ledger.relation(dataset)) {
        Ok(relation) if relation == public => None,
        Ok(relation) => Some(unlike(dataset, &relation, &public)),
        Err(error) => Some(format!("the ledger: {error}")),
    }
}

/// Neighbours are others than those of the table.
pub(crate) fn unlike(
    dataset: &str,
    relation: &impl std::fmt::Display,
    public: &impl std::fmt::Display,
) -> String {
    format!("data set {dataset:?} is {relation}, and the table {public}")
}

impl Examined {
    /// The table in its source, and the engine at work.
    fn look(&mut self, source: &Source, secret: [u8; 32], limit: Duration) {
        if let Err(Failed { why }) = self.looked(source, secret, limit) {
            self.problems.push(why);
        }
    }

    fn looked(&mut self, source: &Source, secret: [u8; 32], limit: Duration) -> Result<(), Failed> {
        let engine = engine::open(&source.location, secret)?;
        let found = engine.columns(&source.from)?;
        self.columns = held(&source.public, &found);
        Held::new(source.public.clone(), &source.from, Arc::clone(&engine))?;
        self.times = paces(&source.public, &engine)?;
        let slow = |pace: &&Pace| {
            self.rows.is_some_and(|rows| 2.0 * pace.seconds(rows) > limit.as_secs_f64())
        };
        if let Some(pace) = self.times.iter().find(slow) {
            let seconds = pace.seconds(self.rows.unwrap_or_default());
            return Err(Failed::new(format!(
                "{} takes about {seconds:.1} s, and timing.limit is {} s; legal: more than twice as long",
                pace.question,
                limit.as_secs_f64()
            )));
        }
        Ok(())
    }
}

/// What the source says of what was declared.
fn held(public: &Table, found: &[Found]) -> Vec<(String, String)> {
    let names = public.columns().iter().map(|column| column.name.as_str()).chain(public.person());
    let kind = |name: &str| {
        let column = found.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        column.map(|column| column.kind.clone()).unwrap_or_default()
    };
    names.map(|name| (name.to_owned(), kind(name))).collect()
}

/// How long questions take about rows that the engine makes up.
fn paces(public: &Table, engine: &Arc<dyn Engine>) -> Result<Vec<Pace>, Failed> {
    let number = public.columns().iter().find(|column| matches!(column.kind, Kind::Number(_)));
    let mut list = vec![("COUNT(*)".to_owned(), Of::Count)];
    if let Some(column) = number {
        let name = &column.name;
        list.push((format!("AVG({name})"), Of::Mean(Values::of(name))));
        let median = Of::Quantiles { column: name.clone(), shares: vec![0.5], candidates: None };
        list.push((format!("MEDIAN({name})"), median));
    }
    let mut paces = Vec::new();
    for (question, of) in list {
        let asked = Question {
            table: public.name().to_owned(),
            filter: None,
            group: Vec::new(),
            aggregates: vec![Aggregate { name: None, of }],
            rows: None,
            groups: None,
            rows_in_group: None,
        };
        let held = |rows| Made { public, engine, question: &asked, rows };
        let few = held(FEW).took()?.min(held(FEW).took()?);
        let (mut many, mut rows) = (few, FEW);
        for more in MANY {
            (many, rows) = (held(more).took()?, more);
            if many >= TELLING * few {
                break;
            }
        }
        paces.push(Pace::between(question, (FEW, few), (rows, many)));
    }
    Ok(paces)
}

/// A question about rows that are made up.
struct Made<'a> {
    public: &'a Table,
    engine: &'a Arc<dyn Engine>,
    question: &'a Question,
    rows: u64,
}

impl Made<'_> {
    /// Seconds until it is answered.
    fn took(&self) -> Result<f64, Failed> {
        let held = Held::made_up(self.public.clone(), self.rows, Arc::clone(self.engine));
        let ready = Ready::new(&held, self.question, Spend::Epsilon(1.0), None);
        let ready = ready.map_err(Failed::new)?;
        let start = Instant::now();
        self.engine.run(ready.compiled().statement(), start + PATIENCE)?;
        Ok(start.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_never_nothing() {
        let pace = |few, many| Pace::between(String::new(), (1_000, few), (5_000_000, many));
        // 0.1 s, and 0.4 s for a million.
        let told = pace(0.1004, 2.1);
        assert!((told.seconds(1_000_000) - 0.5).abs() < 1e-9, "{told:?}");
        // No longer, or even shorter, by chance: no more than all of it is the rows'.
        for many in [0.9, 1.0, 1.9] {
            let told = pace(1.0, many);
            assert!((told.million - many / 5.0).abs() < 1e-9, "{told:?}");
        }
    }
}
