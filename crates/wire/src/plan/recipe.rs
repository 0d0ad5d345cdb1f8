//! Noisy queries in plans, with the name of the shared noisy count that an answer is computed with.

use counterpoint_mechanisms::NoisyQuery;
use serde_json::Value;

/// The word for a count of all rows: TOML has no null.
const ALL: &str = "all";

/// The field that names the release of the shared count.
const COUNT: &str = "count";

/// Writes a noisy query, and the name of the count that it shares, as a table without nulls.
pub(crate) fn write(recipe: &NoisyQuery, shared: Option<&str>) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(recipe)?;
    if let (Some(shared), Some(fields)) = (shared, value.as_object_mut()) {
        fields.insert(COUNT.to_owned(), shared.into());
    }
    if let Some(count) = value.pointer_mut("/query/count").filter(|count| count.is_null()) {
        *count = ALL.into();
    }
    Ok(value)
}

/// Reads a noisy query, and the name of the count that it shares, from a table.
pub(crate) fn read(mut value: Value) -> Result<(NoisyQuery, Option<String>), serde_json::Error> {
    let shared = value.as_object_mut().and_then(|fields| fields.remove(COUNT));
    let shared = shared.map(serde_json::from_value).transpose()?;
    if let Some(count) = value.pointer_mut("/query/count").filter(|count| *count == ALL) {
        *count = Value::Null;
    }
    Ok((serde_json::from_value(value)?, shared))
}
