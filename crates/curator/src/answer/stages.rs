//! The time that each stage of a request takes. For the operator alone: the engine's time depends on the data.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A stage of the work between a debit and an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The ledger: waiting for a handle, the debit, the commit.
    Ledger,
    /// The engine counts.
    Engine,
    /// Noise is drawn.
    Noise,
}

/// The time that one request has spent in each stage, and the number of its questions that an engine ran.
#[derive(Debug, Default)]
pub struct StageTimes {
    micros: [AtomicU64; 3],
    runs: AtomicU32,
}

#[allow(clippy::indexing_slicing, reason = "three stages index three counters")]
impl StageTimes {
    /// Does work and adds its time to a stage.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.micros[stage as usize].fetch_add(micros, Ordering::Relaxed);
        done
    }

    /// The time spent in a stage so far.
    #[must_use]
    pub fn spent(&self, stage: Stage) -> Duration {
        Duration::from_micros(self.micros[stage as usize].load(Ordering::Relaxed))
    }

    /// The number of questions that an engine ran. It depends on the questions and the ledger, never on the data.
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.runs.load(Ordering::Relaxed)
    }

    pub(crate) fn count_runs(&self, questions: usize) {
        self.runs.fetch_add(u32::try_from(questions).unwrap_or(u32::MAX), Ordering::Relaxed);
    }
}
