//! Plan files: what was, or will be, released about the same data, and the question asked.

mod builder;
mod columns;
mod exactly;
mod json;
mod least_noise;
mod parse;
pub(crate) mod recipe;
mod sample;
mod toml;
mod write;

#[cfg(test)]
pub(crate) use builder::Builder;
pub(crate) use parse::table_of;
pub use sample::{Batches, Sample};
#[cfg(test)]
pub(crate) use toml::read_in_pieces;

use std::path::Path;
use std::sync::Arc;

use counterpoint::ask::Unknown;
use counterpoint::quantity::Group;
use counterpoint::{Adjacency, Count, Delta, Epsilon, Mechanism};
use counterpoint_mechanisms::Recipe;

use crate::text::error::{PlanError, quoted};
use crate::text::fields::illegal;
use crate::text::value::Value;
use crate::text::written::Written;

/// What was, or will be, released about the same data, and the question asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON.
    Json,
}

impl From<counterpoint::Release> for Release {
    fn from(release: counterpoint::Release) -> Self {
        let counterpoint::Release { mechanism, rate, count, part: partition } = release;
        let sample = rate.map(|rate| Box::new(Sample { rate, batches: None }));
        Self { name: None, mechanism, sample, count, partition, written: Vec::new(), bundle: None }
    }
}

impl From<Vec<Release>> for Plan {
    /// A plan of one person each, that asks no question and says nothing of neighbours.
    fn from(releases: Vec<Release>) -> Self {
        let (question, adjacency, target, asked) = (None, None, None, None);
        Self { question, adjacency, group: Group::ONE, target, releases, blanks: Vec::new(), asked }
    }
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

/// What becomes of the numbers of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Doubles, the nearest.
    Doubles,
    /// Doubles where those say it all, else what is written.
    Exact,
    /// Their texts. The document is known to be right.
    Texts,
}

pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";
const ADJACENCIES: [Adjacency; 2] = [Adjacency::AddRemove, Adjacency::Replace];

/// So many times as many.
fn times(one: Count, other: Count) -> Option<Count> {
    one.get().checked_mul(other.get()).and_then(|all| Count::new(all).ok())
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
