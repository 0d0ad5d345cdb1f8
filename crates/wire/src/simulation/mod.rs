//! Simulations: finite mechanisms, or interactive systems, with guarantees that are claimed of them; and what comes of
//! running the proofs forwards, which is one JSON object.

mod draws;
mod file;
mod found;
mod laplace;
mod object;
mod pairs;
mod profile;
mod read;
mod renyi;
mod run;
mod stages;
mod systems;

pub use file::{
    FileMechanism, FilePair, FileQuery, FileStage, FileState, FileSystem, Place, Simulation,
    Subject,
};
pub use found::{
    Answered, Divergence, Divergences, Drawn, LaplaceRow, LeastDelta, LeastDeltas, Left,
    NotSimulated, Refuted, Simulated, SimulatedLaplace, SimulatedStage, SimulatedSystem,
};

/// The most samples that are drawn for each of the data sets.
pub const MOST_SAMPLES: u64 = 1_000_000;

/// A fraction as people write it: in decimals where they end, else in lowest terms.
#[must_use]
pub fn written(exact: &counterpoint_numerics::fractions::Ratio) -> String {
    crate::text::written::shown(exact)
}
