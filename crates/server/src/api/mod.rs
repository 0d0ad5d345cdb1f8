//! The curator's interface, version 1: JSON over HTTP, described by `/v1/openapi.json`.

mod json;
mod known;
mod owner;
mod problem;
mod queue;
mod recut;
mod state;
mod types;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use counterpoint_curator::table_session::Runs;
use counterpoint_curator::{Answer, Ask, Bearer, Curator, Denied, Role, Stored};
use counterpoint_wire::ledger::Cost;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use self::json::{Json, json};
use known::{Analyst, Overseer};
pub(crate) use known::{Anybody, Known};
use problem::{CHARGED, FAILED, ILLEGAL, NOT_FOUND, Problem, WRONG_METHOD};
use state::Entered;
pub(crate) use state::Shared;
use types::question::{
    Answered, Asking, Askings, Charge, Expected, GroupKey, Offer, Offers, One, Outcome, Outcomes,
    Quote, Remaining,
};
use types::session::{
    Asks, Opens, SessionAnswer, SessionAsked, SessionOpened, SessionQuestion, SessionShown,
    Sessions,
};
use types::standing::{
    AccountShown, Accounts, ColumnShown, Health, Me, Readiness, SlotShown, TableShown, Tables,
    Verified,
};

use crate::record::Record;

/// The most questions that are priced or asked together.
const MOST_TOGETHER: usize = 100;

/// The longest that a part of the service is waited for when it is asked whether it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// The document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Counterpoint curator",
        version = "1.0.0",
        description = "Questions about tables, answered with differential privacy and charged to a ledger."
    ),
    paths(
        health, ready, metrics, document, me, tables, ask, rehearse, prices, accounts, account, owned, history, verify,
        open_session, sessions, session, ask_session, close_session,
        recut::recut, recut::rehearse_recut, owner::open_account, owner::tokens, owner::make_token, owner::revoke_token, owner::questions
    ),
    components(schemas(
        Problem, Asking, Askings, Charge, Remaining, One, Answered, Outcome, Outcomes, Quote, Offer, Offers, Expected, TableShown, Tables, ColumnShown,
        GroupKey, Me, AccountShown, SlotShown, Accounts, Verified, Health, Readiness, SessionAsked, SessionOpened, SessionShown, Sessions, SessionQuestion,
        SessionAnswer, recut::RecutAsked, owner::AccountAsked, owner::TokenShown, owner::TokenList, owner::TokenAsked, owner::TokenMade,
        owner::QuestionTexts
    )),
    modifiers(&Bearers)
)]
struct Document;

/// Bearer tokens, for everything that does not say otherwise.
struct Bearers;

