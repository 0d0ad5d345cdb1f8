//! Reads conditions.

use super::terms::{Constant, column, constant, key};
use super::unsupported::{CONDITIONS, unsupported};
use crate::error::QuestionError;
use crate::public::{ColumnKind, Table};
use crate::question::Condition;
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

/// The largest nesting depth of conditions.
pub(super) const MOST_DEPTH: usize = 50;

pub(super) fn condition(
    expression: &Expr,
    table: &Table,
    depth: usize,
) -> Result<Condition, QuestionError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(QuestionError::new(
            "WHERE",
            "has conditions within one another",
            "at most 50 deep",
        ));
    };
    match expression {
        Expr::Nested(inner) => condition(inner, table, depth),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
            Ok(Condition::Not(Box::new(condition(expr, table, depth)?)))
        }
        Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => {
            let list = operands(expression, op).into_iter();
            let list = list.map(|one| condition(one, table, depth)).collect::<Result<_, _>>()?;
            Ok(if *op == BinaryOperator::And { Condition::All(list) } else { Condition::Any(list) })
        }
        Expr::BinaryOp { left, op, right } => comparison(left, op, right, table),
        Expr::Between { expr, negated, low, high } => {
            let column = column(expr)?;
            let from = compared(&column, BinaryOperator::GtEq, constant(low)?, table)?;
            let to = compared(&column, BinaryOperator::LtEq, constant(high)?, table)?;
            Ok(negated_if(*negated, Condition::All(vec![from, to])))
        }
        Expr::InList { expr, list, negated } => {
            let column = column(expr)?;
            let one = |value: &Expr| compared(&column, BinaryOperator::Eq, constant(value)?, table);
            let list = list.iter().map(one).collect::<Result<Vec<_>, _>>()?;
            Ok(negated_if(*negated, one_list(column, list)))
        }
        Expr::IsNull(expr) => Ok(Condition::Missing { column: column(expr)? }),
        Expr::IsNotNull(expr) => Ok(negated_if(true, Condition::Missing { column: column(expr)? })),
        other => Err(unsupported(other.to_string(), CONDITIONS)),
    }
}

/// Returns the operands of a chain of ANDs, or of ORs.
fn operands<'a>(mut expression: &'a Expr, chain: &BinaryOperator) -> Vec<&'a Expr> {
    let mut list = Vec::new();
    while let Expr::BinaryOp { left, op, right } = expression
        && op == chain
    {
        list.push(&**right);
        expression = left;
    }
    list.push(expression);
    list.reverse();
    list
}

/// Joins comparisons of a column with several keys into one list, as the algebra has it.
fn one_list(column: String, list: Vec<Condition>) -> Condition {
    let keys = list.iter().map(|one| match one {
        Condition::In { keys, .. } => Some(keys.clone()),
        _ => None,
    });
    match keys.collect::<Option<Vec<_>>>() {
        Some(keys) if !keys.is_empty() => Condition::In { column, keys: keys.concat() },
        _ => Condition::Any(list),
    }
}

fn negated_if(negated: bool, condition: Condition) -> Condition {
    if negated { Condition::Not(Box::new(condition)) } else { condition }
}

/// Reads a comparison with the column on either side.
fn comparison(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    table: &Table,
) -> Result<Condition, QuestionError> {
    if let Ok(column) = column(left) {
        return compared(&column, op.clone(), constant(right)?, table);
    }
    let turned = match op {
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        other => other.clone(),
    };
    match (column(right), constant(left)) {
        (Ok(column), Ok(constant)) => compared(&column, turned, constant, table),
        _ => Err(unsupported(format!("{left} {op} {right}"), CONDITIONS)),
    }
}

fn compared(
    name: &str,
    op: BinaryOperator,
    constant: Constant,
    table: &Table,
) -> Result<Condition, QuestionError> {
    let column = name.to_owned();
    let kind = table.column(name).map(|column| &column.kind);
    if let Some(ColumnKind::Category(_)) = kind {
        let keys = Condition::In { column, keys: vec![key(constant)] };
        return match op {
            BinaryOperator::Eq => Ok(keys),
            BinaryOperator::NotEq => Ok(Condition::Not(Box::new(keys))),
            other => Err(unsupported(
                format!("{name} {other}"),
                "=, <> and IN for a column of categories",
            )),
        };
    }
    let Constant::Number(than) = constant else {
        return Err(QuestionError::new(name, "is compared with a text", "a number"));
    };
    let equal = |column| Condition::Between { column, from: Some(than), to: Some(than) };
    match op {
        BinaryOperator::Eq => Ok(equal(column)),
        BinaryOperator::NotEq => Ok(Condition::Not(Box::new(equal(column)))),
        BinaryOperator::Lt => Ok(Condition::Below { column, than }),
        BinaryOperator::LtEq => Ok(Condition::Between { column, from: None, to: Some(than) }),
        BinaryOperator::Gt => Ok(Condition::Above { column, than }),
        BinaryOperator::GtEq => Ok(Condition::Between { column, from: Some(than), to: None }),
        other => Err(unsupported(format!("{name} {other}"), CONDITIONS)),
    }
}
