//! Plan files: releases of the same data, made or intended, and a question about them.

mod builder;
mod columns;
mod precise;
mod json;
mod least_noise;
mod matrix;
mod parse;
pub(crate) mod recipe;
mod sample;
mod toml;
mod write;

#[cfg(test)]
pub(crate) use builder::Builder;
pub use parse::table_of;
pub use sample::{Batches, Sample};
#[cfg(test)]
pub(crate) use toml::read_in_pieces;

use std::path::Path;
use std::sync::Arc;

use counterpoint::ask::Unknown;
use counterpoint::quantity::GroupSize;
use counterpoint::{Adjacency, Count, Delta, Epsilon, Mechanism};
use counterpoint_mechanisms::NoisyQuery;

use crate::text::error::{PlanError, quoted};
use crate::text::fields::illegal;
use crate::text::value::Value;
use crate::text::written::ExactNumber;

/// A plan file: releases of the same data, made or intended, and a question about them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The question, if the file asks one.
    pub question: Option<Question>,
    /// The relation between neighbouring data sets, if the file names one.
    pub adjacency: Option<Adjacency>,
    /// The number of people who are protected together.
    pub group: GroupSize,
    /// The target of a calibration, if the file has one.
    pub target: Option<Target>,
    /// The releases: at least one, at most 10^7.
    pub releases: Vec<Release>,
    /// The releases, by their indices from 0, that left out the field that [`Plan::parse_with_blank`] lets them leave
    /// out.
    pub blanks: Vec<usize>,
    /// The exact number of the question, if no double equals it.
    pub exact_question: Option<ExactNumber>,
}

/// A release of a plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Release {
    /// The name of the release.
    pub name: Option<Box<str>>,
    /// The mechanism that runs.
    pub mechanism: Mechanism,
    /// The Poisson sample of the data that the mechanism runs on, if not on all; boxed, as few releases have one.
    pub sample: Option<Box<Sample>>,
    /// The number of times that the release is made.
    pub count: Count,
    /// The part of the data that the release is about; `None` for all of the data.
    pub partition: Option<Arc<str>>,
    /// The numbers of a guarantee that no double equals, by their fields. A number counts as long as the mechanism has
    /// the double nearest to it.
    pub exact_numbers: Vec<(Box<str>, ExactNumber)>,
    /// The further releases of the bundle, and its noisy query; boxed, as few releases have them.
    pub bundle: Option<Box<Bundle>>,
}

/// The releases that are made together with a release, and the noisy query that all of them answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bundle {
    /// The releases that are made each time that the main release is made.
    pub also: Vec<Release>,
    /// The noisy query, as it was planned.
    pub recipe: Option<NoisyQuery>,
    /// The name of the release of the shared noisy count that the answer is computed with; `None` if the answer counts
    /// its rows itself.
    pub shared: Option<String>,
}

impl Bundle {
    /// A bundle of these releases, with its noisy query and its shared count.
    #[must_use]
    pub fn new(also: Vec<Release>, recipe: Option<NoisyQuery>, shared: Option<String>) -> Self {
        Self { also, recipe, shared }
    }
}

impl Release {
    /// All releases of the bundle, the main one first, each with its count.
    pub fn parts(&self) -> impl Iterator<Item = counterpoint::Release> + '_ {
        let also = self.bundle.as_ref().map_or(&[][..], |bundle| &bundle.also);
        let also = also.iter().map(|one| {
            // The product was checked when the plan was read.
            let count = product(one.count, self.count).unwrap_or(one.count);
            counterpoint::Release { count, part: self.partition.clone(), ..one.without_bundle() }
        });
        [self.without_bundle()].into_iter().chain(also)
    }

    /// Returns the releases of the bundle as releases without bundles; releases of one mechanism become one with their
    /// total count.
    #[must_use]
    pub fn unbundle(&self) -> Vec<Self> {
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

    /// True if the release has a noisy query.
    pub(crate) fn is_planned(&self) -> bool {
        self.bundle.as_ref().is_some_and(|bundle| bundle.recipe.is_some())
    }

    /// Returns the main release, without the further releases of the bundle.
    #[must_use]
    pub fn without_bundle(&self) -> counterpoint::Release {
        counterpoint::Release {
            mechanism: self.mechanism.clone(),
            rate: self.sample.as_ref().map(|sample| sample.rate),
            count: self.count,
            part: self.partition.clone(),
        }
    }
}

/// A field that releases may leave out, because a calibration finds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blank<'a> {
    /// The number that the calibration finds.
    pub unknown: Unknown,
    /// The name of the releases that may leave the field out; `None` for all releases.
    pub release: Option<&'a str>,
}

/// A question about a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// The least epsilon at this delta.
    EpsilonAt(Delta),
    /// The least delta at this epsilon.
    DeltaAt(Epsilon),
}

