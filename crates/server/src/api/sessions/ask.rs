//! `POST /v1/sessions/{account}/{key}/questions`.

use axum::extract::Path;
use counterpoint_curator::question::Question;
use counterpoint_curator::table_session::SessionMechanism;
use counterpoint_curator::{Bearer, Curator, CustomSubmission, SessionSubmission, StoredBytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::spend;
use crate::api::caller::{Analyst, Caller};
use crate::api::json::{Json, JsonResponse};
use crate::api::problem::{FAILED, ILLEGAL, Problem};
use crate::api::state::count_charged_failure;
use crate::api::types::question::question_text;

/// A question to a session: `sql` or `question`, with a filter and one aggregate, about the session's table; or `own`,
/// for a mechanism that the owner registered.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionQuestionRequest {
    /// The caller's own name for the question. The same question under the same name has the same answer; another
    /// question is an error.
    name: String,
    /// The question as SQL.
    #[serde(default)]
    sql: Option<String>,
    /// The question as JSON: `table`, `filter`, `aggregates`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    question: Option<Question>,
    /// The guess to check, for guess-and-check.
    #[serde(default)]
    guess: Option<f64>,
    /// The epsilon of a step, for a sequence.
    #[serde(default)]
    epsilon: Option<f64>,
    /// The rho of a step, for a sequence.
    #[serde(default)]
    rho: Option<f64>,
    /// The input of an owner's own mechanism: any JSON.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    own: Option<Value>,
}

/// A question to a built-in mechanism, or to one that the owner registered.
#[derive(Clone)]
enum SessionQuery {
    BuiltIn(SessionSubmission),
    Custom(CustomSubmission),
}

impl SessionQuery {
    /// The account that paid, and the session's key.
    fn account_and_key(&self) -> (&str, &str) {
        match self {
            Self::BuiltIn(submission) => (&submission.account, &submission.key),
            Self::Custom(submission) => (&submission.account, &submission.key),
        }
    }
}

impl SessionQuestionRequest {
    fn submission(self, account: String, key: String) -> Result<SessionQuery, Problem> {
        if let Some(own) = &self.own {
            let others = [self.sql.is_some(), self.question.is_some(), self.guess.is_some()];
            if others.contains(&true) || self.epsilon.is_some() || self.rho.is_some() {
                return Err(ILLEGAL.problem("own is given with other fields; legal: own alone, or a question about the session's table"));
            }
            let (name, question) = (self.name, own.to_string());
            return Ok(SessionQuery::Custom(CustomSubmission { account, key, name, question }));
        }
        let (question, spend) =
            (question_text(self.sql, self.question)?, spend(self.epsilon, self.rho)?);
        let (name, guess) = (self.name, self.guess);
        Ok(SessionQuery::BuiltIn(SessionSubmission { account, key, name, question, guess, spend }))
    }
}

/// The answer of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionAnswerResponse {
    /// `"below"`, `"pass"`, or an object with one of `above` (a number, or null), `wrong`, `number` and `table`. A
    /// mechanism that the owner registered may reply with any JSON.
    #[schema(value_type = Object)]
    reply: Box<RawValue>,
    /// The name of the mechanism that answered, if the owner registered it. Its privacy cost is the owner's claim, not
    /// proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<String>,
    /// The number of answers that the session has given.
    answered: u64,
    /// True if the session gives no more answers.
    over: bool,
    /// The ledger's entry that stores the answer.
    entry: u64,
    /// True if the answer had been stored before.
    repeated: bool,
}

/// Asks a session, which was charged when it was opened.
#[utoipa::path(post, path = "/v1/sessions/{account}/{key}/questions", security(("token" = [])), request_body = SessionQuestionRequest,
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionAnswerResponse), Problem))]
pub(crate) async fn ask_session(
    Caller { bearer, shared, record, .. }: Caller<Analyst>,
    Path((account, key)): Path<(String, String)>,
    Json(question, _memory): Json<SessionQuestionRequest>,
) -> Result<JsonResponse<SessionAnswerResponse>, Problem> {
    let both = (bearer, question.submission(account, key)?);
    let request = both.clone();
    let looked_up = shared.work(move |curator| {
        let (location, stored) = match &request.1 {
            SessionQuery::BuiltIn(submission) => {
                let (location, shown) = curator.find_session_answer(&request.0, submission)?;
                (location, shown.map(StoredBytes::from))
            }
            SessionQuery::Custom(submission) => {
                curator.find_custom_session_answer(&request.0, submission)?
            }
        };
        let stored =
            stored.map(|stored| session_response(curator, &request, stored)).transpose()?;
        Ok((location, stored))
    });
    let (location, stored) = looked_up.await?;
    if let Some(stored) = stored {
        return Ok(JsonResponse(stored));
    }
    let permits = shared.wait_for_engine(Some(location), &record).await?;
    // The question always takes a time slot: even a refused question may have run, if other questions arrived
    // meanwhile.
    let run = shared.run(permits, &record, 1, move |curator, record| {
        let (bearer, query) = &both;
        let stored = match query {
            SessionQuery::BuiltIn(submission) => {
                curator.ask_session_timed(bearer, submission, &record.stages).map(StoredBytes::from)
            }
            SessionQuery::Custom(submission) => curator.ask_custom_session(bearer, submission),
        };
        let response = stored
            .map_err(Problem::from)
            .and_then(|stored| session_response(curator, &both, stored));
        response.inspect_err(|problem| count_charged_failure(record, problem))
    });
    Ok(JsonResponse(run.await??))
}

/// Converts the stored answer and adds the session's state.
fn session_response(
    curator: &Curator,
    (bearer, query): &(Bearer, SessionQuery),
    stored: StoredBytes,
) -> Result<SessionAnswerResponse, Problem> {
    let (account, key) = query.account_and_key();
    let state = curator.session(bearer, account, key)?;
    let reply =
        String::from_utf8(stored.bytes).ok().and_then(|text| RawValue::from_string(text).ok());
    let own = match state.mechanism {
        SessionMechanism::Custom(custom) => Some(custom.name),
        SessionMechanism::BuiltIn(_) => None,
    };
    Ok(SessionAnswerResponse {
        reply: reply.ok_or_else(|| FAILED.problem("the stored answer cannot be read"))?,
        own,
        answered: state.answered,
        over: state.is_over,
        entry: stored.entry,
        repeated: stored.is_repeated,
    })
}
