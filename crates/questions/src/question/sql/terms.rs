//! Names and constants.

use super::refused::refused;
use crate::illegal::Illegal;
use crate::public::Key;
use sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, UnaryOperator, Value};

pub(super) fn simple_name(name: &ObjectName) -> Result<String, Illegal> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Ok(ident.value.clone()),
        _ => Err(refused(format!("the name {name}"), "a name without dots")),
    }
}

pub(super) fn column(expression: &Expr) -> Result<String, Illegal> {
    match expression {
        Expr::Identifier(Ident { value, .. }) => Ok(value.clone()),
        Expr::Nested(inner) => column(inner),
        other => Err(refused(format!("{other}"), "the name of a column")),
    }
}

pub(super) fn numbers(expressions: &[&Expr]) -> Result<Vec<f64>, Illegal> {
    let number = |expression: &&Expr| match constant(expression)? {
        Constant::Number(number) => Ok(number),
        Constant::Text(text) => Err(refused(format!("'{text}'"), "a number")),
    };
    expressions.iter().map(number).collect()
}

pub(super) enum Constant {
    Number(f64),
    Text(String),
}

/// A constant as a category.
pub(super) fn key(constant: Constant) -> Key {
    match constant {
        Constant::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Key::Whole(number as i64)
        }
        Constant::Number(number) => Key::Text(number.to_string()),
        Constant::Text(text) => Key::Text(text),
    }
}

pub(super) fn constant(expression: &Expr) -> Result<Constant, Illegal> {
    let none = || refused(expression.to_string(), "a number, or a text in single quotes");
    match expression {
        Expr::Nested(inner) => constant(inner),
        Expr::Value(value) => match &value.value {
            Value::Number(text, false) => {
                text.parse().map(Constant::Number).map_err(|_| refused(text.clone(), "a number"))
            }
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
