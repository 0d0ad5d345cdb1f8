//! Bodies of JSON. What is wrong with one is said in the interface's own words: the field, and what is legal.

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use super::problem::{BUSY, LATE, Problem, TOO_LONG, UNREADABLE, WRONG_KIND};
use super::state::Shared;
use crate::body::{NoBody, is_json};

/// The longest body.
const MOST_BYTES: usize = 1 << 20;

/// A body, and the room that it takes. Handlers take it last, after whoever asks is known.
pub(crate) struct Json<T>(pub(crate) T, pub(crate) Option<OwnedSemaphorePermit>);

impl<T: DeserializeOwned> FromRequest<Shared> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(WRONG_KIND.of("legal: Content-Type: application/json"));
        }
        let read = shared.room.read(request.into_body(), MOST_BYTES).await;
        let read = read.map_err(|problem| match problem {
            NoBody::TooLong => TOO_LONG.of("the body is too long; legal: at most 1 MiB"),
            NoBody::Late => LATE.of("the body did not come within 30 seconds"),
            NoBody::CutOff => UNREADABLE.of("the body is cut off"),
            NoBody::NoRoom => BUSY.of("too many bodies are sent at once"),
        })?;
        let mut json = serde_json::Deserializer::from_slice(&read.bytes);
        let value = serde_path_to_error::deserialize(&mut json);
        let value = value.map_err(|error| {
            let (path, error) = (error.path().to_string(), plain(&error.inner().to_string()));
            UNREADABLE.of(if path == "." { error } else { format!("{path}: {error}") })
        })?;
        json.end().map_err(|error| UNREADABLE.of(error.to_string()))?;
        Ok(Self(value, read.taken))
    }
}

/// An answer of JSON.
pub(super) fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    (StatusCode::OK, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Words for what programs call otherwise; longer names come first.
const WORDS: [(&str, &str); 12] = [
    ("data did not match any variant of untagged enum ", "the value is of no legal kind"),
    ("struct variant ", "an object"),
    ("tuple variant ", "a list"),
    ("newtype variant ", "a value"),
    ("unit variant ", "a name"),
    ("newtype struct ", "a value"),
    ("struct ", "an object"),
    ("enum ", "a name or an object"),
    ("f64", "a number"),
    ("u64", "a whole number"),
    ("i64", "a whole number"),
    ("usize", "a whole number"),
];

/// An error's text without the names of the program's types.
fn plain(text: &str) -> String {
    let mut plain = text.to_owned();
    for (word, instead) in WORDS {
        while let Some(at) = plain.find(word) {
            let rest = plain.split_off(at).split_off(word.len());
            // Words that end with a space stand before a name.
            let is_name = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
            let rest = if word.ends_with(' ') { rest.trim_start_matches(is_name) } else { &rest };
            plain = plain + instead + rest;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn types_have_plain_names() {
        for (told, expected) in [
            (
                "invalid type: map, expected f64 at line 1",
                "invalid type: map, expected a number at line 1",
            ),
            ("expected struct Asking", "expected an object"),
            (
                "data did not match any variant of untagged enum Askings",
                "the value is of no legal kind",
            ),
            ("expected struct variant Of::Sum at", "expected an object at"),
            ("missing field `account`", "missing field `account`"),
        ] {
            assert_eq!(plain(told), expected);
        }
    }
}
