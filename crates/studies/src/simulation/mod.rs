//! Simulations: finite mechanisms or interactive systems with claimed guarantees. The proof of the claim is run as a
//! program, with the result as JSON.

mod draws;
mod file;
mod result;
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
    DeltaPoint, FileMechanism, FilePair, FileQuery, FileStage, FileState, FileSystem, Simulation,
    Subject,
};
pub use result::{
    AnswerLaw, Counterexample, Divergence, Divergences, LaplaceResult, LaplaceRow, LeastDelta,
    LeastDeltas, MonitorState, SimulationError, SimulationResult, StageResult, SystemResult,
    Transcript,
};

/// The largest number of samples on each of the data sets.
pub const MOST_SAMPLES: u64 = 1_000_000;
