//! Statistics about columns of the described data. Each is a question about the table.

use counterpoint::Count;
use counterpoint_mechanisms::{Contribution, Query};
use counterpoint_planner::Population;
use counterpoint_questions::public::{ColumnKind, Table};
use counterpoint_questions::question::{
    Aggregate, AggregateKind, ClampedColumn, Question, Share, sql,
};
use counterpoint_questions::{CheckedAggregate, CheckedQuestion, QuestionError};
use counterpoint_wire::document::{Fields, illegal, missing};
use counterpoint_wire::{PlanError, Value};

use super::{bounded_statistic, data};

/// The fields of every statistic about columns, besides those of its kind.
pub(super) const FIELDS: [&str; 4] = ["column", "where", "by", "expected"];

/// The question of a statistic about columns, with the words of the study.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StudyQuestion {
    /// The question, which has one aggregate.
    pub checked: CheckedQuestion,
    /// The kind of the statistic.
    pub kind: &'static str,
    /// The condition on the rows, as the study has it.
    pub condition: Option<String>,
    /// The number of columns that the statistic is grouped by. If the question groups by a further column, the
    /// statistic counts the categories of that column.
    pub by: usize,
}

impl StudyQuestion {
    /// The answer, if it is a count of all rows and their number is public: then it does not differ between neighbours.
    #[must_use]
    pub fn public_count(&self) -> Option<u64> {
        let [aggregate] = self.checked.aggregates() else { return None };
        let is_public = match self.checked.contribution_to(aggregate).ok()? {
            Contribution::Rows(relation) => relation.is_length_public(),
            Contribution::Groups(..) => false,
        };
        let people = self.checked.public_rows(aggregate)?;
        (is_public && !aggregate.counts_people && aggregate.query == Query::count())
            .then_some(people)
    }
}

/// A statistic about columns.
pub(super) struct ColumnStatistic {
    pub(super) question: StudyQuestion,
    pub(super) population: Population,
    /// The question for the number of rows that are used, if statistics may share its noisy answer.
    pub(super) rows: Option<StudyQuestion>,
    /// The largest possible answer.
    pub(super) scale: f64,
    /// The fields of the kind.
    pub(super) own: &'static [&'static str],
}

/// True if a statistic is about columns: it names a column, a condition or groups, or it counts rows.
pub(super) fn is_about(kind: &str, fields: &Fields<'_>) -> bool {
    FIELDS.iter().any(|field| fields.has(field)) || (kind == "count" && !fields.has("bounds"))
}

pub(super) fn read(
    kind: &'static str,
    name: &str,
    fields: &mut Fields<'_>,
    table: &Table,
) -> Result<ColumnStatistic, PlanError> {
    let condition = fields.text("where")?.map(|text| text.into_owned());
    let filter = condition.as_ref().map(|text| sql::read_condition(text, table)).transpose();
    let filter = filter.map_err(|error| at("where", &error))?;
    let mut group = by(fields)?;
    let by = group.len();
    let expected = fields.whole("expected", (Count::new, Count::LEGAL))?.map(Count::get);
    let (of, own) = of(kind, fields, table)?;
    let of = match of {
        StatisticTarget::Of(of) => of,
        // The categories of a column are counted by grouping.
        StatisticTarget::Categories(column) => {
            group.push(column);
            AggregateKind::Count
        }
    };
    let question = Question {
        table: table.name().to_owned(),
        filter,
        group,
        aggregates: vec![Aggregate { name: Some(name.to_owned()), of }],
        rows: None,
        groups: None,
        rows_in_group: None,
    };
    let checked = question.check(table).map_err(|error| at("column", &error))?;
    let [aggregate] = checked.aggregates() else { return Err(missing("kind", "one statistic")) };
    let contribution = checked.contribution_to(aggregate);
    let contribution =
        contribution.map_err(|error| PlanError::field("kind", format!("is not legal: {error}")))?;
    let groups = checked.group_count();
    let everybody = checked
        .public_rows(aggregate)
        .or_else(|| table.people().map(|people| (people / groups.max(1) as u64).max(1)));
    let rows = expected.or(everybody);
    if rows.is_none() && depends_on_rows(aggregate, contribution) {
        let problem = format!(
            "is missing: the error of a {kind} depends on the number of rows; legal: the number of rows that you expect in each \
             group, or people in [data]"
        );
        return Err(PlanError::field("expected", problem));
    }
    let scale = scale(kind, aggregate, table, rows.unwrap_or(1) as f64);
    let count = used_rows(&checked, aggregate, contribution);
    let of_rows = |checked| StudyQuestion {
        checked,
        kind: "count",
        condition: written(condition.as_deref(), aggregate),
        by,
    };
    let (count, population) =
        (count.map(of_rows), Population { contribution, rows, groups, count: None });
    let question = StudyQuestion { checked, kind, condition, by };
    Ok(ColumnStatistic { question, population, rows: count, scale, own })
}

