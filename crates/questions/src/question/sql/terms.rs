//! Reads names and constants.

use super::unsupported::unsupported;
use crate::error::QuestionError;
use crate::public::Key;
use sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, UnaryOperator, Value};

pub(super) fn simple_name(name: &ObjectName) -> Result<String, QuestionError> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Ok(ident.value.clone()),
        _ => Err(unsupported(format!("the name {name}"), "a name without dots")),
    }
}

pub(super) fn column(expression: &Expr) -> Result<String, QuestionError> {
    match expression {
        Expr::Identifier(Ident { value, .. }) => Ok(value.clone()),
        Expr::Nested(inner) => column(inner),
        other => Err(unsupported(format!("{other}"), "the name of a column")),
    }
}

pub(super) fn numbers(expressions: &[&Expr]) -> Result<Vec<f64>, QuestionError> {
    let number = |expression: &&Expr| match constant(expression)? {
        Constant::Number(number) => Ok(number),
        Constant::Text(text) => Err(unsupported(format!("'{text}'"), "a number")),
    };
    expressions.iter().map(number).collect()
}

pub(super) enum Constant {
    Number(f64),
    Text(String),
}

/// Converts a constant to a category.
pub(super) fn key(constant: Constant) -> Key {
    match constant {
        Constant::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Key::Whole(number as i64)
        }
        Constant::Number(number) => Key::Text(number.to_string()),
        Constant::Text(text) => Key::Text(text),
    }
}

pub(super) fn constant(expression: &Expr) -> Result<Constant, QuestionError> {
    let none =
        || unsupported(expression.to_string(), "a constant: a number, or a text in single quotes");
    match expression {
        Expr::Nested(inner) => constant(inner),
        Expr::Value(value) => match &value.value {
            Value::Number(text, false) => text
                .parse()
                .map(Constant::Number)
                .map_err(|_| unsupported(text.clone(), "a number")),
            Value::SingleQuotedString(text) => Ok(Constant::Text(text.clone())),
            _ => Err(none()),
        },
        Expr::UnaryOp { op, expr } => match (op, constant(expr)?) {
            (UnaryOperator::Minus, Constant::Number(number)) => Ok(Constant::Number(-number)),
            (UnaryOperator::Plus, Constant::Number(number)) => Ok(Constant::Number(number)),
            _ => Err(none()),
        },
        _ => Err(none()),
    }
}
