//! Plans in the making.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterpoint::ask::Unknown;
use counterpoint::quantity::Group;
use counterpoint::{Adjacency, Count, Delta, Epsilon, Mechanism};
use counterpoint_mechanisms::Recipe;

use super::least_noise::least_noise;
use super::{Blank, Bundle, Plan, Question, Release, Target, adjacency, name_of, times};
use super::{columns, exactly, recipe, sample};
use crate::catalogue::{self, Kind};
use crate::text::error::{PlanError, quoted};
use crate::text::fields::{Fields, illegal, number, unknown, whole, written};
use crate::text::value::{Table, Value};
use crate::text::written::Written;

const MOST_RELEASES: usize = 10_000_000;
/// How many are kept.
const MOST_NOISES: usize = 100_000;
const LEGAL_RELEASES: &str = "1 to 10^7 releases, each a table";
const TOP_FIELDS: [&str; 7] =
    ["version", "delta", "epsilon", "adjacency", "group", "target", "release"];
const LEGAL_TARGET: &str = "a table with epsilon, and delta if the plan has none";

/// The field that names a file with the columns of cells.
const CSV: &str = "csv";
const CELLS: [&str; 4] = ["p", "q", "lower", "upper"];

/// A plan in the making. Either format feeds it values in any order.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    seen: [bool; TOP_FIELDS.len()],
    delta: Option<Delta>,
    epsilon: Option<Epsilon>,
    adjacency: Option<Adjacency>,
    group: Option<Group>,
    target: Option<Target>,
    releases: Vec<Release>,
    /// Equal labels share their text.
    labels: BTreeSet<Arc<str>>,
    /// What releases may leave out, and the name of those that may.
    blank: Option<(Unknown, Option<String>)>,
    blanks: Vec<usize>,
    /// The noise that was found for guarantees, by what it depends on.
    noises: BTreeMap<String, Mechanism>,
    /// Where files are that it names, if any are read.
    folder: Option<PathBuf>,
    /// The question's number as it is written, and the target's delta.
    asked: Option<Written>,
    aimed_at: Option<Written>,
    /// Whether numbers are kept as they are written, in quotes or not.
    pub(crate) exact: bool,
}

impl Builder {
    /// A plan that leaves something out.
    pub(crate) fn leaving_out(blank: Blank<'_>) -> Self {
        let blank = Some((blank.unknown, blank.release.map(str::to_owned)));
        Self { blank, ..Self::default() }
    }

