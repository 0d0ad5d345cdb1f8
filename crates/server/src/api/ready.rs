//! `GET /v1/ready`.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::json::JsonResponse;
use super::known::Gate;
use super::state::Readiness;

/// The longest that a part of the service is waited for when it is asked whether it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the ledger, the tokens and the engines can be reached now; status 503 if not. Looked at once a second at most.
#[utoipa::path(get, path = "/v1/ready", responses((status = 200, body = Readiness), (status = 503, body = Readiness)))]
pub(super) async fn ready(State(gate): State<Gate>) -> Response {
    let found = timeout(PATIENCE, gate.readiness()).await.unwrap_or_default();
    let is_ready = found.ledger && found.state && found.engines;
    let mut response = JsonResponse(found).into_response();
    if !is_ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}
