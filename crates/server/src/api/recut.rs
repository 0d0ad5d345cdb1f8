//! `POST /v1/accounts/{account}/recut`: an analyst exchanges unused slots of an account for other slots.

use axum::extract::Path;
use counterpoint_wire::ledger::Openings;
use serde::Deserialize;
use utoipa::ToSchema;

use super::caller::{Analyst, Caller};
use super::json::{Json, JsonResponse};
use super::problem::Problem;
use super::types::account::{AccountView, account_view, parse_plan};

/// Unused openings of slots, and the slots to exchange them for.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecutRequest {
    /// The number of openings to give up of each slot: `[{"slot": "weekly", "count": 2}]`.
    #[schema(value_type = Vec<Object>)]
    unused: Vec<Openings>,
    /// The text of a plan file; its releases become the new slots.
    into: String,
}

/// Exchanges unused openings of slots for new slots. The openings together must dominate the new slots, so the
/// account's promise stays the same.
#[utoipa::path(post, path = "/v1/accounts/{account}/recut", security(("token" = [])), request_body = RecutRequest,
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountView), Problem))]
pub(super) async fn recut(
    caller: Caller<Analyst>,
    Path(account): Path<String>,
    Json(request, _memory): Json<RecutRequest>,
) -> Result<JsonResponse<AccountView>, Problem> {
    exchange(caller, account, request, false).await
}

/// Checks if the exchange is allowed. Changes nothing.
#[utoipa::path(post, path = "/v1/accounts/{account}/recut/rehearsal", security(("token" = [])), request_body = RecutRequest,
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountView, description = "The exchange is allowed; the body is the unchanged account"),
        Problem))]
pub(super) async fn rehearse_recut(
    caller: Caller<Analyst>,
    Path(account): Path<String>,
    Json(request, _memory): Json<RecutRequest>,
) -> Result<JsonResponse<AccountView>, Problem> {
    exchange(caller, account, request, true).await
}

pub(super) async fn exchange(
    Caller { bearer, shared, .. }: Caller<Analyst>,
    account: String,
    request: RecutRequest,
    is_rehearsal: bool,
) -> Result<JsonResponse<AccountView>, Problem> {
    let into = parse_plan(&request.into)?;
    let account_after = shared.work(move |curator| {
        curator.recut(&bearer, &account, (&request.unused, &into), is_rehearsal)?;
        account_view(curator, &bearer, &account)
    });
    Ok(JsonResponse(account_after.await?))
}
