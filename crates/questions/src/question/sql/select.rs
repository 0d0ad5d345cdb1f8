//! Reads the SELECT of a text, clause by clause.

use super::aggregates::aggregates;
use super::conditions::{MOST_DEPTH, condition};
use super::terms::{column, simple_name};
use super::unsupported::{SHAPE, none_of, unsupported};
use crate::error::QuestionError;
use crate::public::Table;
use crate::question::Question;
use sqlparser::ast::{GroupByExpr, Query, Select, SetExpr, Statement, TableFactor, TableWithJoins};

/// Reads the only statement of a text as a question.
pub(super) fn question<'a>(
    statements: Vec<Statement>,
    find: impl Fn(&str) -> Option<&'a Table>,
) -> Result<Question, QuestionError> {
    match <[Statement; 1]>::try_from(statements) {
        Ok([Statement::Query(query)]) => of_select(&select(*query)?, find),
        Ok([other]) => Err(unsupported(first_word(&other.to_string()), SHAPE)),
        Err(list) => {
            Err(QuestionError::new("the text", format!("has {} statements", list.len()), "one"))
        }
    }
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or("nothing").to_owned()
}

/// Returns the SELECT of a query without clauses around it. The pattern names every field, so that no clause is
/// overlooked.
fn select(query: Query) -> Result<Select, QuestionError> {
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
        SetExpr::SetOperation { op, .. } => Err(unsupported(op.to_string(), SHAPE)),
        other => Err(unsupported(first_word(&other.to_string()), SHAPE)),
    }
}

fn of_select<'a>(
    select: &Select,
    find: impl Fn(&str) -> Option<&'a Table>,
) -> Result<Question, QuestionError> {
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
        QuestionError::new(
            format!("table {name:?}"),
            "does not exist",
            "a table that the service lists",
        )
    })?;
    let filter =
        selection.as_ref().map(|filter| condition(filter, table, MOST_DEPTH)).transpose()?;
    let group = group(group_by)?;
    let aggregates = aggregates(projection, &group, table)?;
    let table = table.name().to_owned();
    Ok(Question { table, filter, group, aggregates, rows: None, groups: None, rows_in_group: None })
}

fn table_name(from: &[TableWithJoins]) -> Result<String, QuestionError> {
    let [TableWithJoins { relation, joins }] = from else {
        return Err(unsupported(format!("FROM with {} tables", from.len()), "one table"));
    };
    if !joins.is_empty() {
        let legal = "one table; views that join tables are the owner's to declare";
        return Err(unsupported("JOIN", legal));
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
        TableFactor::Derived { .. } => Err(unsupported("a subquery in FROM", "one table")),
        other => Err(unsupported(format!("FROM {other}"), "the name of one table")),
    }
}

fn group(clause: &GroupByExpr) -> Result<Vec<String>, QuestionError> {
    match clause {
        GroupByExpr::All(_) => Err(unsupported("GROUP BY ALL", "GROUP BY with columns")),
        GroupByExpr::Expressions(columns, modifiers) => {
            if let Some(modifier) = modifiers.first() {
                return Err(unsupported(format!("GROUP BY {modifier}"), "GROUP BY with columns"));
            }
            columns.iter().map(column).collect()
        }
    }
}
