use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterpoint::ask::Unknown;
use counterpoint::quantity::Group;
use counterpoint::{Adjacency, Count, Delta, Epsilon, Mechanism};
use counterpoint_mechanisms::Recipe;

use crate::columns;
use crate::error::{PlanError, quoted};
use crate::fields::{Fields, illegal, number, unknown, whole, written};
use crate::kind;
use crate::recipe;
use crate::sample::{self, Sample};
use crate::value::{Table, Value};
use crate::written::Written;

/// What was, or will be, released about the same data, and the question asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The question, if the file asks one.
    pub question: Option<Question>,
    /// What neighbouring data sets are, if the file says.
    pub adjacency: Option<Adjacency>,
    /// How many people are protected together.
    pub group: Group,
    /// What the releases are to be calibrated to, if the file says.
    pub target: Option<Target>,
    /// At least one, at most 10^7.
    pub releases: Vec<Release>,
    /// Which releases, from 0, left out what [`Plan::parse_with`] lets them.
    pub blanks: Vec<usize>,
    /// The number of the question as it is written, where that is no double.
    pub asked: Option<Written>,
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// What people call it.
    pub name: Option<Box<str>>,
    /// What it promises.
    pub mechanism: Mechanism,
    /// The sample of the data it is run on, if not all; boxed, as few releases have one.
    pub sample: Option<Box<Sample>>,
    /// How many times it is made.
    pub count: Count,
    /// The part of the data it looks at; all of it if `None`.
    pub partition: Option<Arc<str>>,
    /// Numbers of guarantees as they are written, where those are no doubles, by their fields; they count as long as the mechanism has the doubles
    /// next to them.
    pub written: Vec<(Box<str>, Written)>,
    /// What else it consists of, and how it is to be run; boxed, as few releases say so.
    pub bundle: Option<Box<Bundle>>,
}

/// What else a release consists of, and how it is to be run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// The releases that are made together with it, each time that it is made.
    pub also: Vec<Release>,
    /// The query and its noise, as they were planned.
    pub recipe: Option<Recipe>,
    /// The name of the release of a noisy count that the answer is computed with, if it does not count its rows itself.
    pub shared: Option<String>,
}

impl Release {
    /// All releases that it consists of, each as often as it is made.
    pub fn parts(&self) -> impl Iterator<Item = counterpoint::Release> + '_ {
        let also = self.bundle.as_ref().map_or(&[][..], |bundle| &bundle.also);
        let also = also.iter().map(|one| {
            // The product was checked when the plan was read.
            let count = times(one.count, self.count).unwrap_or(one.count);
            counterpoint::Release { count, part: self.partition.clone(), ..one.alone() }
        });
        [self.alone()].into_iter().chain(also)
    }

    /// The releases that it consists of, each by itself; those of one mechanism together.
    #[must_use]
    pub fn unbundled(&self) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        for part in self.parts() {
            let same = list.iter_mut().find(|one| one.mechanism == part.mechanism);
            let all = same.as_ref().map(|one| one.count.get().saturating_add(part.count.get()));
            match (same, all.and_then(|all| Count::new(all).ok())) {
                (Some(one), Some(all)) => one.count = all,
                _ => {
                    let (mechanism, count) = (part.mechanism, part.count);
                    list.push(Self { mechanism, count, bundle: None, ..self.clone() });
                }
            }
        }
        list
    }

    /// Whether it says how it is run.
    pub(crate) fn is_planned(&self) -> bool {
        self.bundle.as_ref().is_some_and(|bundle| bundle.recipe.is_some())
    }

    /// The release itself, without those that are made together with it.
    #[must_use]
    pub fn alone(&self) -> counterpoint::Release {
        counterpoint::Release {
            mechanism: self.mechanism.clone(),
            rate: self.sample.as_ref().map(|sample| sample.rate),
            count: self.count,
            part: self.partition.clone(),
        }
    }

    /// Reads one release from its fields, as they stand in a plan.
    ///
    /// # Errors
    /// [`PlanError`] naming the field, its value and what would be legal.
    pub fn read(fields: Table<'_>) -> Result<Self, PlanError> {
        Builder::default().read(Fields::new(fields))
    }
}

