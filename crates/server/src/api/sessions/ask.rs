//! `POST /v1/sessions/{account}/{key}/questions`.

use axum::extract::Path;
use counterpoint_curator::question::Question;
use counterpoint_curator::table_session::Runs;
use counterpoint_curator::{Asking, Bearer, Curator, OwnAsking, Stored};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::spend;
use crate::api::json::{Json, JsonResponse};
use crate::api::known::{Analyst, Known};
use crate::api::problem::{FAILED, ILLEGAL, Problem};
use crate::api::state::note;
use crate::api::types::asking::written;

/// A question to a session: one of `sql` and `question`, a filter and one aggregate, about the session's table; or `own`, to
/// a mechanism that the owner registered.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionQuestion {
    /// The caller's own name for the question: asked again under it, it has to be the same, and has the same answer.
    name: String,
    /// As SQL.
    #[serde(default)]
    sql: Option<String>,
    /// As JSON: `table`, `filter`, `aggregates`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    question: Option<Question>,
    /// The guess that is checked, for guess-and-check.
    #[serde(default)]
    guess: Option<f64>,
    /// What it costs of a sequence.
    #[serde(default)]
    epsilon: Option<f64>,
    /// What it costs of a sequence.
    #[serde(default)]
    rho: Option<f64>,
    /// What a mechanism of the owner's own is asked: any JSON.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    own: Option<Value>,
}

/// A question to a mechanism of ours, or of the owner's.
#[derive(Clone)]
enum Asks {
    Ours(Asking),
    Own(OwnAsking),
}

impl Asks {
    /// The account that paid, and the session's key.
    fn place(&self) -> (&str, &str) {
        match self {
            Self::Ours(asking) => (&asking.account, &asking.key),
            Self::Own(asking) => (&asking.account, &asking.key),
        }
    }
}

impl SessionQuestion {
    fn asking(self, account: String, key: String) -> Result<Asks, Problem> {
        if let Some(own) = &self.own {
            let others = [self.sql.is_some(), self.question.is_some(), self.guess.is_some()];
            if others.contains(&true) || self.epsilon.is_some() || self.rho.is_some() {
                return Err(ILLEGAL.of("legal: own alone, or a question about the session's table"));
            }
            let (name, question) = (self.name, own.to_string());
            return Ok(Asks::Own(OwnAsking { account, key, name, question }));
        }
        let (written, spend) = (written(self.sql, self.question)?, spend(self.epsilon, self.rho)?);
        let (name, guess) = (self.name, self.guess);
        Ok(Asks::Ours(Asking { account, key, name, written, guess, spend }))
    }
}

/// An answer of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionAnswer {
    /// `"below"`, `"pass"`, or an object with one of `above` (a number, or null), `wrong`, `number` and `table`; whatever a
    /// mechanism of the owner's own says.
    #[schema(value_type = Object)]
    reply: Box<RawValue>,
    /// The owner's own mechanism that answered, if one did: that it costs no more than was charged is the owner's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<String>,
    /// How many answers the session has given.
    answered: u64,
    /// Whether it gives no more.
    over: bool,
    /// The ledger's entry that stored it.
    entry: u64,
    /// Whether it had been stored before.
    repeated: bool,
}

/// Asks a session. It was paid for when it was opened.
#[utoipa::path(post, path = "/v1/sessions/{account}/{key}/questions", security(("token" = [])), request_body = SessionQuestion,
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionAnswer), Problem))]
pub(crate) async fn ask_session(
    Known { bearer, shared, record, .. }: Known<Analyst>,
    Path((account, key)): Path<(String, String)>,
    Json(question, _room): Json<SessionQuestion>,
) -> Result<JsonResponse<SessionAnswer>, Problem> {
    let both = (bearer, question.asking(account, key)?);
    let asked = both.clone();
    let looked_up = shared.work(move |curator| {
        let (location, stored) = match &asked.1 {
            Asks::Ours(asking) => {
                let (location, shown) = curator.remembered_in_session(&asked.0, asking)?;
                (location, shown.map(Stored::from))
            }
            Asks::Own(asking) => curator.remembered_in_own_session(&asked.0, asking)?,
        };
        let stored = stored.map(|stored| step(curator, &asked, stored)).transpose()?;
        Ok((location, stored))
    });
    let (location, stored) = looked_up.await?;
    if let Some(stored) = stored {
        return Ok(JsonResponse(stored));
    }
    let places = shared.place(Some(location), &record).await?;
    // Always for a slot: what is refused may have been added up all the same, where others asked meanwhile.
    let run = shared.run(places, &record, 1, move |curator, record| {
        let (bearer, asks) = &both;
        let stored = match asks {
            Asks::Ours(asking) => {
                curator.timed_session(bearer, asking, &record.stages).map(Stored::from)
            }
            Asks::Own(asking) => curator.ask_own_session(bearer, asking),
        };
        let told = stored.map_err(Problem::from).and_then(|stored| step(curator, &both, stored));
        told.inspect_err(|problem| note(record, problem))
    });
    Ok(JsonResponse(run.await??))
}

/// A session's answer, and how it stands.
fn step(
    curator: &Curator,
    (bearer, asks): &(Bearer, Asks),
    stored: Stored,
) -> Result<SessionAnswer, Problem> {
    let (account, key) = asks.place();
    let standing = curator.session(bearer, account, key)?;
    let reply =
        String::from_utf8(stored.bytes).ok().and_then(|text| RawValue::from_string(text).ok());
    let own = match standing.declared {
        Runs::Own(own) => Some(own.own),
        Runs::Ours(_) => None,
    };
    Ok(SessionAnswer {
        reply: reply.ok_or_else(|| FAILED.of("what is stored is no answer"))?,
        own,
        answered: standing.answered,
        over: standing.is_over,
        entry: stored.entry,
        repeated: stored.is_repeated,
    })
}