    /// A plan that may name files in this folder.
    pub(crate) fn beside(self, folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..self }
    }

    /// A plan whose numbers are kept as they are written.
    pub(crate) fn exactly() -> Self {
        Self { exact: true, ..Self::default() }
    }

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
            "delta" => {
                self.delta = Some(number(key, value, Delta::new, Delta::LEGAL)?);
                self.asked = written(value);
            }
            "epsilon" => {
                self.epsilon = Some(number(key, value, Epsilon::new, Epsilon::LEGAL)?);
                self.asked = written(value);
            }
            "adjacency" => self.adjacency = Some(adjacency(key, value)?),
            "group" => self.group = Some(whole(key, value, Group::new, Group::LEGAL)?),
            "target" => {
                let (target, delta) = target(key, value)?;
                (self.target, self.aimed_at) = (Some(target), delta);
            }
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
        let release = self.read(fields).map_err(|e| e.in_release(index, name.as_deref()))?;
        self.releases.push(release);
        Ok(())
    }

    fn read(&mut self, mut fields: Fields<'_>) -> Result<Release, PlanError> {
        let name: Option<Box<str>> = fields.text("name")?.map(|name| name.into());
        let kind = catalogue::named(&mut fields)?;
        let blank = self.fill(kind, name.as_deref(), &mut fields);
        if kind.field(CSV).is_some() {
            self.open(&mut fields)?;
        }
        let mechanism = self.mechanism(kind, &mut fields)?;
        let (sample, count) = sample::read(&mut fields, kind.is_sampled)?;
        let partition = fields.text("partition")?.map(|label| self.label(&label));
        let bundle = self.bundle(&mut fields)?.map(Box::new);
        let written = fields.written();
        let written = if exactly::is_guarantee(&mechanism) { written } else { Vec::new() };
        fields.finish(kind.name, &kind.legal_fields())?;
        let sample = sample.map(Box::new);
        let mut release = Release { name, mechanism, sample, count, partition, written, bundle };
        if let Some(unknown) = blank {
            release.clear(unknown)?;
        }
        let also = release.bundle.as_ref().map_or(&[][..], |bundle| &bundle.also);
        if also.iter().any(|one| times(one.count, release.count).is_none()) {
            let problem =
                format!("is {}; legal: {}, times those of also", count.get(), Count::LEGAL);
            return Err(PlanError::field("count", problem));
        }
        Ok(release)
    }

    /// What is made together with a release, and how it is run.
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

    /// Puts something in the place of what is to be found; what that is, if it was left out.
    fn fill(
        &mut self,
        kind: &Kind,
        name: Option<&str>,
        fields: &mut Fields<'_>,
    ) -> Option<Unknown> {
        let (unknown, only) = self.blank.as_ref()?;
        let blank = name_of(*unknown);
        let meant = only.is_none() || only.as_deref() == name;
        let counted = *unknown == Unknown::Count && !fields.has("epochs");
        let instead = if kind.noise() == Some(blank) { kind.instead } else { &[] };
        let said = fields.has(blank) || instead.iter().any(|field| fields.has(field.name));
        if !meant || said || !(kind.has(blank) || counted) {
            return None;
        }
        fields.fill(blank, Value::Whole(1));
        self.blanks.push(self.releases.len());
        Some(*unknown)
    }

    /// Reads the mechanism. The noise that a guarantee stands for is found once.
    fn mechanism(&mut self, kind: &Kind, fields: &mut Fields<'_>) -> Result<Mechanism, PlanError> {
        let (Some(guarantee), Some(noise)) = (kind.guarantee(fields)?, kind.noise()) else {
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

    /// Puts the columns of a file in the place of its name.
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
        let of_target = self.target.and_then(|target| target.delta);
        let asked = if question.is_some() { self.asked } else { self.aimed_at };
        let question = question.or(of_target.map(Question::EpsilonAt));
        let group = self.group.unwrap_or(Group::ONE);
        let Self { adjacency, target, mut releases, blanks, .. } = self;
        releases.shrink_to_fit();
        Ok(Plan { question, adjacency, group, target, releases, blanks, asked })
    }
}

/// A recipe, and the name of the count that it shares.
fn recipe(value: Value<'_>) -> Result<(Recipe, Option<String>), PlanError> {
    let read = serde_json::to_value(&value).and_then(recipe::read);
    read.map_err(|error: serde_json::Error| {
        PlanError::field("recipe", format!("is not legal: {error}; legal: a query and a style"))
    })
}

/// What releases are to be calibrated to, and its delta as it is written.
fn target(key: &str, value: &Value<'_>) -> Result<(Target, Option<Written>), PlanError> {
    let Value::Table(table) = value else { return Err(illegal(key, value, LEGAL_TARGET)) };
    let mut fields = Fields::new(table.clone());
    let epsilon = fields.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL));
    let delta = fields.take("delta");
    let as_written = delta.as_ref().and_then(written);
    let delta = delta.map(|delta| number("delta", &delta, Delta::new, Delta::LEGAL)).transpose();
    let read = epsilon.and_then(|epsilon| Ok(Target { epsilon, delta: delta? }));
    let read = read
        .and_then(|read| fields.finish(key, &["epsilon", "delta"]).map(|()| (read, as_written)));
    read.map_err(|error| PlanError::field(key, format!("is a table: {error}")))
}

impl Release {
    /// Reads one release from its fields, as they stand in a plan.
    ///
    /// # Errors
    /// [`PlanError`] naming the field, its value and what would be legal.
    pub fn read(fields: Table<'_>) -> Result<Self, PlanError> {
        Builder::default().read(Fields::new(fields))
    }

    /// Sets what was left out in proportion to what it hides.
    fn clear(&mut self, unknown: Unknown) -> Result<(), PlanError> {
        let mut cleared = self.alone();
        unknown.clear(&mut cleared).map_err(|error| {
            let legal = format!("{} to be given here", name_of(unknown));
            PlanError::field("sensitivity", format!("is {}; legal: {legal}", error.value))
        })?;
        (self.mechanism, self.count) = (cleared.mechanism, cleared.count);
        Ok(())
    }
}
