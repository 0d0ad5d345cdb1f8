//! The curator's interface, version 1: JSON over HTTP, described by `/v1/openapi.json`.

mod problem;
mod state;
mod types;

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use counterpoint_curator::{Answer, Ask, Bearer, Curator, Denied, Role, Unanswered};
use counterpoint_wire::ledger::Cost;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Instant;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use problem::{
    FAILED, ILLEGAL, NOT_FOUND, Problem, TOO_LONG, UNREADABLE, WRONG_KIND, WRONG_METHOD,
};
pub(crate) use state::Shared;
use state::slot;
use types::question::{
    Answered, Asking, Askings, Charge, Expected, GroupKey, Offer, Offers, One, Outcome, Outcomes,
    Quote, Remaining,
};
use types::session::{
    SessionAnswer, SessionAsked, SessionOpened, SessionQuestion, SessionShown, Sessions,
};
use types::standing::{
    AccountShown, Accounts, ColumnShown, Health, Me, SlotShown, TableShown, Tables, Verified,
};

/// The longest body.
const MOST_BYTES: usize = 1 << 20;
/// The most questions that are priced or asked together.
const MOST_TOGETHER: usize = 100;

const ALL: [Role; 3] = [Role::Owner, Role::Analyst, Role::Auditor];

/// The document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Counterpoint curator",
        version = "1.0.0",
        description = "Questions about tables, answered with differential privacy and charged to a ledger."
    ),
    paths(
        health, metrics, document, me, tables, ask, rehearse, prices, accounts, account, owned, history, verify,
        open_session, sessions, session, ask_session, close_session
    ),
    components(schemas(
        Problem, Asking, Askings, Charge, Remaining, One, Answered, Outcome, Outcomes, Quote, Offer, Offers, Expected, TableShown, Tables, ColumnShown,
        GroupKey, Me, AccountShown, SlotShown, Accounts, Verified, Health, SessionAsked, SessionOpened, SessionShown, Sessions, SessionQuestion,
        SessionAnswer
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
        .route("/v1/metrics", only(get(metrics)))
        .route("/v1/openapi.json", only(get(document)))
        .route("/v1/me", only(get(me)))
        .route("/v1/tables", only(get(tables)))
        .route("/v1/questions", only(post(ask)))
        .route("/v1/rehearsals", only(post(rehearse)))
        .route("/v1/prices", only(post(prices)))
        .route("/v1/accounts", only(get(accounts)))
        .route("/v1/accounts/{account}", only(get(account)))
        .route("/v1/sessions", only(get(sessions).post(open_session)))
        .route("/v1/sessions/{account}/{key}", only(get(session).delete(close_session)))
        .route("/v1/sessions/{account}/{key}/questions", only(post(ask_session)))
        .route("/v1/status", only(get(owned)))
        .route("/v1/history", only(get(history)))
        .route("/v1/verify", only(get(verify)))
        .route("/v1/", only(get(nothing)).fallback(nothing))
        .route("/v1/{*rest}", only(get(nothing)).fallback(nothing))
        .layer(from_fn_with_state(shared.clone(), count))
        .with_state(shared)
}

async fn count(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    shared.counts.note(response.status().as_u16());
    response
}

async fn wrong_method() -> Problem {
    WRONG_METHOD.of("the path has other methods; legal: see /v1/openapi.json")
}

async fn nothing() -> Problem {
    NOT_FOUND.of("there is no such path; legal: see /v1/openapi.json")
}

fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    (StatusCode::OK, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// A body of JSON that is not too long.
async fn body<T: DeserializeOwned>(request: Request) -> Result<(HeaderMap, T), Problem> {
    let (head, body) = request.into_parts();
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Err(WRONG_KIND.of("legal: Content-Type: application/json"));
    }
    let bytes: Bytes = to_bytes(body, MOST_BYTES)
        .await
        .map_err(|_| TOO_LONG.of("the body is cut off, or too long; legal: at most 1 MiB"))?;
    let value = serde_json::from_slice(&bytes).map_err(|error| UNREADABLE.of(error.to_string()))?;
    Ok((head.headers, value))
}

/// That the service is there.
#[utoipa::path(get, path = "/v1/health", responses((status = 200, body = Health)))]
async fn health() -> Response {
    json(&Health { status: "ok" })
}

/// How many requests were answered.
#[utoipa::path(get, path = "/v1/metrics", security(("token" = [])),
    responses((status = 200, body = String, content_type = "text/plain"), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn metrics(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    shared.bearer(&headers, &[Role::Owner, Role::Auditor]).await?;
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, shared.counts.text()).into_response())
}

/// This document.
#[utoipa::path(get, path = "/v1/openapi.json", responses((status = 200, body = Object)))]
async fn document() -> Response {
    json(&Document::openapi())
}

