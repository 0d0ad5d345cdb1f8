//! `GET /v1/status`.

use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Caller, Overseer};
use super::json::JsonResponse;
use super::pagination::PageRequest;
use super::problem::Problem;
use super::types::account::AccountView;

/// A page of accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct StatusResponse {
    accounts: Vec<AccountView>,
    /// The `after` of the next page; null if this is the last page.
    next: Option<u64>,
}

/// Every data set and account, in the order they were opened.
#[utoipa::path(get, path = "/v1/status", security(("token" = [])), params(PageRequest<u64>),
    responses((status = 200, body = StatusResponse), Problem))]
pub(super) async fn owned(
    Caller { shared, .. }: Caller<Overseer>,
    page: PageRequest<u64>,
) -> Result<JsonResponse<StatusResponse>, Problem> {
    let shown = shared.work(move |curator| {
        let read = |most| curator.pool().with(|ledger| ledger.accounts_after(page.after, most));
        let (accounts, next) = page.cut(read(page.read_limit())?, |(opened, _)| *opened);
        let accounts = accounts.iter().map(|(_, account)| AccountView::of(account)).collect();
        Ok(StatusResponse { accounts, next })
    });
    Ok(JsonResponse(shown.await?))
}
