//! Building plans from the values of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterpoint::ask::Unknown;
use counterpoint::quantity::GroupSize;
use counterpoint::{Adjacency, Count, Delta, Epsilon, Mechanism};
use counterpoint_mechanisms::NoisyQuery;

use super::least_noise::least_noise;
use super::{
    Blank, Bundle, Plan, Question, Release, Target, adjacency, product, unknown_field_name,
};
use super::{columns, matrix, precise, recipe, sample};
use crate::catalogue::{self, MechanismKind};
use crate::text::error::{PlanError, quoted};
use crate::text::fields::{Fields, exact_number, illegal, number, unknown, whole};
use crate::text::value::{Table, Value};
use crate::text::written::ExactNumber;

const MOST_RELEASES: usize = 10_000_000;
/// The largest number of mechanisms with computed noise that are remembered.
const MOST_NOISES: usize = 100_000;
const LEGAL_RELEASES: &str = "1 to 10^7 releases, each a table";
const TOP_FIELDS: [&str; 7] =
    ["version", "delta", "epsilon", "adjacency", "group", "target", "release"];
const LEGAL_TARGET: &str = "a table with epsilon, and delta if the plan has none";

/// The field that names a file with the columns of a `cells` mechanism.
const CSV: &str = "csv";
const CELLS: [&str; 4] = ["p", "q", "lower", "upper"];

/// A plan that is being read. The readers of both formats give it values in any order.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    seen: [bool; TOP_FIELDS.len()],
    delta: Option<Delta>,
    epsilon: Option<Epsilon>,
    adjacency: Option<Adjacency>,
    group: Option<GroupSize>,
    target: Option<Target>,
    releases: Vec<Release>,
    /// The labels of parts: equal labels share their text.
    labels: BTreeSet<Arc<str>>,
    /// The field that releases may leave out, and the name of the releases that may; all if there is no name.
    blank: Option<(Unknown, Option<String>)>,
    blanks: Vec<usize>,
    /// Mechanisms with computed noise, by the mechanism and the guarantee that were given.
    noises: BTreeMap<String, Mechanism>,
    /// The folder of the files that the plan may name; without a folder no file is read.
    folder: Option<PathBuf>,
    /// The exact number of the question, and the exact delta of the target.
    exact_question: Option<ExactNumber>,
    exact_target_delta: Option<ExactNumber>,
    /// True if all numbers are kept exactly, also those without quotes.
    pub(crate) exact: bool,
}

impl Builder {
    /// A builder of a plan whose releases may leave out a field.
    pub(crate) fn with_blank(blank: Blank<'_>) -> Self {
        let blank = Some((blank.unknown, blank.release.map(str::to_owned)));
        Self { blank, ..Self::default() }
    }