/// Returns the question for the number of rows that are used, if a noisy answer to it helps.
fn used_rows(
    checked: &CheckedQuestion,
    aggregate: &CheckedAggregate,
    contribution: Contribution,
) -> Option<CheckedQuestion> {
    let count = Query::count().laplace(1.0).and_then(|recipe| recipe.bounded(contribution)).ok()?;
    let shares =
        aggregate.query.laplace(1.0).ok()?.bounded_with_count(contribution, &count).is_ok();
    checked.row_count_question(aggregate).filter(|_| shares)
}

/// The condition on the rows that are used, as SQL.
fn written(condition: Option<&str>, aggregate: &CheckedAggregate) -> Option<String> {
    let mut required: Vec<&String> = aggregate.required.iter().collect();
    required.sort();
    required.dedup();
    let required: Vec<String> =
        required.into_iter().map(|column| format!("{column} IS NOT NULL")).collect();
    let all: Vec<String> = match (condition, required.as_slice()) {
        (Some(condition), []) => vec![condition.to_owned()],
        (Some(condition), _) => [format!("({condition})")].into_iter().chain(required).collect(),
        (None, _) => required,
    };
    (!all.is_empty()).then(|| all.join(" AND "))
}

/// Returns the name of a count of rows: the condition and the grouping, cut after 100 characters, and a number if the
/// name is taken.
pub(super) fn name_of_rows(question: &StudyQuestion, is_taken: impl Fn(&str) -> bool) -> String {
    let by = question.checked.group_columns().iter().map(|grouping| grouping.column.as_str());
    let by: Vec<&str> = by.collect();
    let by = (!by.is_empty()).then(|| format!("by {}", by.join(", ")));
    let details: Vec<String> = question.condition.iter().cloned().chain(by).collect();
    let name = match details.is_empty() {
        true => "rows".to_owned(),
        false => format!("rows ({})", details.join("; ")),
    };
    // Names become slots of ledgers, so they contain no invisible characters, and none with several encodings.
    let is_plain = |c: &char| c.is_ascii_graphic() || *c == ' ';
    let name: String = name.chars().filter(is_plain).collect();
    let name = match name.char_indices().nth(100) {
        Some((end, _)) => format!("{}...", name.get(..end).unwrap_or_default().trim_end()),
        None => name,
    };
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = [name.clone()].into_iter().chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(name)
}

/// Places an error of a question in a field.
fn at(field: &str, error: &QuestionError) -> PlanError {
    PlanError::field(field, format!("is not legal: {error}"))
}

/// Takes the columns that a statistic is grouped by.
fn by(fields: &mut Fields<'_>) -> Result<Vec<String>, PlanError> {
    let legal = "a column of categories, or a list of them";
    match fields.take("by") {
        None => Ok(Vec::new()),
        Some(Value::Text(text)) => Ok(vec![text.into_owned()]),
        Some(Value::List(list)) => {
            let column = |value: Value<'_>| match value {
                Value::Text(text) => Ok(text.into_owned()),
                other => Err(illegal("by", &other, legal)),
            };
            list.into_iter().map(column).collect()
        }
        Some(other) => Err(illegal("by", &other, legal)),
    }
}

/// The aggregate that a statistic needs.
enum StatisticTarget {
    Of(AggregateKind),
    /// The number of rows with each category of a column.
    Categories(String),
}

