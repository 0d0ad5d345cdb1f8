//! Statistics about columns of described data: each is a question of the algebra.

use counterpoint::Count;
use counterpoint_mechanisms::{Contribution, Query};
use counterpoint_planner::Population;
use counterpoint_questions::public::{Kind, Table};
use counterpoint_questions::question::{Aggregate, Of, Question, Share, Values, sql};
use counterpoint_questions::{Checked, Illegal, Part};

use super::{bare, data};
use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing};
use crate::text::value::Value;

/// The fields of every statistic about columns, besides those of its kind.
pub(super) const FIELDS: [&str; 4] = ["column", "where", "by", "expected"];

/// The question of a statistic about columns, and its words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StudyQuestion {
    /// The question, of one aggregate.
    pub checked: Checked,
    /// The kind of the statistic.
    pub kind: &'static str,
    /// The condition on its rows, as it is written.
    pub condition: Option<String>,
    /// The number of columns that it is grouped by. A further column that the question groups by is one whose categories are
    /// counted.
    pub by: usize,
}

impl StudyQuestion {
    /// The answer, if it is a count of all rows whose number is public: then neighbours do not differ in it.
    #[must_use]
    pub fn public_count(&self) -> Option<u64> {
        let [part] = self.checked.parts() else { return None };
        let is_public = match self.checked.contribution_to(part).ok()? {
            Contribution::Rows(relation) => relation.is_length_public(),
            Contribution::Groups(..) => false,
        };
        let people = self.checked.public_rows(part)?;
        (is_public && !part.people && part.query == Query::count()).then_some(people)
    }
}

/// A statistic about columns.
pub(super) struct About {
    pub(super) question: StudyQuestion,
    pub(super) population: Population,
    /// The question how many rows it uses, if statistics may share a noisy answer to that.
    pub(super) rows: Option<StudyQuestion>,
    /// How large its answer can be.
    pub(super) scale: f64,
    /// The fields of its kind.
    pub(super) own: &'static [&'static str],
}

/// Whether a statistic is about columns: it names one, or rows by a condition or groups, or counts rows.
pub(super) fn is_about(kind: &str, fields: &Fields<'_>) -> bool {
    FIELDS.iter().any(|field| fields.has(field)) || (kind == "count" && !fields.has("bounds"))
}

