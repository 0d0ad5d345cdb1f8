//! Studies: public facts about the data, a budget, and statistics.

use counterpoint::quantity::{Delta, Epsilon};
use counterpoint::{Adjacency, Guarantee, Relation};
use counterpoint_mechanisms::{Bounds, Contribution, Query};
use std::fmt;

/// The public facts about the data. Errors and costs depend on nothing else about the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublicFacts {
    /// The neighbouring relation: the adjacency, and the number of rows of a person.
    pub relation: Relation,
    /// The number of rows, if it is public or assumed for planning.
    pub rows: Option<u64>,
    /// The size of the population, if the people are a secret simple random sample of it.
    pub sample_of: Option<u64>,
}

/// A budget. Without an epsilon, the plan is the cheapest one that meets the requested errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The largest cost of all statistics together, if it is given.
    pub epsilon: Option<Epsilon>,
    /// The delta of the cost.
    pub delta: Delta,
}

/// The sum that is minimized if statistics have weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The weighted sum of errors, each relative to its statistic's scale.
    #[default]
    Relative,
    /// The weighted sum of the squares of these relative errors.
    Squared,
}

/// A statistic to be released.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// The statistic's name.
    pub name: String,
    /// The kind of statistic.
    pub content: StatisticContent,
}

/// The kind of a statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum StatisticContent {
    /// A query that a mechanism answers.
    Query(QueryRequest),
    /// A share of the budget for unforeseen questions: any mechanisms that together keep to this guarantee.
    HeldBack(Guarantee),
    /// A public number: nothing is released for it, it costs nothing, and it has no error.
    Public(f64),
}

/// A query, with the requested accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryRequest {
    /// The query.
    pub query: Query,
    /// The prescribed kind of noise; the best kind if `None`.
    pub noise: Option<Noise>,
    /// The confidence of the error, for all of an answer's numbers at once if it has several.
    pub confidence: f64,
    /// The requested error, level or weight.
    pub target: AccuracyTarget,
    /// The size of the largest answer. Weighted errors are relative to it.
    pub scale: f64,
    /// The rows that the query is about; all rows of the data if `None`.
    pub population: Option<Population>,
}

/// The rows that a query is about, where a filter, groups or missing values leave some rows out.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// A bound on the contribution of one person.
    pub contribution: Contribution,
    /// The number of rows in each group that errors are computed for; it is an assumption, not a promise.
    pub rows: Option<u64>,
    /// The number of groups that are answered.
    pub groups: usize,
    /// The name of a noisy count of these rows. Statistics that name the same count are about the same rows and may
    /// share it.
    pub count: Option<String>,
}

impl Budget {
    /// True if a kind of noise is possible: Gaussian noise needs a delta above zero.
    pub(crate) fn allows(&self, noise: Noise) -> bool {
        noise != Noise::Gaussian || self.delta.get() > 0.0
    }
}

impl QueryRequest {
    /// True if both have the same query, noise and confidence.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.noise == other.noise
            && self.confidence.to_bits() == other.confidence.to_bits()
            && self.population == other.population
            && self.query == other.query
    }
}

impl Statistic {
    /// The target of the statistic, if it is a query.
    #[must_use]
    pub fn target(&self) -> Option<AccuracyTarget> {
        match &self.content {
            StatisticContent::Query(wanted) => Some(wanted.target),
            StatisticContent::HeldBack(_) | StatisticContent::Public(_) => None,
        }
    }
}

/// The kinds of noise that the planner chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Laplace noise; geometric on counts.
    Laplace,
    /// Gaussian noise; discrete Gaussian on counts.
    Gaussian,
    /// The exponential mechanism.
    Exponential,
}

/// The requested accuracy of a statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AccuracyTarget {
    /// This error. If the budget does not allow it, all such errors are multiplied by one factor.
    Error(f64),
    /// Exactly this error, whatever happens to the others.
    PinnedError(f64),
    /// Exactly this level of noise, whatever happens to the others: an epsilon for Laplace noise and the exponential
    /// mechanism, one over the multiplier for Gaussian noise.
    PinnedLevel(f64),
    /// The smallest error that the remaining budget allows, with this weight.
    Weight(f64),
}

