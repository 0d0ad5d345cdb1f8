//! The one text that a record is written as.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A body that no event is written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCanonical {
    /// Why, in one line.
    pub problem: String,
}

/// Reads a text that must be what writing the value gives, to the byte.
pub(super) fn canonical<T: Serialize + DeserializeOwned>(text: &str) -> Result<T, NotCanonical> {
    let wrong = |error: serde_json::Error| NotCanonical { problem: error.to_string() };
    let value: T = serde_json::from_str(text).map_err(wrong)?;
    if serde_json::to_string(&value).map_err(wrong)? == text {
        return Ok(value);
    }
    Err(NotCanonical { problem: "the text is not in canonical form".to_owned() })
}