/// The target of `calibrate`: the largest cost of all releases together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The largest epsilon.
    pub epsilon: Epsilon,
    /// The delta at which the epsilon is measured; `None` for the delta of the question.
    pub delta: Option<Delta>,
}

/// The format of a file.
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
        Self {
            name: None,
            mechanism,
            sample,
            count,
            partition,
            exact_numbers: Vec::new(),
            bundle: None,
        }
    }
}

impl From<Vec<Release>> for Plan {
    /// A plan that protects one person at a time, without a question and without an adjacency.
    fn from(releases: Vec<Release>) -> Self {
        let (question, adjacency, target, exact_question) = (None, None, None, None);
        Self {
            question,
            adjacency,
            group: GroupSize::ONE,
            target,
            releases,
            blanks: Vec::new(),
            exact_question,
        }
    }
}

impl Plan {
    /// Returns the plan of the core, which answers questions.
    ///
    /// # Errors
    /// [`PlanError`] if a release has no meaning, or the sum of the counts or of the epsilons is too large.
    pub fn prepare(&self) -> Result<counterpoint::Plan, PlanError> {
        counterpoint::Plan::for_neighbours(self.parts(), self.adjacency, self.group)
            .map_err(|error| self.locate_error(&error))
    }

    /// All releases of all bundles.
    pub fn parts(&self) -> impl Iterator<Item = counterpoint::Release> + '_ {
        self.releases.iter().flat_map(Release::parts)
    }

    /// Returns the releases, none of which has a bundle.
    ///
    /// # Errors
    /// [`PlanError`], which names the first release with a bundle.
    pub fn single_releases(&self) -> Result<Vec<counterpoint::Release>, PlanError> {
        let single = |(index, release): (usize, &Release)| {
            let is_several = release.bundle.as_ref().is_some_and(|bundle| !bundle.also.is_empty());
            let problem = "is given; legal: a plan whose releases stand alone";
            let several = || PlanError::field("also", problem);
            match is_several {
                true => Err(several().in_release(index + 1, release.name.as_deref())),
                false => Ok(release.without_bundle()),
            }
        };
        self.releases.iter().enumerate().map(single).collect()
    }

    /// Adds the release and the field to an error of the core.
    #[must_use]
    pub fn locate_error(&self, error: &counterpoint::PlanError) -> PlanError {
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
        PlanError::from_text(error.field(), &error.to_string()).in_release(index + 1, name)
    }

    /// Returns the warnings that belong to every answer about the plan.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let is_batched = |release: &Release| {
            let sample = release.sample.as_ref();
            sample.is_some_and(|sample| sample.batches.is_some() && sample.rate.get() < 1.0)
        };
        let batched = (1..).zip(&self.releases).find(|(_, release)| is_batched(release));
        let Some((first, release)) = batched else { return Vec::new() };
        let name = release.name.as_deref();
        let name = name.map_or(String::new(), |name| format!(" ({})", quoted(name)));
        vec![format!(
            "release {first}{name}: shuffled batches of a fixed size are not Poisson samples; the \
             numbers hold only if each example enters each batch independently with probability \
             batch/examples; for each example in one batch of every epoch, drawn evenly, write \
             gaussian-allocation with steps = the batches of an epoch and count = epochs"
        )]
    }
}

/// The field that holds the number that a calibration finds.
#[must_use]
pub fn unknown_field_name(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Sigma => "sigma",
        Unknown::Scale => "scale",
        Unknown::Epsilon => "epsilon",
        Unknown::Count => "count",
    }
}

impl Format {
    /// Detects the format by the name of a file, or else by the first character.
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

/// The way in which the numbers of a document are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberMode {
    /// As the nearest doubles.
    Doubles,
    /// As doubles if these equal the numbers, else exactly.
    Exact,
    /// As texts. The document must be known to be legal.
    Texts,
}

pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";
const ADJACENCIES: [Adjacency; 2] = [Adjacency::AddRemove, Adjacency::Replace];

/// The product of two counts, if it is a legal count.
fn product(one: Count, other: Count) -> Option<Count> {
    one.get().checked_mul(other.get()).and_then(|all| Count::new(all).ok())
}

/// The name of a neighbouring relation in files.
#[must_use]
pub fn adjacency_name(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::AddRemove => "add-remove",
        Adjacency::Replace => "replace",
    }
}

/// Returns the neighbouring relation with this name.
#[must_use]
pub fn adjacency_from_name(name: &str) -> Option<Adjacency> {
    ADJACENCIES.into_iter().find(|known| adjacency_name(*known) == name)
}

/// Reads the name of a neighbouring relation from a field.
///
/// # Errors
/// [`PlanError`] if the value is no such name.
pub fn adjacency(key: &str, value: &Value<'_>) -> Result<Adjacency, PlanError> {
    let found = match value {
        Value::Text(text) => adjacency_from_name(text),
        _ => None,
    };
    found.ok_or_else(|| illegal(key, value, &ADJACENCIES.map(adjacency_name).join(", ")))
}
