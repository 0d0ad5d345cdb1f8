//! The private file beside a ledger: tokens, the secret that chooses rows, and the texts of questions.

mod private;
mod texts;
mod tokens;

pub(crate) use texts::QuestionLog;
pub use tokens::{Bearer, Role, TokenError, Tokens};
