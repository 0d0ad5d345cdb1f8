//! Private mechanisms that run.
//!
//! The owner of the data declares the neighbouring relation once, as part of the [`Data`]. The analyst writes a
//! [`NoisyQuery`]: a [`Query`] with the noise that its answer gets. The relation and the noisy query give a
//! [`Measurement`], which has three results: the answer, its accuracy, and its cost as releases that `counterpoint`
//! composes:
//!
//! ```
//! use counterpoint::{Adjacency, Delta, Options, Plan, Relation};
//! use counterpoint_mechanisms::{Bounds, Data, Query};
//!
//! let each = Relation::single_record(Adjacency::Replace); // one salary for each person
//! let salaries = Data::new(each, [2_100.0, 3_400.0, 2_750.0, 5_200.0, 1_980.0, 4_010.0]);
//! let bounds = Bounds::new(0.0, 10_000.0)?;
//! let total = Query::sum(bounds).laplace(0.5)?.under(each)?;
//! let people = Query::count_within(bounds).gaussian(4.0)?.under(each)?;
//!
//! println!("total {:?}", total.run(&salaries)?.number());
//! println!("people {:?}", people.run(&salaries)?.number());
//! println!("the total is within {} 95 % of the time", total.half_width(6, 0.95)?);
//!
//! let plan = Plan::new([total.releases(), people.releases()].concat())?;
//! let cost = plan.epsilon(Delta::new(1e-6)?, &Options::default())?;
//! println!("all of it is ({}, 1e-6)-private", cost.bracket.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Noise`], [`RandomizedResponse`], [`LeakyResponse`] and [`Exponential`] are exact samplers in whole-number
//!   arithmetic. Their answers lie on a grid that does not depend on the data.
//! - [`Query`], [`NoisyQuery`] and [`Measurement`] derive the sensitivity instead of trusting the caller.
//!   [`Data::of_people`] enforces the largest number of records of each person.
//! - [`KeyedData`] count people by keys that are not known beforehand. A [`KeyQuery`] releases the keys that enough
//!   people have.
//! - An [`InteractiveMechanism`] answers several queries one by one: [`SparseVector`], [`GuessAndCheck`] and
//!   [`Sequence`]. [`ConcurrentSessions`] run many of them side by side. A [`Protocol`] answers from a [`State`] that
//!   the caller may store anywhere.
//! - [`sketch`] answers graph cuts and variances, for idealised arithmetic only.
//!
//! # Assumptions
//!
//! Each draw takes fresh randomness from the operating system's generator; if the generator fails, the release fails. A
//! forked process draws its own noise. A virtual machine that is *restored from a snapshot* may draw the same noise
//! twice if its operating system is not told about the restoration: reseed the machine, or do not restore it.
//!
//! The numbers of random words and of steps that a sampler uses do not depend on the result; for the exponential
//! mechanism they do not depend on the scores either. `SECURITY.md` states what this guarantees and what it does not.
//! [`Noise::predraw`] draws noise before there is a query, so that the time of an answer reveals nothing about its
//! noise.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

pub mod error;
pub mod grid;
mod sample;
pub mod noise;
pub mod choice;
pub mod reply;
pub mod data;
pub mod query;
pub mod keys;
pub mod interactive;
pub mod sketch;

#[cfg(test)]
mod attack;

pub use choice::{Exponential, LeakyAnswer, LeakyResponse, RandomizedResponse};
pub use data::{Data, Person};
pub use error::Error;
pub use grid::Grid;
pub use interactive::{
    ConcurrentSessions, GuessAndCheck, InteractiveMechanism, Protocol, RawAggregate,
    RequiredAggregate, Sequence, Session, SessionQuery, SparseVector, State,
};
pub use keys::{KeyCount, KeyMeasurement, KeyQuery, KeyedData};
pub use noise::{Noise, PredrawnNoise};
pub use query::{
    Bounds, Contribution, Gaps, GroupLimits, Interval, Measurement, NoisyAnswer, NoisyQuery, Query,
    ReplyWithIntervals, Style, Summand, Tally, Term, monotone,
};
pub use reply::Reply;
pub use sample::secret;
