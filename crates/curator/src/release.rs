//! A planned study, released: charged to a ledger, drawn, stored, and only then published.
//!
//! The account of a release is named after its study and the fingerprint of its rows, so that the same study of the same rows
//! finds its account again: its numbers are told from the ledger, charge nothing and are drawn once, whatever happened in
//! between.

use crate::config::{Location, Source};
use crate::dummy::Dummy;
use crate::engine::Failed;
use crate::files::RowSource;
use crate::publish::{self, Entry};
use crate::release_checks::{Stamp, are_declared};
use crate::stages::Stages;
use crate::table::{self, Due, Held, Number, Payer, Ready, Unanswered};
use crate::text;
use crate::tokens::Tokens;
use counterpoint::watch::{Go, Watch};
use counterpoint::{Delta, Options, Plan};
use counterpoint_budget::{Amount, Terms, covers};
use counterpoint_ledger::{
    Hash, Kind, Ledger, LedgerError, NewAccount, NewFilter, OpenOptions, Pool, Url,
};
use counterpoint_mechanisms::Measurement;
use counterpoint_planner::{Ask, Statistic, Wanted, Wish};
use counterpoint_questions::public::{Table, TableText};
use counterpoint_questions::{Checked, Illegal, Spend};
use counterpoint_wire::ledger::{AccountStatus, Described, ExactPlan, Promised};
use counterpoint_wire::publication::{
    Budget, LedgerPlace, Promise, Publication, PublishedStatistic,
};
use counterpoint_wire::{StudyFile, StudyQuestion};
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use std::collections::BTreeMap;
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

    /// The file of the rows, if they are in one.
    fn file(&self) -> Option<&Path> {
        match self {
            Self::At(source) => match &source.location {
                Location::File(path) => Some(path),
                _ => None,
            },
            Self::InMemory(_) => None,
        }
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
    let stamp = Stamp::of(job.rows.file());
    let probe = job.rows.held(study, [0; 32])?;
    check_release(&job.release, &probe)?;
    let found = probe.check(Instant::now() + CHECK).map_err(ReleaseError::of_rows)?;
    if let Some(found) = &found {
        are_declared(table_of(study)?, job.rows.file(), found).map_err(ReleaseError::Rows)?;
    }
    let digest = job.rows.digest()?;
    let still = |then: &str| stamp.still(job.rows.file(), then).map_err(ReleaseError::Rows);
    still("nothing was charged; legal: a file that nobody writes")?;
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
    let published = release(&job.release, &charged, &pool, &held)?;
    still(
        "it was charged, and the numbers may be of either content; released as it was, they are told",
    )?;
    Ok(published)
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
    /// The plan lacks something.
    #[error("the plan has no release {name:?}; legal: a plan of this study")]
    NoSlot {
        /// Its name.
        name: String,
    },
    /// The study does not describe its data.
    #[error("data has no columns; legal: [[data.column]] for each column that a statistic names")]
    NoColumns,
    /// Nothing says where the rows are.
    #[error("data has no source; legal: source in [data], or --data FILE")]
    NoSource,
    /// The rows are others than those of earlier releases.
    #[error(
        "the rows are not those that were released of data set {dataset:?} before, or secret.db is not that of its ledger; if the data \
         changed, release them with --changed: people who are in both are charged twice"
    )]
    Changed {
        /// The data set.
        dataset: String,
    },
    /// The rows were released under another name.
    #[error(
        "these rows were released as data set {dataset:?} before, and have one budget; legal: name = {dataset:?} in [data]"
    )]
    OtherName {
        /// The data set that paid.
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
                | Self::OtherName { .. }
                | Self::OtherPlan { .. }
                | Self::Ledger(LedgerError::Refused { .. })
                | Self::Unanswered(Unanswered::Ledger(LedgerError::Refused { .. }))
        )
    }
}

/// How often the half-width of a shared count is kept.
const COUNT_CONFIDENCE: f64 = 0.95;

/// Checks that a study can be released of a table. Nothing is charged, and no rows are looked at.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn check_release(release: &Release<'_>, held: &Held) -> Result<(), ReleaseError> {
    for (entry, ready) in readied(release.study, held, |name| slot(release.plan, name))? {
        is_charged(&entry, &ready, &slot(release.plan, entry.name)?)?;
    }
    Ok(())
}

