//! What is planned: what is public about the data, a budget, and statistics.

use counterpoint::quantity::{Delta, Epsilon};
use counterpoint::{Adjacency, Guarantee, Relation};
use counterpoint_mechanisms::{Bounds, Contribution, Query};
use std::fmt;

/// What is public about the data. Errors and costs depend on this alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Public {
    /// Which data sets are neighbours, and how many rows a person has.
    pub relation: Relation,
    /// How many rows there are, if that is public, or assumed to plan with.
    pub rows: Option<u64>,
    /// Of how many people these are a secret simple random sample, if they are one.
    pub sample_of: Option<u64>,
}

/// What may be spent. Without an epsilon, the least one is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The most that all statistics together may cost, if it is given.
    pub epsilon: Option<Epsilon>,
    /// At this delta.
    pub delta: Delta,
}

/// What is to be made small where statistics have weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The weighted sum of errors, each relative to its statistic's scale.
    #[default]
    Relative,
    /// The weighted sum of their squares.
    Squared,
}

/// A statistic to be released.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// What people call it.
    pub name: String,
    /// What it is.
    pub ask: Ask,
}

/// What a statistic is.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A question that `mechanisms` answers.
    Query(Wanted),
    /// Nothing yet: a share for questions nobody foresees, any mechanisms that together keep to this.
    HeldBack(Guarantee),
    /// A number that is public: nothing is released for it, it costs nothing, and it has no error.
    Public(f64),
}

/// A question, and how well it is to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// What is asked.
    pub query: Query,
    /// The noise it is to have; whichever is best if `None`.
    pub noise: Option<Noise>,
    /// How often the error is to be kept: by all of an answer's numbers at once, if it has several.
    pub confidence: f64,
    /// How large the error may be.
    pub wish: Wish,
    /// What errors are relative to where they have weights: how large an answer can be.
    pub scale: f64,
    /// The rows that it is about; all rows of the data if `None`.
    pub population: Option<Population>,
}

/// The rows that a statistic is about, if a filter, groups or missing values leave some of them out.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// What one person contributes at most.
    pub contribution: Contribution,
    /// The number of rows in each group that errors are computed for; it is an assumption, not a promise.
    pub rows: Option<u64>,
    /// The number of groups that are answered.
    pub groups: usize,
    /// The name of a noisy count of these rows. Statistics that name the same count are about the same rows, and may share it.
    pub count: Option<String>,
}

impl Budget {
    /// Whether noise may be of a kind: at delta zero there is no Gaussian noise.
    pub(crate) fn allows(&self, noise: Noise) -> bool {
        noise != Noise::Gaussian || self.delta.get() > 0.0
    }
}

impl Wanted {
    /// Whether it is the same question, with the same noise and confidence.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.noise == other.noise
            && self.confidence.to_bits() == other.confidence.to_bits()
            && self.population == other.population
            && self.query == other.query
    }
}

impl Statistic {
    /// What is wanted of it, if it is a question.
    #[must_use]
    pub fn wish(&self) -> Option<Wish> {
        match &self.ask {
            Ask::Query(wanted) => Some(wanted.wish),
            Ask::HeldBack(_) | Ask::Public(_) => None,
        }
    }
}

/// The kinds of noise that are weighed against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Laplace noise; geometric on counts.
    Laplace,
    /// Gaussian noise; discrete Gaussian on counts.
    Gaussian,
    /// A choice by the exponential mechanism.
    Exponential,
}

/// What is wanted of a statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// This error, or, if the budget does not allow it, as many times this as all others get.
    Error(f64),
    /// This error, whatever becomes of the others.
    Kept(f64),
    /// This level of noise, whatever becomes of the others: an epsilon for Laplace noise and choices, one over the
    /// multiplier for Gaussian noise.
    Level(f64),
    /// As small an error as what is left allows, with this weight.
    Weight(f64),
}

impl Noise {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
            Self::Exponential => "exponential",
        }
    }
}

/// A study: checked, and ready to be planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    public: Public,
    budget: Budget,
    goal: Goal,
    statistics: Vec<Statistic>,
}

/// Why a study cannot be planned: which statistic, which field, what is wrong and what would be legal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StudyError {
    /// The statistic it is about, from 0, if it is about one.
    pub statistic: Option<usize>,
    /// The field.
    pub field: &'static str,
    /// What is wrong, and what would be legal.
    pub problem: String,
}

