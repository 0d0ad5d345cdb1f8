//! A planned study, released: charged to a ledger, drawn, stored, and only then published.
//!
//! The account of a release is named after its study and the fingerprint of its rows, so that the same study of the same rows
//! finds its account again: its numbers are told from the ledger, charge nothing and are drawn once, whatever happened in
//! between.

use crate::config::{Location, Source};
use crate::dummy::Dummy;
use crate::engine::Failed;
use crate::files::RowSource;
use crate::stages::Stages;
use crate::table::{self, Due, Held, Number, Payer, Ready, Unanswered};
use crate::text;
use crate::tokens::Tokens;
use counterpoint::filter::Amount;
use counterpoint::watch::{Go, Watch};
use counterpoint::{Delta, Options, Plan};
use counterpoint_ledger::{
    Hash, Kind, Ledger, LedgerError, NewAccount, NewFilter, OpenOptions, Pool, Url,
};
use counterpoint_mechanisms::{Measurement, Style};
use counterpoint_planner::{Ask, Statistic, Wanted, Wish};
use counterpoint_questions::public::{Column, Key, Kind as Holds, Table, TableText};
use counterpoint_questions::question::Condition;
use counterpoint_questions::{Checked, Illegal, Spend};
use counterpoint_wire::ledger::{AccountStatus, Described, ExactPlan, Promised};
use counterpoint_wire::publication::{
    Budget, LedgerPlace, Promise, Publication, PublishedColumn, PublishedData, PublishedNumber,
    PublishedStatistic,
};
use counterpoint_wire::{StudyFile, StudyQuestion};
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// So long all statistics together may take, each.
const LIMIT: Duration = Duration::from_secs(3600);

/// A study that is to be released.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// The study.
    pub study: &'a StudyFile,
    /// The plan: one slot for each statistic.
    pub plan: &'a ExactPlan,
    /// What the study is called.
    pub title: &'a str,
    /// What the source of the rows is called in what is published.
    pub source: &'a str,
}

/// Who pays for a release.
#[derive(Clone, Copy, Debug)]
pub struct Charged<'a> {
    /// The data set of the ledger. It is made if it is not there, with the study's budget.
    pub dataset: &'a str,
    /// A keyed hash of the rows.
    pub fingerprint: Hash,
    /// Whether the rows may be others than those of earlier releases.
    pub changed: bool,
}

/// Where the rows of a release are.
#[derive(Clone, Debug)]
pub enum ReleaseRows {
    /// In a file or a database.
    At(Box<Source>),
    /// In memory.
    InMemory(RowSource),
}

/// A release, the rows that it is of, the ledger that it is charged to, and the owner's key.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The study and its plan.
    pub release: Release<'a>,
    /// Where the rows are.
    pub rows: &'a ReleaseRows,
    /// The data set of the ledger that pays.
    pub dataset: &'a str,
    /// The ledger. A file that is not there is made.
    pub ledger: &'a Url,
    /// How the ledger is opened.
    pub options: &'a OpenOptions,
    /// The file of the key that fingerprints are made with. It is made if it is not there.
    pub secret: &'a Path,
    /// Whether the rows may be others than those of earlier releases.
    pub changed: bool,
    /// May stop it before anything is charged.
    pub watch: Watch<'a>,
}

/// A file is read through before anything is charged, for so long at most.
const CHECK: Duration = Duration::from_secs(3600);

impl ReleaseRows {
    fn held(&self, study: &StudyFile, secret: [u8; 32]) -> Result<Held, ReleaseError> {
        let held = match self {
            Self::At(source) => Held::open(source, secret),
            Self::InMemory(rows) => Held::of_rows(table_of(study)?.clone(), rows.clone(), secret),
        };
        held.map_err(ReleaseError::of_rows)
    }