/// Whose token it is.
#[utoipa::path(get, path = "/v1/me", security(("token" = [])),
    responses((status = 200, body = Me), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn me(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let Bearer { name, role, accounts, .. } = shared.bearer(&headers, &ALL).await?;
    Ok(json(&Me { name, role: role.name().to_owned(), accounts }))
}

/// What is public about the tables.
#[utoipa::path(get, path = "/v1/tables", security(("token" = [])),
    responses((status = 200, body = Tables), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn tables(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    shared.bearer(&headers, &ALL).await?;
    let tables = shared.curator.tables().map(|kept| kept.held.public.text().into()).collect();
    Ok(json(&Tables { tables }))
}

/// Asks a question: charged, answered, stored. The same question asked again of the same account costs nothing and has the
/// same answer. Of a list each is charged and answered on its own, in its order; the engine goes through a table once for all.
#[utoipa::path(post, path = "/v1/questions", security(("token" = [])), request_body = Askings,
    responses((status = 200, body = Outcomes, description = "An answer, or a list of answers and problems if a list was given"),
        (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn ask(State(shared): State<Shared>, request: Request) -> Result<Response, Problem> {
    let came = Instant::now();
    let (headers, askings): (_, Askings) = body(request).await?;
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    match askings {
        Askings::One(asking) => {
            let ask = asking.ask()?;
            let asked = shared.work(move |curator| Ok(answered(curator, &bearer, &[ask])));
            let (mut answered, ran) = asked.await?;
            leave(&shared, came, ran).await;
            let one = answered.pop().unwrap_or_else(|| Err(FAILED.of("this is a bug")))?;
            Ok(json(&Outcomes::One(Box::new(one))))
        }
        Askings::Many(list) if list.len() > MOST_TOGETHER => Err(too_many(list.len())),
        Askings::Many(list) => {
            let asks: Vec<Result<Ask, Problem>> = list.into_iter().map(Asking::ask).collect();
            let asked = shared.work(move |curator| Ok(all_answered(curator, &bearer, asks)));
            let (outcomes, ran) = asked.await?;
            leave(&shared, came, ran).await;
            Ok(json(&Outcomes::Many(outcomes)))
        }
    }
}

fn too_many(number: usize) -> Problem {
    ILLEGAL.of(format!("{number} questions; legal: at most {MOST_TOGETHER}"))
}

/// Where the engine was asked answers leave at a slot, whatever became of them.
async fn leave(shared: &Shared, came: Instant, ran: bool) {
    if ran {
        slot(came, shared.curator.timing().slot).await;
    }
}

/// The answers, and whether the engine was asked for any.
fn answered(
    curator: &Curator,
    bearer: &Bearer,
    asks: &[Ask],
) -> (Vec<Result<Answered, Problem>>, bool) {
    let found = match asks {
        [ask] => vec![curator.ask(bearer, ask)],
        asks => curator.ask_all(bearer, asks),
    };
    let has_run = |found: &Result<Answer, Denied>| match found {
        Ok(answer) => answer.ran,
        Err(denied) => matches!(denied, Denied::Unanswered(Unanswered::Charged(_))),
    };
    let ran = found.iter().any(has_run);
    let told = |(ask, found): (&Ask, Result<Answer, Denied>)| told(curator, bearer, ask, found?);
    (asks.iter().zip(found).map(told).collect(), ran)
}

/// The same where some were refused before.
fn all_answered(
    curator: &Curator,
    bearer: &Bearer,
    asks: Vec<Result<Ask, Problem>>,
) -> (Vec<Outcome>, bool) {
    let legal: Vec<Ask> = asks.iter().filter_map(|ask| ask.as_ref().ok().cloned()).collect();
    let (answers, ran) = answered(curator, bearer, &legal);
    let mut answers = answers.into_iter();
    let outcome = |ask: Result<Ask, Problem>| {
        let answer =
            ask.and_then(|_| answers.next().unwrap_or_else(|| Err(FAILED.of("this is a bug"))));
        match answer {
            Ok(answer) => Outcome::Answered(Box::new(answer)),
            Err(problem) => Outcome::Problem(problem),
        }
    };
    (asks.into_iter().map(outcome).collect(), ran)
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
async fn rehearse(State(shared): State<Shared>, request: Request) -> Result<Response, Problem> {
    let (headers, asking): (_, Asking) = body(request).await?;
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let ask = asking.ask()?;
    let answered = shared.work(move |curator| {
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
async fn prices(State(shared): State<Shared>, request: Request) -> Result<Response, Problem> {
    let (headers, askings): (_, Askings) = body(request).await?;
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
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
async fn accounts(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let accounts = shared.work(move |curator| {
        let shown = |account: &String| {
            let left = curator.left(&bearer, account, None)?;
            Ok::<_, Problem>(AccountShown::of(&left.status))
        };
        bearer.accounts.iter().map(shown).collect::<Result<Vec<_>, _>>()
    });
    Ok(json(&Accounts { accounts: accounts.await? }))
}

/// One account.
#[utoipa::path(get, path = "/v1/accounts/{account}", security(("token" = [])),
    params(("account" = String, Path, description = "Its name")),
    responses((status = 200, body = AccountShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn account(
    State(shared): State<Shared>,
    Path(account): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let shown = shared.work(move |curator| {
        let left = curator.left(&bearer, &account, None)?;
        Ok(AccountShown::of(&left.status))
    });
    Ok(json(&shown.await?))
}

/// Opens a session: all of it is charged now, however much of it is used. Opened again under its key with the same
/// declaration, it is the same session, and costs nothing.
#[utoipa::path(post, path = "/v1/sessions", security(("token" = [])), request_body = SessionAsked,
    responses((status = 200, body = SessionOpened), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn open_session(State(shared): State<Shared>, request: Request) -> Result<Response, Problem> {
    let (headers, asked): (_, SessionAsked) = body(request).await?;
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let opening = asked.opening()?;
    let opened = shared.work(move |curator| {
        let opened = curator.open_session(&bearer, &opening)?;
        let left = curator.left(&bearer, &opening.account, opened.charge.as_ref())?;
        let cost = opened.charge.unwrap_or_default();
        Ok(SessionOpened {
            key: opening.key,
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
async fn sessions(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let found = shared.work(move |curator| Ok(curator.sessions(&bearer)?)).await?;
    Ok(json(&Sessions { sessions: found.into_iter().map(SessionShown::from).collect() }))
}

/// One session of the token's own.
#[utoipa::path(get, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn session(
    State(shared): State<Shared>,
    Path((account, key)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let found = shared.work(move |curator| Ok(curator.session(&bearer, &account, &key)?)).await?;
    Ok(json(&SessionShown::from(found)))
}

/// Asks a session. It was paid for when it was opened.
#[utoipa::path(post, path = "/v1/sessions/{account}/{key}/questions", security(("token" = [])), request_body = SessionQuestion,
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionAnswer), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn ask_session(
    State(shared): State<Shared>,
    Path((account, key)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let came = Instant::now();
    let (headers, question): (_, SessionQuestion) = body(request).await?;
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let asking = question.asking(account, key)?;
    let answered = shared.work(move |curator| {
        let shown = curator.ask_session(&bearer, &asking)?;
        let standing = curator.session(&bearer, &asking.account, &asking.key)?;
        Ok(SessionAnswer {
            reply: shown.reply().clone(),
            answered: standing.answered,
            over: standing.is_over,
            entry: shown.entry(),
            repeated: shown.is_repeated(),
        })
    });
    let answered = answered.await;
    // Always at a slot: what was refused or repeated may have been added up all the same, where others asked meanwhile.
    slot(came, shared.curator.timing().slot).await;
    Ok(json(&answered?))
}

/// Ends a session for good. It is not refunded.
#[utoipa::path(delete, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn close_session(
    State(shared): State<Shared>,
    Path((account, key)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let bearer = shared.bearer(&headers, &[Role::Analyst]).await?;
    let closed = shared.work(move |curator| Ok(curator.close_session(&bearer, &account, &key)?));
    Ok(json(&SessionShown::from(closed.await?)))
}

/// Every data set and account, for the owner.
#[utoipa::path(get, path = "/v1/status", security(("token" = [])),
    responses((status = 200, body = Accounts), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn owned(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    shared.bearer(&headers, &[Role::Owner, Role::Auditor]).await?;
    let accounts = shared.work(|curator| {
        let status = curator.pool().with(|ledger| ledger.status(None))?;
        Ok(status.accounts.iter().map(AccountShown::of).collect())
    });
    Ok(json(&Accounts { accounts: accounts.await? }))
}

/// The ledger's history: who was charged what, and when; no answers.
#[utoipa::path(get, path = "/v1/history", security(("token" = [])),
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json")))]
async fn history(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    shared.bearer(&headers, &[Role::Owner, Role::Auditor]).await?;
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
async fn verify(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    shared.bearer(&headers, &[Role::Owner, Role::Auditor]).await?;
    let verified = shared.work(|curator| {
        let found = curator.pool().with(|ledger| ledger.verify(None))?;
        let (head, problem) = (found.head.to_string(), found.problem);
        Ok(Verified { head, verified: problem.is_none(), problem })
    });
    Ok(json(&verified.await?))
}
