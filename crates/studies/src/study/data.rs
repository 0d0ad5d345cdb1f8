//! The `[data]` table of a study: the public description of the data, and where their rows are.

use counterpoint::{Adjacency, Count, Delta, Epsilon, Guarantee, Relation};
use counterpoint_planner::PublicFacts;
use counterpoint_questions::public::{CodeText, ColumnText, Key, MissingText, Table, TableText};
use counterpoint_wire::document::{Fields, adjacency, illegal, missing, real};
use counterpoint_wire::{PlanError, Value, adjacency_name};

const DATA: [&str; 12] = [
    "adjacency",
    "people",
    "rows",
    "sample_of",
    "source",
    "from",
    "person",
    "row_number",
    "groups",
    "name",
    "budget",
    "column",
];
const COLUMN: [&str; 8] =
    ["name", "bounds", "categories", "complete", "from", "missing", "missing_codes", "others"];

/// The data of a study: their public description, and where their rows are.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    /// The public description of the table.
    pub table: Table,
    /// The file or the address of the database with the rows, if the study names one.
    pub source: Option<String>,
    /// The name of the table in the database.
    pub from: Option<String>,
    /// The budget of the data set, if it is larger than the budget of this study.
    pub budget: Option<Guarantee>,
}

/// The name of a table to which the study gives no name.
const NAME: &str = "data";

pub(super) fn read(
    fields: &mut Fields<'_>,
) -> Result<(PublicFacts, Option<DataSource>), PlanError> {
    let legal =
        "a table [data] with adjacency, and with people, rows and sample_of if they are public";
    let table = match fields.take("data") {
        Some(Value::Table(table)) => table,
        Some(other) => return Err(illegal("data", &other, legal)),
        None => return Err(missing("data", legal)),
    };
    let mut data = Fields::new(table);
    let adjacency: Adjacency = match data.take("adjacency") {
        Some(value) => adjacency("adjacency", &value)?,
        None => return Err(missing("adjacency", "add-remove, replace")),
    };
    let mut whole = |name: &str| data.whole(name, (Count::new, Count::LEGAL));
    let (people, rows, sample_of) = (whole("people")?, whole("rows")?, whole("sample_of")?);
    let groups = whole("groups")?;
    let mut text = |name: &str| Ok::<_, PlanError>(data.text(name)?.map(|text| text.into_owned()));
    let (source, from, name) = (text("source")?, text("from")?, text("name")?);
    let (person, row_number) = (text("person")?, text("row_number")?);
    let columns = columns(&mut data)?;
    let budget = data.take("budget").map(budget).transpose()?;
    data.finish("data", &DATA)?;
    let rows = rows.map_or(1, Count::get);
    let relation = Relation::new(adjacency, rows)
        .map_err(|error| PlanError::from_text("rows", &error.to_string()))?;
    let people = people.map(Count::get);
    let public = PublicFacts { relation, rows: people, sample_of: sample_of.map(Count::get) };
    if columns.is_empty() {
        return Ok((public, None));
    }
    let text = TableText {
        name: name.unwrap_or_else(|| NAME.to_owned()),
        person,
        rows,
        row_number,
        groups: groups.map(Count::get),
        adjacency: adjacency_name(adjacency).to_owned(),
        people,
        columns,
    };
    let table = Table::new(text).map_err(|error| PlanError::plan(format!("data: {error}")))?;
    Ok((public, Some(DataSource { table, source, from, budget })))
}

/// Reads the budget of the data set.
fn budget(value: Value<'_>) -> Result<Guarantee, PlanError> {
    let Value::Table(table) = value else {
        return Err(illegal("budget", &value, "a table with epsilon and delta"));
    };
    let mut fields = Fields::new(table);
    let epsilon = fields.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL));
    let delta = fields.number("delta", Some(0.0), (Delta::new, Delta::LEGAL));
    let read = epsilon.and_then(|epsilon| Ok(Guarantee { epsilon, delta: delta? }));
    let read = read.and_then(|read| fields.finish("budget", &["epsilon", "delta"]).map(|()| read));
    read.map_err(|error| PlanError::field("budget", format!("has a wrong field: {error}")))
}

fn columns(data: &mut Fields<'_>) -> Result<Vec<ColumnText>, PlanError> {
    let legal = "columns, each a table";
    let list = match data.take("column") {
        None => return Ok(Vec::new()),
        Some(Value::List(list)) => list,
        Some(other) => return Err(illegal("column", &other, legal)),
    };
    let read = |(index, value): (usize, Value<'_>)| {
        let Value::Table(table) = value else {
            let problem = format!("is {value}; legal: a table");
            return Err(PlanError::plan(problem).in_entry("column", index + 1, None));
        };
        let fields = Fields::new(table);
        let name = fields.peek_text("name").map(str::to_owned);
        column(fields).map_err(|error| error.in_entry("column", index + 1, name.as_deref()))
    };
    list.into_iter().enumerate().map(read).collect()
}

fn column(mut fields: Fields<'_>) -> Result<ColumnText, PlanError> {
    let name = fields.text("name")?.ok_or_else(|| missing("name", "the name of a column"))?;
    let mut column = ColumnText::named(&name);
    if fields.has("bounds") {
        let bounds = super::bounded_statistic::bounds(&mut fields, "bounds")?;
        column.bounds = Some((bounds.low(), bounds.high()));
    }
    column.categories = fields.take("categories").map(keys).transpose()?;
    column.complete = fields.flag("complete")?;
    column.from = fields.text("from")?.map(|from| from.into_owned());
    column.missing = fields.take("missing").map(on_missing).transpose()?;
    if let Some(codes) = fields.take("missing_codes") {
        column.missing_codes = missing_codes(codes)?;
    }
    column.others = fields.text("others")?.map(|word| word.into_owned());
    fields.finish("a column", &COLUMN)?;
    Ok(column)
}

/// Reads categories: texts or whole numbers.
pub(super) fn keys(value: Value<'_>) -> Result<Vec<Key>, PlanError> {
    let legal = "a list of texts and whole numbers";
    let Value::List(list) = value else { return Err(illegal("categories", &value, legal)) };
    let key = |value: Value<'_>| match value {
        Value::Text(text) => Ok(Key::Text(text.into_owned())),
        Value::Whole(whole) => match i64::try_from(whole) {
            Ok(whole) => Ok(Key::Whole(whole)),
            Err(_) => Err(illegal("categories", &Value::Whole(whole), legal)),
        },
        other => Err(illegal("categories", &other, legal)),
    };
    list.into_iter().map(key).collect()
}

fn on_missing(value: Value<'_>) -> Result<MissingText, PlanError> {
    match value {
        Value::Text(text) => Ok(MissingText::Word(text.into_owned())),
        value => match real(&value) {
            Some(number) => Ok(MissingText::Number(number)),
            None => Err(illegal("missing", &value, "\"skip\", or a number")),
        },
    }
}

fn missing_codes(value: Value<'_>) -> Result<Vec<CodeText>, PlanError> {
    let legal = "a list of numbers and texts";
    let Value::List(list) = value else { return Err(illegal("missing_codes", &value, legal)) };
    let code = |value: Value<'_>| match value {
        Value::Text(text) => Ok(CodeText::Text(text.into_owned())),
        value => match real(&value) {
            Some(number) => Ok(CodeText::Number(number)),
            None => Err(illegal("missing_codes", &value, legal)),
        },
    };
    list.into_iter().map(code).collect()
}