/// An error unless what a slot is charged as covers what its recipe runs, as the ledger will have it: a plan that somebody edited
/// would be charged, and then not answered.
fn is_charged(entry: &Entry<'_>, ready: &Ready, slot: &Described) -> Result<(), ReleaseError> {
    let now = |one: &Described| one.opening_in(u64::MAX).map_err(|error| wrong(entry, error));
    let mut run = Vec::new();
    for release in ready.measured().iter().flat_map(Measurement::releases) {
        run.extend(now(&Described::of(release).map_err(|error| wrong(entry, error))?)?);
    }
    let terms = Terms::new(ready.checked().relation().adjacency());
    let covered = covers(&now(slot)?, &run, terms).map(drop);
    let problem = "the plan charges less than its recipe runs; legal: the plan as it was written";
    covered.map_err(|_| wrong(entry, problem))
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
    // What the account was opened with is what is drawn, whatever the plan is by now.
    let declared = |name: &str| Ok(pool.with(|ledger| ledger.declared(&account, name))?);
    let entries = readied(release.study, held, declared)?;
    let payer = Payer { account: &account, analyst: None, alias: None };
    let due: Vec<Due<'_>> = entries.iter().map(|(_, ready)| Due { held, ready, payer }).collect();
    let told = table::tell_all(pool, &due, LIMIT, &Stages::default());
    let mut statistics = Vec::with_capacity(entries.len());
    for ((entry, ready), told) in entries.iter().zip(told) {
        let numbers = told?.numbers(ready, entry.confidence).map_err(untold)?;
        statistics.push((entry.index, told_of(entry, ready, &numbers, release.study)?));
    }
    let statistics = in_order(statistics, release.study);
    let status = pool.with(|ledger| ledger.status(None))?;
    let find = |name: &str| status.accounts.iter().find(|account| account.name == name);
    let budget = find(charged.dataset).and_then(publish::budget);
    let promised = find(&account).map(|account| &account.promise);
    Ok(Publication {
        version: 1,
        made_up: false,
        title: release.title.to_owned(),
        data: publish::data(
            table_of(release.study)?,
            release.study,
            release.source,
            charged.dataset,
        ),
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
    let (mut statistics, mut counts) = (Vec::new(), BTreeMap::new());
    for (entry, ready) in readied(release.study, &dummy.held, |name| slot(release.plan, name))? {
        let deadline = Instant::now() + LIMIT;
        let counted = dummy.held.count(&[ready.tabulation()], deadline).map_err(failed)?;
        let shared = ready.count().and_then(|count| counts.get(count.key()));
        let shared = shared.map(|drawn: &Vec<_>| table::counts(drawn)).transpose();
        let shared = shared.map_err(failed)?;
        let drawn = table::drawn(ready.measured(), counted.concat(), shared.as_deref());
        let drawn = drawn.map_err(failed)?;
        let measured = (ready.checked(), ready.measured());
        let numbers = table::numbers(&drawn, measured, entry.confidence).map_err(untold)?;
        statistics.push((entry.index, told_of(&entry, &ready, &numbers, release.study)?));
        counts.insert(ready.key().to_owned(), drawn);
    }
    let statistics = in_order(statistics, release.study);
    Ok(Publication {
        version: 1,
        made_up: true,
        title: release.title.to_owned(),
        data: publish::data(&source.table, release.study, release.source, source.table.name()),
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
        let rows = wanted.population.as_ref().and_then(|population| population.rows);
        let (name, confidence) = (statistic.name.as_str(), wanted.confidence);
        entries.push(Entry { index, name, confidence, rows, question });
    }
    Ok(entries)
}

/// All that is released, each ready to be asked as its slot says: the counts that statistics share, and then the statistics.
fn readied<'a>(
    study: &'a StudyFile,
    held: &Held,
    declared: impl Fn(&str) -> Result<Described, ReleaseError>,
) -> Result<Vec<(Entry<'a>, Ready)>, ReleaseError> {
    let (mut counts, mut statistics) = (BTreeMap::new(), Vec::new());
    for entry in entries(study)? {
        let slot = declared(entry.name)?;
        let name = slot.shared_count();
        if let Some(name) = name.as_ref().filter(|name| !counts.contains_key(*name)) {
            let (count, declared) = (count_entry(study, name, &entry)?, declared(name)?);
            let made = ready(&count, held, &declared, None)?;
            counts.insert(name.clone(), (count, made, declared));
        }
        let shared = name.as_ref().and_then(|name| Some((name.as_str(), &counts.get(name)?.2)));
        let made = ready(&entry, held, &slot, shared)?;
        statistics.push((entry, made));
    }
    let counts = counts.into_values().map(|(entry, ready, _)| (entry, ready));
    Ok(counts.chain(statistics).collect())
}

/// A count that a statistic shares.
fn count_entry<'a>(
    study: &'a StudyFile,
    name: &str,
    of: &Entry<'_>,
) -> Result<Entry<'a>, ReleaseError> {
    let found = study.counts.iter().enumerate().find(|(_, (count, _))| count == name);
    let Some((place, (name, question))) = found else {
        let problem = format!(
            "shares the count {name:?}, which this study does not have; legal: a plan of this study"
        );
        return Err(wrong(of, problem));
    };
    let index = study.study.statistics().len() + place;
    Ok(Entry { index, name, confidence: COUNT_CONFIDENCE, rows: of.rows, question })
}

