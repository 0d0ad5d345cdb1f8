//! Reads the projection of a SELECT: columns of the grouping, and aggregates.

use super::terms::{column, constant, key, numbers, simple_name};
use super::unsupported::{AGGREGATES, none_of, unsupported};
use crate::error::QuestionError;
use crate::public::{Column, ColumnKind, Table};
use crate::question::{Aggregate, AggregateKind, ClampedColumn, Share};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    OrderByExpr, OrderBySort, SelectItem,
};

/// The arguments that can be clamped.
const CLAMPED: &str = "a column, or CLAMP(column, low, high)";

pub(super) fn aggregates(
    projection: &[SelectItem],
    group: &[String],
    table: &Table,
) -> Result<Vec<Aggregate>, QuestionError> {
    let mut list = Vec::new();
    for item in projection {
        let (expression, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
            other => return Err(unsupported(format!("{other}"), AGGREGATES)),
        };
        match expression {
            Expr::Identifier(Ident { value, .. }) => {
                if !group.iter().any(|column| column.eq_ignore_ascii_case(value)) {
                    let legal = "columns of GROUP BY, and aggregates";
                    return Err(QuestionError::new(
                        value,
                        "is selected, but is neither an aggregate nor in GROUP BY",
                        legal,
                    ));
                }
            }
            Expr::Function(function) => {
                let name = alias.or_else(|| Some(function.to_string()));
                list.push(Aggregate { name, of: aggregate(function, table)? });
            }
            other => return Err(unsupported(format!("{other}"), AGGREGATES)),
        }
    }
    Ok(list)
}

/// A function call without clauses around it.
struct Call<'a> {
    /// The function's name, in capitals.
    word: String,
    arguments: Vec<&'a Expr>,
    /// True if `*` is among the arguments.
    has_star: bool,
    is_distinct: bool,
    within_group: &'a [OrderByExpr],
}

/// Reads a call. The pattern names every field, so that no clause is overlooked.
fn call(function: &Function) -> Result<Call<'_>, QuestionError> {
    let Function {
        name,
        uses_odbc_syntax,
        parameters,
        args,
        within_group,
        filter,
        null_treatment,
        over,
    } = function;
    none_of(&[
        ("{fn ...}", *uses_odbc_syntax),
        ("a function with parameters", !matches!(parameters, FunctionArguments::None)),
        ("FILTER", filter.is_some()),
        ("IGNORE NULLS", null_treatment.is_some()),
        ("OVER", over.is_some()),
    ])?;
    let list = match args {
        FunctionArguments::List(list) if list.clauses.is_empty() => list,
        _ => return Err(unsupported(function.to_string(), AGGREGATES)),
    };
    let is_distinct = matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct));
    let (mut arguments, mut has_star) = (Vec::new(), false);
    for argument in &list.args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => arguments.push(expression),
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => has_star = true,
            other => return Err(unsupported(format!("the argument {other}"), AGGREGATES)),
        }
    }
    let word = simple_name(name)?.to_ascii_uppercase();
    Ok(Call { word, arguments, has_star, is_distinct, within_group })
}

