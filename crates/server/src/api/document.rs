//! `GET /v1/openapi.json`.

use std::sync::Arc;

use axum::Extension;
use utoipa::openapi::OpenApi;

use super::json::JsonResponse;

/// Returns this document.
#[utoipa::path(get, path = "/v1/openapi.json", responses((status = 200, body = Object)))]
pub(super) async fn document(
    Extension(document): Extension<Arc<OpenApi>>,
) -> JsonResponse<Arc<OpenApi>> {
    JsonResponse(document)
}
