//! Problem details (RFC 9457) with stable codes.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use counterpoint_curator::{AnswerError, CuratorError, Error, MechanismError, TokenError};
use counterpoint_ledger::{DatabaseError, LedgerError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as OpenApiResponse, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

/// The reason why a request failed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The kind of problem: a stable name.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The kind in words.
    pub(crate) title: &'static str,
    /// The HTTP status.
    pub(crate) status: u16,
    /// What is wrong, and what is legal.
    pub(crate) detail: String,
    /// The last part of the type.
    pub(crate) code: &'static str,
}

/// A kind of problem: its status, code and title.
#[derive(Clone, Copy)]
pub(crate) struct ProblemKind(StatusCode, &'static str, &'static str);

pub(crate) const UNREADABLE: ProblemKind =
    ProblemKind(StatusCode::BAD_REQUEST, "unreadable", "The request cannot be read");
pub(crate) const UNAUTHORIZED: ProblemKind =
    ProblemKind(StatusCode::UNAUTHORIZED, "unauthorized", "There is no valid token");
pub(crate) const REFUSED: ProblemKind =
    ProblemKind(StatusCode::PAYMENT_REQUIRED, "over-budget", "The budget does not suffice");
pub(crate) const FORBIDDEN: ProblemKind =
    ProblemKind(StatusCode::FORBIDDEN, "forbidden", "The role of the token does not allow this");
pub(crate) const NOT_FOUND: ProblemKind =
    ProblemKind(StatusCode::NOT_FOUND, "not-found", "Not found");
pub(crate) const WRONG_METHOD: ProblemKind = ProblemKind(
    StatusCode::METHOD_NOT_ALLOWED,
    "wrong-method",
    "The path does not support this method",
);
pub(crate) const CONFLICT: ProblemKind =
    ProblemKind(StatusCode::CONFLICT, "key-in-use", "The key is in use for something else");
pub(crate) const OVER: ProblemKind =
    ProblemKind(StatusCode::CONFLICT, "session-over", "The session is over");
pub(crate) const TOO_LONG: ProblemKind =
    ProblemKind(StatusCode::PAYLOAD_TOO_LARGE, "too-long", "The body is too long");
pub(crate) const WRONG_KIND: ProblemKind =
    ProblemKind(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong-content-type", "The body is not JSON");
pub(crate) const ILLEGAL: ProblemKind =
    ProblemKind(StatusCode::UNPROCESSABLE_ENTITY, "illegal", "The request is not legal");
pub(crate) const NOT_DECLARED: ProblemKind = ProblemKind(
    StatusCode::UNPROCESSABLE_ENTITY,
    "not-declared",
    "The session was not declared for this question",
);
pub(crate) const TOO_MANY: ProblemKind =
    ProblemKind(StatusCode::TOO_MANY_REQUESTS, "too-many", "There are too many requests");
pub(crate) const FAILED: ProblemKind =
    ProblemKind(StatusCode::INTERNAL_SERVER_ERROR, "failed", "The service failed");
pub(crate) const CHARGED: ProblemKind = ProblemKind(
    StatusCode::BAD_GATEWAY,
    "charged-and-failed",
    "The question was charged, but answering it failed",
);
pub(crate) const LATE: ProblemKind =
    ProblemKind(StatusCode::REQUEST_TIMEOUT, "late", "The request did not arrive in time");
pub(crate) const UNAVAILABLE: ProblemKind =
    ProblemKind(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "A part of the service is down");
pub(crate) const BUSY: ProblemKind =
    ProblemKind(StatusCode::SERVICE_UNAVAILABLE, "busy", "The service is busy; try again soon");

impl ProblemKind {
    /// The code of the kind.
    pub(crate) fn code(self) -> &'static str {
        self.1
    }

    pub(crate) fn problem(self, detail: impl Into<String>) -> Problem {
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

/// Every path may answer with a problem of any status.
impl IntoResponses for Problem {
    fn responses() -> BTreeMap<String, RefOr<OpenApiResponse>> {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name(Self::name())));
        let described = ResponseBuilder::new().content("application/problem+json", problem.build());
        BTreeMap::from([("default".to_owned(), described.build().into())])
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Value { .. } => ILLEGAL.problem(error.to_string()),
            failed => {
                tracing::warn!(why = failed.to_string(), "tokens failed");
                UNAVAILABLE.problem("tokens cannot be read or created")
            }
        }
    }
}

