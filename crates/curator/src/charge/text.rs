//! The stored form of values: JSON whose numbers are read back to the bit.

use super::error::Error;
use counterpoint_ledger::{Hash, MAX_RESPONSE_BYTES};
use counterpoint_mechanisms::NoisyQuery;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Writes a value.
pub(crate) fn write<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::Unwritable(error.to_string()))
}

/// Reads a stored value.
pub(crate) fn read<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, Error> {
    // Serde's error may repeat the bytes, which may be secret.
    serde_json::from_slice(bytes).map_err(|_| Error::Unreadable { what })
}

/// The length of the longest number in JSON, -1.2345678901234567e-300, with its separators.
const MAX_NUMBER_LENGTH: usize = 26;

/// Returns an error unless every answer to a question can be stored. The question alone decides, before the debit: if
/// the answer decided, refusals would reveal something about it, and a retry would draw another answer.
pub(crate) fn check_answer_fits(recipe: &NoisyQuery) -> Result<(), Error> {
    check_length(
        "the answer",
        (recipe.query().answer_length() + 1).saturating_mul(MAX_NUMBER_LENGTH),
    )
}

/// Returns an error unless this many bytes can be stored.
pub(crate) fn check_length(what: &'static str, length: usize) -> Result<(), Error> {
    if length <= MAX_RESPONSE_BYTES { Ok(()) } else { Err(Error::Long { what, length }) }
}

/// The digest that identifies a question.
pub(crate) fn digest<T: Serialize>(question: &T) -> Result<Hash, Error> {
    Ok(Hash::of(&write(question)?))
}

/// The stored form of a session's state. The history holds its SHA-256. Without the salt, somebody could find the
/// threshold by hashing the few likely ones.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaltedState<S> {
    salt: [u8; 32],
    /// The part of the data that the session was charged for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    state: S,
}

/// Salts a session's state. `part` is the part of the data that the session is about.
pub(crate) fn salt_state<S: Serialize>(
    state: S,
    part: Option<&Arc<str>>,
) -> Result<Vec<u8>, Error> {
    let part = part.map(|part| part.to_string());
    write(&SaltedState { salt: counterpoint_mechanisms::secret()?, part, state })
}

/// Reads a session's state, if the session is about this part of the data.
pub(crate) fn read_state<S: DeserializeOwned>(
    bytes: &[u8],
    part: Option<&Arc<str>>,
) -> Result<S, Error> {
    let SaltedState { part: session, state, .. } = read("a session's state", bytes)?;
    let data = part.map(|part| part.to_string());
    if session == data { Ok(state) } else { Err(Error::OtherPart { session, data }) }
}
