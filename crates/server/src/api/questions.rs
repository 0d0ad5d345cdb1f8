//! `/v1/questions`: asking them, and the texts of those that were answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use counterpoint_curator::{Answer, Ask, Bearer, Curator, Denied};
use serde::Serialize;
use utoipa::ToSchema;

use super::json::{Json, JsonResponse};
use super::known::{Analyst, Known, Overseer};
use super::page::Page;
use super::problem::{FAILED, Problem};
use super::state::{Entered, note};
use super::types::answer::{Answered, One};
use super::types::asking::{Asking, Askings};
use super::types::balance::{Charge, Remaining};
use crate::record::Record;

/// What became of one of several questions.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Outcome {
    /// It was answered.
    Answered(Box<Answered>),
    /// It was not.
    Problem(Problem),
}

/// An answer to one question, or a list for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Outcomes {
    /// To one.
    One(Box<Answered>),
    /// To several, in their order.
    Many(Vec<Outcome>),
}

/// Asks a question: charged, answered, stored. The same question asked again of the same account costs nothing and has the
/// same answer. Of a list each is charged and answered on its own, in its order; the engine goes through a table once for all.
#[utoipa::path(post, path = "/v1/questions", security(("token" = [])), request_body = Askings,
    responses((status = 200, body = Outcomes, description = "An answer, or a list of answers and problems if a list was given"),
        Problem))]
pub(super) async fn ask(
    known: Known<Analyst>,
    Json(askings, _room): Json<Askings>,
) -> Result<JsonResponse<Outcomes>, Problem> {
    match askings.bounded()? {
        Askings::One(asking) => {
            let ask = asking.ask()?;
            let mut answered = answered(known, vec![ask]).await?;
            let one = answered.pop().unwrap_or_else(|| Err(FAILED.of("this is a bug")))?;
            Ok(JsonResponse(Outcomes::One(Box::new(one))))
        }
        Askings::Many(list) => {
            let asks: Vec<Result<Ask, Problem>> = list.into_iter().map(Asking::ask).collect();
            Ok(JsonResponse(Outcomes::Many(all_answered(known, asks).await?)))
        }
    }
}

/// Answers questions: what is stored at once, all else when there is a place at its engine.
async fn answered(
    known: Known<Analyst>,
    asks: Vec<Ask>,
) -> Result<Vec<Result<Answered, Problem>>, Problem> {
    let Known { bearer, shared, record, .. } = known;
    let asker = bearer.clone();
    let prepared = shared.work(move |curator| {
        let prepared = curator.prepare(&asker, asks.clone());
        Ok((curator.engines(&prepared), prepared, asks))
    });
    let (engines, prepared, asks) = prepared.await?;
    let all = (bearer, prepared, asks);
    let (stored, kept) = (all.clone(), Arc::clone(&record));
    let entered = shared.enter(engines.into_iter().map(Some), &record, move |curator| {
        let (bearer, prepared, asks) = stored;
        let found = curator.remembered(&bearer, &prepared);
        Ok(found.map(|found| told_all(curator, &bearer, &asks, found, &kept)))
    });
    let places = match entered.await? {
        Entered::Stored(stored) => return Ok(stored),
        Entered::Places(places) => places,
    };
    let run = shared.run(places, &record, 0, move |curator, record| {
        let (bearer, prepared, asks) = all;
        let found = curator.answer(&bearer, &prepared, &record.stages);
        told_all(curator, &bearer, &asks, found, record)
    });
    run.await
}

/// The same where some were refused before.
async fn all_answered(
    known: Known<Analyst>,
    asks: Vec<Result<Ask, Problem>>,
) -> Result<Vec<Outcome>, Problem> {
    let legal: Vec<Ask> = asks.iter().filter_map(|ask| ask.as_ref().ok().cloned()).collect();
    let mut answers = answered(known, legal).await?.into_iter();
    let outcome = |ask: Result<Ask, Problem>| {
        let answer =
            ask.and_then(|_| answers.next().unwrap_or_else(|| Err(FAILED.of("this is a bug"))));
        match answer {
            Ok(answer) => Outcome::Answered(Box::new(answer)),
            Err(problem) => Outcome::Problem(problem),
        }
    };
    Ok(asks.into_iter().map(outcome).collect())
}

/// Answers with what is left now; what they cost is recorded.
fn told_all(
    curator: &Curator,
    bearer: &Bearer,
    asks: &[Ask],
    found: Vec<Result<Answer, Denied>>,
    record: &Record,
) -> Vec<Result<Answered, Problem>> {
    let charges = found.iter().filter_map(|found| found.as_ref().ok()?.charge.as_ref());
    let costs: Vec<String> = charges.map(|cost| cost.main.to_string()).collect();
    let _ = record.cost.set(costs.join(" "));
    let told = |(ask, found): (&Ask, Result<Answer, Denied>)| told(curator, bearer, ask, found?);
    let told: Vec<Result<Answered, Problem>> = asks.iter().zip(found).map(told).collect();
    told.iter().filter_map(|told| told.as_ref().err()).for_each(|problem| note(record, problem));
    told
}

/// An answer with what is left now.
fn told(
    curator: &Curator,
    bearer: &Bearer,
    ask: &Ask,
    answer: Answer,
) -> Result<Answered, Problem> {
    let left = curator.left(bearer, &ask.account, answer.charge.as_ref())?;
    let cost = answer.charge.unwrap_or_default();
    Ok(Answered {
        answers: answer.numbers.into_iter().map(One::from).collect(),
        cost: Charge::of(&cost, left.status.unit),
        left: Remaining::of(&left.status, left.more),
        entry: answer.entry,
        repeated: answer.is_repeated,
        dummy: false,
    })
}

/// The texts of questions, by the keys that the history has them under.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct QuestionTexts {
    questions: BTreeMap<String, String>,
    /// What the next page begins after; null if there is none.
    next: Option<String>,
}

/// The texts of the questions that were answered, by their keys in the history, in the order of the keys.
#[utoipa::path(get, path = "/v1/questions", security(("token" = [])), params(Page<String>),
    responses((status = 200, body = QuestionTexts), Problem))]
pub(super) async fn questions(
    Known { shared, .. }: Known<Overseer>,
    page: Page<String>,
) -> Result<JsonResponse<QuestionTexts>, Problem> {
    let texts = shared.work(move |curator| {
        let read = curator.questions(&page.after, page.read_limit())?;
        let (questions, next) = page.cut(read, |(key, _)| key.clone());
        Ok(QuestionTexts { questions: questions.into_iter().collect(), next })
    });
    Ok(JsonResponse(texts.await?))
}
