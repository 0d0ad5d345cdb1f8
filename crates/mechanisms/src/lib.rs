//! Private mechanisms that run.
//!
//! A data custodian says once which data sets are neighbours, as part of the [`Data`]. Whoever asks
//! writes a [`Recipe`]: a [`Query`] with some noise. Of both is made a [`Measurement`], which gives
//! three things: the answer, how accurate it is, and what it costs, in the words that
//! `counterpoint` composes:
//!
//! ```
//! use counterpoint::{Adjacency, Delta, Options, Plan, Relation};
//! use counterpoint_mechanisms::{Bounds, Data, Query};
//!
//! let each = Relation::one(Adjacency::Replace); // one salary for each person
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
//! - [`Noise`], [`RandomizedResponse`], [`LeakyResponse`] and [`Exponential`] are the noise
//!   itself: exact samplers, whole-number arithmetic, answers on a grid that does not depend
//!   on the data.
//! - [`Query`], [`Recipe`] and [`Measurement`] add what a person can change, derived and not
//!   believed; [`Data::of_people`] sees to it that nobody has more records than was said.
//! - [`Keyed`] data are counted by keys that nobody knows beforehand: a [`KeyRecipe`] releases those that enough
//!   people have.
//! - [`Interactive`] mechanisms are held open and asked again: [`SparseVector`],
//!   [`GuessAndCheck`] and [`Sequence`], many of them side by side as [`Concurrent`]. As a
//!   [`Protocol`] their answers are functions of a [`State`] that can be kept anywhere.
//! - [`sketch`] answers graph cuts and variances, for idealised arithmetic only.
//!
//! # What is assumed
//!
//! Randomness comes from the operating system's generator, asked anew for each draw; if it fails, so
//! does the release. A forked process draws noise of its own. A virtual machine that is *restored
//! from a snapshot* may draw the same noise twice where its system is not told: reseed it, or do
//! not restore it.
//!
//! Samplers take the same number of random words and of steps whatever they draw, and the
//! exponential mechanism as many for any scores: `SECURITY.md` says what that promises, and what it
//! does not. [`Noise::ahead`] draws noise before there is a question, so that answering has nothing
//! to tell.

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

pub use choice::{Exponential, Leaky, LeakyResponse, RandomizedResponse};
pub use data::{Data, Person};
pub use error::Error;
pub use grid::Grid;
pub use interactive::{
    Concurrent, Found, GuessAndCheck, Interactive, Needed, Protocol, Question, Sequence, Session,
    SparseVector, State,
};
pub use keys::{KeyCount, KeyMeasurement, KeyRecipe, Keyed};
pub use noise::{Ahead, Noise};
pub use query::{
    Bounds, Contribution, Drawn, Gaps, Interval, Measurement, Of, Query, Recipe, Spread, Style,
    Summand, Tally, Within, monotone,
};
pub use reply::Reply;
pub use sample::secret;
