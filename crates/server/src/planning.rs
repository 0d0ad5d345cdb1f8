//! Handlers of the planner's requests: they take a study and return its plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use counterpoint::Options;
use counterpoint::watch::{Control, Watch};
use counterpoint_planner::{PlanningError, bound_sum, plan};
use counterpoint_studies::{PlannedStudy, locate_study_error, read_study};
use counterpoint_wire::{Format, PlanError};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::body::{BodyBytes, BodyError, BodyMemory, is_json};
use crate::guard::refusal;
use crate::progress::{Progress, RunningPlan, RunningPlans, plan_name};

/// A study of 10^5 statistics takes about ten million bytes.
pub(crate) const MAX_BODY_BYTES: usize = 32 << 20;

/// The reason why a study cannot be planned or released: the body of a response with status 422.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StudyProblem {
    /// The statistic, counted from one.
    statistic: Option<usize>,
    /// The column of the data, counted from one, if the problem is about a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    field: Option<String>,
    problem: String,
}

type StudyResult = Result<String, StudyProblem>;

/// Limits on concurrent plans. A client's permit is released when the client disconnects. A thread's permit is released
/// when its computation has stopped. So an edited study does not wait for the plan of its earlier version.
#[derive(Clone, Debug)]
pub(crate) struct PlanningLimits {
    clients: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    plans: RunningPlans,
    body_memory: BodyMemory,
}

impl PlanningLimits {
    pub(crate) fn new(body_memory: BodyMemory) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).max(2);
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        let plans = RunningPlans::default();
        Self { clients: semaphore(cores), threads: semaphore(4 * cores), plans, body_memory }
    }

    /// Registers a plan under the name that the client gave it.
    pub(crate) fn begin(&self, name: Option<&str>) -> RunningPlan {
        self.plans.begin(name)
    }
}

/// `POST /plan`: plans a study. Planning stops when the client disconnects. If the request has a `Plan-Name` header,
/// `GET /progress` with the same header returns the progress.
pub(crate) async fn plan_study(State(limits): State<PlanningLimits>, request: Request) -> Response {
    let plan = limits.begin(plan_name(request.headers()));
    let bytes = match read_body(&limits, request).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let _cancel = CancelOnDrop(Arc::clone(&is_cancelled));
    let done = plan.progress.clone();
    run_on_thread(limits, move || compute_plan(&bytes.bytes, &is_cancelled, &done, false)).await
}

/// `POST /least`: plans a study and computes a lower bound on the weighted sum of errors, which takes longer.
pub(crate) async fn bound_study(
    State(limits): State<PlanningLimits>,
    request: Request,
) -> Response {
    let bytes = match read_body(&limits, request).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let _cancel = CancelOnDrop(Arc::clone(&is_cancelled));
    run_on_thread(limits, move || {
        compute_plan(&bytes.bytes, &is_cancelled, &Progress::default(), true)
    })
    .await
}

/// `GET /progress`: returns the progress of the plan that the header names, or null if there is no such plan.
pub(crate) async fn plan_progress(
    State(limits): State<PlanningLimits>,
    request: Request,
) -> Response {
    let done = plan_name(request.headers()).and_then(|name| limits.plans.fraction(name));
    let done = done.map_or_else(|| "null".to_owned(), |done| done.to_string());
    ([(CONTENT_TYPE, "application/json")], format!("{{\"done\":{done}}}")).into_response()
}

/// `POST /study`: converts the text of a study file to JSON.
pub(crate) async fn convert_study(
    State(limits): State<PlanningLimits>,
    request: Request,
) -> Response {
    match read_body(&limits, request).await {
        Ok(bytes) => run_on_thread(limits, move || study_to_json(&bytes.bytes)).await,
        Err(refused) => refused,
    }
}