    /// What tells these rows from others: of a file and a frame what is in it, of a database where it is.
    fn digest(&self) -> Result<Vec<u8>, ReleaseError> {
        let rows = match self {
            Self::InMemory(rows) => rows.fingerprint(),
            Self::At(source) => match &source.location {
                Location::File(path) => {
                    RowSource::of_file(path).and_then(|rows| rows.fingerprint())
                }
                other => return Ok(format!("{other:?} {}", source.from).into_bytes()),
            },
        };
        Ok(rows.map_err(ReleaseError::of_rows)?.to_vec())
    }
}

/// Releases a study. Everything that can be wrong with the study or with its rows is found before anything is made or charged.
///
/// # Errors
/// As for [`release`].
pub fn run_release(job: &Job<'_>) -> Result<Publication, ReleaseError> {
    let study = job.release.study;
    let probe = job.rows.held(study, [0; 32])?;
    check_release(&job.release, &probe)?;
    probe.check(Instant::now() + CHECK).map_err(ReleaseError::of_rows)?;
    let digest = job.rows.digest()?;
    let secret = Tokens::open(job.secret).and_then(|tokens| tokens.secret());
    let secret = secret.map_err(|error| ReleaseError::Rows(error.to_string()))?;
    let held = job.rows.held(study, secret)?;
    // From here on it is charged, and goes on to its end.
    if job.watch.tell(1.0) == Go::Stop {
        return Err(ReleaseError::Stopped);
    }
    let pool = opened(job.ledger, job.options)?;
    let fingerprint = keyed(&secret, &digest);
    let charged = Charged { dataset: job.dataset, fingerprint, changed: job.changed };
    release(&job.release, &charged, &pool, &held)
}

/// The ledger, made if it is a file that is not there, or one that nothing was written to before a program was killed.
fn opened(url: &Url, options: &OpenOptions) -> Result<Pool, LedgerError> {
    if let Url::Sqlite(path) = url
        && is_empty(Path::new(path))
    {
        match Ledger::init(url) {
            // Another process may have been quicker.
            Ok(_) | Err(LedgerError::Initialised) => {}
            Err(error) => return Err(error),
        }
    }
    Pool::new(url, options, 2)
}

/// Whether there is no file, or a database without any table.
fn is_empty(file: &Path) -> bool {
    let tables = || {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let tables = "SELECT COUNT(*) FROM sqlite_schema";
        connection.query_row(tables, [], |row| row.get::<_, i64>(0))
    };
    !file.exists() || tables().is_ok_and(|tables| tables == 0)
}

/// A hash that nobody can compare guesses with who does not have the key: of the key and the hash of both.
fn keyed(secret: &[u8; 32], bytes: &[u8]) -> Hash {
    let inner = Hash::of(&[&secret[..], b"rows\0", bytes].concat());
    Hash::of(&[&secret[..], inner.to_string().as_bytes()].concat())
}

/// Why a study was not released.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A statistic that cannot be released.
    #[error("statistic {index} ({name:?}): {problem}")]
    Statistic {
        /// Its place, from 1.
        index: usize,
        /// Its name.
        name: String,
        /// What is wrong, and what would be legal.
        problem: String,
    },
    /// The study does not describe its data.
    #[error("data has no columns; legal: [[data.column]] for each column that a statistic names")]
    NoColumns,
    /// Nothing says where the rows are.
    #[error("data has no source; legal: source in [data], or --data FILE")]
    NoSource,
    /// The rows are others than those of earlier releases.
    #[error(
        "the rows are not those that were released of data set {dataset:?} before; if the data changed, release them with --changed: \
         people who are in both are charged twice"
    )]
    Changed {
        /// The data set.
        dataset: String,
    },
    /// The study was planned otherwise when it was released first.
    #[error(
        "account {account:?} has another plan; legal: the plan that the study was released with"
    )]
    OtherPlan {
        /// Its account.
        account: String,
    },
    /// The ledger said no, or failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Something failed. What was charged stays charged; the same study released again costs nothing more.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    /// The rows could not be made up.
    #[error("no rows could be made up: {0}")]
    MadeUp(String),
    /// A number cannot be told.
    #[error("{0}")]
    Untold(String),
    /// The watcher stopped it.
    #[error("stopped; nothing was charged")]
    Stopped,
    /// The rows cannot be read; why is for the owner of the data alone.
    #[error("{0}")]
    Rows(String),
}

