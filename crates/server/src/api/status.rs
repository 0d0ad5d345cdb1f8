//! `GET /v1/status`.

use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;
use super::known::{Known, Overseer};
use super::page::Page;
use super::problem::Problem;
use super::types::account::AccountShown;

/// A page of accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct AccountPage {
    accounts: Vec<AccountShown>,
    /// What the next page begins after; null if there is none.
    next: Option<u64>,
}

/// Every data set and account, for the owner, in the order they were opened.
#[utoipa::path(get, path = "/v1/status", security(("token" = [])), params(Page<u64>),
    responses((status = 200, body = AccountPage), Problem))]
pub(super) async fn owned(
    Known { shared, .. }: Known<Overseer>,
    page: Page<u64>,
) -> Result<JsonResponse<AccountPage>, Problem> {
    let shown = shared.work(move |curator| {
        let read = |most| curator.pool().with(|ledger| ledger.accounts_after(page.after, most));
        let (accounts, next) = page.cut(read(page.read_limit())?, |(opened, _)| *opened);
        let accounts = accounts.iter().map(|(_, account)| AccountShown::of(account)).collect();
        Ok(AccountPage { accounts, next })
    });
    Ok(JsonResponse(shown.await?))
}