/// Statistics in the order of the study, those that are public included, and after them the counts that they share.
fn in_order(
    mut statistics: Vec<(usize, PublishedStatistic)>,
    study: &StudyFile,
) -> Vec<PublishedStatistic> {
    let all = study.study.statistics().iter().enumerate();
    statistics.extend(all.filter_map(|(index, statistic)| match statistic.ask {
        Ask::Public(number) => Some((index, publish::public(&statistic.name, number))),
        _ => None,
    }));
    statistics.sort_by_key(|(index, _)| *index);
    statistics.into_iter().map(|(_, statistic)| statistic).collect()
}

/// What is wrong with a statistic.
fn wrong(entry: &Entry<'_>, problem: impl ToString) -> ReleaseError {
    let (index, name) = (entry.index + 1, entry.name.to_owned());
    ReleaseError::Statistic { index, name, problem: problem.to_string() }
}

/// The slot of a name in the plan.
fn slot(plan: &ExactPlan, name: &str) -> Result<Described, ReleaseError> {
    let found = plan.releases.iter().find(|release| release.name() == Some(name));
    let none = || ReleaseError::NoSlot { name: name.to_owned() };
    found.cloned().ok_or_else(none)
}

/// A statistic, ready to be asked with the noise that its slot says.
fn ready(
    entry: &Entry<'_>,
    held: &Held,
    slot: &Described,
    shared: Option<(&str, &Described)>,
) -> Result<Ready, ReleaseError> {
    let checked: &Checked = &entry.question.checked;
    let query = checked.parts().first().map(|part| &part.query);
    let recipe = slot.recipe().filter(|recipe| Some(recipe.query()) == query);
    let recipe = recipe.ok_or_else(|| {
        wrong(entry, "the plan's recipe is of another question; legal: a plan of this study")
    })?;
    let spend = Spend::Style(recipe.style());
    let made = Ready::in_slot(held, (checked.clone(), spend), entry.name, shared);
    made.map_err(|error| wrong(entry, error))
}

/// What makes two studies the same.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    table: &'a TableText,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_of: Option<u64>,
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
            Ask::Public(number) => (0.0, format!("public {number:e}")),
        };
        (statistic.name.clone(), question.as_ref().map(|one| one.checked.clone()), confidence, wish)
    };
    let list: Vec<_> =
        study.study.statistics().iter().zip(&study.questions).map(statistic).collect();
    let budget = study.study.budget();
    let same = Same {
        version: 1,
        table: source.table.text(),
        sample_of: study.study.public().sample_of,
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
    let is_own = |one: &AccountStatus| one.parent.as_deref() == Some(charged.dataset);
    let is_same = |one: &AccountStatus| one.name.starts_with(&prefix(charged.fingerprint));
    if let Some(other) = status.accounts.iter().find(|one| is_same(one) && !is_own(one)) {
        let dataset = other.parent.clone().unwrap_or_default();
        return Err(ReleaseError::OtherName { dataset });
    }
    let is_release = |one: &&AccountStatus| is_own(one) && one.name.starts_with(RELEASE);
    let mut releases = status.accounts.iter().filter(is_release).peekable();
    let is_first = releases.peek().is_none();
    if !is_first && !releases.any(is_same) && !charged.changed {
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
        let declared = ledger.declared(account, entry.name)?;
        if declared.recipe().map(|recipe| recipe.query().clone())
            != slot(release.plan, entry.name)?.recipe().map(|recipe| recipe.query().clone())
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

fn told_of(
    entry: &Entry<'_>,
    ready: &Ready,
    numbers: &[Number],
    study: &StudyFile,
) -> Result<PublishedStatistic, ReleaseError> {
    publish::published(entry, ready, numbers, study).map_err(ReleaseError::Untold)
}

/// The table that a study's rows are read as.
///
/// # Errors
/// [`ReleaseError::NoColumns`] if the study describes none.
pub fn table_of(study: &StudyFile) -> Result<&Table, ReleaseError> {
    study.data.as_ref().map(|source| &source.table).ok_or(ReleaseError::NoColumns)
}