impl Noise {
    /// The noise's name in study files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
            Self::Exponential => "exponential",
        }
    }
}

/// A study that has been checked and can be planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    public: PublicFacts,
    budget: Budget,
    goal: Goal,
    statistics: Vec<Statistic>,
}

/// An error in a study: the statistic, the field, the problem and the legal values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StudyError {
    /// The statistic, from 0, if the error is about one statistic.
    pub statistic: Option<usize>,
    /// The field.
    pub field: &'static str,
    /// The problem and the legal values, as a predicate of the field.
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
pub const MAX_STATISTICS: usize = 100_000;

impl Study {
    /// Checks a study.
    ///
    /// # Errors
    /// [`StudyError`] with the statistic, the field, its value and the legal values.
    pub fn new(
        public: PublicFacts,
        budget: Budget,
        goal: Goal,
        statistics: Vec<Statistic>,
    ) -> Result<Self, StudyError> {
        check_public(&public)?;
        check_budget(&budget)?;
        if !(1..=MAX_STATISTICS).contains(&statistics.len()) {
            let problem = format!("has {} entries; legal: 1 to 10^5 statistics", statistics.len());
            return Err(StudyError::new("statistic", problem));
        }
        if statistics
            .iter()
            .all(|statistic| matches!(statistic.content, StatisticContent::Public(_)))
        {
            let problem = "has only numbers that are public already, such as people; legal: at least one other statistic";
            return Err(StudyError::new("statistic", problem));
        }
        for (index, statistic) in statistics.iter().enumerate() {
            check_statistic(statistic, &budget).map_err(|error| error.of(index))?;
        }
        let study = Self { public, budget, goal, statistics };
        study.check_targets()?;
        Ok(study)
    }

    /// The public facts about the data.
    #[must_use]
    pub fn public(&self) -> &PublicFacts {
        &self.public
    }

    /// The budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The sum that is minimized if statistics have weights.
    #[must_use]
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The statistics, in order.
    #[must_use]
    pub fn statistics(&self) -> &[Statistic] {
        &self.statistics
    }

    /// The study without one of its statistics; `None` if it is the only one, or does not exist.
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
    pub(crate) fn rows_of(&self, wanted: &QueryRequest) -> Option<u64> {
        match &wanted.population {
            Some(population) => population.rows,
            None => self.public.rows,
        }
    }

    /// A bound, at the query's confidence, on the difference between the sample and its population. `None` unless the
    /// people are a simple random sample of a population of public size, all rows of the sample are used, and a bound
    /// is known for the query.
    #[must_use]
    pub fn sampling_error(&self, wanted: &QueryRequest) -> Option<f64> {
        let public = &self.public;
        let whole = wanted.population.as_ref().is_none_or(|population| {
            population.groups == 1 && population.contribution == Contribution::Rows(public.relation)
        });
        let (rows, population) = (public.rows?, public.sample_of?);
        let bound = wanted.query.sampling_error(rows, population, wanted.confidence);
        bound.ok().flatten().filter(|_| whole)
    }

    /// The weighted sum of errors, or of their squares, in the units of the statistics. Statistics without an error add
    /// nothing.
    pub(crate) fn weighted(&self, errors: impl Iterator<Item = Option<f64>>) -> f64 {
        let power = if self.goal == Goal::Squared { 2 } else { 1 };
        let of = |(statistic, error): (&Statistic, Option<f64>)| match (statistic.target(), error) {
            (Some(AccuracyTarget::Weight(weight)), Some(error)) => weight * error.powi(power),
            _ => 0.0,
        };
        self.statistics.iter().zip(errors).map(of).sum()
    }