    /// Lets the plan name files in this folder.
    pub(crate) fn in_folder(self, folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..self }
    }

    /// A builder of a plan whose numbers are kept exactly.
    pub(crate) fn exact_numbers() -> Self {
        Self { exact: true, ..Self::default() }
    }

    /// Announces a field of the plan. It must be known, and be announced once.
    pub(crate) fn announce(&mut self, key: &str) -> Result<(), PlanError> {
        let mut fields = TOP_FIELDS.iter().zip(&mut self.seen);
        let field = fields.find(|(known, _)| **known == key);
        let (_, seen) = field.ok_or_else(|| unknown(key, "a plan", &TOP_FIELDS))?;
        if std::mem::replace(seen, true) {
            return Err(PlanError::field(key, "is given twice; legal: once"));
        }
        Ok(())
    }

    /// Sets an announced field other than `release`.
    pub(crate) fn set(&mut self, key: &str, value: &Value<'_>) -> Result<(), PlanError> {
        match key {
            "version" => match value {
                Value::Whole(1) => {}
                _ => return Err(illegal(key, value, "1")),
            },
            "delta" => {
                self.delta = Some(number(key, value, Delta::new, Delta::LEGAL)?);
                self.exact_question = exact_number(value);
            }
            "epsilon" => {
                self.epsilon = Some(number(key, value, Epsilon::new, Epsilon::LEGAL)?);
                self.exact_question = exact_number(value);
            }
            "adjacency" => self.adjacency = Some(adjacency(key, value)?),
            "group" => self.group = Some(whole(key, value, GroupSize::new, GroupSize::LEGAL)?),
            "target" => {
                let (target, delta) = target(key, value)?;
                (self.target, self.exact_target_delta) = (Some(target), delta);
            }
            _ => return Err(illegal(key, value, LEGAL_RELEASES)),
        }
        Ok(())
    }

    /// The number of releases that were added.
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
        let release = self.read(fields).map_err(|e| e.in_release(index, name.as_deref()))?;
        self.releases.push(release);
        Ok(())
    }

    fn read(&mut self, mut fields: Fields<'_>) -> Result<Release, PlanError> {
        let name: Option<Box<str>> = fields.text("name")?.map(|name| name.into());
        let runs = matrix::resolve(&mut fields)?;
        let kind = catalogue::take_kind(&mut fields)?;
        let blank = self.fill(kind, name.as_deref(), &mut fields);
        if kind.field(CSV).is_some() {
            self.open(&mut fields)?;
        }
        let mechanism = self.mechanism(kind, &mut fields)?;
        let (sample, count) = sample::read(&mut fields, kind.is_sampled)?;
        let count = product(count, runs.unwrap_or(Count::ONE)).ok_or_else(|| {
            let problem = format!("is {}; legal: {}, times the runs", count.get(), Count::LEGAL);
            PlanError::field("count", problem)
        })?;
        let partition = fields.text("partition")?.map(|label| self.label(&label));
        let bundle = self.bundle(&mut fields)?.map(Box::new);
        let exact_numbers = fields.take_exact_numbers();
        let exact_numbers =
            if precise::is_guarantee(&mechanism) { exact_numbers } else { Vec::new() };
        fields.finish(kind.name, &kind.legal_fields())?;
        let sample = sample.map(Box::new);
        let mut release =
            Release { name, mechanism, sample, count, partition, exact_numbers, bundle };
        if let Some(unknown) = blank {
            release.clear(unknown)?;
        }
        let also = release.bundle.as_ref().map_or(&[][..], |bundle| &bundle.also);
        if also.iter().any(|one| product(one.count, release.count).is_none()) {
            let problem =
                format!("is {}; legal: {}, times those of also", count.get(), Count::LEGAL);
            return Err(PlanError::field("count", problem));
        }
        Ok(release)
    }

    /// Reads the releases that are made together with a release, and its noisy query.
    fn bundle(&mut self, fields: &mut Fields<'_>) -> Result<Option<Bundle>, PlanError> {
        let legal = "a list of releases without names, partitions or others within them";
        let also = match fields.take("also") {
            None => Vec::new(),
            Some(Value::List(list)) => {
                let part = |value: Value<'_>| {
                    let Value::Table(table) = value else {
                        return Err(illegal("also", &value, legal));
                    };
                    let release = self.read(Fields::new(table))?;
                    let plain = release.name.is_none()
                        && release.partition.is_none()
                        && release.bundle.is_none();
                    let problem =
                        || PlanError::field("also", format!("is not plain; legal: {legal}"));
                    if plain { Ok(release) } else { Err(problem()) }
                };
                list.into_iter().map(part).collect::<Result<Vec<_>, _>>()?
            }
            Some(other) => return Err(illegal("also", &other, legal)),
        };
        let recipe = fields.take("recipe").map(recipe).transpose()?;
        let is_some = !also.is_empty() || recipe.is_some();
        let (recipe, shared) = match recipe {
            Some((recipe, shared)) => (Some(recipe), shared),
            None => (None, None),
        };
        Ok(is_some.then_some(Bundle { also, recipe, shared }))
    }

    /// Fills in the blank field, if a release that may leave it out does so; returns what is unknown then.
    fn fill(
        &mut self,
        kind: &MechanismKind,
        name: Option<&str>,
        fields: &mut Fields<'_>,
    ) -> Option<Unknown> {
        let (unknown, only) = self.blank.as_ref()?;
        let blank = unknown_field_name(*unknown);
        let is_named = only.is_none() || only.as_deref() == name;
        let is_count = *unknown == Unknown::Count && !fields.has("epochs");
        let alternatives = if kind.noise_field() == Some(blank) { kind.alternatives } else { &[] };
        let is_given = fields.has(blank) || alternatives.iter().any(|field| fields.has(field.name));
        if !is_named || is_given || !(kind.has(blank) || is_count) {
            return None;
        }
        fields.fill(blank, Value::Whole(1));
        self.blanks.push(self.releases.len());
        Some(*unknown)
    }

    /// Reads the mechanism. If a guarantee is given in the place of noise, the noise is computed once for equal
    /// mechanisms.
    fn mechanism(
        &mut self,
        kind: &MechanismKind,
        fields: &mut Fields<'_>,
    ) -> Result<Mechanism, PlanError> {
        let (Some(guarantee), Some(noise)) = (kind.guarantee(fields)?, kind.noise_field()) else {
            return kind.read(fields);
        };
        fields.fill(noise, Value::Whole(1));
        let mechanism = kind.read(fields)?;
        let key = format!("{mechanism:?} {guarantee:?}");
        if let Some(found) = self.noises.get(&key) {
            return Ok(found.clone());
        }
        let found = least_noise(mechanism, guarantee)?;
        if self.noises.len() < MOST_NOISES {
            self.noises.insert(key, found.clone());
        }
        Ok(found)
    }

    /// Replaces the name of a file by the columns of the file.
    fn open(&self, fields: &mut Fields<'_>) -> Result<(), PlanError> {
        let Some(name) = fields.text(CSV)? else { return Ok(()) };
        let Some(folder) = &self.folder else {
            let problem = "is given where no files are read; legal: p, q, lower and upper";
            return Err(PlanError::field(CSV, problem));
        };
        if let Some(given) = CELLS.into_iter().find(|column| fields.has(column)) {
            let problem = format!("is given with {given}; legal: one of the two");
            return Err(PlanError::field(CSV, problem));
        }
        let columns = columns::read(folder, &name, CELLS)
            .map_err(|error| PlanError::field(CSV, format!("{} {error}", quoted(&name))))?;
        for (name, column) in CELLS.into_iter().zip(columns) {
            fields.fill(name, Value::List(column.into_iter().map(Value::Real).collect()));
        }
        Ok(())
    }

    fn label(&mut self, label: &str) -> Arc<str> {
        if let Some(known) = self.labels.get(label) {
            return known.clone();
        }
        let new: Arc<str> = label.into();
        self.labels.insert(new.clone());
        new
    }

    /// Returns the plan.
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
        let target_delta = self.target.and_then(|target| target.delta);
        let exact_question =
            if question.is_some() { self.exact_question } else { self.exact_target_delta };
        let question = question.or(target_delta.map(Question::EpsilonAt));
        let group = self.group.unwrap_or(GroupSize::ONE);
        let Self { adjacency, target, mut releases, blanks, .. } = self;
        releases.shrink_to_fit();
        Ok(Plan { question, adjacency, group, target, releases, blanks, exact_question })
    }
}

