//! `POST /v1/accounts/{account}/recut`: slots that are not used yet, cut otherwise by whoever has the account.

use axum::extract::Path;
use counterpoint_wire::ledger::Openings;
use serde::Deserialize;
use utoipa::ToSchema;

use super::json::{Json, JsonResponse};
use super::known::{Analyst, Known};
use super::problem::Problem;
use super::types::account::{AccountShown, account_shown, plan};

/// Unused openings of slots, and the slots that they are exchanged for.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecutAsked {
    /// So many openings of each slot: `[{"slot": "weekly", "count": 2}]`.
    #[schema(value_type = Vec<Object>)]
    unused: Vec<Openings>,
    /// The text of a plan file, whose releases are the new slots.
    into: String,
}

/// Exchanges unused openings of slots for new slots, which they have to dominate all together: what the account promises stays.
#[utoipa::path(post, path = "/v1/accounts/{account}/recut", security(("token" = [])), request_body = RecutAsked,
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountShown), Problem))]
pub(super) async fn recut(
    known: Known<Analyst>,
    Path(account): Path<String>,
    Json(asked, _room): Json<RecutAsked>,
) -> Result<JsonResponse<AccountShown>, Problem> {
    exchange(known, account, asked, false).await
}

/// Whether it could be exchanged so. Nothing changes.
#[utoipa::path(post, path = "/v1/accounts/{account}/recut/rehearsal", security(("token" = [])), request_body = RecutAsked,
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountShown, description = "It could be; the account as it stands"),
        Problem))]
pub(super) async fn rehearse_recut(
    known: Known<Analyst>,
    Path(account): Path<String>,
    Json(asked, _room): Json<RecutAsked>,
) -> Result<JsonResponse<AccountShown>, Problem> {
    exchange(known, account, asked, true).await
}

pub(super) async fn exchange(
    Known { bearer, shared, .. }: Known<Analyst>,
    account: String,
    asked: RecutAsked,
    only_check: bool,
) -> Result<JsonResponse<AccountShown>, Problem> {
    let into = plan(&asked.into)?;
    let stands = shared.work(move |curator| {
        curator.recut(&bearer, &account, (&asked.unused, &into), only_check)?;
        account_shown(curator, &bearer, &account)
    });
    Ok(JsonResponse(stands.await?))
}
