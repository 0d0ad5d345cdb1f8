//! `GET /v1/me`.

use counterpoint_curator::Bearer;
use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;
use super::known::{Anybody, Known};
use super::problem::Problem;

/// Whose token it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Me {
    name: String,
    /// `owner`, `analyst` or `auditor`.
    role: String,
    /// The accounts that may be asked.
    accounts: Vec<String>,
}

/// Whose token it is.
#[utoipa::path(get, path = "/v1/me", security(("token" = [])), responses((status = 200, body = Me), Problem))]
pub(super) async fn me(known: Known<Anybody>) -> JsonResponse<Me> {
    let Bearer { name, role, accounts, .. } = known.bearer;
    JsonResponse(Me { name, role: role.name().to_owned(), accounts })
}
