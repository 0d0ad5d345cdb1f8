//! Releases from the planner page. Their data source is the one that the program was started with, and clients must
//! send the key that the program printed.
//!
//! Other programs and users of this machine can reach the address. Pages of other sites can reach it through the
//! browser, but the guard refuses their requests. The key follows `#` in the page's address; browsers do not send this
//! part to servers. The page sends the key in the header `Release-Key`, which forms and links of other pages cannot
//! set.

use std::collections::VecDeque;
use std::error::Error;
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
use counterpoint::watch::Control;
use counterpoint_ledger::Hash;
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::guard::refusal;
use crate::planning::{
    CancelOnDrop, PlanningLimits, StudyProblem, json_response, read_body, wrong_method,
};
use crate::progress::plan_name;

/// Releases studies of one data source.
pub trait Releaser: Send + Sync + 'static {
    /// The names of the source and its columns; nothing about its rows.
    fn source(&self) -> ReleaseSource;

    /// Releases a study file in JSON, or rehearses the release with made-up rows, which charges nothing. `watch`
    /// receives the progress of planning and can stop the release until something is charged.
    ///
    /// # Errors
    /// The error's text says what is wrong, or why the release is refused.
    fn release(
        &self,
        study: &[u8],
        made_up: bool,
        watch: &dyn Fn(f64) -> Control,
    ) -> Result<ReleaseOutput, Box<dyn Error + Send + Sync>>;
}

/// The public description of a data source.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseSource {
    /// The name of its file.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The folder that the published files are written to.
    pub folder: String,
}

/// The published files.
#[derive(Clone, Debug)]
pub struct ReleaseOutput {
    /// The names and texts of the files; `report.html` is one of them.
    pub files: Vec<(&'static str, String)>,
}

/// The response to a release or a rehearsal.
#[derive(Serialize)]
struct ReleaseResponse {
    made_up: bool,
    /// The path of the report.
    report: Option<String>,
    files: serde_json::Map<String, serde_json::Value>,
}

/// The number of reports that can be shown at a time.
const MAX_REPORTS: usize = 4;
/// The content security policy of a report: it has styles and inline pictures only.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
                             frame-ancestors 'none'";
const KEY: HeaderName = HeaderName::from_static("release-key");

/// A releaser, its key and the last reports.
#[derive(Clone)]
pub(crate) struct ReleaseService {
    releaser: Arc<dyn Releaser>,
    /// The hash of the key. Hashes are compared, so the duration of a comparison reveals nothing about the key.
    key: Hash,
    /// The last reports, by random names.
    reports: Arc<Mutex<VecDeque<(String, String)>>>,
    /// Permits one release at a time.
    turn: Arc<Semaphore>,
}

/// Returns a random text that nobody can guess.
fn random_text() -> io::Result<String> {
    let secret = counterpoint_mechanisms::secret().map_err(io::Error::other)?;
    Ok(Hash(secret).to_string())
}

impl ReleaseService {
    /// Creates the service with a new key.
    pub(crate) fn new(releaser: impl Releaser) -> io::Result<(Self, String)> {
        let key = random_text()?;
        let service = Self {
            releaser: Arc::new(releaser),
            key: Hash::of(key.as_bytes()),
            reports: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        };
        Ok((service, key))
    }

    /// Stores a report and returns its path.
    fn store_report(&self, report: String) -> Option<String> {
        let name = random_text().ok()?;
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push_back((name.clone(), report));
        if reports.len() > MAX_REPORTS {
            reports.pop_front();
        }
        Some(format!("/release/{name}/report.html"))
    }
}

/// Returns the routes of the service.
pub(crate) fn router(service: ReleaseService, limits: PlanningLimits) -> Router {
    let only = |route: MethodRouter<(ReleaseService, PlanningLimits)>| route.fallback(wrong_method);
    Router::new()
        .route("/release", only(get(source).post(release)))
        .route("/rehearsal", only(post(rehearse)))
        .route("/release/{name}/report.html", only(get(report)))
        .with_state((service, limits))
}

type ReleaseState = (ReleaseService, PlanningLimits);

/// Proof that the request has the key. It is checked before the body is read.
struct ReleaseKey;

impl FromRequestParts<ReleaseState> for ReleaseKey {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        (service, _): &ReleaseState,
    ) -> Result<Self, Response> {
        let mut keys = parts.headers.get_all(&KEY).iter();
        let key = keys.next().filter(|_| keys.next().is_none());
        if key.is_some_and(|key| Hash::of(key.as_bytes()) == service.key) {
            return Ok(Self);
        }
        let problem = "Release-Key is wrong or missing; legal: the key in the address that this server printed";
        Err(refusal(StatusCode::UNAUTHORIZED, problem))
    }
}

/// `GET /release`: describes the data source.
async fn source(_: ReleaseKey, State((service, _)): State<ReleaseState>) -> Response {
    json_response(StatusCode::OK, &service.releaser.source())
}

/// `POST /release`: releases a study. Releasing the same study again returns the same numbers and charges nothing.
async fn release(_: ReleaseKey, State(service): State<ReleaseState>, request: Request) -> Response {
    run_release(service, request, false).await
}

/// `POST /rehearsal`: computes a release from made-up rows. Charges and writes nothing.
async fn rehearse(
    _: ReleaseKey,
    State(service): State<ReleaseState>,
    request: Request,
) -> Response {
    run_release(service, request, true).await
}

async fn run_release((service, limits): ReleaseState, request: Request, made_up: bool) -> Response {
    let plan = limits.begin(plan_name(request.headers()));
    let bytes = match read_body(&limits, request).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let Ok(turn) = Arc::clone(&service.turn).acquire_owned().await else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
    };
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let (_cancel, progress) = (CancelOnDrop(Arc::clone(&is_cancelled)), plan.progress.clone());
    // Planning stops when the client disconnects; after a charge, the release continues to its end.
    let work = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let watch = |fraction: f64| {
            progress.set(fraction);
            if is_cancelled.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
        };
        let found = service.releaser.release(&bytes.bytes, made_up, &watch);
        found.map(|found| response(&service, made_up, found))
    });
    match work.await {
        Ok(Ok(answer)) => json_response(StatusCode::OK, &answer),
        Ok(Err(problem)) => {
            json_response(StatusCode::UNPROCESSABLE_ENTITY, &StudyProblem::of(problem))
        }
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "releasing failed, which is a bug"),
    }
}

fn response(service: &ReleaseService, made_up: bool, found: ReleaseOutput) -> ReleaseResponse {
    let report = found.files.iter().find(|(name, _)| *name == "report.html");
    let report = report.and_then(|(_, text)| service.store_report(text.clone()));
    let file = |(name, text): (&str, String)| (name.to_owned(), text.into());
    ReleaseResponse { made_up, report, files: found.files.into_iter().map(file).collect() }
}

/// `GET /release/{name}/report.html`: returns a report. Does not require the key, because links send no headers.
async fn report(State((service, _)): State<ReleaseState>, Path(name): Path<String>) -> Response {
    let reports = service.reports.lock().unwrap_or_else(PoisonError::into_inner);
    match reports.iter().find(|(kept, _)| *kept == name) {
        Some((_, text)) => {
            let head = [
                (CONTENT_TYPE, "text/html; charset=utf-8"),
                (CONTENT_SECURITY_POLICY, REPORT_POLICY),
            ];
            (head, text.clone()).into_response()
        }
        None => refusal(
            StatusCode::NOT_FOUND,
            "the report is no longer stored; legal: release the study again",
        ),
    }
}
