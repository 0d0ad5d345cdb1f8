//! From "how accurate must it be" to a certified plan.
//!
//! A [`Study`] says what is public about the data, what may be spent, and which statistics are wanted, each with an error,
//! a pinned share or a weight. [`plan`] answers with the mechanisms that run, their errors and what they cost together, by
//! certified composition of the mechanisms themselves and not of their epsilons.
//!
//! ```
//! use counterpoint::{Adjacency, Delta, Epsilon, Options, Relation};
//! use counterpoint_mechanisms::{Bounds, Query};
//! use counterpoint_planner::{Ask, Budget, Goal, Public, Statistic, Study, Wanted, Wish, plan};
//!
//! let public = Public {
//!     relation: Relation::one(Adjacency::Replace),
//!     rows: Some(5000),
//!     sample_of: None,
//! };
//! let wanted = |query, error| Ask::Query(Wanted {
//!     query,
//!     noise: None,
//!     confidence: 0.95,
//!     wish: Wish::Error(error),
//!     scale: 1.0,
//!     population: None,
//! });
//! let income = Query::mean(Bounds::new(0.0, 200_000.0)?);
//! let statistics = vec![
//!     Statistic { name: "mean income".into(), ask: wanted(income, 500.0) },
//!     Statistic { name: "employed".into(), ask: wanted(Query::count_within(Bounds::new(1.0, 1.0 + 1e-9)?), 50.0) },
//! ];
//! let budget = Budget { epsilon: Some(Epsilon::new(0.2)?), delta: Delta::new(1e-6)? };
//! let study = Study::new(public, budget, Goal::Relative, statistics)?;
//! let planned = plan(&study, &Options::default())?;
//! assert!(planned.cost.bracket.upper <= 0.2);
//! println!("every error is {} times what was wanted", planned.factor.unwrap().upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Errors are half-widths of what runs, exactly as [`counterpoint_mechanisms`] has them: of the released number, at the stated
//! confidence, of all its numbers at once where it has several. They depend on the study alone, never on data.

mod study;
mod root;
mod price;
mod pace;
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
pub use least::Least;
pub use others::Other;
pub use plan::{Line, Planned, Runs, Warning, WeightedSum, least, plan};
pub use spare::Spare;
pub use study::{
    Ask, Budget, Goal, MOST_STATISTICS, Noise, Population, Public, Statistic, Study, StudyError,
    Wanted, Wish,
};
