//! `GET /v1/metrics`.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use counterpoint_curator::{Curator, Role};
use counterpoint_ledger::LedgerError;

use super::known::{Known, Overseer};
use super::problem::Problem;
use super::types::balance::Remaining;

/// So many accounts are read at a time.
const PAGE: u64 = 1000;

/// Numbers to alert on, in the text format of Prometheus. The engines' times depend on the data, and are for owners alone.
#[utoipa::path(get, path = "/v1/metrics", security(("token" = [])),
    responses((status = 200, body = String, content_type = "text/plain"), Problem))]
pub(super) async fn metrics(
    Known { bearer, shared, .. }: Known<Overseer>,
) -> Result<Response, Problem> {
    let mut text = shared.metrics.text(bearer.role == Role::Owner);
    let (running, waiting) = shared.queues.lengths();
    text += "# TYPE counterpoint_questions_running gauge\n";
    text += &format!("counterpoint_questions_running {running}\n");
    text += "# TYPE counterpoint_questions_waiting gauge\n";
    text += &format!("counterpoint_questions_waiting {waiting}\n");
    // A ledger that is down is what an alarm is for.
    text += &shared.work(|curator| Ok(budgets(curator))).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// What is left of each data set, if the ledger can be read.
fn budgets(curator: &Curator) -> String {
    let left = left(curator);
    let up = u8::from(left.is_ok());
    let mut text = format!("# TYPE counterpoint_ledger_up gauge\ncounterpoint_ledger_up {up}\n");
    text += "# TYPE counterpoint_budget_left gauge\n";
    text + &left.unwrap_or_default()
}

/// A line for each data set. Accounts under them are passed over a page at a time.
fn left(curator: &Curator) -> Result<String, LedgerError> {
    let (mut text, mut after) = (String::new(), 0);
    loop {
        let page = curator.pool().with(|ledger| ledger.accounts_after(after, PAGE))?;
        let Some((last, _)) = page.last() else { return Ok(text) };
        after = *last;
        for (_, dataset) in page.iter().filter(|(_, account)| account.parent.is_none()) {
            let (left, name) = (Remaining::of(dataset, None), &dataset.name);
            let (unit, amount) = (&left.unit, left.amount);
            text +=
                &format!("counterpoint_budget_left{{dataset={name:?},unit={unit:?}}} {amount}\n");
        }
    }
}
