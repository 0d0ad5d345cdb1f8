//! Recipes, queries with their noise, as they stand in plans; and the count that an answer is computed with, if that is a release
//! of its own.

use counterpoint_mechanisms::Recipe;
use serde_json::Value;

/// The word for a count of all rows: TOML has no null.
const ALL: &str = "all";

/// The field that names the release of the count.
const COUNT: &str = "count";

/// A recipe as a table without nulls, and the name of the count that it shares.
pub(crate) fn write(recipe: &Recipe, shared: Option<&str>) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(recipe)?;
    if let (Some(shared), Some(fields)) = (shared, value.as_object_mut()) {
        fields.insert(COUNT.to_owned(), shared.into());
    }
    if let Some(count) = value.pointer_mut("/query/count").filter(|count| count.is_null()) {
        *count = ALL.into();
    }
    Ok(value)
}

/// The recipe that a table says, and the name of the count that it shares.
pub(crate) fn read(mut value: Value) -> Result<(Recipe, Option<String>), serde_json::Error> {
    let shared = value.as_object_mut().and_then(|fields| fields.remove(COUNT));
    let shared = shared.map(serde_json::from_value).transpose()?;
    if let Some(count) = value.pointer_mut("/query/count").filter(|count| *count == ALL) {
        *count = Value::Null;
    }
    Ok((serde_json::from_value(value)?, shared))
}
