//! A curator at work: what it is told when it starts, who may ask it what, and what it answers.

mod accounts;
mod config;
mod curator;
pub mod demo;
mod examine;
mod questions;
mod request;
mod sessions;

pub use config::{Config, ConfigError, QueueSizes, Timing, Tls};
pub use curator::{Curator, Kept, SetupError};
pub use examine::{Examined, Pace, examine};
pub use questions::Prepared;
pub use request::{
    Answer, Ask, Asking, Denied, Left, Opening, OwnAsking, OwnOpening, Pay, Priced, Standing,
    Written,
};
