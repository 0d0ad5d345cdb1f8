//! `POST /v1/rehearsals`.

use counterpoint_wire::ledger::Cost;

use super::caller::{Analyst, Caller};
use super::json::{Json, JsonResponse};
use super::problem::Problem;
use super::types::answer::{AnswerResponse, NumberView};
use super::types::balance::{BalanceView, ChargeView};
use super::types::question::QuestionRequest;

/// Answers a question from rows that are made up from the table's public description, so that programs can be written
/// before a question is asked. Charges and stores nothing and reads no data.
#[utoipa::path(post, path = "/v1/rehearsals", security(("token" = [])), request_body = QuestionRequest,
    responses((status = 200, body = AnswerResponse), Problem))]
pub(super) async fn rehearse(
    Caller { bearer, shared, record, .. }: Caller<Analyst>,
    Json(question, _memory): Json<QuestionRequest>,
) -> Result<JsonResponse<AnswerResponse>, Problem> {
    let submission = question.submission()?;
    // Made-up rows have their own queue.
    let permits = shared.wait_for_engine(None, &record).await?;
    let answered = shared.work(move |curator| {
        let _permits = permits;
        let numbers = curator.rehearse(&bearer, &submission)?;
        let charge = curator.price(&bearer, &submission)?.charge;
        let left = curator.balance(&bearer, &submission.account, Some(&charge))?;
        Ok(AnswerResponse {
            answers: numbers.into_iter().map(NumberView::from).collect(),
            cost: ChargeView::of(&Cost::default(), left.status.unit),
            left: BalanceView::of(&left.status, left.more),
            entry: None,
            repeated: false,
            dummy: true,
        })
    });
    Ok(JsonResponse(answered.await?))
}
