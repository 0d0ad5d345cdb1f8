//! Simulations: finite mechanisms, or interactive systems, with guarantees that are claimed of them; and what comes of
//! running the proofs forwards, which is one JSON object.

mod draws;
mod object;
mod read;
mod renyi;
mod run;

pub use read::{FileMechanism, FileQuery, FileStage, FileState, FileSystem, Simulation};
pub use renyi::{Divergence, Divergences, Left};
pub use run::{Answered, Drawn, NotSimulated, Refuted, Simulated, SimulatedStage, SimulatedSystem};

/// The most samples that are drawn for each of the data sets.
pub const MOST_SAMPLES: u64 = 1_000_000;

/// A fraction as people write it: in decimals where they end, else in lowest terms.
#[must_use]
pub fn written(exact: &counterpoint::exact::Ratio) -> String {
    crate::written::shown(exact)
}
