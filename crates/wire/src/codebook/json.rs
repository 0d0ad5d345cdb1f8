//! Readers that both JSON formats of codebooks use.

use serde_json::Value;

/// Returns a text or number as it is written in a data file.
pub(super) fn code(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Returns the codes of a value that is one code or a list of codes. The empty text is not a code: empty cells are
/// missing anyway.
pub(super) fn codes(value: Option<&Value>) -> Vec<String> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let codes = list.iter().filter_map(|entry| code(entry.get("value").unwrap_or(entry)));
    codes.filter(|code| !code.is_empty()).collect()
}

/// Returns the first of some fields that is a finite number, or a text that spells one.
pub(super) fn bound(object: &Value, fields: &[&str]) -> Option<f64> {
    let texts = fields.iter().filter_map(|field| object.get(*field).and_then(code));
    texts.filter_map(|text| super::column::finite_number(&text)).next()
}

/// Returns the first of some fields that is a text.
pub(super) fn text(object: &Value, fields: &[&str]) -> Option<String> {
    let texts = fields.iter().filter_map(|field| object.get(*field)?.as_str());
    texts.filter(|text| !text.trim().is_empty()).map(str::to_owned).next()
}

/// The last part of a path or an address.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
