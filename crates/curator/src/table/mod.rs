//! The way of a question about a table: check, price, *debit*, run, draw, *store*, show.

mod debit;
mod draw;
mod held;
mod numbers;
mod ready;
mod tell;

pub(crate) use debit::remembered;
pub use debit::{Due, Payer, Told, Unanswered, price_of};
pub(crate) use draw::{counts, drawn, rehearsed};
pub use held::Held;
pub(crate) use held::unlike;
pub use numbers::Number;
pub(crate) use numbers::{half_widths, numbers};
pub use ready::Ready;
pub use tell::{tell, tell_all};
