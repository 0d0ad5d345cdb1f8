//! Certified composition for differential privacy.
//!
//! Someone holds sensitive data and answers many questions about it privately. Every
//! answer leaks a little, and the leaks add up. This crate says to what, as a [`Bracket`]
//! that contains the exact answer, rounding included:
//!
//! ```
//! use counterpoint::quantity::Noise;
//! use counterpoint::{Count, Delta, Guarantee, Mechanism, Options, Plan, Sensitivity};
//!
//! let noise = Mechanism::Laplace { scale: Noise::new(10.0)?, sensitivity: Sensitivity::new(1.0)? };
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
//! A [`Plan`] is the way in, for guarantees and mechanisms alike: [`Plan::epsilon`],
//! [`Plan::delta`], [`Plan::compare`], [`Plan::region`], [`Plan::losses`].
//!
//! Read the modules in the order they are listed in; each uses only those before it. A
//! description ([`mechanism`]) becomes a [`loss`], losses become a [`composition`], and a
//! composition answers questions ([`ask`]) by one of several methods ([`Route`]). [`theorem`]
//! holds the named bounds.
//!
//! All bounds here hold for mechanisms chosen adaptively and for interactive ones run
//! concurrently, with privacy parameters fixed up front. They do not hold when the
//! parameters themselves are chosen from earlier answers: for that there are the filters of `counterpoint-budget`.

pub mod quantity;
pub mod watch;
mod source;
pub mod mechanism;
mod ends;
mod laws;
pub mod loss;
pub mod composition;
mod methods;
pub mod ask;
pub mod region;
pub mod audit;
pub mod theorem;

pub use ask::{Answer, AskError, Asked, Options};
pub use composition::{Plan, PlanError};
pub use counterpoint_numerics::Bracket;
pub use mechanism::{Adjacency, Guarantee, Mechanism, Relation, Release};
pub use methods::Route;
pub use quantity::{Count, Delta, Epsilon, OutOfRange, Sensitivity, Tolerance};