/// Reads a noisy query, and the name of the count that it shares.
fn recipe(value: Value<'_>) -> Result<(NoisyQuery, Option<String>), PlanError> {
    let read = serde_json::to_value(&value).and_then(recipe::read);
    read.map_err(|error: serde_json::Error| {
        PlanError::field("recipe", format!("is not legal: {error}; legal: a query and a style"))
    })
}

/// Reads the target of a calibration, and the exact number of its delta.
fn target(key: &str, value: &Value<'_>) -> Result<(Target, Option<ExactNumber>), PlanError> {
    let Value::Table(table) = value else { return Err(illegal(key, value, LEGAL_TARGET)) };
    let mut fields = Fields::new(table.clone());
    let epsilon = fields.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL));
    let delta = fields.take("delta");
    let exact_delta = delta.as_ref().and_then(exact_number);
    let delta = delta.map(|delta| number("delta", &delta, Delta::new, Delta::LEGAL)).transpose();
    let read = epsilon.and_then(|epsilon| Ok(Target { epsilon, delta: delta? }));
    let read = read
        .and_then(|read| fields.finish(key, &["epsilon", "delta"]).map(|()| (read, exact_delta)));
    read.map_err(|error| PlanError::field(key, format!("is a table: {error}")))
}

impl Release {
    /// Reads one release from its fields in a plan.
    ///
    /// # Errors
    /// [`PlanError`], which names the field, its value and the legal values.
    pub fn read(fields: Table<'_>) -> Result<Self, PlanError> {
        Builder::default().read(Fields::new(fields))
    }

    /// Replaces the unknown number by one in proportion to the sensitivity: the calibration replaces it.
    fn clear(&mut self, unknown: Unknown) -> Result<(), PlanError> {
        let mut cleared = self.without_bundle();
        unknown.fill_default(&mut cleared).map_err(|error| {
            let legal = format!("{} to be given here", unknown_field_name(unknown));
            PlanError::field("sensitivity", format!("is {}; legal: {legal}", error.value))
        })?;
        (self.mechanism, self.count) = (cleared.mechanism, cleared.count);
        Ok(())
    }
}