/// Sets the flag when it is dropped, which happens when the client disconnects.
pub(crate) struct CancelOnDrop(pub(crate) Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on its own thread as soon as the limits permit.
async fn run_on_thread(
    limits: PlanningLimits,
    work: impl FnOnce() -> StudyResult + Send + 'static,
) -> Response {
    let stopping = || refusal(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
    let Ok(_client) = limits.clients.acquire().await else { return stopping() };
    let Ok(thread) = limits.threads.acquire_owned().await else { return stopping() };
    let done = tokio::task::spawn_blocking(move || {
        let _thread = thread;
        work()
    });
    match done.await {
        Ok(Ok(answer)) => ([(CONTENT_TYPE, "application/json")], answer).into_response(),
        Ok(Err(problem)) => json_response(StatusCode::UNPROCESSABLE_ENTITY, &problem),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "planning failed, which is a bug"),
    }
}

/// Returns a response with a JSON body.
pub(crate) fn json_response(status: StatusCode, value: &impl Serialize) -> Response {
    crate::body::json_response(status, value).unwrap_or_else(|_| {
        let problem = "the response cannot be written, which is a bug";
        refusal(StatusCode::INTERNAL_SERVER_ERROR, problem)
    })
}

/// Reads a JSON body within the limits of length, time and memory.
pub(crate) async fn read_body(
    limits: &PlanningLimits,
    request: Request,
) -> Result<BodyBytes, Response> {
    if !is_json(request.headers()) {
        let problem = "Content-Type is missing or is not JSON; legal: application/json";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    let read = limits.body_memory.read(request.into_body(), MAX_BODY_BYTES).await;
    read.map_err(|problem| match problem {
        BodyError::TooLong => {
            let problem = "the body is too long; legal: at most 32 MiB";
            refusal(StatusCode::PAYLOAD_TOO_LARGE, problem)
        }
        BodyError::Incomplete => refusal(StatusCode::BAD_REQUEST, "the body ended early"),
        BodyError::TimedOut => {
            refusal(StatusCode::REQUEST_TIMEOUT, "the body did not arrive within 30 seconds")
        }
        BodyError::NoMemory => refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server is receiving too many bodies at once; try again soon",
        ),
    })
}

fn compute_plan(
    bytes: &[u8],
    is_cancelled: &AtomicBool,
    progress: &Progress,
    bounded: bool,
) -> StudyResult {
    let study = read_study(bytes, Format::Json)?;
    let stop = |fraction: f64| {
        progress.set(fraction);
        if is_cancelled.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    };
    let options = Options { watch: Watch::new(&stop), ..Options::default() };
    let planned = plan(&study, &options).and_then(|mut planned| {
        if bounded {
            planned.sum_bound = bound_sum(&study, &planned, &options)?;
        }
        Ok(planned)
    });
    match planned {
        Ok(planned) => Ok(PlannedStudy::new(&study, planned).json()?),
        Err(PlanningError::Study(error)) => Err(locate_study_error(&study, &error).into()),
        Err(error @ PlanningError::OverBudget { .. }) => {
            Err(StudyProblem { field: Some("epsilon".to_owned()), ..StudyProblem::of(error) })
        }
        Err(error) => Err(StudyProblem::of(error)),
    }
}

/// The text of a study file, in JSON or TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyText {
    text: String,
}

/// Converts the text of a valid study file to JSON.
fn study_to_json(bytes: &[u8]) -> StudyResult {
    let StudyText { text } = serde_json::from_slice(bytes).map_err(StudyProblem::of)?;
    let format = Format::detect(None, text.as_bytes());
    read_study(text.as_bytes(), format)?;
    let value: serde_json::Value = match format {
        Format::Json => {
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(StudyProblem::of)?
        }
        _ => toml::from_str(text.trim_start_matches('\u{feff}')).map_err(StudyProblem::of)?,
    };
    serde_json::to_string(&value).map_err(StudyProblem::of)
}

impl StudyProblem {
    pub(crate) fn of(problem: impl ToString) -> Self {
        Self { problem: problem.to_string(), ..Self::default() }
    }
}

impl From<PlanError> for StudyProblem {
    fn from(error: PlanError) -> Self {
        let is_column = error.entry == "column";
        let (column, statistic) =
            (error.index.filter(|_| is_column), error.index.filter(|_| !is_column));
        Self { statistic, column, field: error.field, problem: error.problem }
    }
}

/// Refuses a method that the path does not support.
pub(crate) async fn wrong_method() -> Response {
    refusal(StatusCode::METHOD_NOT_ALLOWED, "the path does not support this method")
}

/// Refuses a path that does not exist.
pub(crate) async fn not_found(_: Request<Body>) -> Response {
    refusal(StatusCode::NOT_FOUND, "there is no such page; legal: /")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disconnected client stops a composition.
    #[test]
    fn planning_stops_when_the_client_disconnects() {
        let study = br#"{"delta": 1e-6, "epsilon": 1, "data": {"adjacency": "replace", "people": 5000}, "statistic": [
            {"kind": "mean", "bounds": [0, 200000], "noise": "laplace", "error": 500},
            {"kind": "histogram", "categories": ["a", "b"], "noise": "gaussian", "error": 40}]}"#;
        assert!(compute_plan(study, &AtomicBool::new(false), &Progress::default(), false).is_ok());
        let is_cancelled = Arc::new(AtomicBool::new(false));
        drop(CancelOnDrop(Arc::clone(&is_cancelled)));
        let stopped = compute_plan(study, &is_cancelled, &Progress::default(), false).unwrap_err();
        assert!(stopped.problem.contains("stopped"), "{stopped:?}");
    }

    #[tokio::test]
    async fn a_body_is_refused_as_busy_if_the_memory_is_used_up() {
        let study = Request::post("/plan").header(CONTENT_TYPE, "application/json");
        let limits = PlanningLimits::new(BodyMemory::with_kibibytes(0));
        let refused = read_body(&limits, study.body(Body::from("{}")).unwrap()).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
