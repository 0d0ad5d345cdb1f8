//! What is computed: columns of the grouping, and aggregates.

use super::refused::{AGGREGATES, none_of, refused};
use super::terms::{argument, column, constant, key, numbers, simple_name};
use crate::illegal::Illegal;
use crate::public::{Column, Kind, Table};
use crate::question::{Aggregate, Of, Share, Values};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArgExpr, FunctionArguments, Ident, OrderByExpr,
    OrderBySort, SelectItem,
};

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
                    let problem = "is selected and not grouped by";
                    return Err(Illegal::new(
                        value,
                        problem,
                        "columns of GROUP BY, and aggregates",
                    ));
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

fn aggregate(function: &Function, table: &Table) -> Result<Of, Illegal> {
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
    let FunctionArguments::List(list) = args else {
        return Err(refused(function.to_string(), AGGREGATES));
    };
    if !list.clauses.is_empty() {
        return Err(refused(function.to_string(), AGGREGATES));
    }
    let distinct = matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct));
    let word = simple_name(name)?.to_ascii_uppercase();
    let arguments: Vec<&FunctionArgExpr> =
        list.args.iter().map(argument).collect::<Result<_, _>>()?;
    if word == "COUNT" && distinct {
        return people(&arguments, table);
    }
    if distinct {
        return Err(refused(format!("{word}(DISTINCT ...)"), AGGREGATES));
    }
    if !within_group.is_empty() && word != "PERCENTILE_CONT" && word != "PERCENTILE_DISC" {
        return Err(refused("WITHIN GROUP", AGGREGATES));
    }
    match (word.as_str(), arguments.as_slice()) {
        ("COUNT", [FunctionArgExpr::Wildcard]) => Ok(Of::Count),
        ("SUM", [FunctionArgExpr::Expr(values)]) => Ok(Of::Sum(self::values(values)?)),
        ("AVG" | "MEAN", [FunctionArgExpr::Expr(values)]) => Ok(Of::Mean(self::values(values)?)),
        ("VARIANCE" | "VAR_POP", [FunctionArgExpr::Expr(values)]) => {
            Ok(Of::Variance(self::values(values)?))
        }
        ("STDDEV" | "STDDEV_POP", [FunctionArgExpr::Expr(values)]) => {
            Ok(Of::Deviation(self::values(values)?))
        }
        ("COVAR_POP", [FunctionArgExpr::Expr(x), FunctionArgExpr::Expr(y)]) => {
            Ok(Of::Covariance { column: column(x)?, with: column(y)? })
        }
        ("CORR", [FunctionArgExpr::Expr(x), FunctionArgExpr::Expr(y)]) => {
            Ok(Of::Correlation { column: column(x)?, with: column(y)? })
        }
        ("REGRESSION", [FunctionArgExpr::Expr(outcome), predictors @ ..])
            if !predictors.is_empty() =>
        {
            let predictor = |argument: &&FunctionArgExpr| match argument {
                FunctionArgExpr::Expr(expression) => column(expression),
                other => Err(refused(format!("{other}"), "the name of a column")),
            };
            let predictors = predictors.iter().map(predictor).collect::<Result<_, _>>()?;
            Ok(Of::Regression { column: column(outcome)?, predictors })
        }
        ("PROPORTION", [FunctionArgExpr::Expr(values), rest @ ..]) if !rest.is_empty() => {
            share(column(values)?, rest, table)
        }
        ("CDF", [FunctionArgExpr::Expr(values), edges @ ..]) if !edges.is_empty() => {
            Ok(Of::Cdf { column: column(values)?, edges: numbers(edges)? })
        }
        ("MEDIAN", [FunctionArgExpr::Expr(values)]) => quantiles(column(values)?, vec![0.5]),
        ("QUANTILE" | "QUANTILES", [FunctionArgExpr::Expr(values), shares @ ..])
            if !shares.is_empty() =>
        {
            quantiles(column(values)?, numbers(shares)?)
        }
        ("PERCENTILE_CONT" | "PERCENTILE_DISC", [share]) => {
            let [OrderByExpr { expr, options, with_fill: None }] = within_group.as_slice() else {
                return Err(refused(word, "PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY column)"));
            };
            if options.nulls_first.is_some() {
                return Err(refused("NULLS FIRST", "ORDER BY column"));
            }
            let share = numbers(&[share])?;
            match &options.sort {
                None | Some(OrderBySort::Asc) => quantiles(column(expr)?, share),
                Some(other) => {
                    Err(refused(format!("{other:?} in WITHIN GROUP"), "ORDER BY column"))
                }
            }
        }
        ("HISTOGRAM", [FunctionArgExpr::Expr(values), edges @ ..]) if !edges.is_empty() => {
            Ok(Of::Histogram { column: column(values)?, edges: numbers(edges)? })
        }
        _ => Err(refused(function.to_string(), AGGREGATES)),
    }
}

/// The share of some categories of a column, or of the numbers between two.
fn share(column: String, rest: &[&FunctionArgExpr], table: &Table) -> Result<Of, Illegal> {
    let is_category = |column: &Column| matches!(column.kind, Kind::Category(_));
    if !table.column(&column).is_some_and(is_category) {
        return match numbers(rest)?.as_slice() {
            &[low, high] => {
                Ok(Of::Proportion(Share { column, bounds: Some((low, high)), keys: None }))
            }
            _ => Err(refused("PROPORTION of numbers", "PROPORTION(column, low, high)")),
        };
    }
    let key = |argument: &&FunctionArgExpr| match argument {
        FunctionArgExpr::Expr(expression) => constant(expression).map(key),
        other => Err(refused(format!("{other}"), "a category")),
    };
    let keys = rest.iter().map(key).collect::<Result<Vec<_>, _>>()?;
    Ok(Of::Proportion(Share { column, bounds: None, keys: Some(keys) }))
}

fn quantiles(column: String, shares: Vec<f64>) -> Result<Of, Illegal> {
    Ok(Of::Quantiles { column, shares, candidates: None })
}

/// `COUNT(DISTINCT person)`, the only thing that is distinct.
fn people(arguments: &[&FunctionArgExpr], table: &Table) -> Result<Of, Illegal> {
    let legal = "COUNT(DISTINCT ...) of the column that says whose a row is";
    let [FunctionArgExpr::Expr(expression)] = arguments else {
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
    let arguments = match &function.args {
        FunctionArguments::List(list) => {
            list.args.iter().map(argument).collect::<Result<Vec<_>, _>>()?
        }
        _ => Vec::new(),
    };
    let word = simple_name(&function.name)?;
    match arguments.as_slice() {
        [FunctionArgExpr::Expr(values), low, high] if word.eq_ignore_ascii_case("CLAMP") => {
            let bounds = Some((numbers(&[low])?, numbers(&[high])?));
            let bounds = bounds.and_then(|(low, high)| Some((*low.first()?, *high.first()?)));
            Ok(Values { column: column(values)?, bounds })
        }
        _ => Err(refused(function.to_string(), "a column, or CLAMP(column, low, high)")),
    }
}