impl ReleaseError {
    fn of_rows(failed: Failed) -> Self {
        Self::Rows(failed.why)
    }

    /// Whether it is a definite no: the budget, or other rows.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Changed { .. }
                | Self::OtherPlan { .. }
                | Self::Ledger(LedgerError::Refused { .. })
                | Self::Unanswered(Unanswered::Ledger(LedgerError::Refused { .. }))
        )
    }
}

/// A statistic that is released, and its place in the study.
struct Entry<'a> {
    index: usize,
    statistic: &'a Statistic,
    wanted: &'a Wanted,
    question: &'a StudyQuestion,
}

/// Checks that a study can be released of a table. Nothing is charged, and no rows are looked at.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn check_release(release: &Release<'_>, held: &Held) -> Result<(), ReleaseError> {
    for entry in entries(release.study)? {
        ready(&entry, held, &slot(release.plan, &entry)?)?;
    }
    Ok(())
}

/// Releases a study: what was not stored is debited, drawn and stored, and what is stored is published.
///
/// # Errors
/// [`ReleaseError`]. What was charged stays charged; the same study released again continues where it stopped.
pub fn release(
    release: &Release<'_>,
    charged: &Charged<'_>,
    pool: &Pool,
    held: &Held,
) -> Result<Publication, ReleaseError> {
    check_release(release, held)?;
    let account = account_name(release.study, charged)?;
    pool.with(|ledger| open(release, charged, &account, ledger))?;
    let entries = entries(release.study)?;
    let mut questions = Vec::with_capacity(entries.len());
    for entry in &entries {
        let declared = pool.with(|ledger| ledger.declared(&account, &entry.statistic.name))?;
        questions.push(ready(entry, held, &declared)?);
    }
    let payer = Payer { account: &account, analyst: None, alias: None };
    let due: Vec<Due<'_>> = questions.iter().map(|ready| Due { held, ready, payer }).collect();
    let told = table::tell_all(pool, &due, LIMIT, &Stages::default());
    let mut statistics = Vec::with_capacity(entries.len());
    for ((entry, ready), told) in entries.iter().zip(&questions).zip(told) {
        let numbers = told?.numbers(ready, entry.wanted.confidence);
        statistics.push(published(entry, ready, &numbers.map_err(untold)?, release.study)?);
    }
    let status = pool.with(|ledger| ledger.status(None))?;
    let find = |name: &str| status.accounts.iter().find(|account| account.name == name);
    let budget = find(charged.dataset).and_then(budget);
    let promised = find(&account).map(|account| &account.promise);
    Ok(Publication {
        version: 1,
        made_up: false,
        title: release.title.to_owned(),
        data: data(release, charged.dataset)?,
        privacy: promise(release, promised, budget)?,
        ledger: Some(LedgerPlace { account, head: status.head }),
        statistics,
    })
}

/// The same from rows that are made up from what is public: nothing is charged or stored, and the numbers say nothing about
/// anybody.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn rehearse_release(release: &Release<'_>) -> Result<Publication, ReleaseError> {
    let source = release.study.data.as_ref().ok_or(ReleaseError::NoColumns)?;
    let failed = |failed: Failed| ReleaseError::MadeUp(failed.why);
    let dummy = Dummy::of(&source.table).map_err(failed)?;
    let mut statistics = Vec::new();
    for entry in entries(release.study)? {
        let ready = ready(&entry, &dummy.held, &slot(release.plan, &entry)?)?;
        let deadline = Instant::now() + LIMIT;
        let counted = dummy.held.count(&[ready.tabulation()], deadline).map_err(failed)?;
        let drawn = table::drawn(ready.measured(), counted.concat()).map_err(failed)?;
        let measured = (ready.checked(), ready.measured());
        let numbers = table::numbers(&drawn, measured, entry.wanted.confidence);
        statistics.push(published(&entry, &ready, &numbers.map_err(untold)?, release.study)?);
    }
    Ok(Publication {
        version: 1,
        made_up: true,
        title: release.title.to_owned(),
        data: data(release, source.table.name())?,
        privacy: promise(release, None, None)?,
        ledger: None,
        statistics,
    })
}

