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

mod answer;
mod calibrated;
mod audit;
mod codebook;
mod columns;
pub mod decimal;
mod error;
mod exactly;
mod fields;
mod header;
mod json;
mod kind;
pub mod ledger;
mod losses;
mod parse;
mod plan;
pub mod publication;
mod recipe;
mod region;
mod rules;
mod sample;
mod simulation;
mod sketch;
mod study;
mod study_new;
mod planned;
mod toml;
mod value;
mod write;
mod written;

#[cfg(test)]
mod fuzz;

pub use answer::{Asked, Composed};
pub use audit::Audited;
pub use calibrated::{Calibrated, Change, OutOfReach};
pub use codebook::{Category, Codebook, CodebookColumn, CodebookFormat, Holds};
pub use error::PlanError;
pub use header::{DataFormat, Header};
pub use losses::{Loss, Losses};
pub use plan::{
    Blank, Format, Plan, Question, Release, Target, adjacency_name, adjacency_named, name_of,
};
pub use planned::{Planned, warning_text};
pub use region::{AtRate, FALSE_ALARMS, Inclusion, PlanRegion, Regions, name_of_verdict};
pub use rules::{Advised, Converted, NoiseRules, Rule};
pub use sample::{Batches, Sample};
pub use simulation::{
    Answered, Divergence, Divergences, Drawn, FileMechanism, FilePair, FileQuery, FileStage,
    FileState, FileSystem, LaplaceRow, LeastDelta, LeastDeltas, Left, MOST_SAMPLES, NotSimulated,
    Place, Refuted, Simulated, SimulatedLaplace, SimulatedStage, SimulatedSystem, Simulation,
    Subject, written,
};
pub use sketch::{IDEALISED, SketchAnswer, SketchFile, Sketchable, Sketched};
pub use study::{
    DataSource, StudyFile, StudyQuestion, placed_in_study, read_study, read_study_file,
    study_file_of, study_of,
};
pub use study_new::{NewStudy, begin_study, new_study};
pub use value::{Table, Value};
pub use written::{Written, fraction, power};
