//! A subset of SQL, as the algebra. What is not understood is refused by naming it; no text is ever passed on.

mod aggregates;
mod conditions;
mod refused;
mod select;
mod terms;

use super::{Condition, Question};
use crate::illegal::Illegal;
use crate::public::Table;
use conditions::{MOST_DEPTH, condition};
use refused::{CONDITIONS, SHAPE};
use select::question;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

/// The longest text that is read.
pub const MOST_TEXT: usize = 1 << 16;
/// So much of a stack is used as a text needs.
const STACK: usize = 256 << 20;

/// Reads a question. Tables are looked up by their names.
///
/// # Errors
/// [`Illegal`], naming what is not understood.
pub fn read<'a>(
    text: &str,
    find: impl Fn(&str) -> Option<&'a Table> + Send,
) -> Result<Question, Illegal> {
    on_a_deep_stack(text, || {
        let parser = Parser::new(&GenericDialect {}).with_recursion_limit(MOST_DEPTH);
        let parsed = parser.try_with_sql(text).and_then(|mut parser| parser.parse_statements());
        let parsed = parsed
            .map_err(|error| Illegal::new("the text", format!("is no SQL: {error}"), SHAPE))?;
        question(parsed, find)
    })
}

/// Reads a condition, as it stands after `WHERE`.
///
/// # Errors
/// [`Illegal`], naming what is not understood.
pub fn read_condition(text: &str, table: &Table) -> Result<Condition, Illegal> {
    on_a_deep_stack(text, || {
        let parser = Parser::new(&GenericDialect {}).with_recursion_limit(MOST_DEPTH);
        let parsed = parser.try_with_sql(text).and_then(|mut parser| {
            let expression = parser.parse_expr()?;
            parser.expect_token(&Token::EOF)?;
            Ok(expression)
        });
        let parsed = parsed.map_err(|error| {
            Illegal::new("the condition", format!("is no SQL: {error}"), CONDITIONS)
        })?;
        condition(&parsed, table, MOST_DEPTH)
    })
}

/// Parsers recurse as deep as texts nest, and so does dropping what they made: this runs on a stack that is deep enough for
/// any text of legal length.
fn on_a_deep_stack<T: Send>(
    text: &str,
    read: impl FnOnce() -> Result<T, Illegal> + Send,
) -> Result<T, Illegal> {
    if text.len() > MOST_TEXT {
        return Err(Illegal::new("the text", "is too long", "at most 65536 bytes"));
    }
    let deep = std::thread::Builder::new().stack_size(STACK);
    let unread = || Illegal::new("the text", "cannot be read now", "the same text, a little later");
    std::thread::scope(|scope| {
        let reader = deep.spawn_scoped(scope, read).map_err(|_| unread())?;
        reader.join().unwrap_or_else(|_| Err(unread()))
    })
}
