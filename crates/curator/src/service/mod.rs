//! The service: its configuration, its accounts, and the questions and sessions that it answers.

mod accounts;
mod config;
mod curator;
pub mod demo;
mod examine;
mod questions;
mod request;
mod sessions;

pub use config::{Config, ConfigError, QueueSizes, TimeLimits, Tls};
pub use curator::{Curator, RegisteredTable, SetupError};
pub use examine::{Pace, TableReport, examine};
pub use questions::PreparedBatch;
pub use request::{
    AccountBalance, Answer, CostTarget, CuratorError, CustomSubmission, NewCustomSession,
    NewSession, QuestionText, Quote, SessionInfo, SessionSubmission, Submission,
};
