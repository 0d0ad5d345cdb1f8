//! `GET /v1/me`.

use counterpoint_curator::Bearer;
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{AnyRole, Caller};
use super::json::JsonResponse;
use super::problem::Problem;

/// The holder of the token.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct MeResponse {
    name: String,
    /// `owner`, `analyst` or `auditor`.
    role: String,
    /// The accounts that the token may ask.
    accounts: Vec<String>,
}

/// The holder of the token.
#[utoipa::path(get, path = "/v1/me", security(("token" = [])), responses((status = 200, body = MeResponse), Problem))]
pub(super) async fn me(caller: Caller<AnyRole>) -> JsonResponse<MeResponse> {
    let Bearer { name, role, accounts, .. } = caller.bearer;
    JsonResponse(MeResponse { name, role: role.name().to_owned(), accounts })
}
