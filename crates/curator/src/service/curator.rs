//! A curator: tables, a ledger and tokens.

use super::config::{Config, ConfigError, QueueSizes, Timing};
use super::examine::unlike;
use super::request::Written;
use crate::engine::{Dummy, Failed, Held, Location};
use crate::session::Registered;
use crate::state::{Texts, TokenError, Tokens};
use counterpoint_ledger::{LedgerError, OpenOptions, Pool};
use counterpoint_questions::Illegal;
use counterpoint_questions::question::{Question, sql};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// So many handles of the ledger are open at most.
const HANDLES: usize = 16;
/// So long the rows of a file may be checked when the curator starts.
const CHECK: Duration = Duration::from_secs(3600);

/// Why a curator cannot start.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The ledger.
    #[error("the ledger: {0}")]
    Ledger(#[from] LedgerError),
    /// The tokens.
    #[error("the tokens: {0}")]
    Tokens(#[from] TokenError),
    /// A table's source. Nobody but the operator sees this.
    #[error("table {table:?}: {why}")]
    Source {
        /// The table.
        table: String,
        /// What is wrong.
        why: String,
    },
}

/// A table, with the data set that is charged.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The table.
    pub held: Held,
    /// The data set.
    pub dataset: String,
    /// Where it is: tables of one place share an engine.
    pub location: Location,
}

/// A data set, and the part of it, if not all.
pub(super) type About = (String, Option<String>);

/// A curator at work.
pub struct Curator {
    pub(super) pool: Pool,
    tokens: Tokens,
    pub(super) texts: Texts,
    tables: BTreeMap<String, Kept>,
    pub(super) mechanisms: BTreeMap<String, Registered>,
    /// The data sets of accounts, and the parts that they are about, which never change.
    pub(super) about: Mutex<BTreeMap<String, About>>,
    /// Made up when they are first asked.
    pub(super) dummies: Mutex<BTreeMap<String, Arc<Dummy>>>,
    pub(super) timing: Timing,
    queue: QueueSizes,
}

impl std::fmt::Debug for Curator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Curator").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Curator {
    /// Opens everything that a configuration names. The ledger has to be there, with each table's data set.
    ///
    /// # Errors
    /// [`SetupError`], naming what is wrong.
    pub fn open(config: &Config) -> Result<Self, SetupError> {
        let pool = Pool::new(&config.ledger, &OpenOptions::default(), HANDLES)?;
        let tokens = Tokens::open(&config.state)?;
        let (secret, texts) = (tokens.secret()?, Texts::open(&config.state)?);
        let mut tables = BTreeMap::new();
        for source in &config.tables {
            let name = source.public.name().to_owned();
            let wrong = |why: String| SetupError::Source { table: name.clone(), why };
            let relation = pool.with(|ledger| ledger.relation(&source.dataset))?;
            if relation != source.public.relation() {
                return Err(wrong(unlike(&source.dataset, &relation, &source.public.relation())));
            }
            let told = |error: Failed| wrong(error.why);
            let held = Held::open(source, secret).map_err(told)?;
            held.check(Instant::now() + CHECK).map_err(told)?;
            let (dataset, location) = (source.dataset.clone(), source.location.clone());
            tables.insert(name.to_ascii_lowercase(), Kept { held, dataset, location });
        }
        let mechanisms = config.mechanisms.iter().map(|one| (one.own.own.clone(), one.clone()));
        Ok(Self {
            pool,
            tokens,
            texts,
            tables,
            mechanisms: mechanisms.collect(),
            about: Mutex::default(),
            dummies: Mutex::default(),
            timing: config.timing,
            queue: config.queue,
        })
    }

    /// When answers leave.
    #[must_use]
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// How many questions an engine runs, and how many wait for it.
    #[must_use]
    pub fn queue(&self) -> QueueSizes {
        self.queue
    }

    /// The ledger.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Who may ask.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// At most so many of the questions that were answered, as their keys in the ledger with their texts: those after a key,
    /// in the order of the keys.
    ///
    /// # Errors
    /// [`TokenError`] if they cannot be read.
    pub fn questions(&self, after: &str, most: u64) -> Result<Vec<(String, String)>, TokenError> {
        self.texts.page(after, most)
    }

    /// The tables, in order of their names.
    pub fn tables(&self) -> impl Iterator<Item = &Kept> {
        self.tables.values()
    }

    /// A table by its name. Case does not matter.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Kept> {
        self.tables.get(&name.to_ascii_lowercase())
    }

    pub(super) fn kept(&self, table: &str) -> Result<&Kept, Illegal> {
        self.table(table).ok_or_else(|| {
            let place = format!("table {table:?}");
            Illegal::new(place, "is not here", "a table that the service lists")
        })
    }

    /// The owner's own mechanisms, in order of their names.
    pub fn mechanisms(&self) -> impl Iterator<Item = &Registered> {
        self.mechanisms.values()
    }

    /// What a question is in the algebra.
    ///
    /// # Errors
    /// [`Illegal`] if it is not understood.
    pub fn read(&self, written: &Written) -> Result<Question, Illegal> {
        match written {
            Written::Sql(text) => {
                sql::read(text, |name| self.table(name).map(|kept| &kept.held.public))
            }
            Written::Question(question) => Ok((**question).clone()),
        }
    }
}
