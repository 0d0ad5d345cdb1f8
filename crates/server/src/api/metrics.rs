//! `GET /v1/metrics`.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use counterpoint_curator::{Curator, Role};
use counterpoint_ledger::LedgerError;

use super::caller::{Caller, Overseer};
use super::problem::Problem;
use super::types::balance::BalanceView;

/// The number of accounts that are read at a time.
const PAGE_SIZE: u64 = 1000;

/// Metrics for alarms, in the text format of Prometheus. The engines' times depend on the data, so only owners see
/// them.
#[utoipa::path(get, path = "/v1/metrics", security(("token" = [])),
    responses((status = 200, body = String, content_type = "text/plain"), Problem))]
pub(super) async fn metrics(
    Caller { bearer, shared, .. }: Caller<Overseer>,
) -> Result<Response, Problem> {
    let mut text = shared.metrics.text(bearer.role == Role::Owner);
    let (running, waiting) = shared.queues.lengths();
    text += "# TYPE counterpoint_questions_running gauge\n";
    text += &format!("counterpoint_questions_running {running}\n");
    text += "# TYPE counterpoint_questions_waiting gauge\n";
    text += &format!("counterpoint_questions_waiting {waiting}\n");
    // The metrics must work while the ledger is down, so that an alarm can report it.
    text += &shared.work(|curator| Ok(budgets(curator))).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// The remaining budget of each data set, if the ledger can be read.
fn budgets(curator: &Curator) -> String {
    let left = left(curator);
    let up = u8::from(left.is_ok());
    let mut text = format!("# TYPE counterpoint_ledger_up gauge\ncounterpoint_ledger_up {up}\n");
    text += "# TYPE counterpoint_budget_left gauge\n";
    text + &left.unwrap_or_default()
}

/// One line for each data set; accounts are skipped, a page at a time.
fn left(curator: &Curator) -> Result<String, LedgerError> {
    let (mut text, mut after) = (String::new(), 0);
    loop {
        let page = curator.pool().with(|ledger| ledger.accounts_after(after, PAGE_SIZE))?;
        let Some((last, _)) = page.last() else { return Ok(text) };
        after = *last;
        for (_, dataset) in page.iter().filter(|(_, account)| account.parent.is_none()) {
            let (left, name) = (BalanceView::of(dataset, None), &dataset.name);
            let (unit, amount) = (&left.unit, left.amount);
            text +=
                &format!("counterpoint_budget_left{{dataset={name:?},unit={unit:?}}} {amount}\n");
        }
    }
}