/// The statistics that are released: all but shares that are held back.
fn entries(study: &StudyFile) -> Result<Vec<Entry<'_>>, ReleaseError> {
    let statistics = study.study.statistics().iter().zip(&study.questions).enumerate();
    let mut entries = Vec::new();
    for (index, (statistic, question)) in statistics {
        let Ask::Query(wanted) = &statistic.ask else { continue };
        let question = question.as_ref().ok_or_else(|| ReleaseError::Statistic {
            index: index + 1,
            name: statistic.name.clone(),
            problem: "column is missing; legal: a column of [[data.column]] to compute it from"
                .to_owned(),
        })?;
        entries.push(Entry { index, statistic, wanted, question });
    }
    Ok(entries)
}

impl Entry<'_> {
    fn wrong(&self, problem: impl ToString) -> ReleaseError {
        let (index, name) = (self.index + 1, self.statistic.name.clone());
        ReleaseError::Statistic { index, name, problem: problem.to_string() }
    }
}

/// The slot of a statistic in the plan.
fn slot(plan: &ExactPlan, entry: &Entry<'_>) -> Result<Described, ReleaseError> {
    let name = entry.statistic.name.as_str();
    let found = plan.releases.iter().find(|release| release.name() == Some(name));
    found.cloned().ok_or_else(|| entry.wrong("has no release of its name in the plan"))
}

/// A statistic, ready to be asked with the noise that its slot says.
fn ready(entry: &Entry<'_>, held: &Held, slot: &Described) -> Result<Ready, ReleaseError> {
    let checked: &Checked = &entry.question.checked;
    let query = checked.parts().first().map(|part| &part.query);
    let recipe = slot.recipe().filter(|recipe| Some(recipe.query()) == query);
    let recipe = recipe.ok_or_else(|| {
        entry.wrong("the plan's recipe is of another question; legal: a plan of this study")
    })?;
    let (spend, name) = (Spend::Style(recipe.style()), entry.statistic.name.as_str());
    Ready::of(held, checked.clone(), spend, Some(name)).map_err(|error| entry.wrong(error))
}

/// What makes two studies the same.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    table: &'a TableText,
    epsilon: Option<f64>,
    delta: f64,
    statistics: Vec<(&'a str, Option<&'a Checked>, f64, String)>,
}

/// The account of a study of some rows.
fn account_name(study: &StudyFile, charged: &Charged<'_>) -> Result<String, ReleaseError> {
    let source = study.data.as_ref().ok_or(ReleaseError::NoColumns)?;
    let statistic = |(statistic, question): (&'_ Statistic, &'_ Option<StudyQuestion>)| {
        let (confidence, wish) = match &statistic.ask {
            Ask::Query(Wanted { confidence, wish, .. }) => (*confidence, wished(*wish)),
            Ask::HeldBack(share) => (0.0, format!("{share:?}")),
        };
        (statistic.name.clone(), question.as_ref().map(|one| one.checked.clone()), confidence, wish)
    };
    let list: Vec<_> =
        study.study.statistics().iter().zip(&study.questions).map(statistic).collect();
    let budget = study.study.budget();
    let same = Same {
        version: 1,
        table: source.table.text(),
        epsilon: budget.epsilon.map(counterpoint::Epsilon::get),
        delta: budget.delta.get(),
        statistics: list
            .iter()
            .map(|(name, checked, confidence, wish)| {
                (name.as_str(), checked.as_ref(), *confidence, wish.clone())
            })
            .collect(),
    };
    let digest = text::digest(&same).map_err(|error| ReleaseError::Untold(error.to_string()))?;
    Ok(format!("{}{}", prefix(charged.fingerprint), short(digest)))
}

