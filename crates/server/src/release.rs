//! Releasing from the page: the one source that the program was started with, for whoever has the key that it printed.
//!
//! Other programs and users of the machine reach the address, too, and so do other pages by way of the browser (those the guard
//! refuses). The key is in the page's address behind its `#`, which browsers send to no server; the page sends it as the head
//! `Release-Key`, which no form and no link of another page can.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use counterpoint::watch::Go;
use counterpoint_ledger::Hash;
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::guard::refusal;
use crate::planning::{Asker, Places, Problem, body, json, wrong_method};
use crate::progress::name;

/// What releases studies of one source.
pub trait Releaser: Send + Sync + 'static {
    /// The name of the source, and of its columns; nothing of its rows.
    fn source(&self) -> ReleaseSource;

    /// Releases a study file in JSON, or rehearses it with made-up rows, which charges nothing. The watcher hears how far planning
    /// has come, and may stop it until something is charged.
    ///
    /// # Errors
    /// One sentence: what is wrong, or why it is refused.
    fn release(
        &self,
        study: &[u8],
        made_up: bool,
        watch: &dyn Fn(f64) -> Go,
    ) -> Result<Released, String>;
}

/// What may be known of a source before anything is released.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseSource {
    /// The name of its file.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The folder that what is published is written to.
    pub folder: String,
}

/// What was published.
#[derive(Clone, Debug)]
pub struct Released {
    /// The names and texts of its files; `report.html` is one.
    pub files: Vec<(&'static str, String)>,
}

/// The answer to a study that was released.
#[derive(Serialize)]
struct Answer {
    made_up: bool,
    /// Where the report is shown.
    report: Option<String>,
    files: serde_json::Map<String, serde_json::Value>,
}

/// So many reports are kept to be shown.
const MOST_REPORTS: usize = 4;
/// What a report may do: nothing but look as it does.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
                             frame-ancestors 'none'";
const KEY: HeaderName = HeaderName::from_static("release-key");

/// A releaser, and the key that it is asked with.
#[derive(Clone)]
pub(crate) struct Releases {
    releaser: Arc<dyn Releaser>,
    /// Of the key, so that how long a comparison takes says nothing about it.
    key: Hash,
    /// The last reports, by names that nobody can guess.
    reports: Arc<Mutex<VecDeque<(String, String)>>>,
    /// One release at a time.
    turn: Arc<Semaphore>,
}

/// A text that nobody can guess.
fn unguessable() -> io::Result<String> {
    let secret = counterpoint_mechanisms::secret().map_err(io::Error::other)?;
    Ok(Hash(secret).to_string())
}

impl Releases {
    /// With a new key.
    pub(crate) fn new(releaser: impl Releaser) -> io::Result<(Self, String)> {
        let key = unguessable()?;
        let releases = Self {
            releaser: Arc::new(releaser),
            key: Hash::of(key.as_bytes()),
            reports: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        };
        Ok((releases, key))
    }

    /// Keeps a report, and says where it is shown.
    fn keep(&self, report: String) -> Option<String> {
        let name = unguessable().ok()?;
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push_back((name.clone(), report));
        if reports.len() > MOST_REPORTS {
            reports.pop_front();
        }
        Some(format!("/release/{name}/report.html"))
    }
}

/// Its paths.
pub(crate) fn router(releases: Releases, places: Places) -> Router {
    let only = |route: MethodRouter<(Releases, Places)>| route.fallback(wrong_method);
    Router::new()
        .route("/release", only(get(source).post(released)))
        .route("/rehearsal", only(post(rehearsed)))
        .route("/release/{name}/report.html", only(get(report)))
        .with_state((releases, places))
}

type Ours = (Releases, Places);

/// That the request has the key. It is looked at before the body is.
struct Keyed;

impl FromRequestParts<Ours> for Keyed {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, (ours, _): &Ours) -> Result<Self, Response> {
        let mut keys = parts.headers.get_all(&KEY).iter();
        let key = keys.next().filter(|_| keys.next().is_none());
        if key.is_some_and(|key| Hash::of(key.as_bytes()) == ours.key) {
            return Ok(Self);
        }
        let problem =
            "Release-Key is not the one of this server; legal: the address that it printed";
        Err(refusal(StatusCode::UNAUTHORIZED, problem))
    }
}

/// `GET /release`: what can be released.
async fn source(_: Keyed, State((ours, _)): State<Ours>) -> Response {
    json(StatusCode::OK, &ours.releaser.source())
}

/// `POST /release`: a study, released. The same study again is answered with the same numbers, and charges nothing.
async fn released(_: Keyed, State(ours): State<Ours>, request: Request) -> Response {
    answered(ours, request, false).await
}

/// `POST /rehearsal`: the same with made-up rows. Nothing is charged or written.
async fn rehearsed(_: Keyed, State(ours): State<Ours>, request: Request) -> Response {
    answered(ours, request, true).await
}

async fn answered((ours, places): Ours, request: Request, made_up: bool) -> Response {
    let named = places.begin(name(request.headers()));
    let bytes = match body(&places, request).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let Ok(turn) = Arc::clone(&ours.turn).acquire_owned().await else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
    };
    let gone = Arc::new(AtomicBool::new(false));
    let (_asker, done) = (Asker(Arc::clone(&gone)), named.done.clone());
    // Planning stops when nobody waits for it; what was charged goes on to its end.
    let work = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let watch = |fraction: f64| {
            done.set(fraction);
            if gone.load(Ordering::Relaxed) { Go::Stop } else { Go::On }
        };
        let found = ours.releaser.release(&bytes.bytes, made_up, &watch);
        found.map(|found| answer(&ours, made_up, found))
    });
    match work.await {
        Ok(Ok(answer)) => json(StatusCode::OK, &answer),
        Ok(Err(problem)) => json(StatusCode::UNPROCESSABLE_ENTITY, &Problem::of(problem)),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "releasing failed, which is a bug"),
    }
}

fn answer(ours: &Releases, made_up: bool, found: Released) -> Answer {
    let report = found.files.iter().find(|(name, _)| *name == "report.html");
    let report = report.and_then(|(_, text)| ours.keep(text.clone()));
    let file = |(name, text): (&str, String)| (name.to_owned(), text.into());
    Answer { made_up, report, files: found.files.into_iter().map(file).collect() }
}

/// A report, for whoever knows its name: a link carries no head.
async fn report(State((ours, _)): State<Ours>, Path(name): Path<String>) -> Response {
    let reports = ours.reports.lock().unwrap_or_else(PoisonError::into_inner);
    match reports.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => {
            let head = [
                (CONTENT_TYPE, "text/html; charset=utf-8"),
                (CONTENT_SECURITY_POLICY, REPORT_POLICY),
            ];
            (head, text.clone()).into_response()
        }
        None => refusal(StatusCode::NOT_FOUND, "this report is not kept; legal: release again"),
    }
}
