//! The canonical text of a record: each record has one.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The error for a text that is not the canonical text of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalError {
    /// The problem, in one line.
    pub problem: String,
}

/// Reads a text that must equal, byte for byte, the text that writing the value gives.
pub(super) fn canonical<T: Serialize + DeserializeOwned>(text: &str) -> Result<T, CanonicalError> {
    let wrong = |error: serde_json::Error| CanonicalError { problem: error.to_string() };
    let value: T = serde_json::from_str(text).map_err(wrong)?;
    if serde_json::to_string(&value).map_err(wrong)? == text {
        return Ok(value);
    }
    Err(CanonicalError { problem: "the text is not in canonical form".to_owned() })
}