impl Release {
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

/// A field that releases may leave out, because it is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blank<'a> {
    /// What is to be found.
    pub unknown: Unknown,
    /// The name of the releases that may leave it out; all if `None`.
    pub release: Option<&'a str>,
}

/// What is asked of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// The least epsilon at this delta.
    EpsilonAt(Delta),
    /// The least delta at this epsilon.
    DeltaAt(Epsilon),
}

/// What all releases together may cost: what `calibrate` aims at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// At most this epsilon.
    pub epsilon: Epsilon,
    /// At this delta; the question's if there is none.
    pub delta: Option<Delta>,
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
    /// The plan, ready for questions.
    ///
    /// # Errors
    /// [`PlanError`] if a release has no meaning, or the counts or the epsilons add up to too
    /// much.
    pub fn prepare(&self) -> Result<counterpoint::Plan, PlanError> {
        counterpoint::Plan::with(self.parts(), self.adjacency, self.group)
            .map_err(|error| self.place(&error))
    }

    /// All releases, those that are made together one by one.
    pub fn parts(&self) -> impl Iterator<Item = counterpoint::Release> + '_ {
        self.releases.iter().flat_map(Release::parts)
    }

    /// The releases one by one, none of which is made together with others.
    ///
    /// # Errors
    /// [`PlanError`], naming the first that is.
    pub fn singles(&self) -> Result<Vec<counterpoint::Release>, PlanError> {
        let single = |(index, release): (usize, &Release)| {
            let is_several = release.bundle.as_ref().is_some_and(|bundle| !bundle.also.is_empty());
            let problem = "is given; legal: a plan whose releases stand alone";
            let several = || PlanError::field("also", problem);
            match is_several {
                true => Err(several().in_release(index + 1, release.name.as_deref())),
                false => Ok(release.alone()),
            }
        };
        self.releases.iter().enumerate().map(single).collect()
    }

    /// Names the release and the field an error of the core is about.
    #[must_use]
    pub fn place(&self, error: &counterpoint::PlanError) -> PlanError {
        let counterpoint::PlanError::Release { index, error } = error else {
            return PlanError::plan(error.to_string());
        };
        let also = |release: &Release| release.bundle.as_ref().map_or(0, |one| one.also.len());
        let mut parts = self.releases.iter().enumerate();
        let mut before = 0;
        let at = parts.find(|(_, release)| {
            before += 1 + also(release);
            *index < before
        });
        let (index, name) = at.map_or((*index, None), |(at, one)| (at, one.name.as_deref()));
        PlanError::starting(error.field(), &error.to_string()).in_release(index + 1, name)
    }

    /// What one should know before relying on an answer.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let is_batched = |release: &Release| {
            let sample = release.sample.as_ref();
            sample.is_some_and(|sample| sample.batches.is_some() && sample.rate.get() < 1.0)
        };
        let Some(first) = self.releases.iter().position(is_batched) else { return Vec::new() };
        let name = self.releases[first].name.as_deref();
        let name = name.map_or(String::new(), |name| format!(" ({})", quoted(name)));
        let first = first + 1;
        vec![format!(
            "release {first}{name}: shuffled batches of a fixed size are not Poisson samples; the \
             numbers hold only if each example enters each batch independently with probability \
             batch/examples; for each example in one batch of every epoch, drawn evenly, write \
             gaussian-allocation with steps = the batches of an epoch and count = epochs"
        )]
    }
}

