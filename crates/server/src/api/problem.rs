//! What went wrong, as RFC 9457 has it, with codes that do not change.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use counterpoint_curator::{Denied, Error, Refusal, TokenError, Unanswered};
use counterpoint_ledger::{DatabaseError, LedgerError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

/// Why there is no answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// What kind of problem it is: a name that does not change.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The kind in words.
    pub(crate) title: &'static str,
    /// The status.
    pub(crate) status: u16,
    /// What exactly, and what would be legal.
    pub(crate) detail: String,
    /// The last part of the type.
    pub(crate) code: &'static str,
}

/// A kind of problem.
#[derive(Clone, Copy)]
pub(crate) struct Code(StatusCode, &'static str, &'static str);

pub(crate) const UNREADABLE: Code =
    Code(StatusCode::BAD_REQUEST, "unreadable", "The request cannot be read");
pub(crate) const NOT_KNOWN: Code =
    Code(StatusCode::UNAUTHORIZED, "unauthorized", "There is no valid token");
pub(crate) const REFUSED: Code =
    Code(StatusCode::PAYMENT_REQUIRED, "over-budget", "A budget does not allow it");
pub(crate) const FORBIDDEN: Code =
    Code(StatusCode::FORBIDDEN, "forbidden", "The token is for something else");
pub(crate) const NOT_FOUND: Code = Code(StatusCode::NOT_FOUND, "not-found", "It is not there");
pub(crate) const WRONG_METHOD: Code =
    Code(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", "The path has other methods");
pub(crate) const CONFLICT: Code =
    Code(StatusCode::CONFLICT, "key-in-use", "The key stands for something else");
pub(crate) const OVER: Code =
    Code(StatusCode::CONFLICT, "session-over", "The session answers nothing more");
pub(crate) const TOO_LONG: Code =
    Code(StatusCode::PAYLOAD_TOO_LARGE, "too-long", "The body is too long");
pub(crate) const WRONG_KIND: Code =
    Code(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong-content-type", "The body is no JSON");
pub(crate) const ILLEGAL: Code =
    Code(StatusCode::UNPROCESSABLE_ENTITY, "illegal", "It cannot be asked");
pub(crate) const NOT_DECLARED: Code =
    Code(StatusCode::UNPROCESSABLE_ENTITY, "not-declared", "The session was not declared for it");
pub(crate) const TOO_MANY: Code =
    Code(StatusCode::TOO_MANY_REQUESTS, "too-many", "There are too many requests");
pub(crate) const FAILED: Code =
    Code(StatusCode::INTERNAL_SERVER_ERROR, "failed", "The service failed");
pub(crate) const CHARGED: Code =
    Code(StatusCode::BAD_GATEWAY, "charged-and-failed", "It was charged, and failed");
pub(crate) const LATE: Code =
    Code(StatusCode::REQUEST_TIMEOUT, "late", "The request did not come in time");
pub(crate) const UNAVAILABLE: Code =
    Code(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "A part of the service is down");
pub(crate) const BUSY: Code = Code(StatusCode::SERVICE_UNAVAILABLE, "busy", "Try again soon");

impl Code {
    /// Its name.
    pub(crate) fn code(self) -> &'static str {
        self.1
    }

    pub(crate) fn of(self, detail: impl Into<String>) -> Problem {
        let Self(status, code, title) = self;
        let kind = format!("urn:counterpoint:problem:{code}");
        Problem { kind, title, status: status.as_u16(), detail: detail.into(), code }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self).unwrap_or_default();
        let kind = [(CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, kind, body).into_response();
        let headers = response.headers_mut();
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// Every path may answer one, with whatever status it has.
impl IntoResponses for Problem {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name(Self::name())));
        let described = ResponseBuilder::new().content("application/problem+json", problem.build());
        BTreeMap::from([("default".to_owned(), described.build().into())])
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Value { .. } => ILLEGAL.of(error.to_string()),
            failed => {
                tracing::warn!(why = failed.to_string(), "tokens failed");
                UNAVAILABLE.of("tokens cannot be read or made now")
            }
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            error @ Denied::NotYours { .. } => NOT_FOUND.of(error.to_string()),
            Denied::Unanswered(Unanswered::Illegal(error)) => ILLEGAL.of(error.to_string()),
            Denied::Unanswered(Unanswered::Ledger(error)) => error.into(),
            Denied::Unanswered(Unanswered::Unreachable(failed)) => {
                tracing::warn!("an engine cannot be reached");
                tracing::debug!(why = failed.why, "an engine cannot be reached");
                UNAVAILABLE.of(Unanswered::Unreachable(failed).to_string())
            }
            Denied::Unanswered(Unanswered::Charged(failed)) => {
                tracing::warn!("a question was charged, and failed");
                // It may tell of the data: for an operator who asks for it.
                tracing::debug!(why = failed.why, "a question was charged, and failed");
                CHARGED.of(Unanswered::Charged(failed).to_string())
            }
            Denied::Unanswered(Unanswered::Ended(failed)) => {
                tracing::warn!("a mechanism failed, and its session is over");
                tracing::debug!(why = failed.why, "a mechanism failed, and its session is over");
                CHARGED.of(Unanswered::Ended(failed).to_string())
            }
            Denied::Unanswered(error @ Unanswered::Dummy(_)) => BUSY.of(error.to_string()),
            Denied::Unanswered(Unanswered::Session(error)) => session(&error),
            _ => FAILED.of("what was stored cannot be read"),
        }
    }
}

/// Why a session did not answer.
fn session(error: &Error) -> Problem {
    let words = error.to_string();
    match error {
        Error::Mechanism(refusal) => match **refusal {
            Refusal::Exhausted => OVER.of(words),
            Refusal::NotDeclared | Refusal::Sensitivity { .. } => NOT_DECLARED.of(words),
            Refusal::Randomness { .. } => FAILED.of("there is no randomness to be had"),
            _ => ILLEGAL.of(words),
        },
        Error::Busy { .. } => BUSY.of(words),
        Error::Long { .. } => ILLEGAL.of(words),
        _ => FAILED.of("what was stored cannot be used"),
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        match &error {
            LedgerError::Refused(_) => REFUSED.of(error.to_string()),
            LedgerError::Database(DatabaseError::Busy) => BUSY.of(error.to_string()),
            // Paths and addresses are the operator's business.
            LedgerError::Database(failed) => {
                tracing::warn!(why = failed.to_string(), "the ledger failed");
                UNAVAILABLE.of("the ledger failed; asked again, nothing is charged twice")
            }
            LedgerError::Damaged(_) | LedgerError::OtherHistory { .. } => {
                tracing::error!(why = error.to_string(), "the ledger is damaged");
                FAILED.of("the ledger is damaged")
            }
            LedgerError::KeyInUse { .. }
            | LedgerError::UnfitKey { .. }
            | LedgerError::AliasInUse => CONFLICT.of(error.to_string()),
            LedgerError::Over { .. } => OVER.of(error.to_string()),
            LedgerError::Moved { .. } => BUSY.of(error.to_string()),
            LedgerError::Unknown { .. } => NOT_FOUND.of(error.to_string()),
            _ => ILLEGAL.of(error.to_string()),
        }
    }
}
