//! `GET /v1/history`.

use counterpoint_wire::ledger::HistoryEntry;
use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;
use super::known::{Known, Overseer};
use super::page::Page;
use super::problem::Problem;

/// A page of the ledger's history.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HistoryPage {
    /// The number and hash of the history's last entry.
    head: String,
    /// Entries, by their numbers.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<HistoryEntry>,
    /// What the next page begins after; null if these are the last entries.
    next: Option<u64>,
}

/// The ledger's history: who was charged what, and when; no answers.
#[utoipa::path(get, path = "/v1/history", security(("token" = [])), params(Page<u64>),
    responses((status = 200, body = HistoryPage), Problem))]
pub(super) async fn history(
    Known { shared, .. }: Known<Overseer>,
    page: Page<u64>,
) -> Result<JsonResponse<HistoryPage>, Problem> {
    let history = shared.work(move |curator| {
        let read = |most| curator.pool().with(|ledger| ledger.history_after(page.after, most));
        let (head, entries) = read(page.read_limit())?;
        let (entries, next) = page.cut(entries, |entry| entry.sequence);
        Ok(HistoryPage { head: head.to_string(), entries, next })
    });
    Ok(JsonResponse(history.await?))
}