    /// The study with no prescribed noise; `None` if no statistic prescribes its noise.
    pub(crate) fn without_noises(&self) -> Option<Self> {
        let mut study = self.clone();
        let mut prescribed = false;
        for statistic in &mut study.statistics {
            if let StatisticContent::Query(wanted) = &mut statistic.content {
                prescribed |= wanted.noise.take().is_some();
            }
        }
        prescribed.then_some(study)
    }

    /// A similar study for rough estimates: queries that are like a mean are replaced by means of numbers from -1 to 1,
    /// whatever their units. Many queries are then equal, and all are fast to plan.
    pub(crate) fn with_means(&self) -> Result<Self, StudyError> {
        let unit = Bounds::new(-1.0, 1.0);
        let unit = unit.map_err(|error| StudyError::new("bounds", error.to_string()))?;
        let mut study = self.clone();
        for statistic in &mut study.statistics {
            let StatisticContent::Query(wanted) = &mut statistic.content else { continue };
            let Some((times, power)) = wanted.query.mean_error_scale() else { continue };
            let like = |error: f64| error.powi(power) / times;
            wanted.query = Query::mean(unit);
            wanted.scale = like(wanted.scale);
            wanted.target = match wanted.target {
                AccuracyTarget::Error(error) => AccuracyTarget::Error(like(error)),
                AccuracyTarget::PinnedError(error) => AccuracyTarget::PinnedError(like(error)),
                other => other,
            };
        }
        Ok(study)
    }

    /// Checks that a study does not mix requested errors and weights, which are two ways to share out a budget.
    fn check_targets(&self) -> Result<(), StudyError> {
        let first = |of: fn(AccuracyTarget) -> bool| {
            self.statistics.iter().position(|statistic| statistic.target().is_some_and(of))
        };
        let error = first(|target| matches!(target, AccuracyTarget::Error(_)));
        let weight = first(|target| matches!(target, AccuracyTarget::Weight(_)));
        match (error, weight, self.budget.epsilon) {
            (Some(_), Some(weight), _) => Err(StudyError::new(
                "weight",
                "cannot be combined with the errors of other statistics (a statistic without an error has weight 1); \
                 legal: an error for every statistic, or pin = true for every statistic with an error",
            )
            .of(weight)),
            (_, Some(weight), None) => Err(StudyError::new(
                "error",
                "is missing, and the study has no epsilon; legal: an error for every statistic, or an epsilon for the study",
            )
            .of(weight)),
            _ => Ok(()),
        }
    }
}

fn check_public(public: &PublicFacts) -> Result<(), StudyError> {
    if let Some(rows) = public.rows
        && !(1..=1_000_000_000_000).contains(&rows)
    {
        return Err(StudyError::new("people", format!("is {rows}; legal: 1 to 10^12")));
    }
    let Some(population) = public.sample_of else { return Ok(()) };
    let Some(rows) = public.rows else {
        let problem = "is given without people; legal: both, because the sample's size is public";
        return Err(StudyError::new("sample_of", problem));
    };
    if public.relation != Relation::single_record(Adjacency::Replace) {
        let problem = "is given, and its effect is proved only if one row of one person is replaced; legal: \
                       adjacency = \"replace\" and rows = 1";
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
    let wanted = match &statistic.content {
        StatisticContent::Query(wanted) => wanted,
        StatisticContent::HeldBack(kept) if kept.delta > budget.delta => {
            let (delta, most) = (kept.delta.get(), budget.delta.get());
            let problem = format!("is {delta}; legal: at most the study's, {most}");
            return Err(StudyError::new("delta", problem));
        }
        StatisticContent::HeldBack(_) | StatisticContent::Public(_) => return Ok(()),
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
    let (field, value) = match wanted.target {
        AccuracyTarget::Error(value) | AccuracyTarget::PinnedError(value) => ("error", value),
        AccuracyTarget::PinnedLevel(value) => ("epsilon", value),
        AccuracyTarget::Weight(value) => ("weight", value),
    };
    if !(1e-100..=1e100).contains(&value) {
        let problem = format!("is {value}; legal: a number from 1e-100 to 1e100");
        return Err(StudyError::new(field, problem));
    }
    Ok(())
}
