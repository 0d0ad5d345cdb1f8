//! What an operator wants to know before anybody asks: whether every source is as it was declared, and how long questions
//! will take. The second is found out on rows that the engine makes up, from what is public alone.

use super::config::Config;
use crate::answer::Ready;
use crate::engine::{Failed, Found, Held, Source};
use crate::state::Tokens;
use counterpoint_ledger::{OpenOptions, Pool};
use counterpoint_questions::public::{Kind, Table};
use counterpoint_questions::question::{Aggregate, Of, Question, Values};
use counterpoint_questions::{MOST_AGGREGATES, Spend};
use std::time::{Duration, Instant};

/// So few rows are made up to see what a question costs without any.
const FEW: u64 = 1_000;
/// So many more are made up, in turn, until they can be told from none.
const MANY: [u64; 4] = [10_000, 100_000, 1_000_000, 5_000_000];
/// They can, where the question takes so many times as long.
const TELLING: f64 = 2.0;
/// So long an engine is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// So long the rows of a file may be checked.
const CHECK: Duration = Duration::from_secs(3600);

/// What was found out about a table.
#[derive(Clone, Debug, Default)]
pub struct Examined {
    /// Its name.
    pub table: String,
    /// The data set that is charged.
    pub dataset: String,
    /// What is wrong, if anything is.
    pub problems: Vec<String>,
    /// What its owner should know, and may be as it should.
    pub warnings: Vec<String>,
    /// The declared columns and the person, with what the source says they hold; nothing if they are not there.
    pub columns: Vec<(String, String)>,
    /// About how many rows there are: as is configured, as the source's catalogue says, or as many as its people have at most.
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

/// Looks at everything that a configuration names. Of tables in SQL engines no row is looked at; files are read once, to see that
/// every row can be.
#[must_use]
pub fn examine(config: &Config) -> Vec<Examined> {
    let pool = Pool::new(&config.ledger, &OpenOptions::default(), 1);
    let secret = Tokens::open(&config.state).and_then(|tokens| tokens.secret());
    let one = |source: &Source| {
        let mut found = Examined {
            table: source.public.name().to_owned(),
            dataset: source.dataset.clone(),
            rows: source.size,
            ..Examined::default()
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
pub(super) fn unlike(
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
        let held = Held::open(source, secret)?;
        let (found, about) = held.about(&source.from)?;
        self.columns = declared(&source.public, &found);
        let inspection = held.check(Instant::now() + CHECK)?;
        self.warnings.extend(about.warnings);
        let (people, kept) = (source.public.people(), source.public.rows());
        let most = people.map(|people| people.saturating_mul(kept));
        let there = inspection.map(|inspection| inspection.rows);
        self.rows = self.rows.or(there).or(about.rows).or(most);
        let mut usual = usual(&source.public);
        usual.push(largest(&source.public));
        for (_, question) in &usual {
            let ready = Ready::new(&held, question, Spend::Epsilon(1.0), None);
            held.plan(ready.map_err(Failed::new)?.tabulation())?;
        }
        let largest = usual.pop();
        for (name, question) in usual {
            let pace = pace(&held, name, &question)?;
            self.problems.extend(self.late(&pace, limit));
            self.times.push(pace);
        }
        if let Some((name, question)) = largest {
            match pace(&held, name.clone(), &question) {
                Ok(pace) => {
                    self.warnings.extend(self.late(&pace, limit));
                    self.times.push(pace);
                }
                Err(_) => self.warnings.push(format!("{name}: more than {} s", PATIENCE.as_secs())),
            }
        }
        Ok(())
    }

    /// What is to be said of a question that takes more than half of what it may.
    fn late(&self, pace: &Pace, limit: Duration) -> Option<String> {
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

/// What the source says of what was declared.
fn declared(public: &Table, found: &[Found]) -> Vec<(String, String)> {
    let names = public.columns().iter().map(|column| column.name.as_str()).chain(public.person());
    let kind = |name: &str| {
        Found::named(found, name).map(|column| column.kind.clone()).unwrap_or_default()
    };
    names.map(|name| (name.to_owned(), kind(name))).collect()
}

/// A question's name, and the question.
type Named = (String, Question);

fn question(public: &Table, group: Vec<String>, list: Vec<Of>) -> Question {
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

fn median(column: &str) -> Of {
    Of::Quantiles { column: column.to_owned(), shares: vec![0.5], candidates: None }
}

fn numbers(public: &Table) -> Vec<&str> {
    let numbers = public.columns().iter().filter(|column| matches!(column.kind, Kind::Number(_)));
    numbers.map(|column| column.name.as_str()).collect()
}

/// Questions that everybody asks.
fn usual(public: &Table) -> Vec<Named> {
    let mut list = vec![("COUNT(*)".to_owned(), Of::Count)];
    if let Some(name) = numbers(public).first() {
        list.push((format!("AVG({name})"), Of::Mean(Values::of(name))));
        list.push((format!("MEDIAN({name})"), median(name)));
    }
    list.into_iter().map(|(name, of)| (name, question(public, Vec::new(), vec![of]))).collect()
}

/// As many medians as may be asked at once, or counts, for as many groups.
fn largest(public: &Table) -> Named {
    let (numbers, most) = (numbers(public), MOST_AGGREGATES);
    let list: Vec<Of> = match numbers.as_slice() {
        [] => vec![Of::Count; most],
        numbers => numbers.iter().map(|name| median(name)).cycle().take(most).collect(),
    };
    let mut group = Vec::new();
    for column in public.columns().iter().filter(|column| matches!(column.kind, Kind::Category(_)))
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

/// How long a question takes about rows that the engine makes up.
fn pace(held: &Held, name: String, question: &Question) -> Result<Pace, Failed> {
    let few = took(held, question, FEW)?.min(took(held, question, FEW)?);
    let (mut many, mut rows) = (few, FEW);
    for more in MANY {
        (many, rows) = (took(held, question, more)?, more);
        if many >= TELLING * few {
            break;
        }
    }
    Ok(Pace::between(name, (FEW, few), (rows, many)))
}

/// Seconds until a question about so many rows that are made up is answered.
fn took(held: &Held, question: &Question, rows: u64) -> Result<f64, Failed> {
    let held = held.made_up(rows);
    let ready = Ready::new(&held, question, Spend::Epsilon(1.0), None).map_err(Failed::new)?;
    let start = Instant::now();
    held.count(&[ready.tabulation()], start + PATIENCE)?;
    Ok(start.elapsed().as_secs_f64())
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
