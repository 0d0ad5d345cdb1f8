//! The state that requests share: the curator, the queues and the rate limits.

use counterpoint_curator::{Bearer, Curator};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use serde::Serialize;
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::{sleep_until, timeout};
use tokio_util::task::TaskTracker;
use utoipa::ToSchema;

use crate::api::problem::{BUSY, CHARGED, FAILED, Problem, UNAVAILABLE};
use crate::api::queue::{EngineName, EnginePermits, Queues};
use crate::body::BodyMemory;
use crate::record::{Metrics, RequestRecord};

/// The number of tasks that run at once, apart from engines, and the longest time that a request waits for one.
const MAX_WORK: usize = 64;
const WORK_TIMEOUT: Duration = Duration::from_secs(30);
/// The requests per second that a token may make, in the long run and in a burst.
const REQUESTS_PER_SECOND: NonZeroU32 = NonZeroU32::MIN.saturating_add(199);
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(399);

/// The parts of the service that can be reached now.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(crate) struct ReadinessResponse {
    /// The ledger.
    pub(crate) ledger: bool,
    /// The tokens.
    pub(crate) state: bool,
    /// The engines of all tables.
    pub(crate) engines: bool,
}

impl ReadinessResponse {
    fn of(curator: &Curator) -> Self {
        Self {
            ledger: curator.pool().with(|ledger| ledger.head()).is_ok(),
            state: curator.tokens().page(0, 1).is_ok(),
            engines: curator.tables().all(|registered| registered.table.is_reachable()),
        }
    }
}

/// The state that requests share.
#[derive(Clone, Debug)]
pub(crate) struct SharedState {
    /// Replaced when the configuration is read again.
    curator: Arc<RwLock<Arc<Curator>>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) body_memory: BodyMemory,
    pub(crate) queues: Arc<Queues>,
    /// Tasks that run to their end even if the client disconnects.
    tasks: TaskTracker,
    permits: Arc<Semaphore>,
    rates: Arc<DefaultKeyedRateLimiter<i64>>,
    /// The last readiness and its time.
    last_readiness: Arc<tokio::sync::Mutex<Option<(Instant, ReadinessResponse)>>>,
}

impl SharedState {
    pub(crate) fn new(curator: Curator, metrics: Arc<Metrics>, body_memory: BodyMemory) -> Self {
        Self {
            curator: Arc::new(RwLock::new(Arc::new(curator))),
            metrics,
            body_memory,
            queues: Arc::default(),
            tasks: TaskTracker::new(),
            permits: Arc::new(Semaphore::new(MAX_WORK)),
            rates: Arc::new(RateLimiter::keyed(
                Quota::per_second(REQUESTS_PER_SECOND).allow_burst(BURST),
            )),
            last_readiness: Arc::default(),
        }
    }