fn aggregate(function: &Function, table: &Table) -> Result<AggregateKind, QuestionError> {
    let Call { word, arguments, has_star, is_distinct, within_group } = call(function)?;
    let is_percentile = word == "PERCENTILE_CONT" || word == "PERCENTILE_DISC";
    match word.as_str() {
        "COUNT" if is_distinct => return people(&arguments, table),
        _ if is_distinct => return Err(unsupported(format!("{word}(DISTINCT ...)"), AGGREGATES)),
        _ if !within_group.is_empty() && !is_percentile => {
            return Err(unsupported("WITHIN GROUP", AGGREGATES));
        }
        "COUNT" if has_star && arguments.is_empty() => return Ok(AggregateKind::Count),
        _ if has_star => return Err(unsupported(function.to_string(), AGGREGATES)),
        _ => {}
    }
    match (word.as_str(), arguments.as_slice()) {
        ("SUM", [of]) => Ok(AggregateKind::Sum(values(of)?)),
        ("AVG" | "MEAN", [of]) => Ok(AggregateKind::Mean(values(of)?)),
        ("VARIANCE" | "VAR_POP", [of]) => Ok(AggregateKind::Variance(values(of)?)),
        ("STDDEV" | "STDDEV_POP", [of]) => Ok(AggregateKind::Deviation(values(of)?)),
        ("COVAR_POP", [x, y]) => {
            Ok(AggregateKind::Covariance { column: column(x)?, with: column(y)? })
        }
        ("CORR", [x, y]) => Ok(AggregateKind::Correlation { column: column(x)?, with: column(y)? }),
        ("REGRESSION", [outcome, predictors @ ..]) if !predictors.is_empty() => {
            let predictors = predictors.iter().map(|one| column(one)).collect::<Result<_, _>>()?;
            Ok(AggregateKind::Regression { column: column(outcome)?, predictors })
        }
        ("PROPORTION", [of, rest @ ..]) if !rest.is_empty() => share(column(of)?, rest, table),
        ("CDF", [of, edges @ ..]) if !edges.is_empty() => {
            Ok(AggregateKind::Cdf { column: column(of)?, edges: numbers(edges)? })
        }
        ("HISTOGRAM", [of, edges @ ..]) if !edges.is_empty() => {
            Ok(AggregateKind::Histogram { column: column(of)?, edges: numbers(edges)? })
        }
        ("MEDIAN", [of]) => quantiles(column(of)?, vec![0.5]),
        ("QUANTILE" | "QUANTILES", [of, shares @ ..]) if !shares.is_empty() => {
            quantiles(column(of)?, numbers(shares)?)
        }
        (_, [share]) if is_percentile => {
            let [OrderByExpr { expr, options, with_fill: None }] = within_group else {
                return Err(unsupported(
                    word,
                    "PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY column)",
                ));
            };
            if options.nulls_first.is_some() {
                return Err(unsupported("NULLS FIRST", "ORDER BY column"));
            }
            match &options.sort {
                None | Some(OrderBySort::Asc) => quantiles(column(expr)?, numbers(&[share])?),
                Some(other) => {
                    Err(unsupported(format!("{other:?} in WITHIN GROUP"), "ORDER BY column"))
                }
            }
        }
        _ => Err(unsupported(function.to_string(), AGGREGATES)),
    }
}

/// Reads `PROPORTION`: the share of some categories of a column, or of the numbers in an interval.
fn share(column: String, rest: &[&Expr], table: &Table) -> Result<AggregateKind, QuestionError> {
    let is_category = |column: &Column| matches!(column.kind, ColumnKind::Category(_));
    let (bounds, keys) = if table.column(&column).is_some_and(is_category) {
        let keys = rest.iter().map(|one| constant(one).map(key)).collect::<Result<_, _>>()?;
        (None, Some(keys))
    } else {
        match numbers(rest)?.as_slice() {
            &[low, high] => (Some((low, high)), None),
            _ => return Err(unsupported("PROPORTION of numbers", "PROPORTION(column, low, high)")),
        }
    };
    Ok(AggregateKind::Proportion(Share { column, bounds, keys }))
}

fn quantiles(column: String, shares: Vec<f64>) -> Result<AggregateKind, QuestionError> {
    Ok(AggregateKind::Quantiles { column, shares, candidates: None })
}

/// Reads `COUNT(DISTINCT person)`, the only legal use of DISTINCT.
fn people(arguments: &[&Expr], table: &Table) -> Result<AggregateKind, QuestionError> {
    let legal = "COUNT(DISTINCT ...) of the column that says whose a row is";
    let [expression] = arguments else {
        return Err(unsupported("COUNT(DISTINCT ...)", legal));
    };
    let column = column(expression)?;
    match table.person() {
        Some(person) if person.eq_ignore_ascii_case(&column) => Ok(AggregateKind::People),
        _ => Err(unsupported(format!("COUNT(DISTINCT {column})"), legal)),
    }
}

/// Reads a column, or `CLAMP` of a column.
fn values(expression: &Expr) -> Result<ClampedColumn, QuestionError> {
    let Expr::Function(function) = expression else {
        return Ok(ClampedColumn { column: column(expression)?, bounds: None });
    };
    let Call { word, arguments, has_star, is_distinct, within_group } = call(function)?;
    let is_plain = !has_star && !is_distinct && within_group.is_empty();
    match arguments.as_slice() {
        [of, bounds @ ..] if word == "CLAMP" && is_plain => match numbers(bounds)?.as_slice() {
            &[low, high] => Ok(ClampedColumn { column: column(of)?, bounds: Some((low, high)) }),
            _ => Err(unsupported(function.to_string(), CLAMPED)),
        },
        _ => Err(unsupported(function.to_string(), CLAMPED)),
    }
}
