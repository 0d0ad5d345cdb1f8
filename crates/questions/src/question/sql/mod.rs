//! Reads a subset of SQL as the algebra. Everything else is refused by name, and no text of an analyst reaches an
//! engine.

mod aggregates;
mod conditions;
mod unsupported;
mod select;
mod terms;

use super::{Condition, Question};
use crate::error::QuestionError;
use crate::public::Table;
use conditions::{MOST_DEPTH, condition};
use select::question;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;
use unsupported::{CONDITIONS, SHAPE};

/// The largest length of a text, in bytes.
pub const MOST_TEXT: usize = 1 << 16;
/// The stack for parsing a text. Only the part that a text needs is used.
const STACK: usize = 256 << 20;

/// Reads a question. `find` looks up tables by name.
///
/// # Errors
/// [`QuestionError`], naming the part that is not supported.
pub fn read<'a>(
    text: &str,
    find: impl Fn(&str) -> Option<&'a Table> + Send,
) -> Result<Question, QuestionError> {
    on_a_deep_stack(text, || {
        let parser = Parser::new(&GenericDialect {}).with_recursion_limit(MOST_DEPTH);
        let parsed = parser.try_with_sql(text).and_then(|mut parser| parser.parse_statements());
        let parsed = parsed.map_err(|error| {
            QuestionError::new("the text", format!("is not SQL: {error}"), SHAPE)
        })?;
        question(parsed, find)
    })
}

/// Reads a condition, as it stands after `WHERE`.
///
/// # Errors
/// [`QuestionError`], naming the part that is not supported.
pub fn read_condition(text: &str, table: &Table) -> Result<Condition, QuestionError> {
    on_a_deep_stack(text, || {
        let parser = Parser::new(&GenericDialect {}).with_recursion_limit(MOST_DEPTH);
        let parsed = parser.try_with_sql(text).and_then(|mut parser| {
            let expression = parser.parse_expr()?;
            parser.expect_token(&Token::EOF)?;
            Ok(expression)
        });
        let parsed = parsed.map_err(|error| {
            QuestionError::new("the condition", format!("is not SQL: {error}"), CONDITIONS)
        })?;
        condition(&parsed, table, MOST_DEPTH)
    })
}

/// Runs `read` on a stack that is deep enough for any text of legal length: parsers recurse as deep as a text nests,
/// and so does dropping their results.
fn on_a_deep_stack<T: Send>(
    text: &str,
    read: impl FnOnce() -> Result<T, QuestionError> + Send,
) -> Result<T, QuestionError> {
    if text.len() > MOST_TEXT {
        return Err(QuestionError::new("the text", "is too long", "at most 65536 bytes"));
    }
    let deep = std::thread::Builder::new().stack_size(STACK);
    let unread =
        || QuestionError::new("the text", "cannot be read now", "the same text, asked again");
    std::thread::scope(|scope| {
        let reader = deep.spawn_scoped(scope, read).map_err(|_| unread())?;
        reader.join().unwrap_or_else(|_| Err(unread()))
    })
}
