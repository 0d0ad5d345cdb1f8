//! A subset of SQL, as the algebra. What is not understood is refused by naming it; no text is ever passed on.

use super::{Aggregate, Condition, Of, Question, Share, Values};
use crate::illegal::Illegal;
use crate::public::{Key, Kind, Table};
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, GroupByExpr, Ident, ObjectName, ObjectNamePart, OrderByExpr, OrderBySort,
    Query, Select, SelectItem, SetExpr, Statement, TableFactor, TableWithJoins, UnaryOperator,
    Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

/// The longest text that is read.
pub const MOST_TEXT: usize = 1 << 16;
/// How deep conditions may be within one another.
const MOST_DEPTH: usize = 50;

const SHAPE: &str =
    "SELECT columns and aggregates FROM one table [WHERE conditions] [GROUP BY columns]";
const AGGREGATES: &str = "COUNT(*), COUNT(DISTINCT person), SUM(column), AVG(column), VARIANCE(column), STDDEV(column), MEDIAN(column), \
                          QUANTILE(column, share), HISTOGRAM(column, edge, edge, ...), CDF(column, edge, ...), PROPORTION(column, category, ...), \
                          PROPORTION(column, low, high), COVAR_POP(column, column), CORR(column, column), REGRESSION(outcome, predictor, ...); \
                          AVG, SUM, VARIANCE and STDDEV also of CLAMP(column, low, high)";
const CONDITIONS: &str =
    "comparisons of a column with a constant, BETWEEN, IN, IS NULL, IS NOT NULL, AND, OR, NOT";

fn refused(what: impl Into<String>, legal: &str) -> Illegal {
    Illegal::new(what, "is not understood", legal)
}

/// Reads a question. Tables are looked up by their names.
///
/// # Errors
/// [`Illegal`], naming what is not understood.
pub fn read<'a>(
    text: &str,
    find: impl Fn(&str) -> Option<&'a Table> + Send,
) -> Result<Question, Illegal> {
    on_a_deep_stack(text, || parsed(text, find))
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

/// So much of it is used as a text needs.
const STACK: usize = 256 << 20;

fn parsed<'a>(text: &str, find: impl Fn(&str) -> Option<&'a Table>) -> Result<Question, Illegal> {
    let parser = Parser::new(&GenericDialect {}).with_recursion_limit(MOST_DEPTH);
    let parsed = parser.try_with_sql(text).and_then(|mut parser| parser.parse_statements());
    let parsed = parsed.map_err(|error| {
        let problem = error.to_string();
        Illegal::new("the text", format!("is no SQL: {problem}"), SHAPE)
    })?;
    let query = match <[Statement; 1]>::try_from(parsed) {
        Ok([Statement::Query(query)]) => query,
        Ok([other]) => return Err(refused(first_word(&other.to_string()), SHAPE)),
        Err(list) => {
            let problem = format!("has {} statements", list.len());
            return Err(Illegal::new("the text", problem, "one"));
        }
    };
    question(&select(*query)?, find)
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or("nothing").to_owned()
}

/// What a clause is called, if it is there.
type Clause = (&'static str, bool);

fn none_of(clauses: &[Clause]) -> Result<(), Illegal> {
    match clauses.iter().find(|(_, there)| *there) {
        Some((name, _)) => Err(refused(*name, SHAPE)),
        None => Ok(()),
    }
}

/// The one SELECT of a query, without anything around it. Every field is named, so that none is overlooked.
fn select(query: Query) -> Result<Select, Illegal> {
    let Query {
        with,
        body,
        order_by,
        limit_clause,
        fetch,
        locks,
        for_clause,
        settings,
        format_clause,
        pipe_operators,
    } = query;
    none_of(&[
        ("WITH", with.is_some()),
        ("ORDER BY", order_by.is_some()),
        ("LIMIT", limit_clause.is_some()),
        ("FETCH", fetch.is_some()),
        ("FOR UPDATE", !locks.is_empty()),
        ("FOR", for_clause.is_some()),
        ("SETTINGS", settings.is_some()),
        ("FORMAT", format_clause.is_some()),
        ("|>", !pipe_operators.is_empty()),
    ])?;
    match *body {
        SetExpr::Select(select) => Ok(*select),
        SetExpr::SetOperation { op, .. } => Err(refused(op.to_string(), SHAPE)),
        other => Err(refused(first_word(&other.to_string()), SHAPE)),
    }
}

fn question<'a>(
    select: &Select,
    find: impl Fn(&str) -> Option<&'a Table>,
) -> Result<Question, Illegal> {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor: _,
    } = select;
    none_of(&[
        ("a hint", !optimizer_hints.is_empty()),
        ("SELECT DISTINCT", distinct.is_some()),
        ("a modifier of SELECT", select_modifiers.is_some()),
        ("TOP", top.is_some()),
        ("EXCLUDE", exclude.is_some()),
        ("INTO", into.is_some()),
        ("LATERAL VIEW", !lateral_views.is_empty()),
        ("PREWHERE", prewhere.is_some()),
        ("CONNECT BY", !connect_by.is_empty()),
        ("CLUSTER BY", !cluster_by.is_empty()),
        ("DISTRIBUTE BY", !distribute_by.is_empty()),
        ("SORT BY", !sort_by.is_empty()),
        ("HAVING", having.is_some()),
        ("WINDOW", !named_window.is_empty()),
        ("QUALIFY", qualify.is_some()),
        ("AS STRUCT", value_table_mode.is_some()),
    ])?;
    let name = table_name(from)?;
    let table = find(&name).ok_or_else(|| {
        Illegal::new(format!("table {name:?}"), "is not here", "a table that the service lists")
    })?;
    let filter =
        selection.as_ref().map(|filter| condition(filter, table, MOST_DEPTH)).transpose()?;
    let group = group(group_by)?;
    let aggregates = aggregates(projection, &group, table)?;
    let table = table.name().to_owned();
    Ok(Question { table, filter, group, aggregates, rows: None, groups: None, rows_in_group: None })
}