fn wished(wish: Wish) -> String {
    match wish {
        Wish::Error(error) => format!("error {error:e}"),
        Wish::Kept(error) => format!("kept {error:e}"),
        Wish::Level(level) => format!("level {level:e}"),
        Wish::Weight(weight) => format!("weight {weight:e}"),
    }
}

/// What the accounts of releases begin with.
const RELEASE: &str = "release-";

/// What the accounts of releases of these rows begin with.
fn prefix(fingerprint: Hash) -> String {
    format!("{RELEASE}{}-", short(fingerprint))
}

/// The first 64 bits of a hash.
fn short(hash: Hash) -> String {
    hash.to_string().chars().take(16).collect()
}

/// Opens the account of a release, if it is not open: that is the debit.
fn open(
    release: &Release<'_>,
    charged: &Charged<'_>,
    account: &str,
    ledger: &mut Ledger,
) -> Result<(), ReleaseError> {
    let status = ledger.status(None)?;
    let is_there = |name: &str| status.accounts.iter().any(|account| account.name == name);
    if is_there(account) {
        return is_planned_alike(release, account, ledger);
    }
    let is_release = |one: &&AccountStatus| {
        one.parent.as_deref() == Some(charged.dataset) && one.name.starts_with(RELEASE)
    };
    let mut releases = status.accounts.iter().filter(is_release).peekable();
    let is_first = releases.peek().is_none();
    let is_same = releases.any(|one| one.name.starts_with(&prefix(charged.fingerprint)));
    if !is_first && !is_same && !charged.changed {
        return Err(ReleaseError::Changed { dataset: charged.dataset.to_owned() });
    }
    if !is_there(charged.dataset) {
        let relation = release.study.study.public().relation;
        unless_there(ledger.dataset(charged.dataset, relation, &first_budget(release)?))?;
    }
    let plan = NewAccount::Plan(release.plan.clone(), None);
    unless_there(ledger.open_account(account, charged.dataset, &plan))?;
    is_planned_alike(release, account, ledger)
}

/// Another process may have been quicker.
fn unless_there<T>(made: Result<T, LedgerError>) -> Result<(), LedgerError> {
    match made {
        Err(LedgerError::Exists { .. }) => Ok(()),
        made => made.map(drop),
    }
}

/// An error if an account that is open has other slots than the plan.
fn is_planned_alike(
    release: &Release<'_>,
    account: &str,
    ledger: &mut Ledger,
) -> Result<(), ReleaseError> {
    for entry in entries(release.study)? {
        let declared = ledger.declared(account, &entry.statistic.name)?;
        if declared.recipe().map(|recipe| recipe.query().clone())
            != slot(release.plan, &entry)?.recipe().map(|recipe| recipe.query().clone())
        {
            return Err(ReleaseError::OtherPlan { account: account.to_owned() });
        }
    }
    Ok(())
}

/// The budget of a data set whose first release this is: the one that is declared for it, or that of the study, or what the plan
/// costs where the study has none, or where secrecy of the sample is part of what it promises.
fn first_budget(release: &Release<'_>) -> Result<NewFilter, ReleaseError> {
    let study = &release.study.study;
    let declared = release.study.data.as_ref().and_then(|data| data.budget);
    let plain = study.public().sample_of.is_none();
    let (epsilon, delta) = match (declared, study.budget().epsilon) {
        (Some(budget), _) => (budget.epsilon.get(), budget.delta.get()),
        (None, Some(epsilon)) if plain => (epsilon.get(), study.budget().delta.get()),
        _ => cost(release)?,
    };
    // As they are written, not as the doubles next to that.
    let amount = |number: f64| number.to_string().parse::<Amount>();
    match (amount(epsilon), amount(delta)) {
        (Ok(epsilon), Ok(delta)) => Ok(NewFilter::new(Kind::Sums, epsilon, delta)),
        _ => Err(ReleaseError::Untold("the budget cannot be written as a decimal".to_owned())),
    }
}

