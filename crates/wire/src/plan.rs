use std::path::Path;

use counterpoint::composition::CompositionError;
use counterpoint::{Composition, Count, Delta, Epsilon, Mechanism};

use crate::error::PlanError;
use crate::fields::{Fields, illegal, number, unknown};
use crate::value::Value;
use crate::{json, kind, toml};

/// What was, or will be, released about the same data, and the question asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The question, if the file asks one.
    pub question: Option<Question>,
    /// What neighbouring data sets are, if the file says.
    pub adjacency: Option<Adjacency>,
    /// At least one, at most 10^7.
    pub releases: Vec<Release>,
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// What people call it.
    pub name: Option<Box<str>>,
    /// What it promises.
    pub mechanism: Mechanism,
    /// How many times it is made.
    pub count: Count,
}

/// What is asked of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// The least epsilon at this delta.
    EpsilonAt(Delta),
    /// The least delta at this epsilon.
    DeltaAt(Epsilon),
}

/// What it is for two data sets to be neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjacency {
    /// One has one person more.
    AddRemove,
    /// One person's data differ.
    Replace,
}

/// How a plan is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON.
    Json,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`PlanError`], one line that names the release, the field, the offending
    /// value and what would be legal.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error))?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return Err(PlanError::plan("the plan is empty; legal: a plan in TOML or JSON"));
        }
        match format {
            Format::Toml => toml::read(text),
            Format::Json => json::read(text),
        }
    }

    /// Puts the releases together.
    ///
    /// # Errors
    /// [`CompositionError`] if the counts or the epsilons add up to too much.
    pub fn composition(&self) -> Result<Composition, CompositionError> {
        Composition::new(self.releases.iter().map(|release| (release.mechanism, release.count)))
    }
}

impl Format {
    /// The format a file's name says, or else its first character.
    #[must_use]
    pub fn detect(path: Option<&Path>, bytes: &[u8]) -> Self {
        let extension = path.and_then(Path::extension).unwrap_or_default();
        if extension.eq_ignore_ascii_case("toml") {
            return Self::Toml;
        }
        let text = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
        if extension.eq_ignore_ascii_case("json") || text.trim_ascii_start().first() == Some(&b'{')
        {
            Self::Json
        } else {
            Self::Toml
        }
    }
}

impl Adjacency {
    /// The word for it in a plan.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AddRemove => "add-remove",
            Self::Replace => "replace",
        }
    }
}

const BYTE_ORDER_MARK: &str = "\u{feff}";
const MOST_RELEASES: usize = 10_000_000;
const LEGAL_RELEASES: &str = "1 to 10^7 releases, each a table";
const TOP_FIELDS: [&str; 5] = ["version", "delta", "epsilon", "adjacency", "release"];

fn not_text(bytes: &[u8], error: std::str::Utf8Error) -> PlanError {
    let at = error.valid_up_to();
    let byte = bytes.get(at).copied().unwrap_or_default();
    PlanError::plan(format!(
        "byte {} (0x{byte:02x}) is not UTF-8 text; legal: a plan in TOML or JSON",
        at + 1
    ))
}

/// A plan in the making. Either format feeds it values in any order.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    seen: [bool; TOP_FIELDS.len()],
    delta: Option<Delta>,
    epsilon: Option<Epsilon>,
    adjacency: Option<Adjacency>,
    releases: Vec<Release>,
}

impl Builder {
    /// Announces a field of the plan itself: it must be known, and come once.
    pub(crate) fn announce(&mut self, key: &str) -> Result<(), PlanError> {
        let at = TOP_FIELDS.iter().position(|known| *known == key);
        let at = at.ok_or_else(|| unknown(key, "a plan", &TOP_FIELDS))?;
        if std::mem::replace(&mut self.seen[at], true) {
            return Err(PlanError::field(key, "is given twice; legal: once"));
        }
        Ok(())
    }

    /// Sets an announced field that is not `release`.
    pub(crate) fn set(&mut self, key: &str, value: &Value<'_>) -> Result<(), PlanError> {
        match key {
            "version" => match value {
                Value::Whole(1) => {}
                _ => return Err(illegal(key, value, "1")),
            },
            "delta" => self.delta = Some(number(key, value, Delta::new, Delta::LEGAL)?),
            "epsilon" => self.epsilon = Some(number(key, value, Epsilon::new, Epsilon::LEGAL)?),
            "adjacency" => self.adjacency = Some(adjacency(key, value)?),
            _ => return Err(illegal(key, value, LEGAL_RELEASES)),
        }
        Ok(())
    }

    /// How many releases there are so far.
    pub(crate) fn len(&self) -> usize {
        self.releases.len()
    }

    /// Adds a release.
    pub(crate) fn release(&mut self, value: Value<'_>) -> Result<(), PlanError> {
        let index = self.releases.len() + 1;
        if index > MOST_RELEASES {
            let problem = format!("has more than 10^7 entries; legal: {LEGAL_RELEASES}");
            return Err(PlanError::field("release", problem));
        }
        let Value::Table(table) = value else {
            return Err(
                PlanError::plan(format!("is {value}; legal: a table")).in_release(index, None)
            );
        };
        let fields = Fields::new(table);
        let name = fields.peek_text("name").map(str::to_owned);
        let release = release(fields).map_err(|e| e.in_release(index, name.as_deref()))?;
        self.releases.push(release);
        Ok(())
    }

    /// The whole plan.
    pub(crate) fn finish(self) -> Result<Plan, PlanError> {
        if self.releases.is_empty() {
            let problem = format!("there are no releases; legal: {LEGAL_RELEASES}");
            return Err(PlanError::plan(problem));
        }
        let question = match (self.delta, self.epsilon) {
            (Some(_), Some(_)) => {
                let problem = "delta and epsilon are both given; legal: one of them, the question";
                return Err(PlanError::plan(problem));
            }
            (delta, epsilon) => delta.map(Question::EpsilonAt).or(epsilon.map(Question::DeltaAt)),
        };
        Ok(Plan { question, adjacency: self.adjacency, releases: self.releases })
    }
}

fn release(mut fields: Fields<'_>) -> Result<Release, PlanError> {
    let name = fields.text("name")?.map(|name| name.into());
    let (mechanism, kind) = kind::read(&mut fields)?;
    let count = fields.count("count")?;
    fields.finish(kind, &kind::legal_fields(kind))?;
    Ok(Release { name, mechanism, count })
}

fn adjacency(key: &str, value: &Value<'_>) -> Result<Adjacency, PlanError> {
    let known = [Adjacency::AddRemove, Adjacency::Replace];
    let found = match value {
        Value::Text(text) => known.into_iter().find(|adjacency| adjacency.name() == text),
        _ => None,
    };
    found.ok_or_else(|| illegal(key, value, &known.map(Adjacency::name).join(", ")))
}
