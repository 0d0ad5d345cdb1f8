//! `GET /v1/health`.

use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;

/// The state of the process.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HealthResponse {
    status: &'static str,
}

/// Returns status 200 as long as the process runs. `/v1/ready` also checks the ledger, the tokens and the engines.
#[utoipa::path(get, path = "/v1/health", responses((status = 200, body = HealthResponse)))]
pub(super) async fn health() -> JsonResponse<HealthResponse> {
    JsonResponse(HealthResponse { status: "ok" })
}
