//! Studies in, plans out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use counterpoint::Options;
use counterpoint::watch::{Go, Watch};
use counterpoint_planner::{PlanningError, least, plan};
use counterpoint_wire::{Format, PlanError, Planned, placed_in_study, read_study};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::body::{Bytes, NoBody, Room, is_json};
use crate::guard::refusal;
use crate::progress::{Done, Going, Named, name};

/// A study of 10^5 statistics is some ten million bytes.
pub(crate) const MOST_BYTES: usize = 32 << 20;

/// Why there is no answer: one object, with status 422.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Problem {
    /// The statistic, counted from one.
    statistic: Option<usize>,
    /// The column of the data, counted from one, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    field: Option<String>,
    problem: String,
}

type Answer = Result<String, Problem>;

/// How much is planned at once. A place is free again as soon as its client has gone, a thread when it has noticed: so that
/// whoever edits on need not wait for what was asked before.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    clients: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    going: Going,
    room: Room,
}

impl Places {
    pub(crate) fn new(room: Room) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).max(2);
        let semaphore = |places| Arc::new(Semaphore::new(places));
        let going = Going::default();
        Self { clients: semaphore(cores), threads: semaphore(4 * cores), going, room }
    }

    /// Work begins that its asker gave this name.
    pub(crate) fn begin(&self, name: Option<&str>) -> Named {
        self.going.begin(name)
    }
}

/// `POST /plan`: a study, planned. Planning stops when whoever asked has gone. With a head `Plan-Name`, `GET /progress` with
/// the same says meanwhile how far it has come.
pub(crate) async fn planned(State(places): State<Places>, request: Request) -> Response {
    let named = places.begin(name(request.headers()));
    let bytes = match body(&places, request).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let gone = Arc::new(AtomicBool::new(false));
    let _asker = Asker(Arc::clone(&gone));
    let done = named.done.clone();
    on_a_thread(places, move || planned_study(&bytes.bytes, &gone, &done, false)).await
}

/// `POST /least`: the same, with a proof of how small a weighted sum can be, which takes longer.
pub(crate) async fn bounded(State(places): State<Places>, request: Request) -> Response {
    let bytes = match body(&places, request).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let gone = Arc::new(AtomicBool::new(false));
    let _asker = Asker(Arc::clone(&gone));
    on_a_thread(places, move || planned_study(&bytes.bytes, &gone, &Done::default(), true)).await
}

/// `GET /progress`: how far the plan of the name in the head has come; null if none of that name is being made.
pub(crate) async fn progress(State(places): State<Places>, request: Request) -> Response {
    let done = name(request.headers()).and_then(|name| places.going.at(name));
    let done = done.map_or_else(|| "null".to_owned(), |done| done.to_string());
    ([(CONTENT_TYPE, "application/json")], format!("{{\"done\":{done}}}")).into_response()
}

/// `POST /study`: the text of a study file, as JSON.
pub(crate) async fn study(State(places): State<Places>, request: Request) -> Response {
    match body(&places, request).await {
        Ok(bytes) => on_a_thread(places, move || converted(&bytes.bytes)).await,
        Err(refused) => refused,
    }
}

/// Set when the request is dropped, which it is when the client goes away.
pub(crate) struct Asker(pub(crate) Arc<AtomicBool>);

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on a thread of its own, as soon as there is a place.
async fn on_a_thread(places: Places, work: impl FnOnce() -> Answer + Send + 'static) -> Response {
    let stopping = || refusal(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
    let Ok(_place) = places.clients.acquire().await else { return stopping() };
    let Ok(thread) = places.threads.acquire_owned().await else { return stopping() };
    let done = tokio::task::spawn_blocking(move || {
        let _thread = thread;
        work()
    });
    match done.await {
        Ok(Ok(answer)) => ([(CONTENT_TYPE, "application/json")], answer).into_response(),
        Ok(Err(problem)) => json(StatusCode::UNPROCESSABLE_ENTITY, &problem),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "planning failed, which is a bug"),
    }
}

/// A response with a body of JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    crate::body::json(status, value).unwrap_or_else(|_| {
        let problem = "the response cannot be written, which is a bug";
        refusal(StatusCode::INTERNAL_SERVER_ERROR, problem)
    })
}

