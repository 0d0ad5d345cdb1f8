//! The formats Counterpoint reads and writes.
//!
//! A plan file, in TOML or JSON, becomes a [`Plan`]; an answer becomes a
//! [`Composed`], and that becomes one JSON object. Numbers leave as decimal text
//! rounded outward, so that the text is still a bound.
//!
//! ```
//! use counterpoint_wire::{Format, Plan};
//! let text = r#"
//!     delta = 1e-6
//!     [[release]]
//!     mechanism = "approx-dp"
//!     epsilon = 0.1
//!     count = 100
//! "#;
//! let plan = Plan::parse(text.as_bytes(), Format::Toml)?;
//! assert_eq!(plan.releases.len(), 1);
//! let _ready: counterpoint::Plan = plan.prepare()?;
//! # Ok::<(), counterpoint_wire::PlanError>(())
//! ```

mod answers;
pub mod catalogue;
mod codebook;
mod header;
pub mod ledger;
mod plan;
mod simulation;
mod sketch;
mod study;
mod text;

#[cfg(test)]
mod fuzz;

pub use answers::publication;
pub use answers::{
    Advised, Asked, AtRate, Audited, Calibrated, Change, Composed, Converted, FALSE_ALARMS,
    Inclusion, Loss, Losses, NoiseRules, OutOfReach, PlanRegion, Planned, Regions, Rule,
    name_of_verdict, warning_text,
};
pub use codebook::{Category, Codebook, CodebookColumn, CodebookFormat, Holds};
pub use header::{DataFormat, Header};
pub use plan::{
    Batches, Blank, Format, Plan, Question, Release, Sample, Target, adjacency_name,
    adjacency_named, name_of,
};
pub use simulation::{
    Answered, Divergence, Divergences, Drawn, FileMechanism, FilePair, FileQuery, FileStage,
    FileState, FileSystem, LaplaceRow, LeastDelta, LeastDeltas, Left, MOST_SAMPLES, NotSimulated,
    Place, Refuted, Simulated, SimulatedLaplace, SimulatedStage, SimulatedSystem, Simulation,
    Subject, written,
};
pub use sketch::{IDEALISED, SketchAnswer, SketchFile, Sketchable, Sketched};
pub use study::{
    DataSource, NewStudy, StudyFile, StudyQuestion, begin_study, new_study, placed_in_study,
    read_study, read_study_file, study_file_of, study_of,
};
pub use text::decimal;
pub use text::error::PlanError;
pub use text::value::{Table, Value};
pub use text::written::{NumberError, Written, fraction, power};
