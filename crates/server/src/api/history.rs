//! `GET /v1/history`.

use counterpoint_wire::ledger::HistoryEntry;
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Caller, Overseer};
use super::json::JsonResponse;
use super::pagination::PageRequest;
use super::problem::Problem;

/// A page of the ledger's history.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HistoryResponse {
    /// The number and hash of the history's last entry.
    head: String,
    /// Entries, in the order of their numbers.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<HistoryEntry>,
    /// The `after` of the next page; null if this is the last page.
    next: Option<u64>,
}

/// The ledger's history: every charge, its account, analyst and time. It contains no answers.
#[utoipa::path(get, path = "/v1/history", security(("token" = [])), params(PageRequest<u64>),
    responses((status = 200, body = HistoryResponse), Problem))]
pub(super) async fn history(
    Caller { shared, .. }: Caller<Overseer>,
    page: PageRequest<u64>,
) -> Result<JsonResponse<HistoryResponse>, Problem> {
    let history = shared.work(move |curator| {
        let read = |most| curator.pool().with(|ledger| ledger.history_after(page.after, most));
        let (head, entries) = read(page.read_limit())?;
        let (entries, next) = page.cut(entries, |entry| entry.sequence);
        Ok(HistoryResponse { head: head.to_string(), entries, next })
    });
    Ok(JsonResponse(history.await?))
}
