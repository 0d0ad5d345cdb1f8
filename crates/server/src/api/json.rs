//! JSON bodies. An error names the field and what is legal, without names of Rust types.

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use tokio::sync::OwnedSemaphorePermit;

use super::caller::Authenticator;
use super::problem::{BUSY, FAILED, LATE, Problem, TOO_LONG, UNREADABLE, WRONG_KIND};
use crate::body::{self, BodyError, is_json};

/// The longest body.
const MAX_BODY_BYTES: usize = 1 << 20;

/// A JSON body and the permit for its memory. Handlers extract it last, after the caller.
pub(crate) struct Json<T>(pub(crate) T, pub(crate) Option<OwnedSemaphorePermit>);

impl<T: DeserializeOwned> FromRequest<Authenticator> for Json<T> {
    type Rejection = Problem;

    async fn from_request(
        request: Request,
        authenticator: &Authenticator,
    ) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(WRONG_KIND
                .problem("Content-Type is missing or is not JSON; legal: application/json"));
        }
        let read = authenticator.body_memory().read(request.into_body(), MAX_BODY_BYTES).await;
        let read = read.map_err(|problem| match problem {
            BodyError::TooLong => TOO_LONG.problem("the body is too long; legal: at most 1 MiB"),
            BodyError::TimedOut => LATE.problem("the body did not arrive within 30 seconds"),
            BodyError::Incomplete => UNREADABLE.problem("the body ended early"),
            BodyError::NoMemory => BUSY.problem("the server is receiving too many bodies at once"),
        })?;
        let mut json = serde_json::Deserializer::from_slice(&read.bytes);
        let value = serde_path_to_error::deserialize(&mut json);
        let value = value.map_err(|error| {
            let (path, error) = (error.path().to_string(), plain(&error.inner().to_string()));
            UNREADABLE.problem(if path == "." { error } else { format!("{path}: {error}") })
        })?;
        json.end().map_err(|error| UNREADABLE.problem(error.to_string()))?;
        Ok(Self(value, read.permit))
    }
}

/// A JSON response. A value that cannot be serialized becomes a problem with status 500.
pub(super) struct JsonResponse<T>(pub(super) T);

impl<T: Serialize> IntoResponse for JsonResponse<T> {
    fn into_response(self) -> Response {
        body::json_response(StatusCode::OK, &self.0).unwrap_or_else(|error| {
            tracing::error!(why = error.to_string(), "a response cannot be written");
            FAILED.problem("the response cannot be written, which is a bug").into_response()
        })
    }
}

/// Serializes a number that must be finite: JSON has no infinities, and null would mean "not known".
pub(super) fn finite<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if !number.is_finite() {
        return Err(serde::ser::Error::custom("a number is not finite"));
    }
    serializer.serialize_f64(*number)
}

/// Plain words for the names of Rust types; longer names come first.
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

/// Replaces the names of Rust types in an error's text.
fn plain(text: &str) -> String {
    let mut plain = text.to_owned();
    for (word, instead) in WORDS {
        while let Some(at) = plain.find(word) {
            let rest = plain.split_off(at).split_off(word.len());
            // A word with a space at its end is followed by a type's name.
            let is_name = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
            let rest = if word.ends_with(' ') { rest.trim_start_matches(is_name) } else { &rest };
            plain = plain + instead + rest;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    /// The status, the type and the body of a response.
    async fn read(response: impl IntoResponse) -> (u16, String, Value) {
        let (head, body) = response.into_response().into_parts();
        let kind = head.headers["content-type"].to_str().unwrap().to_owned();
        let bytes = body.collect().await.unwrap().to_bytes();
        (head.status.as_u16(), kind, serde_json::from_slice(&bytes).unwrap())
    }

    #[derive(Serialize)]
    struct Number(#[serde(serialize_with = "finite")] f64);

    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("never"))
        }
    }

    #[tokio::test]
    async fn values_that_cannot_be_serialized_become_problems() {
        let written = read(JsonResponse([Number(0.1), Number(-1e300)])).await;
        assert_eq!(written, (200, "application/json".to_owned(), json!([0.1, -1e300])));
        let infinite =
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(|x| vec![Number(0.1), Number(x)]);
        let mut failed = vec![read(JsonResponse(Unwritable)).await];
        for numbers in infinite {
            failed.push(read(JsonResponse(numbers)).await);
        }
        for (status, kind, problem) in failed {
            assert_eq!((status, kind.as_str()), (500, "application/problem+json"));
            assert_eq!((&problem["status"], &problem["code"]), (&json!(500), &json!("failed")));
        }
    }

    #[test]
    fn types_have_plain_names() {
        for (text, expected) in [
            (
                "invalid type: map, expected f64 at line 1",
                "invalid type: map, expected a number at line 1",
            ),
            ("expected struct QuestionRequest", "expected an object"),
            (
                "data did not match any variant of untagged enum QuestionsRequest",
                "the value is of no legal kind",
            ),
            ("expected struct variant SessionSpec::Sequence at", "expected an object at"),
            ("missing field `account`", "missing field `account`"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
