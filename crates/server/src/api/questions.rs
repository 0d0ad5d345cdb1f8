//! `/v1/questions`: asks questions, and lists the texts of answered questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use counterpoint_curator::{Answer, Bearer, Curator, CuratorError, Submission};
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Analyst, Caller, Overseer};
use super::json::{Json, JsonResponse};
use super::pagination::PageRequest;
use super::problem::{FAILED, Problem};
use super::state::{Admission, count_charged_failure};
use super::types::answer::{AnswerResponse, NumberView};
use super::types::balance::{BalanceView, ChargeView};
use super::types::question::{QuestionRequest, QuestionsRequest};
use crate::record::RequestRecord;

/// The answer to one of several questions, or its problem.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum QuestionOutcome {
    /// The answer.
    Answered(Box<AnswerResponse>),
    /// The problem.
    Problem(Problem),
}

/// The answer to one question, or a list for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum AnswersResponse {
    /// The answer to one question.
    One(Box<AnswerResponse>),
    /// The answers to several questions, in their order.
    Many(Vec<QuestionOutcome>),
}

/// Asks a question: charges it, answers it and stores the answer. Asking the same question of the same account again
/// costs nothing and returns the same answer. Each question of a list is charged and answered on its own, in order; the
/// engine reads a table once for all of them.
#[utoipa::path(post, path = "/v1/questions", security(("token" = [])), request_body = QuestionsRequest,
    responses((status = 200, body = AnswersResponse, description = "An answer, or a list of answers and problems if a list was given"),
        Problem))]
pub(super) async fn ask(
    caller: Caller<Analyst>,
    Json(request, _memory): Json<QuestionsRequest>,
) -> Result<JsonResponse<AnswersResponse>, Problem> {
    match request.bounded()? {
        QuestionsRequest::One(question) => {
            let submission = question.submission()?;
            let mut answered = answer_questions(caller, vec![submission]).await?;
            let one = answered.pop().unwrap_or_else(|| {
                Err(FAILED.problem("the question has no answer, which is a bug"))
            })?;
            Ok(JsonResponse(AnswersResponse::One(Box::new(one))))
        }
        QuestionsRequest::Many(list) => {
            let submissions: Vec<Result<Submission, Problem>> =
                list.into_iter().map(QuestionRequest::submission).collect();
            Ok(JsonResponse(AnswersResponse::Many(answer_list(caller, submissions).await?)))
        }
    }
}

/// Answers questions. Stored answers are returned at once; other questions wait until their engines admit them.
async fn answer_questions(
    caller: Caller<Analyst>,
    submissions: Vec<Submission>,
) -> Result<Vec<Result<AnswerResponse, Problem>>, Problem> {
    let Caller { bearer, shared, record, .. } = caller;
    let owned_bearer = bearer.clone();
    let prepared = shared.work(move |curator| {
        let prepared = curator.prepare(&owned_bearer, submissions.clone());
        Ok((curator.engines(&prepared), prepared, submissions))
    });
    let (engines, prepared, submissions) = prepared.await?;
    let all = (bearer, prepared, submissions);
    let (lookup, own_record) = (all.clone(), Arc::clone(&record));
    let admission = shared.admit(engines.into_iter().map(Some), &record, move |curator| {
        let (bearer, prepared, submissions) = lookup;
        let found = curator.stored_answers(&bearer, &prepared);
        Ok(found.map(|found| answer_responses(curator, &bearer, &submissions, found, &own_record)))
    });
    let permits = match admission.await? {
        Admission::Stored(stored) => return Ok(stored),
        Admission::Permits(permits) => permits,
    };
    let run = shared.run(permits, &record, 0, move |curator, record| {
        let (bearer, prepared, submissions) = all;
        let found = curator.answer(&bearer, &prepared, &record.stages);
        answer_responses(curator, &bearer, &submissions, found, record)
    });
    run.await
}

/// Answers the legal questions of a list, and returns the problems of the others in their places.
async fn answer_list(
    caller: Caller<Analyst>,
    submissions: Vec<Result<Submission, Problem>>,
) -> Result<Vec<QuestionOutcome>, Problem> {
    let legal: Vec<Submission> =
        submissions.iter().filter_map(|submission| submission.as_ref().ok().cloned()).collect();
    let mut answers = answer_questions(caller, legal).await?.into_iter();
    let outcome = |submission: Result<Submission, Problem>| {
        let answer = submission.and_then(|_| {
            answers.next().unwrap_or_else(|| {
                Err(FAILED.problem("the question has no answer, which is a bug"))
            })
        });
        match answer {
            Ok(answer) => QuestionOutcome::Answered(Box::new(answer)),
            Err(problem) => QuestionOutcome::Problem(problem),
        }
    };
    Ok(submissions.into_iter().map(outcome).collect())
}

/// Converts answers, adds the remaining budgets and records the charges.
fn answer_responses(
    curator: &Curator,
    bearer: &Bearer,
    submissions: &[Submission],
    found: Vec<Result<Answer, CuratorError>>,
    record: &RequestRecord,
) -> Vec<Result<AnswerResponse, Problem>> {
    let charges = found.iter().filter_map(|found| found.as_ref().ok()?.charge.as_ref());
    let costs: Vec<String> = charges.map(|cost| cost.main.to_string()).collect();
    let _ = record.cost.set(costs.join(" "));
    let converted = |(submission, found): (&Submission, Result<Answer, CuratorError>)| {
        answer_response(curator, bearer, submission, found?)
    };
    let responses: Vec<Result<AnswerResponse, Problem>> =
        submissions.iter().zip(found).map(converted).collect();
    let problems = responses.iter().filter_map(|response| response.as_ref().err());
    problems.for_each(|problem| count_charged_failure(record, problem));
    responses
}

/// Converts an answer and adds the remaining budget.
fn answer_response(
    curator: &Curator,
    bearer: &Bearer,
    submission: &Submission,
    answer: Answer,
) -> Result<AnswerResponse, Problem> {
    let left = curator.balance(bearer, &submission.account, answer.charge.as_ref())?;
    let cost = answer.charge.unwrap_or_default();
    Ok(AnswerResponse {
        answers: answer.numbers.into_iter().map(NumberView::from).collect(),
        cost: ChargeView::of(&cost, left.status.unit),
        left: BalanceView::of(&left.status, left.more),
        entry: answer.entry,
        repeated: answer.is_repeated,
        dummy: false,
    })
}

/// The texts of questions, by their keys in the history.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct QuestionTextsResponse {
    questions: BTreeMap<String, String>,
    /// The `after` of the next page; null if this is the last page.
    next: Option<String>,
}

/// The texts of answered questions, in the order of their keys in the history.
#[utoipa::path(get, path = "/v1/questions", security(("token" = [])), params(PageRequest<String>),
    responses((status = 200, body = QuestionTextsResponse), Problem))]
pub(super) async fn questions(
    Caller { shared, .. }: Caller<Overseer>,
    page: PageRequest<String>,
) -> Result<JsonResponse<QuestionTextsResponse>, Problem> {
    let texts = shared.work(move |curator| {
        let read = curator.questions(&page.after, page.read_limit())?;
        let (questions, next) = page.cut(read, |(key, _)| key.clone());
        Ok(QuestionTextsResponse { questions: questions.into_iter().collect(), next })
    });
    Ok(JsonResponse(texts.await?))
}