fn of(
    kind: &'static str,
    fields: &mut Fields<'_>,
    table: &Table,
) -> Result<(StatisticTarget, &'static [&'static str]), PlanError> {
    if kind == "count" {
        return Ok((StatisticTarget::Of(AggregateKind::Count), &[]));
    }
    let column = fields.text("column")?.map(|column| column.into_owned());
    let column = column.ok_or_else(|| missing("column", "the name of a column"))?;
    let declared = table.column(&column);
    let is_category = declared.is_some_and(|column| matches!(column.kind, ColumnKind::Category(_)));
    Ok(match kind {
        "proportion" => {
            let keys = fields.take("categories").map(data::keys).transpose()?;
            let bounds = if fields.has("bounds") { Some(pair(fields)?) } else { None };
            if keys.is_some() == bounds.is_some() {
                let legal = "bounds of a column of numbers, or categories";
                return Err(missing("categories", legal));
            }
            (
                StatisticTarget::Of(AggregateKind::Proportion(Share { column, bounds, keys })),
                &["bounds", "categories"],
            )
        }
        "sum" | "mean" | "variance" | "standard-deviation" => {
            let bounds = if fields.has("bounds") { Some(pair(fields)?) } else { None };
            let values = ClampedColumn { column, bounds };
            let of = match kind {
                "sum" => AggregateKind::Sum(values),
                "mean" => AggregateKind::Mean(values),
                "standard-deviation" => AggregateKind::Deviation(values),
                _ => AggregateKind::Variance(values),
            };
            (StatisticTarget::Of(of), &["bounds"])
        }
        "histogram" if is_category => (StatisticTarget::Categories(column), &[]),
        "histogram" => {
            let edges = places(fields, table, &column, "bins", 21)?;
            (StatisticTarget::Of(AggregateKind::Histogram { column, edges }), &["bins", "points"])
        }
        "cdf" => {
            let edges = places(fields, table, &column, "bins", 20)?;
            (StatisticTarget::Of(AggregateKind::Cdf { column, edges }), &["bins", "points"])
        }
        "quantiles" => {
            let shares = if fields.has("shares") { fields.numbers("shares")? } else { vec![0.5] };
            let candidates = Some(places(fields, table, &column, "candidates", 101)?);
            let of = AggregateKind::Quantiles { column, shares, candidates };
            (StatisticTarget::Of(of), &["shares", "candidates", "points"])
        }
        "covariance" | "correlation" => {
            let with = fields.text("with")?.map(|with| with.into_owned());
            let with = with.ok_or_else(|| missing("with", "the name of another column"))?;
            let of = match kind {
                "covariance" => AggregateKind::Covariance { column, with },
                _ => AggregateKind::Correlation { column, with },
            };
            (StatisticTarget::Of(of), &["with"])
        }
        _ => {
            let legal = "a list of names of columns";
            let predictors = match fields.take("predictors") {
                Some(Value::List(list)) => list,
                Some(other) => return Err(illegal("predictors", &other, legal)),
                None => return Err(missing("predictors", legal)),
            };
            let name = |value: Value<'_>| match value {
                Value::Text(text) => Ok(text.into_owned()),
                other => Err(illegal("predictors", &other, legal)),
            };
            let predictors = predictors.into_iter().map(name).collect::<Result<_, _>>()?;
            (StatisticTarget::Of(AggregateKind::Regression { column, predictors }), &["predictors"])
        }
    })
}

fn pair(fields: &mut Fields<'_>) -> Result<(f64, f64), PlanError> {
    let bounds = bounded_statistic::bounds(fields, "bounds")?;
    Ok((bounds.low(), bounds.high()))
}

/// Reads a list of numbers, or makes evenly spaced numbers over the column's bounds.
fn places(
    fields: &mut Fields<'_>,
    table: &Table,
    column: &str,
    name: &'static str,
    usual: u64,
) -> Result<Vec<f64>, PlanError> {
    if let Some(ColumnKind::Number(bounds)) = table.column(column).map(|column| &column.kind)
        && !fields.has(name)
        && !fields.has("bounds")
    {
        let ends = [bounds.low(), bounds.high()].map(Value::Real).to_vec();
        fields.fill("bounds", Value::List(ends));
    }
    bounded_statistic::places(fields, name, usual)
}

/// True if the error depends on the number of rows, as for means and ranks.
fn depends_on_rows(aggregate: &CheckedAggregate, contribution: Contribution) -> bool {
    let is_plain = aggregate.query.laplace(1.0).and_then(|recipe| recipe.bounded(contribution));
    !is_plain.is_ok_and(|measurement| measurement.noises().len() == 1)
}

/// The largest possible answer.
fn scale(kind: &str, aggregate: &CheckedAggregate, table: &Table, rows: f64) -> f64 {
    let bounds = |column: Option<&String>| match column.and_then(|column| table.column(column)) {
        Some(column) => match column.kind {
            ColumnKind::Number(bounds) => (bounds.low(), bounds.high()),
            ColumnKind::Category(_) => (0.0, 1.0),
        },
        None => (0.0, 1.0),
    };
    bounded_statistic::scale(
        kind,
        rows,
        [bounds(aggregate.column.as_ref()), bounds(aggregate.others.first())],
    )
}
