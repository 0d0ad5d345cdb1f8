//! The record of a request: one log line, and metrics for the operator's alarms. It contains no questions, answers or
//! engine messages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use counterpoint_curator::{Stage, StageTimes};

/// Upper ends of a histogram's buckets, in seconds; a last bucket has no end.
const BUCKET_ENDS: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// Counts of durations in the buckets of [`BUCKET_ENDS`].
#[derive(Debug, Default)]
struct Histogram {
    cells: [AtomicU64; BUCKET_ENDS.len() + 1],
    micros: AtomicU64,
}

impl Histogram {
    fn add(&self, time: Duration) {
        let cell = BUCKET_ENDS
            .iter()
            .position(|end| time.as_secs_f64() <= *end)
            .unwrap_or(BUCKET_ENDS.len());
        if let Some(cell) = self.cells.get(cell) {
            cell.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn write(&self, text: &mut String, label: &str) {
        let name = "counterpoint_stage_seconds";
        let mut count = 0;
        let ends = BUCKET_ENDS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
        for (cell, end) in self.cells.iter().zip(ends) {
            count += cell.load(Ordering::Relaxed);
            *text += &format!("{name}_bucket{{stage=\"{label}\",le=\"{end}\"}} {count}\n");
        }
        let sum = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        *text += &format!("{name}_sum{{stage=\"{label}\"}} {sum}\n");
        *text += &format!("{name}_count{{stage=\"{label}\"}} {count}\n");
    }
}

/// Counts over all requests.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Requests by the first digit of their status; index 0 counts requests whose client disconnected.
    statuses: [AtomicU64; 6],
    queue: Histogram,
    ledger: Histogram,
    engine: Histogram,
    noise: Histogram,
    charged_and_failed: AtomicU64,
    /// The number of the next request.
    next_id: AtomicU64,
}

impl Metrics {
    /// Returns the metrics in the text format of Prometheus. The engine's times depend on the data, so only owners see
    /// them.
    pub(crate) fn text(&self, is_owner: bool) -> String {
        let mut text = "# TYPE counterpoint_requests_total counter\n".to_owned();
        for (digit, count) in self.statuses.iter().enumerate().skip(2) {
            let count = count.load(Ordering::Relaxed);
            text += &format!("counterpoint_requests_total{{status=\"{digit}xx\"}} {count}\n");
        }
        let failed = self.charged_and_failed.load(Ordering::Relaxed);
        text += "# TYPE counterpoint_charged_and_failed_total counter\n";
        text += &format!("counterpoint_charged_and_failed_total {failed}\n");
        text += "# TYPE counterpoint_stage_seconds histogram\n";
        self.queue.write(&mut text, "queue");
        self.ledger.write(&mut text, "ledger");
        if is_owner {
            self.engine.write(&mut text, "engine");
            self.noise.write(&mut text, "noise");
        }
        text
    }

    /// Counts a question that was charged and has no answer.
    pub(crate) fn note_charged_and_failed(&self) {
        self.charged_and_failed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The record of one request. When its last reference is dropped, it becomes a log line.
#[derive(Debug)]
pub(crate) struct RequestRecord {
    id: u64,
    start: Instant,
    method: String,
    endpoint: String,
    metrics: Arc<Metrics>,
    /// The name and role of the token.
    pub(crate) principal: OnceLock<(String, &'static str)>,
    pub(crate) stages: StageTimes,
    pub(crate) waited: OnceLock<Duration>,
    /// The charge, in the ledger's decimals.
    pub(crate) cost: OnceLock<String>,
    /// The status, and the time until the response.
    outcome: OnceLock<(u16, Duration)>,
}

impl RequestRecord {
    /// The counts over all requests.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let (status, total) = self.outcome.get().copied().unwrap_or((0, self.start.elapsed()));
        let waited = self.waited.get().copied();
        let spent = |stage| self.stages.spent(stage);
        let [ledger, engine, noise] = [Stage::Ledger, Stage::Engine, Stage::Noise].map(spent);
        if let Some(waited) = waited {
            self.metrics.queue.add(waited);
            self.metrics.ledger.add(ledger);
        }
        if self.stages.runs() > 0 {
            self.metrics.engine.add(engine);
            self.metrics.noise.add(noise);
        }
        let (name, role) =
            self.principal.get().map_or(("", ""), |(name, role)| (name.as_str(), *role));
        let seconds = |time: Duration| time.as_secs_f64();
        tracing::info!(
            id = self.id,
            principal = name,
            role,
            method = self.method,
            endpoint = self.endpoint,
            status,
            cost = self.cost.get().map_or("", String::as_str),
            seconds = seconds(total),
            queue = seconds(waited.unwrap_or_default()),
            ledger = seconds(ledger),
            engine = seconds(engine),
            noise = seconds(noise),
            "request"
        );
    }
}

/// Keeps a record of each request. The logged path is the route's pattern, not the client's text.
pub(crate) async fn record(
    State(metrics): State<Arc<Metrics>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let record = Arc::new(RequestRecord {
        id: metrics.next_id.fetch_add(1, Ordering::Relaxed),
        start: Instant::now(),
        method: request.method().as_str().chars().take(16).collect(),
        endpoint: path.unwrap_or_else(|| "other".to_owned()),
        metrics: Arc::clone(&metrics),
        principal: OnceLock::new(),
        stages: StageTimes::default(),
        waited: OnceLock::new(),
        cost: OnceLock::new(),
        outcome: OnceLock::new(),
    });
    request.extensions_mut().insert(Arc::clone(&record));
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let _ = record.outcome.set((status, record.start.elapsed()));
    if let Some(count) = metrics.statuses.get(usize::from(status / 100)) {
        count.fetch_add(1, Ordering::Relaxed);
    }
    response
}

/// Writes the log to standard error, one JSON object per line, from this level on (`error`, `warn`, `info` or `debug`;
/// any other text means `info`). Errors of engines at level `debug` may reveal data.
pub fn log_to_stderr(level: Option<&str>) {
    let level = level.and_then(|level| level.parse().ok()).unwrap_or(tracing::Level::INFO);
    let log = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false);
    let log = log.with_target(false).with_max_level(level).with_writer(std::io::stderr);
    // An existing logger stays.
    let _ = log.try_init();
}
