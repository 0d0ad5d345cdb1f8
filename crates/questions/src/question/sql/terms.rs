//! Names and constants.

use super::refused::{AGGREGATES, refused};
use crate::illegal::Illegal;
use crate::public::Key;
use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, ObjectNamePart, UnaryOperator, Value,
};

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

pub(super) fn argument(argument: &FunctionArg) -> Result<&FunctionArgExpr, Illegal> {
    match argument {
        FunctionArg::Unnamed(expression) => Ok(expression),
        other => Err(refused(format!("the argument {other}"), AGGREGATES)),
    }
}

pub(super) fn numbers(arguments: &[&FunctionArgExpr]) -> Result<Vec<f64>, Illegal> {
    let number = |argument: &&FunctionArgExpr| match argument {
        FunctionArgExpr::Expr(expression) => {
            constant(expression).and_then(|constant| match constant {
                Constant::Number(number) => Ok(number),
                Constant::Text(text) => Err(refused(format!("'{text}'"), "a number")),
            })
        }
        other => Err(refused(format!("{other}"), "a number")),
    };
    arguments.iter().map(number).collect()
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
    match expression {
        Expr::Nested(inner) => constant(inner),
        Expr::Value(value) => match &value.value {
            Value::Number(text, false) => {
                text.parse().map(Constant::Number).map_err(|_| refused(text.clone(), "a number"))
            }
            Value::SingleQuotedString(text) => Ok(Constant::Text(text.clone())),
            other => Err(refused(other.to_string(), "a number, or a text in single quotes")),
        },
        Expr::UnaryOp { op, expr } => match (op, constant(expr)?) {
            (UnaryOperator::Minus, Constant::Number(number)) => Ok(Constant::Number(-number)),
            (UnaryOperator::Plus, Constant::Number(number)) => Ok(Constant::Number(number)),
            _ => Err(refused(expression.to_string(), "a number, or a text in single quotes")),
        },
        other => Err(refused(other.to_string(), "a number, or a text in single quotes")),
    }
}
