//! The way of a question to its answer: check, price, *debit*, count, draw, *store*, show.

mod debit;
mod draw;
mod memory;
mod numbers;
mod prepared;
mod spend;
mod stages;
mod batch;
mod error;

pub use batch::{answer_batch, answer_question};
pub use debit::{BatchItem, Payer, StoredAnswer, price_question};
pub(crate) use debit::{stored_answer, stored_response};
pub(crate) use draw::{draw_answer, draw_without_charge, noisy_counts};
pub use error::AnswerError;
pub use memory::{answer, price};
pub use numbers::Number;
pub(crate) use numbers::numbers;
pub use prepared::PreparedQuestion;
pub(crate) use spend::{affordable_times, least_spend, spend_in_slot};
pub use stages::{Stage, StageTimes};
