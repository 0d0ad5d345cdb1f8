//! What is stored, as text: JSON of the mechanisms' own plain data, whose numbers are read back
//! to the bit.

use super::error::Error;
use counterpoint_ledger::{Hash, MOST_RESPONSE};
use counterpoint_mechanisms::Recipe;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The text of a value.
pub(crate) fn write<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::Unwritable(error.to_string()))
}

/// What a stored text says.
pub(crate) fn read<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, Error> {
    // Serde's words may repeat what was read, and that may be secret.
    serde_json::from_slice(bytes).map_err(|_| Error::Unreadable { what })
}

/// The longest number in JSON, -1.2345678901234567e-300, and what stands around it.
const LONGEST: usize = 26;

/// Whether any answer to a question can be stored. It is decided by the question alone, before
/// anything is debited: were it decided by the answer, refusals would tell something about it,
/// and a retry would draw another.
pub(crate) fn fits(recipe: &Recipe) -> Result<(), Error> {
    short("the answer", (recipe.query().numbers() + 1).saturating_mul(LONGEST))
}

/// Whether something so long can be stored.
pub(crate) fn short(what: &'static str, length: usize) -> Result<(), Error> {
    if length <= MOST_RESPONSE { Ok(()) } else { Err(Error::Long { what, length }) }
}

/// What makes two questions the same.
pub(crate) fn digest<T: Serialize>(question: &T) -> Result<Hash, Error> {
    Ok(Hash::of(&write(question)?))
}

/// A session's state as it is stored. The history holds its SHA-256, from which the few
/// thresholds that are likely could be found by trying: the salt is what keeps them secret.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Salted<S> {
    salt: [u8; 32],
    /// The part of the data that the session was charged for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    state: S,
}

/// A state of a session about a part of the data, or all of it.
pub(crate) fn salted<S: Serialize>(state: S, part: Option<&Arc<str>>) -> Result<Vec<u8>, Error> {
    let part = part.map(|part| part.to_string());
    write(&Salted { salt: counterpoint_mechanisms::secret()?, part, state })
}

/// What was stored, if it is of a session about this part.
pub(crate) fn state<S: DeserializeOwned>(
    bytes: &[u8],
    part: Option<&Arc<str>>,
) -> Result<S, Error> {
    let Salted { part: session, state, .. } = read("a session's state", bytes)?;
    let data = part.map(|part| part.to_string());
    if session == data { Ok(state) } else { Err(Error::OtherPart { session, data }) }
}
