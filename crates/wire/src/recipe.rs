//! Recipes, queries with their noise, as they stand in plans.

use counterpoint_mechanisms::Recipe;
use serde_json::Value;

/// The word for a count of all rows: TOML has no null.
const ALL: &str = "all";

/// A recipe as a table without nulls.
pub(crate) fn write(recipe: &Recipe) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(recipe)?;
    if let Some(count) = value.pointer_mut("/query/count").filter(|count| count.is_null()) {
        *count = ALL.into();
    }
    Ok(value)
}

/// The recipe that a table says.
pub(crate) fn read(mut value: Value) -> Result<Recipe, serde_json::Error> {
    if let Some(count) = value.pointer_mut("/query/count").filter(|count| *count == ALL) {
        *count = Value::Null;
    }
    serde_json::from_value(value)
}
