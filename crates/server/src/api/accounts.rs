//! `GET /v1/accounts`: all accounts of a token, or one of them.

use axum::extract::Path;
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Analyst, Caller};
use super::json::JsonResponse;
use super::problem::Problem;
use super::types::account::{AccountView, account_view};

/// The accounts of a token.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct AccountsResponse {
    accounts: Vec<AccountView>,
}

/// The accounts that the token may ask.
#[utoipa::path(get, path = "/v1/accounts", security(("token" = [])),
    responses((status = 200, body = AccountsResponse), Problem))]
pub(super) async fn accounts(
    Caller { bearer, shared, .. }: Caller<Analyst>,
) -> Result<JsonResponse<AccountsResponse>, Problem> {
    let accounts = shared.work(move |curator| {
        let shown = |account: &String| account_view(curator, &bearer, account);
        bearer.accounts.iter().map(shown).collect::<Result<Vec<_>, _>>()
    });
    Ok(JsonResponse(AccountsResponse { accounts: accounts.await? }))
}

/// One account.
#[utoipa::path(get, path = "/v1/accounts/{account}", security(("token" = [])),
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountView), Problem))]
pub(super) async fn account(
    Caller { bearer, shared, .. }: Caller<Analyst>,
    Path(account): Path<String>,
) -> Result<JsonResponse<AccountView>, Problem> {
    let shown = shared.work(move |curator| account_view(curator, &bearer, &account));
    Ok(JsonResponse(shown.await?))
}
