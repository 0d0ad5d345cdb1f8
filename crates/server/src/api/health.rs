//! `GET /v1/health`.

use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;

/// That the service is there.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Health {
    status: &'static str,
}

/// That the service is alive. It says nothing of what it needs: see `/v1/ready`.
#[utoipa::path(get, path = "/v1/health", responses((status = 200, body = Health)))]
pub(super) async fn health() -> JsonResponse<Health> {
    JsonResponse(Health { status: "ok" })
}