impl Modify for Bearers {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

/// All paths under `/v1`.
pub(crate) fn router(shared: Shared) -> Router {
    let only = |route: MethodRouter<Shared>| route.fallback(wrong_method);
    Router::new()
        .route("/v1/health", only(get(health)))
        .route("/v1/ready", only(get(ready)))
        .route("/v1/metrics", only(get(metrics)))
        .route("/v1/openapi.json", only(get(document)))
        .route("/v1/me", only(get(me)))
        .route("/v1/tables", only(get(tables)))
        .route("/v1/questions", only(get(owner::questions).post(ask)))
        .route("/v1/rehearsals", only(post(rehearse)))
        .route("/v1/prices", only(post(prices)))
        .route("/v1/accounts", only(get(accounts).post(owner::open_account)))
        .route("/v1/accounts/{account}", only(get(account)))
        .route("/v1/accounts/{account}/recut", only(post(recut::recut)))
        .route("/v1/accounts/{account}/recut/rehearsal", only(post(recut::rehearse_recut)))
        .route("/v1/tokens", only(get(owner::tokens).post(owner::make_token)))
        .route("/v1/tokens/{id}", only(delete(owner::revoke_token)))
        .route("/v1/sessions", only(get(sessions).post(open_session)))
        .route("/v1/sessions/{account}/{key}", only(get(session).delete(close_session)))
        .route("/v1/sessions/{account}/{key}/questions", only(post(ask_session)))
        .route("/v1/status", only(get(owned)))
        .route("/v1/history", only(get(history)))
        .route("/v1/verify", only(get(verify)))
        .route("/v1/", only(get(nothing)).fallback(nothing))
        .route("/v1/{*rest}", only(get(nothing)).fallback(nothing))
        .with_state(shared)
}

async fn wrong_method() -> Problem {
    WRONG_METHOD.of("the path has other methods; legal: see /v1/openapi.json")
}

async fn nothing() -> Problem {
    NOT_FOUND.of("there is no such path; legal: see /v1/openapi.json")
}

/// That the service is alive. It says nothing of what it needs: see `/v1/ready`.
#[utoipa::path(get, path = "/v1/health", responses((status = 200, body = Health)))]
async fn health() -> Response {
    json(&Health { status: "ok" })
}

/// Whether the ledger, the tokens and the engines can be reached now; status 503 if not. Looked at once a second at most.
#[utoipa::path(get, path = "/v1/ready", responses((status = 200, body = Readiness), (status = 503, body = Readiness)))]
async fn ready(State(shared): State<Shared>) -> Response {
    let found = shared.readiness(|curator| Readiness {
        ledger: curator.pool().with(|ledger| ledger.head()).is_ok(),
        state: curator.tokens().list().is_ok(),
        engines: curator.tables().all(|kept| kept.held.is_reachable()),
    });
    let found = timeout(PATIENCE, found).await.unwrap_or_default();
    let is_ready = found.ledger && found.state && found.engines;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut response = json(&found);
    *response.status_mut() = status;
    response
}

/// Numbers to alert on, in the text format of Prometheus. The engines' times depend on the data, and are for owners alone.
#[utoipa::path(get, path = "/v1/metrics", security(("token" = [])),
    responses((status = 200, body = String, content_type = "text/plain"), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn metrics(Known { bearer, shared, .. }: Known<Overseer>) -> Result<Response, Problem> {
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
    let status = curator.pool().with(|ledger| ledger.status(None));
    let up = u8::from(status.is_ok());
    let mut text = format!("# TYPE counterpoint_ledger_up gauge\ncounterpoint_ledger_up {up}\n");
    text += "# TYPE counterpoint_budget_left gauge\n";
    let accounts = status.map(|status| status.accounts).unwrap_or_default();
    for dataset in accounts.iter().filter(|account| account.parent.is_none()) {
        let (left, name) = (Remaining::of(dataset, None), &dataset.name);
        let (unit, amount) = (&left.unit, left.amount);
        text += &format!("counterpoint_budget_left{{dataset={name:?},unit={unit:?}}} {amount}\n");
    }
    text
}

/// This document.
#[utoipa::path(get, path = "/v1/openapi.json", responses((status = 200, body = Object)))]
async fn document() -> Response {
    json(&Document::openapi())
}

/// Whose token it is.
#[utoipa::path(get, path = "/v1/me", security(("token" = [])),
    responses((status = 200, body = Me), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn me(known: Known<Anybody>) -> Result<Response, Problem> {
    let Bearer { name, role, accounts, .. } = known.bearer;
    Ok(json(&Me { name, role: role.name().to_owned(), accounts }))
}

/// What is public about the tables.
#[utoipa::path(get, path = "/v1/tables", security(("token" = [])),
    responses((status = 200, body = Tables), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn tables(Known { shared, .. }: Known<Anybody>) -> Result<Response, Problem> {
    let curator = shared.curator();
    let tables = curator.tables().map(|kept| kept.held.public.text().into()).collect();
    Ok(json(&Tables { tables }))
}

/// Asks a question: charged, answered, stored. The same question asked again of the same account costs nothing and has the
/// same answer. Of a list each is charged and answered on its own, in its order; the engine goes through a table once for all.
#[utoipa::path(post, path = "/v1/questions", security(("token" = [])), request_body = Askings,
    responses((status = 200, body = Outcomes, description = "An answer, or a list of answers and problems if a list was given"),
        (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn ask(
    known: Known<Analyst>,
    Json(askings, _room): Json<Askings>,
) -> Result<Response, Problem> {
    match askings {
        Askings::One(asking) => {
            let ask = asking.ask()?;
            let mut answered = answered(known, vec![ask]).await?;
            let one = answered.pop().unwrap_or_else(|| Err(FAILED.of("this is a bug")))?;
            Ok(json(&Outcomes::One(Box::new(one))))
        }
        Askings::Many(list) if list.len() > MOST_TOGETHER => Err(too_many(list.len())),
        Askings::Many(list) => {
            let asks: Vec<Result<Ask, Problem>> = list.into_iter().map(Asking::ask).collect();
            Ok(json(&Outcomes::Many(all_answered(known, asks).await?)))
        }
    }
}

fn too_many(number: usize) -> Problem {
    ILLEGAL.of(format!("{number} questions; legal: at most {MOST_TOGETHER}"))
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

/// Counts what was charged and has no answer.
fn note(record: &Record, problem: &Problem) {
    if problem.code == CHARGED.code() {
        record.metrics().note_charged_and_failed();
    }
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

/// Answers a question from rows that are made up from what is public, so that programs can be written first. Nothing is
/// charged or stored, and no data are looked at.
#[utoipa::path(post, path = "/v1/rehearsals", security(("token" = [])), request_body = Asking,
    responses((status = 200, body = Answered), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn rehearse(
    Known { bearer, shared, record, .. }: Known<Analyst>,
    Json(asking, _room): Json<Asking>,
) -> Result<Response, Problem> {
    let ask = asking.ask()?;
    // Made-up rows have a queue of their own.
    let entered = shared.enter([None], &record, |_| Ok(None::<()>)).await?;
    let Entered::Places(places) = entered else { return Err(FAILED.of("this is a bug")) };
    let answered = shared.work(move |curator| {
        let _places = places;
        let numbers = curator.rehearse(&bearer, &ask)?;
        let charge = curator.price(&bearer, &ask)?.charge;
        let left = curator.left(&bearer, &ask.account, Some(&charge))?;
        Ok(Answered {
            answers: numbers.into_iter().map(One::from).collect(),
            cost: Charge::of(&Cost::default(), left.status.unit),
            left: Remaining::of(&left.status, left.more),
            entry: None,
            repeated: false,
            dummy: true,
        })
    });
    Ok(json(&answered.await?))
}

/// What questions would cost. Nothing is charged, and no data are looked at.
#[utoipa::path(post, path = "/v1/prices", security(("token" = [])), request_body = Askings,
    responses((status = 200, body = Offers, description = "A quote, or a list of quotes and problems if a list was given"),
        (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn prices(
    Known { bearer, shared, .. }: Known<Analyst>,
    Json(askings, _room): Json<Askings>,
) -> Result<Response, Problem> {
    match askings {
        Askings::One(asking) => {
            let ask = asking.ask()?;
            let quote = shared.work(move |curator| quoted(curator, &bearer, &ask)).await?;
            Ok(json(&Offers::One(Box::new(quote))))
        }
        Askings::Many(list) if list.len() > MOST_TOGETHER => Err(too_many(list.len())),
        Askings::Many(list) => {
            let quotes = shared.work(move |curator| {
                let offer = |asking: Asking| match asking
                    .ask()
                    .and_then(|ask| quoted(curator, &bearer, &ask))
                {
                    Ok(quote) => Offer::Quote(Box::new(quote)),
                    Err(problem) => Offer::Problem(problem),
                };
                Ok(Offers::Many(list.into_iter().map(offer).collect()))
            });
            Ok(json(&quotes.await?))
        }
    }
}

fn quoted(curator: &Curator, bearer: &Bearer, ask: &Ask) -> Result<Quote, Problem> {
    let priced = curator.price(bearer, ask)?;
    let left = curator.left(bearer, &ask.account, Some(&priced.charge))?;
    let unit = left.status.unit;
    Ok(Quote::of(priced, unit, Remaining::of(&left.status, left.more)))
}

/// The accounts that the token may ask.
#[utoipa::path(get, path = "/v1/accounts", security(("token" = [])),
    responses((status = 200, body = Accounts), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn accounts(Known { bearer, shared, .. }: Known<Analyst>) -> Result<Response, Problem> {
    let accounts = shared.work(move |curator| {
        let shown = |account: &String| recut::account_shown(curator, &bearer, account);
        bearer.accounts.iter().map(shown).collect::<Result<Vec<_>, _>>()
    });
    Ok(json(&Accounts { accounts: accounts.await? }))
}

/// One account.
#[utoipa::path(get, path = "/v1/accounts/{account}", security(("token" = [])),
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn account(
    Known { bearer, shared, .. }: Known<Analyst>,
    Path(account): Path<String>,
) -> Result<Response, Problem> {
    let shown = shared.work(move |curator| recut::account_shown(curator, &bearer, &account));
    Ok(json(&shown.await?))
}

/// Opens a session: all of it is charged now, however much of it is used. Opened again under its key with the same
/// declaration, it is the same session, and costs nothing.
#[utoipa::path(post, path = "/v1/sessions", security(("token" = [])), request_body = SessionAsked,
    responses((status = 200, body = SessionOpened), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn open_session(
    Known { bearer, shared, record, .. }: Known<Analyst>,
    Json(asked, _room): Json<SessionAsked>,
) -> Result<Response, Problem> {
    let opening = asked.opening()?;
    let opened = shared.work(move |curator| {
        let (opened, account, key) = match opening {
            Opens::Ours(one) => (curator.open_session(&bearer, &one)?, one.account, one.key),
            Opens::Own(one) => (curator.open_own_session(&bearer, &one)?, one.account, one.key),
        };
        let left = curator.left(&bearer, &account, opened.charge.as_ref())?;
        let cost = opened.charge.unwrap_or_default();
        let _ = record.cost.set(cost.main.to_string());
        Ok(SessionOpened {
            key,
            cost: Charge::of(&cost, left.status.unit),
            left: Remaining::of(&left.status, left.more),
            answered: opened.answered,
            over: opened.is_over,
        })
    });
    Ok(json(&opened.await?))
}

/// The token's own sessions.
#[utoipa::path(get, path = "/v1/sessions", security(("token" = [])),
    responses((status = 200, body = Sessions), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn sessions(Known { bearer, shared, .. }: Known<Analyst>) -> Result<Response, Problem> {
    let found = shared.work(move |curator| Ok(curator.sessions(&bearer)?)).await?;
    Ok(json(&Sessions { sessions: found.into_iter().map(SessionShown::from).collect() }))
}

/// One session of the token's own.
#[utoipa::path(get, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn session(
    Known { bearer, shared, .. }: Known<Analyst>,
    Path((account, key)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let found = shared.work(move |curator| Ok(curator.session(&bearer, &account, &key)?)).await?;
    Ok(json(&SessionShown::from(found)))
}

/// Asks a session. It was paid for when it was opened.
#[utoipa::path(post, path = "/v1/sessions/{account}/{key}/questions", security(("token" = [])), request_body = SessionQuestion,
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionAnswer), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn ask_session(
    Known { bearer, shared, record, .. }: Known<Analyst>,
    Path((account, key)): Path<(String, String)>,
    Json(question, _room): Json<SessionQuestion>,
) -> Result<Response, Problem> {
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
        return Ok(json(&stored));
    }
    let entered = shared.enter([Some(location)], &record, |_| Ok(None::<()>)).await?;
    let Entered::Places(places) = entered else { return Err(FAILED.of("this is a bug")) };
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
    Ok(json(&run.await??))
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

/// Ends a session for good. It is not refunded.
#[utoipa::path(delete, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn close_session(
    Known { bearer, shared, .. }: Known<Analyst>,
    Path((account, key)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let closed = shared.work(move |curator| Ok(curator.close_session(&bearer, &account, &key)?));
    Ok(json(&SessionShown::from(closed.await?)))
}

/// Every data set and account, for the owner.
#[utoipa::path(get, path = "/v1/status", security(("token" = [])),
    responses((status = 200, body = Accounts), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn owned(Known { shared, .. }: Known<Overseer>) -> Result<Response, Problem> {
    let accounts = shared.work(|curator| {
        let status = curator.pool().with(|ledger| ledger.status(None))?;
        Ok(status.accounts.iter().map(AccountShown::of).collect())
    });
    Ok(json(&Accounts { accounts: accounts.await? }))
}

/// The ledger's history: who was charged what, and when; no answers.
#[utoipa::path(get, path = "/v1/history", security(("token" = [])),
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn history(Known { shared, .. }: Known<Overseer>) -> Result<Response, Problem> {
    let history = shared.work(|curator| {
        curator.pool().with(|ledger| {
            let mut entries = Vec::new();
            let head = ledger.history(None, None, |entry| entries.push(entry))?;
            Ok::<_, Problem>(counterpoint_wire::ledger::History { head: head.to_string(), entries })
        })
    });
    Ok(json(&history.await?))
}

/// Recomputes every balance from the history.
#[utoipa::path(get, path = "/v1/verify", security(("token" = [])),
    responses((status = 200, body = Verified), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn verify(Known { shared, .. }: Known<Overseer>) -> Result<Response, Problem> {
    let verified = shared.work(|curator| {
        let found = curator.pool().with(|ledger| ledger.verify(None))?;
        let (head, problem) = (found.head.to_string(), found.problem);
        Ok(Verified { head, verified: problem.is_none(), problem })
    });
    Ok(json(&verified.await?))
}
