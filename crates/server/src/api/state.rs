//! What requests share: the curator, how much is done at once, and how often whom.

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
use crate::api::queue::{EngineName, Places, Queues};
use crate::body::Room;
use crate::record::{Metrics, Record};

/// So much is done at once besides what engines do, and so long a request waits for its turn.
const AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);
/// Requests a second that a token may make for long, and at once.
const RATE: NonZeroU32 = NonZeroU32::MIN.saturating_add(199);
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(399);

/// What can be reached now.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// The ledger.
    pub(crate) ledger: bool,
    /// The tokens.
    pub(crate) state: bool,
    /// Every table's engine.
    pub(crate) engines: bool,
}

impl Readiness {
    fn of(curator: &Curator) -> Self {
        Self {
            ledger: curator.pool().with(|ledger| ledger.head()).is_ok(),
            state: curator.tokens().page(0, 1).is_ok(),
            engines: curator.tables().all(|kept| kept.held.is_reachable()),
        }
    }
}

/// What requests share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// Replaced when the configuration is read again.
    curator: Arc<RwLock<Arc<Curator>>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) room: Room,
    pub(crate) queues: Arc<Queues>,
    /// What is not to be interrupted.
    tasks: TaskTracker,
    places: Arc<Semaphore>,
    rates: Arc<DefaultKeyedRateLimiter<i64>>,
    /// What could be reached, and when.
    reached: Arc<tokio::sync::Mutex<Option<(Instant, Readiness)>>>,
}

impl Shared {
    pub(crate) fn new(curator: Curator, metrics: Arc<Metrics>, room: Room) -> Self {
        Self {
            curator: Arc::new(RwLock::new(Arc::new(curator))),
            metrics,
            room,
            queues: Arc::default(),
            tasks: TaskTracker::new(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            rates: Arc::new(RateLimiter::keyed(Quota::per_second(RATE).allow_burst(BURST))),
            reached: Arc::default(),
        }
    }

    /// The curator as it is configured now.
    pub(crate) fn curator(&self) -> Arc<Curator> {
        Arc::clone(&self.curator.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another curator from now on. Those who are with the old one stay with it.
    pub(crate) fn replace(&self, curator: Curator) {
        *self.curator.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(curator);
    }

    /// Whose a token is, if it is valid. Nobody waits for anything else here.
    pub(crate) async fn find(&self, token: String) -> Result<Option<Bearer>, Problem> {
        let curator = self.curator();
        let found = tokio::task::spawn_blocking(move || curator.tokens().find(&token)).await;
        found.map_err(|_| FAILED.of("this is a bug"))?.map_err(|error| {
            tracing::warn!(why = error.to_string(), "tokens cannot be read");
            UNAVAILABLE.of("tokens cannot be read")
        })
    }

    /// Whether a token may make another request now.
    pub(crate) fn is_within_rate(&self, id: i64) -> bool {
        self.rates.check_key(&id).is_ok()
    }

    /// Does work on a thread of its own, to its end, whether or not the caller waits for it.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Curator) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || BUSY.of("too much is asked at once");
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.map_err(|_| busy())?.map_err(|_| busy())?;
        let curator = self.curator();
        let done = self.tasks.spawn_blocking(move || {
            let _place = place;
            work(&curator)
        });
        done.await.unwrap_or_else(|_| Err(FAILED.of("this is a bug")))
    }

    /// What can be reached, as it was a second ago at most. Whoever asks meanwhile waits for the same look.
    pub(crate) async fn readiness(&self) -> Readiness {
        let mut reached = self.reached.lock().await;
        match *reached {
            Some((when, found)) if when.elapsed() < Duration::from_secs(1) => found,
            _ => {
                let curator = self.curator();
                let found = tokio::task::spawn_blocking(move || Readiness::of(&curator)).await;
                let found = found.unwrap_or_default();
                *reached = Some((Instant::now(), found));
                found
            }
        }
    }

    /// A place at an engine: now, or when others have left.
    pub(crate) async fn place(
        &self,
        engine: EngineName,
        record: &Record,
    ) -> Result<Places, Problem> {
        match self.enter([engine], record, |_| Ok(None::<Infallible>)).await? {
            Entered::Places(places) => Ok(places),
            Entered::Stored(never) => match never {},
        }
    }

    /// Places at engines: now, or when others have left. While others are there, what is stored is looked for first.
    pub(crate) async fn enter<T: Send + 'static>(
        &self,
        engines: impl IntoIterator<Item = EngineName>,
        record: &Record,
        stored: impl FnOnce(&Curator) -> Result<Option<T>, Problem> + Send + 'static,
    ) -> Result<Entered<T>, Problem> {
        let engines: Vec<EngineName> = engines.into_iter().collect();
        let (sizes, start) = (self.curator().queue(), Instant::now());
        let places = match self.queues.try_enter(&engines, sizes) {
            Some(places) => places,
            None => {
                if let Some(stored) = self.work(stored).await? {
                    return Ok(Entered::Stored(stored));
                }
                self.queues.enter(&engines, sizes).await?
            }
        };
        let _ = record.waited.set(start.elapsed());
        Ok(Entered::Places(places))
    }

    /// Does work at engines, to its end, and keeps the places for whole slots of time: as many as questions were run, or at least
    /// so many; or twice, four times, eight times as many. How long the work took shows as nothing else, to whoever asked and to
    /// those who wait for a place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        places: Places,
        record: &Arc<Record>,
        least: u32,
        work: impl FnOnce(&Curator, &Record) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (curator, start) = (self.curator(), Instant::now());
        let (slot, record) = (curator.timing().slot, Arc::clone(record));
        let done = self.tasks.spawn(async move {
            let shared = Arc::clone(&record);
            let done = tokio::task::spawn_blocking(move || work(&curator, &shared)).await;
            let time = slot.saturating_mul(record.stages.runs().max(least));
            sleep_until((start + whole(time, start.elapsed())).into()).await;
            drop(places);
            done
        });
        done.await.ok().and_then(Result::ok).ok_or_else(|| FAILED.of("this is a bug"))
    }

    /// Waits until nothing is being done; what was debited has its answer stored. Nothing new is begun at engines.
    pub(crate) async fn finish(&self) {
        self.queues.close();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Places at engines, or what is known without them.
pub(crate) enum Entered<T> {
    /// Places.
    Places(Places),
    /// What is stored.
    Stored(T),
}

/// Counts what was charged and has no answer.
pub(crate) fn note(record: &Record, problem: &Problem) {
    if problem.code == CHARGED.code() {
        record.metrics().note_charged_and_failed();
    }
}

/// The least of once, twice, four times, eight times a slot that is over by then; nothing if there are no slots.
fn whole(slot: Duration, elapsed: Duration) -> Duration {
    let mut whole = slot;
    while !slot.is_zero() && whole < elapsed {
        whole = whole.saturating_mul(2);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::whole;
    use std::time::Duration;

    #[test]
    fn slots_are_doubled() {
        let milliseconds = Duration::from_millis;
        for (elapsed, expected) in [(0, 100), (100, 100), (101, 200), (201, 400), (5000, 6400)] {
            assert_eq!(whole(milliseconds(100), milliseconds(elapsed)), milliseconds(expected));
        }
        assert_eq!(whole(Duration::ZERO, milliseconds(7)), Duration::ZERO);
    }
}