impl StudyError {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { statistic: None, field, problem: problem.into() }
    }

    pub(crate) fn of(self, statistic: usize) -> Self {
        Self { statistic: Some(statistic), ..self }
    }
}

impl std::error::Error for StudyError {}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(statistic) = self.statistic {
            write!(f, "statistic {}: ", statistic + 1)?;
        }
        write!(f, "{} {}", self.field, self.problem)
    }
}

/// The most statistics a study may have.
pub const MOST_STATISTICS: usize = 100_000;

impl Study {
    /// Checks a study.
    ///
    /// # Errors
    /// [`StudyError`] naming the statistic, the field, its value and what would be legal.
    pub fn new(
        public: Public,
        budget: Budget,
        goal: Goal,
        statistics: Vec<Statistic>,
    ) -> Result<Self, StudyError> {
        check_public(&public)?;
        check_budget(&budget)?;
        if !(1..=MOST_STATISTICS).contains(&statistics.len()) {
            let problem = format!("has {} entries; legal: 1 to 10^5 statistics", statistics.len());
            return Err(StudyError::new("statistic", problem));
        }
        if statistics.iter().all(|statistic| matches!(statistic.ask, Ask::Public(_))) {
            let problem = "has public numbers alone; legal: one at least that has to be planned";
            return Err(StudyError::new("statistic", problem));
        }
        for (index, statistic) in statistics.iter().enumerate() {
            check_statistic(statistic, &budget).map_err(|error| error.of(index))?;
        }
        let study = Self { public, budget, goal, statistics };
        study.check_wishes()?;
        Ok(study)
    }

    /// What is public about the data.
    #[must_use]
    pub fn public(&self) -> &Public {
        &self.public
    }

    /// What may be spent.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What is to be made small where statistics have weights.
    #[must_use]
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The statistics, in order.
    #[must_use]
    pub fn statistics(&self) -> &[Statistic] {
        &self.statistics
    }

    /// The same study without one of its statistics; `None` if it is the only one, or not there.
    #[must_use]
    pub fn without(&self, index: usize) -> Option<Self> {
        let mut study = self.clone();
        if index >= study.statistics.len() || study.statistics.len() == 1 {
            return None;
        }
        study.statistics.remove(index);
        Some(study)
    }

    /// The number of rows that a statistic's errors are computed for.
    pub(crate) fn rows_of(&self, wanted: &Wanted) -> Option<u64> {
        match &wanted.population {
            Some(population) => population.rows,
            None => self.public.rows,
        }
    }

    /// How far the sample may be off from the population it was drawn from, with a statistic's confidence: where the people are a
    /// simple random sample of publicly many, all of its rows are used, and a bound is known.
    #[must_use]
    pub fn sampling_error(&self, wanted: &Wanted) -> Option<f64> {
        let public = &self.public;
        let whole = wanted.population.as_ref().is_none_or(|population| {
            population.groups == 1 && population.contribution == Contribution::Rows(public.relation)
        });
        let (rows, population) = (public.rows?, public.sample_of?);
        let bound = wanted.query.sampling_error(rows, population, wanted.confidence);
        bound.ok().flatten().filter(|_| whole)
    }

    /// The weighted sum of errors, or of their squares, in the units of the statistics; those without error add nothing.
    pub(crate) fn weighted(&self, errors: impl Iterator<Item = Option<f64>>) -> f64 {
        let power = if self.goal == Goal::Squared { 2 } else { 1 };
        let of = |(statistic, error): (&Statistic, Option<f64>)| match (statistic.wish(), error) {
            (Some(Wish::Weight(weight)), Some(error)) => weight * error.powi(power),
            _ => 0.0,
        };
        self.statistics.iter().zip(errors).map(of).sum()
    }

    /// The same study with whichever noise is best for every statistic; `None` if it is that already.
    pub(crate) fn without_noises(&self) -> Option<Self> {
        let mut study = self.clone();
        let mut prescribed = false;
        for statistic in &mut study.statistics {
            if let Ask::Query(wanted) = &mut statistic.ask {
                prescribed |= wanted.noise.take().is_some();
            }
        }
        prescribed.then_some(study)
    }

