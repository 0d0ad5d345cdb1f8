//! The curator: tables, a ledger and tokens.

use super::config::{Config, ConfigError, QueueSizes, TimeLimits};
use super::examine::relation_mismatch;
use super::request::QuestionText;
use crate::engine::{DummyTable, EngineError, Location, OpenTable};
use crate::session::RegisteredMechanism;
use crate::state::{QuestionLog, TokenError, Tokens};
use counterpoint_ledger::{LedgerError, OpenOptions, Pool};
use counterpoint_questions::QuestionError;
use counterpoint_questions::question::{Question, sql};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The largest number of open ledger handles.
const HANDLES: usize = 16;
/// The longest time for checking a file's rows at the start.
const CHECK: Duration = Duration::from_secs(3600);

/// A curator cannot start.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The configuration is illegal.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The ledger cannot be opened, or lacks a data set.
    #[error("the ledger: {0}")]
    Ledger(#[from] LedgerError),
    /// The tokens cannot be opened.
    #[error("the tokens: {0}")]
    Tokens(#[from] TokenError),
    /// A table's source is wrong. Only the operator sees this.
    #[error("table {table:?}: {why}")]
    Source {
        /// The table's name.
        table: String,
        /// The reason.
        why: String,
    },
}

/// A table of the service, with the data set that pays for questions about it.
#[derive(Clone, Debug)]
pub struct RegisteredTable {
    /// The table.
    pub table: OpenTable,
    /// The data set.
    pub dataset: String,
    /// The table's location. Tables at one location share an engine.
    pub location: Location,
}

/// An account's data set, and the part of it that the account is about, if not all.
pub(super) type AccountScope = (String, Option<String>);

/// A running curator.
pub struct Curator {
    pub(super) pool: Pool,
    tokens: Tokens,
    pub(super) texts: QuestionLog,
    tables: BTreeMap<String, RegisteredTable>,
    pub(super) mechanisms: BTreeMap<String, RegisteredMechanism>,
    /// The scopes of accounts. They never change.
    pub(super) scopes: Mutex<BTreeMap<String, AccountScope>>,
    /// Tables of made-up rows, made at their first use.
    pub(super) dummies: Mutex<BTreeMap<String, Arc<DummyTable>>>,
    pub(super) timing: TimeLimits,
    queue: QueueSizes,
}

impl std::fmt::Debug for Curator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Curator").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Curator {
    /// Opens everything that a configuration names. The ledger must exist and contain each table's data set.
    ///
    /// # Errors
    /// [`SetupError`], naming the problem.
    pub fn open(config: &Config) -> Result<Self, SetupError> {
        let pool = Pool::new(&config.ledger, &OpenOptions::default(), HANDLES)?;
        let tokens = Tokens::open(&config.state)?;
        let (secret, texts) = (tokens.secret()?, QuestionLog::open(&config.state)?);
        let mut tables = BTreeMap::new();
        for source in &config.tables {
            let name = source.public.name().to_owned();
            let wrong = |why: String| SetupError::Source { table: name.clone(), why };
            let relation = pool.with(|ledger| ledger.relation(&source.dataset))?;
            if relation != source.public.relation() {
                return Err(wrong(relation_mismatch(
                    &source.dataset,
                    &relation,
                    &source.public.relation(),
                )));
            }
            let failed = |error: EngineError| wrong(error.why);
            let table = OpenTable::open(source, secret).map_err(failed)?;
            table.check(Instant::now() + CHECK).map_err(failed)?;
            let (dataset, location) = (source.dataset.clone(), source.location.clone());
            tables.insert(name.to_ascii_lowercase(), RegisteredTable { table, dataset, location });
        }
        let mechanisms =
            config.mechanisms.iter().map(|one| (one.mechanism.name.clone(), one.clone()));
        Ok(Self {
            pool,
            tokens,
            texts,
            tables,
            mechanisms: mechanisms.collect(),
            scopes: Mutex::default(),
            dummies: Mutex::default(),
            timing: config.timing,
            queue: config.queue,
        })
    }

    /// The times at which answers leave, and the limit on an engine's work.
    #[must_use]
    pub fn timing(&self) -> TimeLimits {
        self.timing
    }

    /// The sizes of each engine's queue.
    #[must_use]
    pub fn queue(&self) -> QueueSizes {
        self.queue
    }

    /// The ledger.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The tokens of those who may use the service.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Lists answered questions as pairs of ledger key and text: at most `most` of them, after a key, ordered by key.
    ///
    /// # Errors
    /// [`TokenError`] if the texts cannot be read.
    pub fn questions(&self, after: &str, most: u64) -> Result<Vec<(String, String)>, TokenError> {
        self.texts.page(after, most)
    }

    /// The tables, ordered by name.
    pub fn tables(&self) -> impl Iterator<Item = &RegisteredTable> {
        self.tables.values()
    }

    /// Finds a table by its name, without regard to case.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&RegisteredTable> {
        self.tables.get(&name.to_ascii_lowercase())
    }

    pub(super) fn registered_table(&self, table: &str) -> Result<&RegisteredTable, QuestionError> {
        self.table(table).ok_or_else(|| {
            let place = format!("table {table:?}");
            QuestionError::new(place, "does not exist", "a table that the service lists")
        })
    }

    /// The owner's own mechanisms, ordered by name.
    pub fn mechanisms(&self) -> impl Iterator<Item = &RegisteredMechanism> {
        self.mechanisms.values()
    }

    /// Reads a question's text as the algebra.
    ///
    /// # Errors
    /// [`QuestionError`] if the text is not supported.
    pub fn read(&self, text: &QuestionText) -> Result<Question, QuestionError> {
        match text {
            QuestionText::Sql(sql) => {
                sql::read(sql, |name| self.table(name).map(|registered| &registered.table.public))
            }
            QuestionText::Question(question) => Ok((**question).clone()),
        }
    }
}
