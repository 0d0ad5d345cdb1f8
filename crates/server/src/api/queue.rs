//! Queues in front of engines: a fixed number of questions runs, a few wait, and whoever comes then is told to come again.
//! Nothing is debited before a place is had.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use counterpoint_curator::{Location, QueueSizes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::problem::{BUSY, Problem};

/// The longest that a question waits.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine; none is that of made-up rows.
pub(crate) type EngineName = Option<Location>;

/// A place at each engine that questions need.
pub(crate) type Places = Vec<OwnedSemaphorePermit>;

/// The queues of all engines.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    engines: Mutex<BTreeMap<EngineName, Arc<Queue>>>,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct Queue {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    sizes: QueueSizes,
}

/// Counted among those who wait, until it is dropped.
struct Waiting<'a>(&'a Queue);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Queue {
    fn wait(&self) -> Option<Waiting<'_>> {
        let more = |waiting: usize| (waiting < self.sizes.waiting).then_some(waiting + 1);
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Waiting(self))
    }
}

impl Queues {
    fn queue(&self, engine: &EngineName, sizes: QueueSizes) -> Arc<Queue> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        let known = engines.get(engine).filter(|queue| queue.sizes == sizes);
        known.map(Arc::clone).unwrap_or_else(|| {
            let places = Arc::new(Semaphore::new(sizes.running));
            if self.is_closed.load(Ordering::Relaxed) {
                places.close();
            }
            let queue = Arc::new(Queue { places, waiting: AtomicUsize::new(0), sizes });
            engines.insert(engine.clone(), Arc::clone(&queue));
            queue
        })
    }

    /// Places at engines, if nobody has to be waited for.
    pub(crate) fn try_enter(&self, engines: &[EngineName], sizes: QueueSizes) -> Option<Places> {
        let place = |engine| Arc::clone(&self.queue(engine, sizes).places).try_acquire_owned().ok();
        engines.iter().map(place).collect()
    }

    /// Places at engines, which are given in order, so that nobody waits in a circle.
    pub(crate) async fn enter(
        &self,
        engines: &[EngineName],
        sizes: QueueSizes,
    ) -> Result<Places, Problem> {
        let busy = || BUSY.of("the engine's queue is full; nothing was charged, ask again");
        let mut places = Vec::new();
        for engine in engines {
            let queue = self.queue(engine, sizes);
            let _waiting = queue.wait().ok_or_else(busy)?;
            let place = timeout(PATIENCE, Arc::clone(&queue.places).acquire_owned()).await;
            places.push(place.map_err(|_| busy())?.map_err(|_| busy())?);
        }
        Ok(places)
    }

    /// Lets nobody in any more; those who wait are sent away.
    pub(crate) fn close(&self) {
        let engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_closed.store(true, Ordering::Relaxed);
        engines.values().for_each(|queue| queue.places.close());
    }

    /// How many questions run and how many wait, at all engines together.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        let running = |queue: &Arc<Queue>| {
            queue.sizes.running.saturating_sub(queue.places.available_permits())
        };
        let waiting = |queue: &Arc<Queue>| queue.waiting.load(Ordering::Relaxed);
        (engines.values().map(running).sum(), engines.values().map(waiting).sum())
    }
}