    /// The curator of the current configuration.
    pub(crate) fn curator(&self) -> Arc<Curator> {
        Arc::clone(&self.curator.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the curator. Running requests keep the old one.
    pub(crate) fn replace(&self, curator: Curator) {
        *self.curator.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(curator);
    }

    /// Finds the bearer of a valid token. This lookup has no queue.
    pub(crate) async fn find(&self, token: String) -> Result<Option<Bearer>, Problem> {
        let curator = self.curator();
        let found = tokio::task::spawn_blocking(move || curator.tokens().find(&token)).await;
        found.map_err(|_| FAILED.problem("the request failed, which is a bug"))?.map_err(|error| {
            tracing::warn!(why = error.to_string(), "tokens cannot be read");
            UNAVAILABLE.problem("tokens cannot be read")
        })
    }

    /// True if the token may make another request now.
    pub(crate) fn is_within_rate_limit(&self, id: i64) -> bool {
        self.rates.check_key(&id).is_ok()
    }

    /// Runs work on its own thread. The work runs to its end even if the client disconnects.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Curator) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || {
            BUSY.problem("the service handles too many requests at once; nothing was charged, try again soon")
        };
        let permit = timeout(WORK_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit.map_err(|_| busy())?.map_err(|_| busy())?;
        let curator = self.curator();
        let done = self.tasks.spawn_blocking(move || {
            let _permit = permit;
            work(&curator)
        });
        done.await.unwrap_or_else(|_| Err(FAILED.problem("the request failed, which is a bug")))
    }

    /// The parts that can be reached, as of at most a second ago. Concurrent callers share one check.
    pub(crate) async fn readiness(&self) -> ReadinessResponse {
        let mut last = self.last_readiness.lock().await;
        match *last {
            Some((when, found)) if when.elapsed() < Duration::from_secs(1) => found,
            _ => {
                let curator = self.curator();
                let found =
                    tokio::task::spawn_blocking(move || ReadinessResponse::of(&curator)).await;
                let found = found.unwrap_or_default();
                *last = Some((Instant::now(), found));
                found
            }
        }
    }

    /// Waits for a permit of an engine.
    pub(crate) async fn wait_for_engine(
        &self,
        engine: EngineName,
        record: &RequestRecord,
    ) -> Result<EnginePermits, Problem> {
        match self.admit([engine], record, |_| Ok(None::<Infallible>)).await? {
            Admission::Permits(permits) => Ok(permits),
            Admission::Stored(never) => match never {},
        }
    }

    /// Waits for permits of engines. If a permit is not free at once, looks up stored answers before it waits.
    pub(crate) async fn admit<T: Send + 'static>(
        &self,
        engines: impl IntoIterator<Item = EngineName>,
        record: &RequestRecord,
        stored: impl FnOnce(&Curator) -> Result<Option<T>, Problem> + Send + 'static,
    ) -> Result<Admission<T>, Problem> {
        let engines: Vec<EngineName> = engines.into_iter().collect();
        let (sizes, start) = (self.curator().queue(), Instant::now());
        let permits = match self.queues.try_admit(&engines, sizes) {
            Some(permits) => permits,
            None => {
                if let Some(stored) = self.work(stored).await? {
                    return Ok(Admission::Stored(stored));
                }
                self.queues.admit(&engines, sizes).await?
            }
        };
        let _ = record.waited.set(start.elapsed());
        Ok(Admission::Permits(permits))
    }

    /// Runs work that uses engines, to its end. The permits are held for whole time slots: one slot for each question
    /// that ran, and at least `least`; if this is too short, twice, four times or eight times as many, and so on. The
    /// caller and waiting requests learn nothing else about the duration of the work.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        permits: EnginePermits,
        record: &Arc<RequestRecord>,
        least: u32,
        work: impl FnOnce(&Curator, &RequestRecord) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (curator, start) = (self.curator(), Instant::now());
        let (slot, record) = (curator.timing().slot, Arc::clone(record));
        let done = self.tasks.spawn(async move {
            let shared = Arc::clone(&record);
            let done = tokio::task::spawn_blocking(move || work(&curator, &shared)).await;
            let time = slot.saturating_mul(record.stages.runs().max(least));
            sleep_until((start + rounded_up(time, start.elapsed())).into()).await;
            drop(permits);
            done
        });
        done.await
            .ok()
            .and_then(Result::ok)
            .ok_or_else(|| FAILED.problem("the request failed, which is a bug"))
    }

    /// Closes the queues and waits for all tasks; every debited question then has a stored answer.
    pub(crate) async fn finish(&self) {
        self.queues.close();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Permits of engines, or a stored answer that needs none.
pub(crate) enum Admission<T> {
    /// Permits of all engines that the questions need.
    Permits(EnginePermits),
    /// The stored answer.
    Stored(T),
}

/// Counts a question that was charged and has no answer.
pub(crate) fn count_charged_failure(record: &RequestRecord, problem: &Problem) {
    if problem.code == CHARGED.code() {
        record.metrics().note_charged_and_failed();
    }
}

/// The smallest of one, two, four, eight ... times the slot that is at least `elapsed`; zero if the slot is zero.
fn rounded_up(slot: Duration, elapsed: Duration) -> Duration {
    let mut time = slot;
    while !slot.is_zero() && time < elapsed {
        time = time.saturating_mul(2);
    }
    time
}

#[cfg(test)]
mod tests {
    use super::rounded_up;
    use std::time::Duration;

    #[test]
    fn slots_are_doubled() {
        let milliseconds = Duration::from_millis;
        for (elapsed, expected) in [(0, 100), (100, 100), (101, 200), (201, 400), (5000, 6400)] {
            assert_eq!(
                rounded_up(milliseconds(100), milliseconds(elapsed)),
                milliseconds(expected)
            );
        }
        assert_eq!(rounded_up(Duration::ZERO, milliseconds(7)), Duration::ZERO);
    }
}