/// A body of JSON that is not too long, comes in time, and has room beside others.
pub(crate) async fn body(places: &Places, request: Request) -> Result<Bytes, Response> {
    if !is_json(request.headers()) {
        let problem = "Content-Type is something else; legal: application/json";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    let read = places.room.read(request.into_body(), MOST_BYTES).await;
    read.map_err(|problem| match problem {
        NoBody::TooLong => {
            let problem = "the body is too long; legal: at most 32 MiB";
            refusal(StatusCode::PAYLOAD_TOO_LARGE, problem)
        }
        NoBody::CutOff => refusal(StatusCode::BAD_REQUEST, "the body is cut off"),
        NoBody::Late => refusal(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
        NoBody::NoRoom => {
            refusal(StatusCode::SERVICE_UNAVAILABLE, "too many bodies are sent at once")
        }
    })
}

fn planned_study(bytes: &[u8], gone: &AtomicBool, done: &Done, bounded: bool) -> Answer {
    let study = read_study(bytes, Format::Json)?;
    let stop = |fraction: f64| {
        done.set(fraction);
        if gone.load(Ordering::Relaxed) { Go::Stop } else { Go::On }
    };
    let options = Options { watch: Watch::with(&stop), ..Options::default() };
    let planned = plan(&study, &options).and_then(|mut planned| {
        if bounded {
            planned.least = least(&study, &planned, &options)?;
        }
        Ok(planned)
    });
    match planned {
        Ok(planned) => Ok(Planned::new(&study, planned).json()?),
        Err(PlanningError::Study(error)) => Err(placed_in_study(&study, &error).into()),
        Err(error @ PlanningError::OverBudget { .. }) => {
            Err(Problem { field: Some("epsilon".to_owned()), ..Problem::of(error) })
        }
        Err(error) => Err(Problem::of(error)),
    }
}

/// The text of a study file, whichever its format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

/// The study as JSON, if it is one.
fn converted(bytes: &[u8]) -> Answer {
    let Text { text } = serde_json::from_slice(bytes).map_err(Problem::of)?;
    let format = Format::detect(None, text.as_bytes());
    read_study(text.as_bytes(), format)?;
    let value: serde_json::Value = match format {
        Format::Json => {
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(Problem::of)?
        }
        _ => toml::from_str(text.trim_start_matches('\u{feff}')).map_err(Problem::of)?,
    };
    serde_json::to_string(&value).map_err(Problem::of)
}

impl Problem {
    pub(crate) fn of(problem: impl ToString) -> Self {
        Self { problem: problem.to_string(), ..Self::default() }
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        let is_column = error.of == "column";
        let (column, statistic) =
            (error.release.filter(|_| is_column), error.release.filter(|_| !is_column));
        Self { statistic, column, field: error.field, problem: error.problem }
    }
}

/// A method that a path does not have.
pub(crate) async fn wrong_method() -> Response {
    refusal(StatusCode::METHOD_NOT_ALLOWED, "this method is not for this path")
}

/// A path that is not there.
pub(crate) async fn nothing(_: Request<Body>) -> Response {
    refusal(StatusCode::NOT_FOUND, "there is nothing here; legal: /")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is composed is stopped when nobody waits for it.
    #[test]
    fn planning_stops_for_those_who_have_gone() {
        let study = br#"{"delta": 1e-6, "epsilon": 1, "data": {"adjacency": "replace", "people": 5000}, "statistic": [
            {"kind": "mean", "bounds": [0, 200000], "noise": "laplace", "error": 500},
            {"kind": "histogram", "categories": ["a", "b"], "noise": "gaussian", "error": 40}]}"#;
        assert!(planned_study(study, &AtomicBool::new(false), &Done::default(), false).is_ok());
        let gone = Arc::new(AtomicBool::new(false));
        drop(Asker(Arc::clone(&gone)));
        let stopped = planned_study(study, &gone, &Done::default(), false).unwrap_err();
        assert!(stopped.problem.contains("stopped"), "{stopped:?}");
    }

    #[tokio::test]
    async fn a_body_without_room_is_told_to_come_later() {
        let study = Request::post("/plan").header(CONTENT_TYPE, "application/json");
        let places = Places::new(Room::of(0));
        let refused = body(&places, study.body(Body::from("{}")).unwrap()).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
