//! Certified composition for differential privacy.
//!
//! The owner of a data set answers many questions about the data privately. Every answer reveals a little, and the
//! privacy losses add up. This crate computes the cost of their composition, as a [`Bracket`] that contains the exact
//! value, rounding included:
//!
//! ```
//! use counterpoint::quantity::NoiseScale;
//! use counterpoint::{Count, Delta, Guarantee, Mechanism, Options, Plan, Sensitivity};
//!
//! let noise = Mechanism::Laplace { scale: NoiseScale::new(10.0)?, sensitivity: Sensitivity::new(1.0)? };
//! let survey = Plan::new([
//!     (Guarantee::new(0.25, 1e-9)?.into(), Count::new(12)?),
//!     (noise, Count::new(40)?),
//! ])?;
//! let answer = survey.epsilon(Delta::new(1e-6)?, &Options::default())?;
//! assert!(answer.bracket.upper < 0.25 * 12.0 + 0.1 * 40.0);
//! println!("{} by {}", answer.bracket, answer.theorem.source());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Plan`] is the entry to the crate, for guarantees and mechanisms alike: [`Plan::epsilon`], [`Plan::delta`],
//! [`Plan::compare`], [`Plan::region`], [`Plan::losses`].
//!
//! The modules below are listed in the order in which to read them; each uses only those before it. A description
//! ([`mechanism`]) has a [`loss`], losses form a [`composition`], and a composition answers questions ([`ask`]) by one
//! of several methods ([`Route`]). [`theorem`] holds the named bounds.
//!
//! All bounds hold for mechanisms that are chosen adaptively, and for interactive mechanisms that run concurrently,
//! with privacy parameters that are fixed in advance. They do not hold if the parameters are chosen from earlier
//! answers: the filters of `counterpoint-budget` are for that case.

pub mod quantity;
pub mod watch;
mod citation;
pub mod mechanism;
mod delta_bounds;
mod laws;
pub mod loss;
pub mod composition;
mod methods;
pub mod ask;
pub mod region;
pub mod audit;
pub mod theorem;

pub use ask::{Answer, AskError, Options, RequestedEnds};
pub use composition::{Plan, PlanError};
pub use counterpoint_numerics::Bracket;
pub use mechanism::{Adjacency, Guarantee, Mechanism, Relation, Release};
pub use methods::Route;
pub use quantity::{Count, Delta, Epsilon, OutOfRangeError, Sensitivity, Tolerance};
