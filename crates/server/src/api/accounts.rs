//! `GET /v1/accounts`, of all that a token may ask and of one.

use axum::extract::Path;
use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;
use super::known::{Analyst, Known};
use super::problem::Problem;
use super::types::account::{AccountShown, account_shown};

/// A list of accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Accounts {
    accounts: Vec<AccountShown>,
}

/// The accounts that the token may ask.
#[utoipa::path(get, path = "/v1/accounts", security(("token" = [])),
    responses((status = 200, body = Accounts), Problem))]
pub(super) async fn accounts(
    Known { bearer, shared, .. }: Known<Analyst>,
) -> Result<JsonResponse<Accounts>, Problem> {
    let accounts = shared.work(move |curator| {
        let shown = |account: &String| account_shown(curator, &bearer, account);
        bearer.accounts.iter().map(shown).collect::<Result<Vec<_>, _>>()
    });
    Ok(JsonResponse(Accounts { accounts: accounts.await? }))
}

/// One account.
#[utoipa::path(get, path = "/v1/accounts/{account}", security(("token" = [])),
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountShown), Problem))]
pub(super) async fn account(
    Known { bearer, shared, .. }: Known<Analyst>,
    Path(account): Path<String>,
) -> Result<JsonResponse<AccountShown>, Problem> {
    let shown = shared.work(move |curator| account_shown(curator, &bearer, &account));
    Ok(JsonResponse(shown.await?))
}
