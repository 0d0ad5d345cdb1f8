//! What is computed: columns of the grouping, and aggregates.

use super::refused::{AGGREGATES, none_of, refused};
use super::terms::{column, constant, key, numbers, simple_name};
use crate::illegal::Illegal;
use crate::public::{Column, Kind, Table};
use crate::question::{Aggregate, Of, Share, Values};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    OrderByExpr, OrderBySort, SelectItem,
};

/// What may be added up.
const CLAMPED: &str = "a column, or CLAMP(column, low, high)";

pub(super) fn aggregates(
    projection: &[SelectItem],
    group: &[String],
    table: &Table,
) -> Result<Vec<Aggregate>, Illegal> {
    let mut list = Vec::new();
    for item in projection {
        let (expression, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
            other => return Err(refused(format!("{other}"), AGGREGATES)),
        };
        match expression {
            Expr::Identifier(Ident { value, .. }) => {
                if !group.iter().any(|column| column.eq_ignore_ascii_case(value)) {
                    let legal = "columns of GROUP BY, and aggregates";
                    return Err(Illegal::new(value, "is selected and not grouped by", legal));
                }
            }
            Expr::Function(function) => {
                let name = alias.or_else(|| Some(function.to_string()));
                list.push(Aggregate { name, of: aggregate(function, table)? });
            }
            other => return Err(refused(format!("{other}"), AGGREGATES)),
        }
    }
    Ok(list)
}

/// A call without anything around it.
struct Call<'a> {
    /// Its name, in capitals.
    word: String,
    arguments: Vec<&'a Expr>,
    /// Whether `*` is among the arguments.
    has_star: bool,
    is_distinct: bool,
    within_group: &'a [OrderByExpr],
}

/// Reads a call. Every field is named, so that none is overlooked.
fn call(function: &Function) -> Result<Call<'_>, Illegal> {
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
        _ => return Err(refused(function.to_string(), AGGREGATES)),
    };
    let is_distinct = matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct));
    let (mut arguments, mut has_star) = (Vec::new(), false);
    for argument in &list.args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => arguments.push(expression),
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => has_star = true,
            other => return Err(refused(format!("the argument {other}"), AGGREGATES)),
        }
    }
    let word = simple_name(name)?.to_ascii_uppercase();
    Ok(Call { word, arguments, has_star, is_distinct, within_group })
}

fn aggregate(function: &Function, table: &Table) -> Result<Of, Illegal> {
    let Call { word, arguments, has_star, is_distinct, within_group } = call(function)?;
    let is_percentile = word == "PERCENTILE_CONT" || word == "PERCENTILE_DISC";
    match word.as_str() {
        "COUNT" if is_distinct => return people(&arguments, table),
        _ if is_distinct => return Err(refused(format!("{word}(DISTINCT ...)"), AGGREGATES)),
        _ if !within_group.is_empty() && !is_percentile => {
            return Err(refused("WITHIN GROUP", AGGREGATES));
        }
        "COUNT" if has_star && arguments.is_empty() => return Ok(Of::Count),
        _ if has_star => return Err(refused(function.to_string(), AGGREGATES)),
        _ => {}
    }
    match (word.as_str(), arguments.as_slice()) {
        ("SUM", [of]) => Ok(Of::Sum(values(of)?)),
        ("AVG" | "MEAN", [of]) => Ok(Of::Mean(values(of)?)),
        ("VARIANCE" | "VAR_POP", [of]) => Ok(Of::Variance(values(of)?)),
        ("STDDEV" | "STDDEV_POP", [of]) => Ok(Of::Deviation(values(of)?)),
        ("COVAR_POP", [x, y]) => Ok(Of::Covariance { column: column(x)?, with: column(y)? }),
        ("CORR", [x, y]) => Ok(Of::Correlation { column: column(x)?, with: column(y)? }),
        ("REGRESSION", [outcome, predictors @ ..]) if !predictors.is_empty() => {
            let predictors = predictors.iter().map(|one| column(one)).collect::<Result<_, _>>()?;
            Ok(Of::Regression { column: column(outcome)?, predictors })
        }
        ("PROPORTION", [of, rest @ ..]) if !rest.is_empty() => share(column(of)?, rest, table),
        ("CDF", [of, edges @ ..]) if !edges.is_empty() => {
            Ok(Of::Cdf { column: column(of)?, edges: numbers(edges)? })
        }
        ("HISTOGRAM", [of, edges @ ..]) if !edges.is_empty() => {
            Ok(Of::Histogram { column: column(of)?, edges: numbers(edges)? })
        }
        ("MEDIAN", [of]) => quantiles(column(of)?, vec![0.5]),
        ("QUANTILE" | "QUANTILES", [of, shares @ ..]) if !shares.is_empty() => {
            quantiles(column(of)?, numbers(shares)?)
        }
        (_, [share]) if is_percentile => {
            let [OrderByExpr { expr, options, with_fill: None }] = within_group else {
                return Err(refused(word, "PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY column)"));
            };
            if options.nulls_first.is_some() {
                return Err(refused("NULLS FIRST", "ORDER BY column"));
            }
            match &options.sort {
                None | Some(OrderBySort::Asc) => quantiles(column(expr)?, numbers(&[share])?),
                Some(other) => {
                    Err(refused(format!("{other:?} in WITHIN GROUP"), "ORDER BY column"))
                }
            }
        }
        _ => Err(refused(function.to_string(), AGGREGATES)),
    }
}

/// The share of some categories of a column, or of the numbers between two.
fn share(column: String, rest: &[&Expr], table: &Table) -> Result<Of, Illegal> {
    let is_category = |column: &Column| matches!(column.kind, Kind::Category(_));
    let (bounds, keys) = if table.column(&column).is_some_and(is_category) {
        let keys = rest.iter().map(|one| constant(one).map(key)).collect::<Result<_, _>>()?;
        (None, Some(keys))
    } else {
        match numbers(rest)?.as_slice() {
            &[low, high] => (Some((low, high)), None),
            _ => return Err(refused("PROPORTION of numbers", "PROPORTION(column, low, high)")),
        }
    };
    Ok(Of::Proportion(Share { column, bounds, keys }))
}

fn quantiles(column: String, shares: Vec<f64>) -> Result<Of, Illegal> {
    Ok(Of::Quantiles { column, shares, candidates: None })
}

/// `COUNT(DISTINCT person)`, the only thing that is distinct.
fn people(arguments: &[&Expr], table: &Table) -> Result<Of, Illegal> {
    let legal = "COUNT(DISTINCT ...) of the column that says whose a row is";
    let [expression] = arguments else {
        return Err(refused("COUNT(DISTINCT ...)", legal));
    };
    let column = column(expression)?;
    match table.person() {
        Some(person) if person.eq_ignore_ascii_case(&column) => Ok(Of::People),
        _ => Err(refused(format!("COUNT(DISTINCT {column})"), legal)),
    }
}

/// A column, or one that is clamped.
fn values(expression: &Expr) -> Result<Values, Illegal> {
    let Expr::Function(function) = expression else {
        return Ok(Values { column: column(expression)?, bounds: None });
    };
    let Call { word, arguments, has_star, is_distinct, within_group } = call(function)?;
    let is_plain = !has_star && !is_distinct && within_group.is_empty();
    match arguments.as_slice() {
        [of, bounds @ ..] if word == "CLAMP" && is_plain => match numbers(bounds)?.as_slice() {
            &[low, high] => Ok(Values { column: column(of)?, bounds: Some((low, high)) }),
            _ => Err(refused(function.to_string(), CLAMPED)),
        },
        _ => Err(refused(function.to_string(), CLAMPED)),
    }
}