/// What the plan costs: an upper end of epsilon at its delta.
fn cost(release: &Release<'_>) -> Result<(f64, f64), ReleaseError> {
    let wrong = |error: &dyn std::fmt::Display| ReleaseError::Untold(error.to_string());
    let delta = match &release.plan.question {
        Some((_, delta)) => delta.lower(),
        None => release.study.study.budget().delta.get(),
    };
    let mut parts = Vec::new();
    for slot in &release.plan.releases {
        parts.extend(slot.release().map_err(|error| wrong(&error))?.parts().collect::<Vec<_>>());
    }
    let adjacency = release.study.study.public().relation.adjacency();
    let plan = Plan::with(parts, Some(adjacency), counterpoint::quantity::Group::ONE);
    let plan = plan.map_err(|error| wrong(&error))?;
    let delta = Delta::new(delta).map_err(|error| wrong(&error))?;
    let answer = plan.epsilon(delta, &Options::default()).map_err(|error| wrong(&error))?;
    Ok((answer.bracket.upper, delta.get()))
}

fn untold(error: Illegal) -> ReleaseError {
    ReleaseError::Untold(error.to_string())
}

/// What is public about the data, and of it the columns that statistics are about.
fn data(release: &Release<'_>, name: &str) -> Result<PublishedData, ReleaseError> {
    let source = release.study.data.as_ref().ok_or(ReleaseError::NoColumns)?;
    let text = source.table.text();
    Ok(PublishedData {
        name: name.to_owned(),
        source: release.source.to_owned(),
        adjacency: text.adjacency.clone(),
        person: text.person.clone(),
        rows: text.rows,
        people: text.people,
        sample_of: release.study.study.public().sample_of,
        columns: source.table.columns().iter().map(column).collect(),
    })
}

fn column(column: &Column) -> PublishedColumn {
    let (bounds, categories) = match &column.kind {
        Holds::Number(bounds) => (Some((bounds.low(), bounds.high())), None),
        Holds::Category(keys) => (None, Some(keys.iter().map(ToString::to_string).collect())),
    };
    PublishedColumn { name: column.name.clone(), bounds, categories, missing: column.instead }
}

/// What the people in the data are promised: what the account promises, or the plan.
fn promise(
    release: &Release<'_>,
    promised: Option<&Promised>,
    budget: Option<Budget>,
) -> Result<Promise, ReleaseError> {
    let (epsilon, delta) = match promised {
        // A delta is told as it is written, not as the double above it.
        Some(Promised::ApproxDp { epsilon, delta }) => {
            (epsilon.upper(), delta.to_string().parse().unwrap_or(delta.upper()))
        }
        _ => cost(release)?,
    };
    let theorem = "optimal composition of the mechanisms that were run (docs/theorems.md)";
    // Of made-up rows nothing is spent; of a budget that is not counted in epsilon only this release is known.
    let alone = Budget { epsilon, delta, epsilon_spent: 0.0, delta_spent: 0.0 };
    let budget = budget.unwrap_or(alone);
    Ok(Promise { epsilon, delta, theorem: theorem.to_owned(), budget })
}

fn budget(account: &AccountStatus) -> Option<Budget> {
    (account.unit == "epsilon").then(|| Budget {
        epsilon: account.capacity.main.upper(),
        delta: account.capacity.delta.upper(),
        epsilon_spent: account.spent.main.upper(),
        delta_spent: account.spent.delta.upper(),
    })
}

