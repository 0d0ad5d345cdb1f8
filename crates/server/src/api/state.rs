//! What requests share: the curator, how much is done at once, and how often whom.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use counterpoint_curator::{Bearer, Curator, Role};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::{sleep_until, timeout};

use crate::api::problem::{BUSY, FAILED, FORBIDDEN, NOT_KNOWN, Problem, TOO_MANY};

/// So much is done at once, and so long a request waits for its turn.
const AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);
/// Requests a second that a token may make for long, and at once.
const RATE: f64 = 200.0;
const BURST: f64 = 400.0;
/// So many tokens are remembered.
const MOST_REMEMBERED: usize = 100_000;

/// How many requests were answered, by the first digit of their status.
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; 6]);

impl Counts {
    pub(crate) fn note(&self, status: u16) {
        if let Some(count) = self.0.get(usize::from(status / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// In the text format of Prometheus. Nothing in it tells of data, budgets or people.
    pub(crate) fn text(&self) -> String {
        let mut text = "# TYPE counterpoint_requests_total counter\n".to_owned();
        for (digit, count) in self.0.iter().enumerate().skip(2) {
            let count = count.load(Ordering::Relaxed);
            text += &format!("counterpoint_requests_total{{status=\"{digit}xx\"}} {count}\n");
        }
        text
    }
}

/// How much a token may still ask now.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// What requests share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) curator: Arc<Curator>,
    pub(crate) counts: Arc<Counts>,
    places: Arc<Semaphore>,
    buckets: Arc<Mutex<BTreeMap<i64, Bucket>>>,
}

impl Shared {
    pub(crate) fn new(curator: Curator) -> Self {
        Self {
            curator: Arc::new(curator),
            counts: Arc::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            buckets: Arc::default(),
        }
    }

    /// Whoever asks, if the token is valid, of one of the roles, and not in a hurry.
    pub(crate) async fn bearer(
        &self,
        headers: &HeaderMap,
        roles: &[Role],
    ) -> Result<Bearer, Problem> {
        let unknown =
            || NOT_KNOWN.of("legal: Authorization: Bearer and a token that is not revoked");
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = values.next().and_then(|value| value.to_str().ok()).ok_or_else(unknown)?;
        let token = value.strip_prefix("Bearer ").filter(|_| values.next().is_none());
        let token = token.ok_or_else(unknown)?.trim().to_owned();
        let found = self.work(move |curator| {
            curator.tokens().find(&token).map_err(|_| FAILED.of("tokens cannot be read"))
        });
        let bearer = found.await?.ok_or_else(unknown)?;
        if !roles.contains(&bearer.role) {
            let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
            return Err(FORBIDDEN.of(format!(
                "the token is {}'s; legal: {}",
                bearer.role.name(),
                roles.join(", ")
            )));
        }
        if !self.is_patient(bearer.id) {
            return Err(TOO_MANY.of("legal: 200 requests a second for each token"));
        }
        Ok(bearer)
    }

    fn is_patient(&self, id: i64) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST_REMEMBERED {
            buckets.clear();
        }
        let now = Instant::now();
        let bucket = buckets.entry(id).or_insert(Bucket { left: BURST, at: now });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + RATE * since).min(BURST);
        bucket.at = now;
        let allowed = bucket.left >= 1.0;
        if allowed {
            bucket.left -= 1.0;
        }
        allowed
    }

    /// Does work on a thread of its own, to its end, whether or not the caller waits for it.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Curator) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || BUSY.of("too much is asked at once");
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.map_err(|_| busy())?.map_err(|_| busy())?;
        let curator = Arc::clone(&self.curator);
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&curator)
        });
        done.await.unwrap_or_else(|_| Err(FAILED.of("this is a bug")))
    }

    /// Waits until nothing is being done; what was debited has its answer stored. Nothing new is begun.
    pub(crate) async fn finish(&self) {
        let all = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
        let longest = self.curator.timing().limit + PATIENCE;
        let _ = timeout(longest, self.places.acquire_many(all)).await;
        self.places.close();
    }
}

/// Waits for the next slot after a question came: when answers leave does not tell how long they took.
pub(crate) async fn slot(came: Instant, slot: Duration) {
    if slot.is_zero() {
        return;
    }
    let slots = came.elapsed().as_nanos() / slot.as_nanos() + 1;
    let slots = u32::try_from(slots).unwrap_or(u32::MAX);
    sleep_until((came + slot * slots).into()).await;
}
