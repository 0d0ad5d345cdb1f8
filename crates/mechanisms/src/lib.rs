//! Mechanisms that run.
pub mod error;
pub mod grid;
mod sample;
pub mod noise;
pub mod choice;
pub mod reply;
pub mod query;
pub mod interactive;

pub use choice::{Exponential, Leaky, LeakyResponse, RandomizedResponse};
pub use error::Error;
pub use grid::Grid;
pub use interactive::{
    Concurrent, GuessAndCheck, Interactive, Question, Sequence, Session, SparseVector,
};
pub use noise::Noise;
pub use query::{Bounds, Measurement, Query};
pub use reply::Reply;
