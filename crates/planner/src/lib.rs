//! Plans studies: from the errors or the budget that a study asks for to certified noise.
//!
//! A [`Study`] says what is public about the data, what the budget is, and which statistics are requested, each with an
//! error, a pinned value or a weight. [`plan`] returns the mechanisms that run, their errors, and their certified cost:
//! the composition of the mechanisms themselves, not of their epsilons.
//!
//! ```
//! use counterpoint::{Adjacency, Delta, Epsilon, Options, Relation};
//! use counterpoint_mechanisms::{Bounds, Query};
//! use counterpoint_planner::{
//!     AccuracyTarget, Budget, Goal, PublicFacts, QueryRequest, Statistic, StatisticContent, Study, plan,
//! };
//!
//! let public = PublicFacts {
//!     relation: Relation::single_record(Adjacency::Replace),
//!     rows: Some(5000),
//!     sample_of: None,
//! };
//! let request = |query, error| StatisticContent::Query(QueryRequest {
//!     query,
//!     noise: None,
//!     confidence: 0.95,
//!     target: AccuracyTarget::Error(error),
//!     scale: 1.0,
//!     population: None,
//! });
//! let income = Query::mean(Bounds::new(0.0, 200_000.0)?);
//! let statistics = vec![
//!     Statistic { name: "mean income".into(), content: request(income, 500.0) },
//!     Statistic {
//!         name: "employed".into(),
//!         content: request(Query::count_within(Bounds::new(1.0, 1.0 + 1e-9)?), 50.0),
//!     },
//! ];
//! let budget = Budget { epsilon: Some(Epsilon::new(0.2)?), delta: Delta::new(1e-6)? };
//! let study = Study::new(public, budget, Goal::Relative, statistics)?;
//! let planned = plan(&study, &Options::default())?;
//! assert!(planned.cost.bracket.upper <= 0.2);
//! println!("every error is {} times the requested one", planned.factor.unwrap().upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The error of a statistic is the half-width of the mechanism that runs, as [`counterpoint_mechanisms`] computes it: a
//! bound on the error of the released number at the stated confidence, or of all its numbers at once if it has several.
//! Errors depend on the study alone, never on data.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod study;
mod root;
mod price;
mod progress;
mod cost;
mod family;
mod share;
mod fit;
mod steps;
mod sum;
mod shadow;
mod plane;
mod tangent;
mod least;
mod others;
mod spare;
mod shares;
mod plan;

pub use cost::CostError;
pub use fit::PlanningError;
pub use least::SumBound;
pub use others::TheoremCost;
pub use plan::{PlannedAnswer, StatisticPlan, StudyPlan, Warning, WeightedSum, bound_sum, plan};
pub use spare::Savings;
pub use study::{
    AccuracyTarget, Budget, Goal, MAX_STATISTICS, Noise, Population, PublicFacts, QueryRequest,
    Statistic, StatisticContent, Study, StudyError,
};