/// The field that holds what is to be found.
#[must_use]
pub fn name_of(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Sigma => "sigma",
        Unknown::Scale => "scale",
        Unknown::Epsilon => "epsilon",
        Unknown::Count => "count",
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

pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";
const MOST_RELEASES: usize = 10_000_000;
/// How many are kept.
const MOST_NOISES: usize = 100_000;
const LEGAL_RELEASES: &str = "1 to 10^7 releases, each a table";
const TOP_FIELDS: [&str; 7] =
    ["version", "delta", "epsilon", "adjacency", "group", "target", "release"];
const LEGAL_TARGET: &str = "a table with epsilon, and delta if the plan has none";
const ADJACENCIES: [Adjacency; 2] = [Adjacency::AddRemove, Adjacency::Replace];

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
    noises: BTreeMap<String, f64>,
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
        let kind = kind::of(&mut fields)?;
        let blank = self.fill(kind, name.as_deref(), &mut fields);
        if kind.has(CSV) {
            self.open(&mut fields)?;
        }
        let mechanism = self.mechanism(kind, &mut fields)?;
        let (sample, count) = sample::read(&mut fields, kind.sampled)?;
        let partition = fields.text("partition")?.map(|label| self.label(&label));
        let bundle = self.bundle(&mut fields)?.map(Box::new);
        let written = fields.written();
        let written = if kind::is_guarantee(&mechanism) { written } else { Vec::new() };
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
        kind: &kind::Kind,
        name: Option<&str>,
        fields: &mut Fields<'_>,
    ) -> Option<Unknown> {
        let (unknown, only) = self.blank.as_ref()?;
        let blank = name_of(*unknown);
        let meant = only.is_none() || only.as_deref() == name;
        let counted = *unknown == Unknown::Count && !fields.has("epochs");
        let said = fields.has(blank) || kind.in_place_of(blank).iter().any(|word| fields.has(word));
        if !meant || said || !(kind.has(blank) || counted) {
            return None;
        }
        fields.fill(blank, Value::Whole(1));
        self.blanks.push(self.releases.len());
        Some(*unknown)
    }

    /// Reads the mechanism. The noise that a guarantee stands for is found once.
    fn mechanism(
        &mut self,
        kind: &kind::Kind,
        fields: &mut Fields<'_>,
    ) -> Result<Mechanism, PlanError> {
        let Some((name, key)) = kind.guarantee(fields) else { return kind.read(fields) };
        if let Some(found) = self.noises.get(&key) {
            kind.in_place_of(name).iter().for_each(|word| drop(fields.take(word)));
            fields.fill(name, Value::Real(*found));
            return kind.read(fields);
        }
        let mechanism = kind.read(fields)?;
        if let Mechanism::Laplace { scale: noise, .. } | Mechanism::Gaussian { sigma: noise, .. } =
            &mechanism
            && self.noises.len() < MOST_NOISES
        {
            self.noises.insert(key, noise.get());
        }
        Ok(mechanism)
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
            .map_err(|problem| PlanError::field(CSV, format!("{} {problem}", quoted(&name))))?;
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

/// So many times as many.
fn times(one: Count, other: Count) -> Option<Count> {
    one.get().checked_mul(other.get()).and_then(|all| Count::new(all).ok())
}

/// A query and its noise.
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

/// The word for a neighbouring relation in a plan.
#[must_use]
pub fn adjacency_name(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::AddRemove => "add-remove",
        Adjacency::Replace => "replace",
    }
}

/// The neighbouring relation of this name.
#[must_use]
pub fn adjacency_named(name: &str) -> Option<Adjacency> {
    ADJACENCIES.into_iter().find(|known| adjacency_name(*known) == name)
}

pub(crate) fn adjacency(key: &str, value: &Value<'_>) -> Result<Adjacency, PlanError> {
    let found = match value {
        Value::Text(text) => adjacency_named(text),
        _ => None,
    };
    found.ok_or_else(|| illegal(key, value, &ADJACENCIES.map(adjacency_name).join(", ")))
}