    /// A study like it for rough estimates: means of numbers from -1 to 1 in the place of all that are like them, whatever their
    /// units. Many of its questions are the same, and all of them are quick to plan.
    pub(crate) fn of_like_means(&self) -> Result<Self, StudyError> {
        let unit = Bounds::new(-1.0, 1.0);
        let unit = unit.map_err(|error| StudyError::new("bounds", error.to_string()))?;
        let mut study = self.clone();
        for statistic in &mut study.statistics {
            let Ask::Query(wanted) = &mut statistic.ask else { continue };
            let Some((times, power)) = wanted.query.like_a_mean() else { continue };
            let like = |error: f64| error.powi(power) / times;
            wanted.query = Query::mean(unit);
            wanted.scale = like(wanted.scale);
            wanted.wish = match wanted.wish {
                Wish::Error(error) => Wish::Error(like(error)),
                Wish::Kept(error) => Wish::Kept(like(error)),
                other => other,
            };
        }
        Ok(study)
    }

    /// Wanted errors and weights are two ways to share a budget out; one study has one of them.
    fn check_wishes(&self) -> Result<(), StudyError> {
        let first = |of: fn(Wish) -> bool| {
            self.statistics.iter().position(|statistic| statistic.wish().is_some_and(of))
        };
        let error = first(|wish| matches!(wish, Wish::Error(_)));
        let weight = first(|wish| matches!(wish, Wish::Weight(_)));
        match (error, weight, self.budget.epsilon) {
            (Some(_), Some(weight), _) => Err(StudyError::new(
                "weight",
                "is given, or the default, where other statistics have an error that is not pinned; legal: an error \
                 for all, or pin = true where there is one",
            )
            .of(weight)),
            (_, Some(weight), None) => Err(StudyError::new(
                "error",
                "is missing, and the study has no epsilon to share out; legal: one of the two",
            )
            .of(weight)),
            _ => Ok(()),
        }
    }
}

fn check_public(public: &Public) -> Result<(), StudyError> {
    if let Some(rows) = public.rows
        && !(1..=1_000_000_000_000).contains(&rows)
    {
        return Err(StudyError::new("people", format!("is {rows}; legal: 1 to 10^12")));
    }
    let Some(population) = public.sample_of else { return Ok(()) };
    let Some(rows) = public.rows else {
        let problem = "is given without people; legal: both, the sample's size being public";
        return Err(StudyError::new("sample_of", problem));
    };
    if public.relation != Relation::one(Adjacency::Replace) {
        let problem = "is given for other neighbours than those of one replaced row; legal: adjacency = \"replace\" and \
                       rows = 1, for which it is proved";
        return Err(StudyError::new("sample_of", problem));
    }
    if !(rows..=1_000_000_000_000).contains(&population) {
        let problem = format!("is {population}; legal: from people, which is {rows}, to 10^12");
        return Err(StudyError::new("sample_of", problem));
    }
    Ok(())
}

fn check_budget(budget: &Budget) -> Result<(), StudyError> {
    match budget.epsilon {
        Some(epsilon) if epsilon.get() <= 0.0 => {
            Err(StudyError::new("epsilon", format!("is {}; legal: above 0", epsilon.get())))
        }
        _ => Ok(()),
    }
}

fn check_statistic(statistic: &Statistic, budget: &Budget) -> Result<(), StudyError> {
    let wanted = match &statistic.ask {
        Ask::Query(wanted) => wanted,
        Ask::HeldBack(kept) if kept.delta > budget.delta => {
            let (delta, most) = (kept.delta.get(), budget.delta.get());
            let problem = format!("is {delta}; legal: at most the study's, {most}");
            return Err(StudyError::new("delta", problem));
        }
        Ask::HeldBack(_) | Ask::Public(_) => return Ok(()),
    };
    let confidence = wanted.confidence;
    if !(confidence > 0.0 && confidence < 1.0) {
        let problem = format!("is {confidence}; legal: above 0 and below 1");
        return Err(StudyError::new("confidence", problem));
    }
    if !(1e-100..=1e150).contains(&wanted.scale) {
        let problem = format!("is {}; legal: a number from 1e-100 to 1e150", wanted.scale);
        return Err(StudyError::new("scale", problem));
    }
    let (field, value) = match wanted.wish {
        Wish::Error(value) | Wish::Kept(value) => ("error", value),
        Wish::Level(value) => ("epsilon", value),
        Wish::Weight(value) => ("weight", value),
    };
    if !(1e-100..=1e100).contains(&value) {
        let problem = format!("is {value}; legal: a number from 1e-100 to 1e100");
        return Err(StudyError::new(field, problem));
    }
    Ok(())
}
