//! Studies, simulations, sketches and noise rules: their files, the computations that the planner and the papers do for them,
//! and their results as JSON.
//!
//! A study file becomes a [`StudyFile`], whose study the planner plans; a [`PlannedStudy`] is the result, as one JSON object and as a plan.
//! Ledgers do not use this crate: they read plans, and `counterpoint-wire` reads those.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod noise_rules;
mod planned;
#[allow(
    clippy::indexing_slicing,
    reason = "indices are 0 or 1 for the two sides, positions in the same list, or states that `read` has checked"
)]
mod simulation;
mod sketch;
mod study;

pub use noise_rules::{NoiseRule, NoiseRules, RuleAdvice};
pub use planned::{PlannedStudy, warning_text};
pub use simulation::{
    AnswerLaw, Counterexample, DeltaPoint, Divergence, Divergences, FileMechanism, FilePair,
    FileQuery, FileStage, FileState, FileSystem, LaplaceResult, LaplaceRow, LeastDelta,
    LeastDeltas, MOST_SAMPLES, MonitorState, Simulation, SimulationError, SimulationResult,
    StageResult, Subject, SystemResult, Transcript,
};
pub use sketch::{IDEALISED, SketchAnswer, SketchFile, SketchInput, SketchResult};
pub use study::{
    DataSource, StudyDraft, StudyFile, StudyQuestion, draft_study, draft_study_of_files,
    locate_study_error, read_study, read_study_file, study_file_from_table, study_from_table,
};
