//! The formats that Counterpoint reads and writes.
//!
//! A plan file, in TOML or JSON, becomes a [`Plan`]; an answer becomes a [`PlanAnswer`], and that becomes one JSON
//! object. Numbers are written as decimal text that is rounded outward, so that the text is still a bound. Files that
//! need the planner or the papers are read by `counterpoint-studies`.
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

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod answers;
pub mod catalogue;
mod codebook;
mod header;
pub mod ledger;
mod plan;
mod text;

#[cfg(test)]
mod fuzz;

pub use answers::publication;
pub use answers::{
    AnswerValue, AtRate, AuditAnswer, CalibrationAnswer, Change, FALSE_ALARMS, GuaranteeConversion,
    Inclusion, Loss, Losses, PlanAnswer, PlanReadings, PlanRegion, Regions, UnreachableTarget,
    verdict_name,
};
pub use codebook::{Category, Codebook, CodebookColumn, CodebookFormat, ColumnContent};
pub use header::{DataFormat, Header};
pub use plan::{
    Batches, Blank, Bundle, Format, Plan, Question, Release, Sample, Target, adjacency_from_name,
    adjacency_name, unknown_field_name,
};
pub use text::decimal;
pub use text::error::PlanError;
pub use text::value::{Table, Value};
pub use text::written::{ExactNumber, NumberError, fraction, fraction_text, power};

/// The parts of which formats are made, for crates that read or write formats of their own: documents as tables, the
/// fields of a table, errors that name a field, and JSON objects whose numbers are bounds.
pub mod document {
    pub use crate::codebook::{finite_number, whole_number};
    pub use crate::header::open_file;
    pub use crate::plan::{NumberMode, adjacency, table_of};
    pub use crate::text::error::quoted;
    pub use crate::text::fields::{Check, Fields, illegal, missing, number, real, text};
    pub use crate::text::object::{
        Decimal, Object, bounds_object, bracket_object, exact_object, guarantee_object,
    };
}