/// A statistic as it is published.
fn published(
    entry: &Entry<'_>,
    ready: &Ready,
    numbers: &[Number],
    study: &StudyFile,
) -> Result<PublishedStatistic, ReleaseError> {
    let StudyQuestion { checked, kind, condition, by, .. } = entry.question;
    let part = checked.parts().first();
    let columns = part.into_iter().flat_map(|part| part.column.iter().chain(&part.others));
    let counted = checked.groupings().iter().skip(*by).map(|grouping| &grouping.column);
    let measurement = ready.measured().first();
    let rows = entry.wanted.population.as_ref().and_then(|population| population.rows);
    let error = measurement.and_then(|measurement| planned_error(measurement, rows, entry));
    Ok(PublishedStatistic {
        name: entry.statistic.name.clone(),
        kind: (*kind).to_owned(),
        columns: columns.chain(counted).cloned().collect(),
        condition: condition.clone(),
        by: checked.groupings().iter().take(*by).map(|one| one.column.clone()).collect(),
        values: part.and_then(|part| part.indicator.as_ref()).map(written),
        noise: measurement.map_or("none", |one| noise(one.recipe().style())).to_owned(),
        epsilon: alone(ready, study)?,
        planned_error: error,
        numbers: numbers.iter().map(|number| published_number(number, *by)).collect(),
    })
}

/// The values whose share a proportion is, as a condition.
fn written(condition: &Condition) -> String {
    match condition {
        Condition::In { column, keys } => {
            let key = |key: &Key| match key {
                Key::Whole(whole) => whole.to_string(),
                Key::Text(text) => format!("'{}'", text.replace('\'', "''")),
            };
            format!("{column} IN ({})", keys.iter().map(key).collect::<Vec<_>>().join(", "))
        }
        Condition::Between { column, from: Some(from), to: Some(to) } => {
            format!("{column} BETWEEN {from} AND {to}")
        }
        _ => String::new(),
    }
}

/// The half-width for the number of rows that was planned for, of all numbers at once.
fn planned_error(measurement: &Measurement, rows: Option<u64>, entry: &Entry<'_>) -> Option<f64> {
    let groups = entry.question.checked.cells().max(1) as f64;
    let confidence = entry.wanted.confidence.powf(1.0 / groups).next_up().next_up();
    let error = measurement.half_width_all(rows.unwrap_or(1), confidence).ok()?;
    error.is_finite().then_some(error)
}

fn noise(style: Style) -> &'static str {
    match style {
        Style::Laplace { .. } => "laplace",
        Style::Gaussian { .. } | Style::DiscreteGaussian { .. } => "gaussian",
        Style::Staircase { .. } => "staircase",
        Style::Exponential { .. } => "exponential",
        _ => "other",
    }
}

/// What a statistic would cost alone.
fn alone(ready: &Ready, study: &StudyFile) -> Result<f64, ReleaseError> {
    let wrong = |error: &dyn std::fmt::Display| ReleaseError::Untold(error.to_string());
    let releases = ready.measured().iter().flat_map(Measurement::releases).cloned();
    let adjacency = study.study.public().relation.adjacency();
    let plan = Plan::with(releases, Some(adjacency), counterpoint::quantity::Group::ONE);
    let plan = plan.map_err(|error| wrong(&error))?;
    let answer = plan.epsilon(study.study.budget().delta, &Options::default());
    Ok(answer.map_err(|error| wrong(&error))?.bracket.upper)
}

fn published_number(number: &Number, by: usize) -> PublishedNumber {
    let counted = number.group.get(by).map(ToString::to_string);
    let bin = number.bin.map(|(from, to)| format!("{from} to {to}"));
    let share = number.share.map(|share| share.to_string());
    let edge = number.edge.map(|edge| format!("< {edge}"));
    let coefficient = number.coefficient.clone();
    PublishedNumber {
        group: number.group.iter().take(by).map(ToString::to_string).collect(),
        part: counted.or(bin).or(share).or(edge).or(coefficient).unwrap_or_default(),
        value: number.value,
        lower: number.interval.map(|(low, _)| low),
        upper: number.interval.map(|(_, high)| high),
        confidence: number.confidence,
    }
}

/// The table that a study's rows are read as.
///
/// # Errors
/// [`ReleaseError::NoColumns`] if the study describes none.
pub fn table_of(study: &StudyFile) -> Result<&Table, ReleaseError> {
    study.data.as_ref().map(|source| &source.table).ok_or(ReleaseError::NoColumns)
}
