//! The one way of a question: check, price, *debit*, run, draw, *store*, show.

mod debit;
mod draw;
mod memory;
mod numbers;
mod ready;
mod spend;
mod stages;
mod tell;
mod unanswered;

pub use debit::{Due, Payer, Told, price_of};
pub(crate) use debit::{remembered, response};
pub(crate) use draw::{counts, drawn, rehearsed};
pub use memory::{answer, price};
pub use numbers::Number;
pub(crate) use numbers::numbers;
pub use ready::Ready;
pub(crate) use spend::{least, spend_in, times};
pub use stages::{Stage, Stages};
pub use tell::{tell, tell_all};
pub use unanswered::Unanswered;
