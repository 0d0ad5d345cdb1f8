//! Frictionless table schemas, alone or in a data resource or data package.
//! <https://specs.frictionlessdata.io/table-schema/>, versions 1 and 2.

use serde_json::Value;

use super::column::{CodebookColumn, ColumnContent, categories, finite_number};
use super::json::{bound, code, codes, file_name, text};
use crate::text::error::{PlanError, quoted};

/// Returns the columns of the table schema of the data file with this name.
pub(super) fn columns(object: &Value, data: &str) -> Result<Vec<CodebookColumn>, PlanError> {
    let schema = schema(object, data)?;
    let Some(fields) = schema.get("fields").and_then(Value::as_array) else {
        let legal = "a table schema with fields in the file itself";
        return Err(PlanError::plan(format!("has no list of fields; legal: {legal}")));
    };
    let missing = codes(schema.get("missingValues"));
    let read = |(index, field)| column(field, &missing).ok_or_else(|| unnamed(index));
    fields.iter().enumerate().map(read).collect()
}

fn unnamed(index: usize) -> PlanError {
    PlanError::plan(format!("field {} has no name; legal: a text as name", index + 1))
}

/// Returns the schema itself, or the schema of the resource that is the data file.
fn schema<'a>(object: &'a Value, data: &str) -> Result<&'a Value, PlanError> {
    let Some(resources) = object.get("resources").and_then(Value::as_array) else {
        return Ok(object.get("schema").unwrap_or(object));
    };
    let is_data = |resource: &&Value| {
        let path = resource.get("path");
        let first = path.and_then(|path| path.get(0)).or(path);
        first.and_then(Value::as_str).is_some_and(|path| file_name(path) == data)
    };
    let found = match resources.as_slice() {
        [one] => Some(one),
        several => several.iter().find(is_data),
    };
    found.and_then(|resource| resource.get("schema")).ok_or_else(|| {
        let problem = format!("has no resource with the path {} and a schema", quoted(data));
        PlanError::plan(format!("{problem}; legal: one, or a table schema alone"))
    })
}

fn column(field: &Value, common: &[String]) -> Option<CodebookColumn> {
    let name = field.get("name")?.as_str()?;
    let missing = match field.get("missingValues") {
        Some(own) => codes(Some(own)),
        None => common.to_vec(),
    };
    Some(CodebookColumn {
        names: vec![name.to_owned()],
        label: text(field, &["title", "description"]),
        holds: holds(field, &missing),
        missing,
        note: None,
    })
}

fn holds(field: &Value, missing: &[String]) -> ColumnContent {
    let kind = field.get("type").and_then(Value::as_str).unwrap_or("any");
    let none = Value::Null;
    let constraints = field.get("constraints").unwrap_or(&none);
    let listed = field.get("categories").or_else(|| constraints.get("enum"));
    if let Some(Value::Array(list)) = listed {
        let entry = |entry: &Value| {
            Some((code(entry.get("value").unwrap_or(entry))?, text(entry, &["label"])))
        };
        return listing(list.iter().filter_map(entry).collect(), kind, missing);
    }
    let low = bound(constraints, &["minimum", "exclusiveMinimum"]);
    let high = bound(constraints, &["maximum", "exclusiveMaximum"]);
    match kind {
        "integer" | "number" | "year" => ColumnContent::Numbers { low, high },
        "string" => ColumnContent::Texts,
        "boolean" => truths(field, missing),
        "date" | "time" | "datetime" | "yearmonth" | "duration" => ColumnContent::Dates,
        "object" | "array" | "list" | "geopoint" | "geojson" => ColumnContent::Nested,
        _ if low.is_some() || high.is_some() => ColumnContent::Numbers { low, high },
        _ => ColumnContent::Unknown,
    }
}

/// Returns the content of a column whose values are listed: categories, unless they are numbers that are not whole.
fn listing(list: Vec<(String, Option<String>)>, kind: &str, missing: &[String]) -> ColumnContent {
    let is_whole =
        |(text, _): &(String, _)| finite_number(text).is_none_or(|value| value.fract() == 0.0);
    if kind == "number" && !list.iter().all(is_whole) {
        let numbers = || list.iter().filter_map(|(text, _)| finite_number(text));
        return ColumnContent::Numbers {
            low: numbers().reduce(f64::min),
            high: numbers().reduce(f64::max),
        };
    }
    ColumnContent::Categories(categories(list, kind != "string", missing))
}

/// Returns the categories of a column of truth values, if their spelling is given.
fn truths(field: &Value, missing: &[String]) -> ColumnContent {
    let spelled = |name| codes(field.get(name));
    match (spelled("falseValues"), spelled("trueValues")) {
        (no, yes) if no.is_empty() || yes.is_empty() => ColumnContent::Truths,
        (no, yes) => {
            let codes = no.into_iter().chain(yes).map(|code| (code, None));
            ColumnContent::Categories(categories(codes, true, missing))
        }
    }
}