impl From<CuratorError> for Problem {
    fn from(denied: CuratorError) -> Self {
        match denied {
            error @ CuratorError::NotYours { .. } => NOT_FOUND.problem(error.to_string()),
            CuratorError::Unanswered(AnswerError::Illegal(error)) => {
                ILLEGAL.problem(error.to_string())
            }
            CuratorError::Unanswered(AnswerError::Ledger(error)) => error.into(),
            CuratorError::Unanswered(AnswerError::Unreachable(failed)) => {
                tracing::warn!("an engine cannot be reached");
                tracing::debug!(why = failed.why, "an engine cannot be reached");
                UNAVAILABLE.problem(AnswerError::Unreachable(failed).to_string())
            }
            CuratorError::Unanswered(AnswerError::Charged(failed)) => {
                tracing::warn!("a question was charged, and failed");
                // An engine's message may reveal data, so only the level `debug` logs it.
                tracing::debug!(why = failed.why, "a question was charged, and failed");
                CHARGED.problem(AnswerError::Charged(failed).to_string())
            }
            CuratorError::Unanswered(AnswerError::Ended(failed)) => {
                tracing::warn!("a mechanism failed, and its session is over");
                tracing::debug!(why = failed.why, "a mechanism failed, and its session is over");
                CHARGED.problem(AnswerError::Ended(failed).to_string())
            }
            CuratorError::Unanswered(error @ AnswerError::Dummy(_)) => {
                BUSY.problem(error.to_string())
            }
            CuratorError::Unanswered(AnswerError::Session(error)) => session(&error),
            _ => FAILED.problem("the stored answer cannot be read"),
        }
    }
}

/// Converts the error of a session.
fn session(error: &Error) -> Problem {
    let words = error.to_string();
    match error {
        Error::Mechanism(refusal) => match **refusal {
            MechanismError::Exhausted => OVER.problem(words),
            MechanismError::NotDeclared | MechanismError::Sensitivity { .. } => {
                NOT_DECLARED.problem(words)
            }
            MechanismError::Randomness { .. } => FAILED.problem("the system gives no random bytes"),
            _ => ILLEGAL.problem(words),
        },
        Error::Busy { .. } => BUSY.problem(words),
        Error::Long { .. } => ILLEGAL.problem(words),
        _ => FAILED.problem("the stored session cannot be used"),
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        match &error {
            LedgerError::Refused(_) => REFUSED.problem(error.to_string()),
            LedgerError::Database(DatabaseError::Busy) => BUSY.problem(error.to_string()),
            // The response must not show paths and addresses; they go to the log.
            LedgerError::Database(failed) => {
                tracing::warn!(why = failed.to_string(), "the ledger failed");
                UNAVAILABLE.problem("the ledger failed; asking again charges nothing twice")
            }
            LedgerError::Damaged(_) | LedgerError::OtherHistory { .. } => {
                tracing::error!(why = error.to_string(), "the ledger is damaged");
                FAILED.problem("the ledger is damaged")
            }
            LedgerError::KeyInUse { .. }
            | LedgerError::UnfitKey { .. }
            | LedgerError::AliasInUse => CONFLICT.problem(error.to_string()),
            LedgerError::SessionEnded { .. } => OVER.problem(error.to_string()),
            LedgerError::SessionAdvanced { .. } => BUSY.problem(error.to_string()),
            LedgerError::Unknown { .. } => NOT_FOUND.problem(error.to_string()),
            _ => ILLEGAL.problem(error.to_string()),
        }
    }
}
