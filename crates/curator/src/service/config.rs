//! The curator's configuration file: the ledger, the tables and their public descriptions.

use crate::engine::{Location, TableConfig};
use crate::session::{CustomMechanism, RegisteredMechanism};
use counterpoint_ledger::Url;
use counterpoint_questions::public::{PublicError, Table, TableText};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A configuration cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML, or lacks a field, or has an unknown one.
    #[error("{0}")]
    Text(String),
    /// A field has an illegal value.
    #[error("{field} is {value:?}; legal: {legal}")]
    Value {
        /// The field.
        field: String,
        /// The value.
        value: String,
        /// The legal values.
        legal: &'static str,
    },
    /// A table's public description is illegal.
    #[error(transparent)]
    Public(#[from] PublicError),
}

/// The times at which answers leave, and the limit on an engine's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// An answer leaves after 1, 2, 4, 8, ... slots. For several questions together the slot is that many times as
    /// long.
    pub slot: Duration,
    /// The engine is stopped after this time.
    pub limit: Duration,
}

/// The number of questions that an engine runs at once, and the number that wait for it. Further questions are refused
/// as busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSizes {
    /// The number of questions that run at once.
    pub running: usize,
    /// The number of questions that wait.
    pub waiting: usize,
}

/// The certificate and key for connections from other machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain, as PEM.
    pub certificate: PathBuf,
    /// Its key, as PEM.
    pub key: PathBuf,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The ledger's URL.
    pub ledger: Url,
    /// The file of the tokens.
    pub state: PathBuf,
    /// The tables.
    pub tables: Vec<TableConfig>,
    /// The owner's own mechanisms.
    pub mechanisms: Vec<RegisteredMechanism>,
    /// The times at which answers leave, and the limit on an engine's work.
    pub timing: TimeLimits,
    /// The sizes of each engine's queue.
    pub queue: QueueSizes,
    /// The certificate and key, if other machines may connect.
    pub tls: Option<Tls>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigText {
    #[serde(default)]
    version: Option<u64>,
    ledger: String,
    state: String,
    #[serde(default)]
    timing: TimingText,
    #[serde(default)]
    queue: QueueText,
    #[serde(default)]
    tls: Option<TlsText>,
    table: Vec<SourceText>,
    #[serde(default)]
    mechanism: Vec<MechanismText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MechanismText {
    name: String,
    table: String,
    /// The path of a plan file.
    guarantee: PathBuf,
    program: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsText {
    certificate: PathBuf,
    key: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TimingText {
    slot: f64,
    limit: f64,
}

impl Default for TimingText {
    fn default() -> Self {
        Self { slot: 0.25, limit: 10.0 }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct QueueText {
    running: u64,
    waiting: u64,
}

/// At most as many scans at once as there are processors, so that each takes about as long as it would alone.
impl Default for QueueText {
    fn default() -> Self {
        let running = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { running: running.max(2) as u64, waiting: 64 }
    }
}

/// The fields of [`TableText`] and the curator's own. (Serde's `flatten` would accept unknown fields.)
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceText {
    name: String,
    #[serde(default)]
    dataset: Option<String>,
    source: String,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    person: Option<String>,
    #[serde(default)]
    rows: Option<u64>,
    #[serde(default)]
    row_number: Option<String>,
    #[serde(default)]
    groups: Option<u64>,
    adjacency: String,
    #[serde(default)]
    people: Option<u64>,
    #[serde(default)]
    size: Option<u64>,
    column: Vec<counterpoint_questions::public::ColumnText>,
}

impl Config {
    /// Reads a configuration. Relative paths start at `folder`.
    ///
    /// # Errors
    /// [`ConfigError`], naming the field.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ConfigError> {
        let read: ConfigText =
            toml::from_str(text).map_err(|error| ConfigError::Text(error.to_string()))?;
        if let Some(version) = read.version.filter(|version| *version != 1) {
            return Err(illegal("version", version, "1"));
        }
        if read.table.is_empty() {
            return Err(illegal("table", "none", "at least one [[table]]"));
        }
        let tables = read.table.into_iter().map(|table| source(table, folder));
        let tables: Vec<TableConfig> = tables.collect::<Result<_, _>>()?;
        let names = tables.iter().map(|table| table.public.name().to_ascii_lowercase());
        different("table", names, "different names, whatever their case")?;
        let mechanisms = read.mechanism.into_iter().map(|text| mechanism(text, &tables, folder));
        let mechanisms: Vec<RegisteredMechanism> = mechanisms.collect::<Result<_, _>>()?;
        let names = mechanisms.iter().map(|mechanism| mechanism.mechanism.name.clone());
        different("mechanism", names, "different names")?;
        let timing = TimeLimits {
            slot: seconds("timing.slot", read.timing.slot, 0.0)?,
            limit: seconds("timing.limit", read.timing.limit, 0.001)?,
        };
        let queue = QueueSizes {
            running: places("queue.running", read.queue.running, 1)?,
            waiting: places("queue.waiting", read.queue.waiting, 0)?,
        };
        let beside = |path: PathBuf| folder.join(path);
        let tls =
            read.tls.map(|tls| Tls { certificate: beside(tls.certificate), key: beside(tls.key) });
        let ledger = url("ledger", &read.ledger, folder)?;
        let state = file("state", &read.state, folder)?;
        if matches!(&ledger, Url::Sqlite(path) if Path::new(path) == state) {
            return Err(illegal("state", read.state, "another file than the ledger's"));
        }
        Ok(Self { ledger, state, tables, mechanisms, timing, queue, tls })
    }
}

fn illegal(field: &str, value: impl ToString, legal: &'static str) -> ConfigError {
    ConfigError::Value { field: field.to_owned(), value: value.to_string(), legal }
}

/// Returns an error if a name occurs twice.
fn different(
    field: &str,
    mut names: impl Iterator<Item = String>,
    legal: &'static str,
) -> Result<(), ConfigError> {
    let mut seen = BTreeSet::new();
    let twice = names.find(|name| !seen.insert(name.clone()));
    twice.map_or(Ok(()), |name| Err(illegal(field, name, legal)))
}

fn seconds(field: &str, value: f64, least: f64) -> Result<Duration, ConfigError> {
    if (least..=3600.0).contains(&value) {
        return Ok(Duration::from_secs_f64(value));
    }
    Err(illegal(field, value, "seconds, at most 3600; a limit is above 0"))
}

fn places(field: &str, value: u64, least: u64) -> Result<usize, ConfigError> {
    let legal = "a whole number up to 1000; at least 1 runs";
    if !(least..=1000).contains(&value) {
        return Err(illegal(field, value, legal));
    }
    usize::try_from(value).map_err(|_| illegal(field, value, legal))
}

fn url(field: &str, text: &str, folder: &Path) -> Result<Url, ConfigError> {
    let parsed: Url =
        text.parse().map_err(|_| illegal(field, text, "sqlite:PATH or postgres://..."))?;
    Ok(match parsed {
        Url::Sqlite(path) => Url::Sqlite(folder.join(path).to_string_lossy().into_owned()),
        other => other,
    })
}

fn location(field: &str, text: &str, folder: &Path) -> Result<Location, ConfigError> {
    let legal = "FILE.csv, FILE.parquet, FILE.jsonl, sqlite:PATH, postgres://... or sc://...";
    Location::parse(text, folder).ok_or_else(|| illegal(field, text, legal))
}

fn file(field: &str, text: &str, folder: &Path) -> Result<PathBuf, ConfigError> {
    let path = text.strip_prefix("sqlite:").filter(|path| !path.is_empty());
    path.map(|path| folder.join(path)).ok_or_else(|| illegal(field, text, "sqlite:PATH"))
}

/// Reads a mechanism of the owner's. Its guarantee is read now, as a session keeps the guarantee that it was charged.
fn mechanism(
    text: MechanismText,
    tables: &[TableConfig],
    folder: &Path,
) -> Result<RegisteredMechanism, ConfigError> {
    let field = |name: &str| format!("mechanism {:?}, {name}", text.name);
    let table = tables.iter().find(|table| table.public.name() == text.table);
    let table = table.ok_or_else(|| illegal(&field("table"), &text.table, "a [[table]]'s name"))?;
    if text.program.is_empty() {
        return Err(illegal(&field("program"), "[]", "a program and its arguments"));
    }
    let file = folder.join(&text.guarantee);
    let unread = |error: String| {
        ConfigError::Text(format!("{}, {}: {error}", field("guarantee"), file.display()))
    };
    let bytes = std::fs::read(&file).map_err(|error| unread(error.to_string()))?;
    let plan = ExactPlan::parse(&bytes, Format::detect(Some(&file), &bytes));
    let plan = plan.map_err(|error| unread(error.to_string()))?;
    let adjacency = table.public.relation().adjacency();
    if plan.adjacency.is_some_and(|said| said != adjacency) || plan.group != 1 {
        return Err(unread("it is about other neighbours than the table".to_owned()));
    }
    Ok(RegisteredMechanism {
        mechanism: CustomMechanism { name: text.name, guarantee: plan.releases },
        table: text.table,
        program: text.program,
        folder: folder.to_owned(),
    })
}

fn source(text: SourceText, folder: &Path) -> Result<TableConfig, ConfigError> {
    let field = |name: &str| format!("table {:?}, {name}", text.name);
    let location = location(&field("source"), &text.source, folder)?;
    let (dataset, from) = (text.dataset.clone(), text.from.clone());
    let from = from.unwrap_or_else(|| text.name.clone());
    if from.is_empty() || from.contains(['"', '`', '\0']) {
        return Err(illegal(&field("from"), from, "a name without quotes"));
    }
    let name = text.name.clone();
    let public = Table::new(TableText {
        name: text.name,
        person: text.person,
        rows: text.rows.unwrap_or(1),
        row_number: text.row_number,
        groups: text.groups,
        adjacency: text.adjacency,
        people: text.people,
        columns: text.column,
    })?;
    Ok(TableConfig { public, dataset: dataset.unwrap_or(name), location, from, size: text.size })
}