fn table_name(from: &[TableWithJoins]) -> Result<String, Illegal> {
    let [TableWithJoins { relation, joins }] = from else {
        return Err(refused(format!("FROM with {} tables", from.len()), "one table"));
    };
    if !joins.is_empty() {
        let legal = "one table; views that join tables are the owner's to declare";
        return Err(refused("JOIN", legal));
    }
    match relation {
        TableFactor::Table {
            name,
            alias: None,
            args: None,
            with_hints,
            version: None,
            with_ordinality: false,
            partitions,
            json_path: None,
            sample: None,
            index_hints,
        } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
            simple_name(name)
        }
        TableFactor::Derived { .. } => Err(refused("a subquery in FROM", "one table")),
        other => Err(refused(format!("FROM {other}"), "the name of one table")),
    }
}

fn simple_name(name: &ObjectName) -> Result<String, Illegal> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Ok(ident.value.clone()),
        _ => Err(refused(format!("the name {name}"), "a name without dots")),
    }
}

fn group(clause: &GroupByExpr) -> Result<Vec<String>, Illegal> {
    match clause {
        GroupByExpr::All(_) => Err(refused("GROUP BY ALL", "GROUP BY with columns")),
        GroupByExpr::Expressions(columns, modifiers) => {
            if let Some(modifier) = modifiers.first() {
                return Err(refused(format!("GROUP BY {modifier}"), "GROUP BY with columns"));
            }
            columns.iter().map(column).collect()
        }
    }
}

fn column(expression: &Expr) -> Result<String, Illegal> {
    match expression {
        Expr::Identifier(Ident { value, .. }) => Ok(value.clone()),
        Expr::Nested(inner) => column(inner),
        other => Err(refused(format!("{other}"), "the name of a column")),
    }
}

fn aggregates(
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
    let is_category = |column: &crate::public::Column| matches!(column.kind, Kind::Category(_));
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

fn argument(argument: &FunctionArg) -> Result<&FunctionArgExpr, Illegal> {
    match argument {
        FunctionArg::Unnamed(expression) => Ok(expression),
        other => Err(refused(format!("the argument {other}"), AGGREGATES)),
    }
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

fn numbers(arguments: &[&FunctionArgExpr]) -> Result<Vec<f64>, Illegal> {
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

enum Constant {
    Number(f64),
    Text(String),
}

/// A constant as a category.
fn key(constant: Constant) -> Key {
    match constant {
        Constant::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Key::Whole(number as i64)
        }
        Constant::Number(number) => Key::Text(number.to_string()),
        Constant::Text(text) => Key::Text(text),
    }
}

fn constant(expression: &Expr) -> Result<Constant, Illegal> {
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

fn condition(expression: &Expr, table: &Table, depth: usize) -> Result<Condition, Illegal> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Illegal::new("WHERE", "has conditions within one another", "at most 50 deep"));
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
        other => Err(refused(other.to_string(), CONDITIONS)),
    }
}

/// What stands between the ANDs, or the ORs, of one chain.
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

/// Several keys of a column are one list, as they are in the algebra.
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

/// A column on either side.
fn comparison(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    table: &Table,
) -> Result<Condition, Illegal> {
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
        _ => Err(refused(format!("{left} {op} {right}"), CONDITIONS)),
    }
}

fn compared(
    name: &str,
    op: BinaryOperator,
    constant: Constant,
    table: &Table,
) -> Result<Condition, Illegal> {
    let column = name.to_owned();
    let kind = table.column(name).map(|column| &column.kind);
    if let Some(Kind::Category(_)) = kind {
        let keys = Condition::In { column, keys: vec![key(constant)] };
        return match op {
            BinaryOperator::Eq => Ok(keys),
            BinaryOperator::NotEq => Ok(Condition::Not(Box::new(keys))),
            other => {
                Err(refused(format!("{name} {other}"), "=, <> and IN for a column of categories"))
            }
        };
    }
    let Constant::Number(than) = constant else {
        return Err(Illegal::new(name, "is compared with a text", "a number"));
    };
    let equal = |column| Condition::Between { column, from: Some(than), to: Some(than) };
    match op {
        BinaryOperator::Eq => Ok(equal(column)),
        BinaryOperator::NotEq => Ok(Condition::Not(Box::new(equal(column)))),
        BinaryOperator::Lt => Ok(Condition::Below { column, than }),
        BinaryOperator::LtEq => Ok(Condition::Between { column, from: None, to: Some(than) }),
        BinaryOperator::Gt => Ok(Condition::Above { column, than }),
        BinaryOperator::GtEq => Ok(Condition::Between { column, from: Some(than), to: None }),
        other => Err(refused(format!("{name} {other}"), CONDITIONS)),
    }
}
