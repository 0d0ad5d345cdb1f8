//! `GET /v1/ready`.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::caller::Authenticator;
use super::json::JsonResponse;
use super::state::ReadinessResponse;

/// The longest time to wait for a part of the service.
const READINESS_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks if the ledger, the tokens and the engines can be reached now. The status is 503 if one cannot be reached. The
/// result is at most a second old.
#[utoipa::path(get, path = "/v1/ready", responses((status = 200, body = ReadinessResponse), (status = 503, body = ReadinessResponse)))]
pub(super) async fn ready(State(authenticator): State<Authenticator>) -> Response {
    let found = timeout(READINESS_TIMEOUT, authenticator.readiness()).await.unwrap_or_default();
    let is_ready = found.ledger && found.state && found.engines;
    let mut response = JsonResponse(found).into_response();
    if !is_ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}