pub(super) fn read(
    kind: &'static str,
    name: &str,
    fields: &mut Fields<'_>,
    table: &Table,
) -> Result<About, PlanError> {
    let condition = fields.text("where")?.map(|text| text.into_owned());
    let filter = condition.as_ref().map(|text| sql::read_condition(text, table)).transpose();
    let filter = filter.map_err(|error| at("where", &error))?;
    let mut group = by(fields)?;
    let by = group.len();
    let expected = fields.whole("expected", (Count::new, Count::LEGAL))?.map(Count::get);
    let (of, own) = of(kind, fields, table)?;
    let of = match of {
        Asked::Of(of) => of,
        // The categories of a column are counted by grouping.
        Asked::Categories(column) => {
            group.push(column);
            Of::Count
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
    let [part] = checked.parts() else { return Err(missing("kind", "one statistic")) };
    let contribution = checked.contribution_to(part);
    let contribution =
        contribution.map_err(|error| PlanError::field("kind", format!("is not legal: {error}")))?;
    let groups = checked.cells();
    let everybody = checked
        .public_rows(part)
        .or_else(|| table.people().map(|people| (people / groups.max(1) as u64).max(1)));
    let rows = expected.or(everybody);
    if rows.is_none() && depends_on_rows(part, contribution) {
        let problem = format!(
            "is missing: the error of a {kind} depends on the number of rows; legal: how many rows are expected in each group, or \
             people in data"
        );
        return Err(PlanError::field("expected", problem));
    }
    let scale = scale(kind, part, table, rows.unwrap_or(1) as f64);
    let count = used_rows(&checked, part, contribution);
    let of_rows = |checked| StudyQuestion {
        checked,
        kind: "count",
        condition: written(condition.as_deref(), part),
        by,
    };
    let (count, population) =
        (count.map(of_rows), Population { contribution, rows, groups, count: None });
    let question = StudyQuestion { checked, kind, condition, by };
    Ok(About { question, population, rows: count, scale, own })
}

/// The question how many rows an answer is made of, if a noisy answer to it is of use.
fn used_rows(checked: &Checked, part: &Part, contribution: Contribution) -> Option<Checked> {
    let count = Query::count().laplace(1.0).and_then(|recipe| recipe.bounded(contribution)).ok()?;
    let shares = part.query.laplace(1.0).ok()?.bounded_with_count(contribution, &count).is_ok();
    checked.used_rows(part).filter(|_| shares)
}

/// The condition on the rows that are used, as SQL.
fn written(condition: Option<&str>, part: &Part) -> Option<String> {
    let mut required: Vec<&String> = part.required.iter().collect();
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

/// The name of a count of rows: what tells them from others, in 100 characters, and a number if another has it.
pub(super) fn name_of_rows(question: &StudyQuestion, is_taken: impl Fn(&str) -> bool) -> String {
    let by = question.checked.groupings().iter().map(|grouping| grouping.column.as_str());
    let by: Vec<&str> = by.collect();
    let by = (!by.is_empty()).then(|| format!("by {}", by.join(", ")));
    let details: Vec<String> = question.condition.iter().cloned().chain(by).collect();
    let name = match details.is_empty() {
        true => "rows".to_owned(),
        false => format!("rows ({})", details.join("; ")),
    };
    // Names are slots of ledgers: no unseen characters, and none that can be spelled in two ways.
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

/// An error of the algebra, at a field.
fn at(field: &str, error: &Illegal) -> PlanError {
    PlanError::field(field, format!("is not legal: {error}"))
}

/// The columns that a statistic is grouped by.
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

/// What is computed.
enum Asked {
    Of(Of),
    /// The number of rows with each category of a column.
    Categories(String),
}

fn of(
    kind: &'static str,
    fields: &mut Fields<'_>,
    table: &Table,
) -> Result<(Asked, &'static [&'static str]), PlanError> {
    if kind == "count" {
        return Ok((Asked::Of(Of::Count), &[]));
    }
    let column = fields.text("column")?.map(|column| column.into_owned());
    let column = column.ok_or_else(|| missing("column", "the name of a column"))?;
    let declared = table.column(&column);
    let is_category = declared.is_some_and(|column| matches!(column.kind, Kind::Category(_)));
    Ok(match kind {
        "proportion" => {
            let keys = fields.take("categories").map(data::keys).transpose()?;
            let bounds = if fields.has("bounds") { Some(pair(fields)?) } else { None };
            if keys.is_some() == bounds.is_some() {
                let legal = "bounds of a column of numbers, or categories";
                return Err(missing("categories", legal));
            }
            (Asked::Of(Of::Proportion(Share { column, bounds, keys })), &["bounds", "categories"])
        }
        "sum" | "mean" | "variance" | "standard-deviation" => {
            let bounds = if fields.has("bounds") { Some(pair(fields)?) } else { None };
            let values = Values { column, bounds };
            let of = match kind {
                "sum" => Of::Sum(values),
                "mean" => Of::Mean(values),
                "standard-deviation" => Of::Deviation(values),
                _ => Of::Variance(values),
            };
            (Asked::Of(of), &["bounds"])
        }
        "histogram" if is_category => (Asked::Categories(column), &[]),
        "histogram" => {
            let edges = places(fields, table, &column, "bins", 21)?;
            (Asked::Of(Of::Histogram { column, edges }), &["bins", "points"])
        }
        "cdf" => {
            let edges = places(fields, table, &column, "bins", 20)?;
            (Asked::Of(Of::Cdf { column, edges }), &["bins", "points"])
        }
        "quantiles" => {
            let shares = if fields.has("shares") { fields.numbers("shares")? } else { vec![0.5] };
            let candidates = Some(places(fields, table, &column, "candidates", 101)?);
            let of = Of::Quantiles { column, shares, candidates };
            (Asked::Of(of), &["shares", "candidates", "points"])
        }
        "covariance" | "correlation" => {
            let with = fields.text("with")?.map(|with| with.into_owned());
            let with = with.ok_or_else(|| missing("with", "the name of another column"))?;
            let of = match kind {
                "covariance" => Of::Covariance { column, with },
                _ => Of::Correlation { column, with },
            };
            (Asked::Of(of), &["with"])
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
            (Asked::Of(Of::Regression { column, predictors }), &["predictors"])
        }
    })
}

fn pair(fields: &mut Fields<'_>) -> Result<(f64, f64), PlanError> {
    let bounds = bare::bounds(fields, "bounds")?;
    Ok((bounds.low(), bounds.high()))
}

/// A list of numbers, or evenly spaced ones over the column's bounds.
fn places(
    fields: &mut Fields<'_>,
    table: &Table,
    column: &str,
    name: &'static str,
    usual: u64,
) -> Result<Vec<f64>, PlanError> {
    if let Some(Kind::Number(bounds)) = table.column(column).map(|column| &column.kind)
        && !fields.has(name)
        && !fields.has("bounds")
    {
        let ends = [bounds.low(), bounds.high()].map(Value::Real).to_vec();
        fields.fill("bounds", Value::List(ends));
    }
    bare::places(fields, name, usual)
}

/// Whether the error depends on the number of rows: means and their like, and ranks.
fn depends_on_rows(part: &Part, contribution: Contribution) -> bool {
    let is_plain = part.query.laplace(1.0).and_then(|recipe| recipe.bounded(contribution));
    !is_plain.is_ok_and(|measurement| measurement.noises().len() == 1)
}

/// How large an answer can be.
fn scale(kind: &str, part: &Part, table: &Table, rows: f64) -> f64 {
    let bounds = |column: Option<&String>| match column.and_then(|column| table.column(column)) {
        Some(column) => match column.kind {
            Kind::Number(bounds) => (bounds.low(), bounds.high()),
            Kind::Category(_) => (0.0, 1.0),
        },
        None => (0.0, 1.0),
    };
    bare::scale(kind, rows, [bounds(part.column.as_ref()), bounds(part.others.first())])
}
