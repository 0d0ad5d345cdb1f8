//! Queues in front of engines. A fixed number of questions runs, a few more wait, and further questions are refused as
//! busy. No question is debited before its engine admits it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use counterpoint_curator::{Location, QueueSizes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::problem::{BUSY, Problem};

/// The longest time that a question waits.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(60);

/// The location of an engine; `None` stands for the generator of made-up rows.
pub(crate) type EngineName = Option<Location>;

/// A permit for each engine that questions need.
pub(crate) type EnginePermits = Vec<OwnedSemaphorePermit>;

/// The queues of all engines.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    engines: Mutex<BTreeMap<EngineName, Arc<Queue>>>,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct Queue {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    sizes: QueueSizes,
}

/// Counts one waiting question until it is dropped.
struct WaitingCount<'a>(&'a Queue);

impl Drop for WaitingCount<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Queue {
    fn wait(&self) -> Option<WaitingCount<'_>> {
        let next = |waiting: usize| (waiting < self.sizes.waiting).then_some(waiting + 1);
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(WaitingCount(self))
    }
}

impl Queues {
    fn queue(&self, engine: &EngineName, sizes: QueueSizes) -> Arc<Queue> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        let current = engines.get(engine).filter(|queue| queue.sizes == sizes);
        current.map(Arc::clone).unwrap_or_else(|| {
            let permits = Arc::new(Semaphore::new(sizes.running));
            if self.is_closed.load(Ordering::Relaxed) {
                permits.close();
            }
            let queue = Arc::new(Queue { permits, waiting: AtomicUsize::new(0), sizes });
            engines.insert(engine.clone(), Arc::clone(&queue));
            queue
        })
    }

    /// Returns permits for the engines if all are free now.
    pub(crate) fn try_admit(
        &self,
        engines: &[EngineName],
        sizes: QueueSizes,
    ) -> Option<EnginePermits> {
        let permit =
            |engine| Arc::clone(&self.queue(engine, sizes).permits).try_acquire_owned().ok();
        engines.iter().map(permit).collect()
    }

    /// Waits for permits of the engines, in order, so that two requests never wait for each other.
    pub(crate) async fn admit(
        &self,
        engines: &[EngineName],
        sizes: QueueSizes,
    ) -> Result<EnginePermits, Problem> {
        let busy = || BUSY.problem("the engine's queue is full; nothing was charged, ask again");
        let mut permits = Vec::new();
        for engine in engines {
            let queue = self.queue(engine, sizes);
            let _waiting = queue.wait().ok_or_else(busy)?;
            let permit = timeout(QUEUE_TIMEOUT, Arc::clone(&queue.permits).acquire_owned()).await;
            permits.push(permit.map_err(|_| busy())?.map_err(|_| busy())?);
        }
        Ok(permits)
    }

    /// Refuses all questions from now on, including those that wait.
    pub(crate) fn close(&self) {
        let engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_closed.store(true, Ordering::Relaxed);
        engines.values().for_each(|queue| queue.permits.close());
    }

    /// The numbers of running and of waiting questions, over all engines.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        let running = |queue: &Arc<Queue>| {
            queue.sizes.running.saturating_sub(queue.permits.available_permits())
        };
        let waiting = |queue: &Arc<Queue>| queue.waiting.load(Ordering::Relaxed);
        (engines.values().map(running).sum(), engines.values().map(waiting).sum())
    }
}
