//! CSV on the Web: metadata of one table or of a group of tables.
//! <https://www.w3.org/TR/tabular-metadata/>

use serde_json::Value;

use super::column::{CodebookColumn, ColumnContent, categories};
use super::json::{bound, code, codes, file_name, text};
use crate::text::error::{PlanError, quoted};

/// Returns the columns of the table that is the data file with this name.
pub(super) fn columns(object: &Value, data: &str) -> Result<Vec<CodebookColumn>, PlanError> {
    let table = table(object, data)?;
    let schema = table.get("tableSchema").or_else(|| object.get("tableSchema"));
    let list = schema.and_then(|schema| schema.get("columns")?.as_array());
    let (Some(schema), Some(list)) = (schema, list) else {
        let legal = "a tableSchema with columns in the file itself";
        return Err(PlanError::plan(format!("has no list of columns; legal: {legal}")));
    };
    let is_real = |column: &&Value| column.get("virtual") != Some(&Value::Bool(true));
    // The objects from which a column inherits properties, the nearest first.
    let above = [schema, table, object];
    let read = |(index, value): (usize, &Value)| {
        column(value, &above).ok_or_else(|| {
            let problem = format!("column {} has neither a name nor titles", index + 1);
            PlanError::plan(format!("{problem}; legal: one of them"))
        })
    };
    list.iter().filter(is_real).enumerate().map(read).collect()
}

/// Returns the table itself, or the table of the group that is the data file.
fn table<'a>(object: &'a Value, data: &str) -> Result<&'a Value, PlanError> {
    let Some(tables) = object.get("tables").and_then(Value::as_array) else {
        return Ok(object);
    };
    let is_data = |table: &&Value| {
        table.get("url").and_then(Value::as_str).is_some_and(|url| file_name(url) == data)
    };
    let found = match tables.as_slice() {
        [one] => Some(one),
        several => several.iter().find(is_data),
    };
    found.ok_or_else(|| {
        let problem = format!("has no table with the url {}", quoted(data));
        PlanError::plan(format!("{problem}; legal: one such table"))
    })
}

fn column(column: &Value, above: &[&Value]) -> Option<CodebookColumn> {
    let inherited = |name: &str| {
        let own = column.get(name);
        own.or_else(|| above.iter().find_map(|outer| outer.get(name)))
    };
    let mut names = titles(column.get("titles"));
    names.extend(text(column, &["name"]));
    names.dedup();
    let missing = codes(inherited("null"));
    let holds = inherited("datatype").map_or(ColumnContent::Unknown, |kind| holds(kind, &missing));
    let label = ["dc:description", "dcterms:description", "rdfs:comment", "schema:description"];
    let label = text(column, &label);
    (!names.is_empty()).then_some(CodebookColumn { names, label, holds, missing, note: None })
}

/// A title, a list of titles, or either for each language.
fn titles(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Object(languages)) => {
            languages.values().flat_map(|title| codes(Some(title))).collect()
        }
        other => codes(other),
    }
}

fn holds(kind: &Value, missing: &[String]) -> ColumnContent {
    let base = kind.get("base").unwrap_or(kind).as_str().unwrap_or("string");
    let format = kind.get("format").and_then(code);
    let low = bound(kind, &["minimum", "minInclusive", "minExclusive"]);
    let high = bound(kind, &["maximum", "maxInclusive", "maxExclusive"]);
    match base {
        "nonNegativeInteger" | "unsignedLong" | "unsignedInt" | "unsignedShort"
        | "unsignedByte" => ColumnContent::Numbers { low: low.or(Some(0.0)), high },
        "positiveInteger" => ColumnContent::Numbers { low: low.or(Some(1.0)), high },
        "nonPositiveInteger" => ColumnContent::Numbers { low, high: high.or(Some(0.0)) },
        "negativeInteger" => ColumnContent::Numbers { low, high: high.or(Some(-1.0)) },
        "number" | "decimal" | "double" | "float" | "integer" | "long" | "int" | "short"
        | "byte" | "gYear" => ColumnContent::Numbers { low, high },
        "boolean" => match format.as_deref().and_then(|format| format.split_once('|')) {
            Some((yes, no)) => listing([no, yes], true, missing),
            None => ColumnContent::Truths,
        },
        "string" | "normalizedString" | "token" | "anyAtomicType" | "any" => {
            match format.as_deref().and_then(alternatives) {
                Some(list) => listing(list, false, missing),
                None => ColumnContent::Texts,
            }
        }
        "json" | "xml" | "html" => ColumnContent::Nested,
        base if ["date", "time", "gDay", "gMonth", "duration", "dayTime", "yearMonth"]
            .iter()
            .any(|start| base.starts_with(start)) =>
        {
            ColumnContent::Dates
        }
        _ => ColumnContent::Unknown,
    }
}

fn listing<'a>(
    list: impl IntoIterator<Item = &'a str>,
    may_be_whole: bool,
    missing: &[String],
) -> ColumnContent {
    let codes = list.into_iter().map(|code| (code.to_owned(), None));
    ColumnContent::Categories(categories(codes, may_be_whole, missing))
}

/// Returns the texts of a regular expression that only lists texts, such as `^(north|south)$`.
fn alternatives(format: &str) -> Option<Vec<&str>> {
    let inner = format.strip_prefix('^').unwrap_or(format);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let bare = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    let bare = bare.unwrap_or(inner);
    let bare = bare.strip_prefix("?:").unwrap_or(bare);
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '|');
    let list: Vec<&str> = bare.split('|').collect();
    let is_list = list.len() > 1 && list.iter().all(|text| !text.is_empty());
    (is_list && bare.chars().all(is_plain)).then_some(list)
}
