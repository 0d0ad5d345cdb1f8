//! Answers about plans, as JSON.

mod audit;
mod calibrated;
pub(crate) mod composed;
mod converted;
mod losses;
pub mod publication;
mod readings;
mod region;

pub use audit::AuditAnswer;
pub use calibrated::{CalibrationAnswer, Change, UnreachableTarget};
pub use composed::{AnswerValue, PlanAnswer};
pub use converted::GuaranteeConversion;
pub use losses::{Loss, Losses};
pub use readings::PlanReadings;
pub use region::{AtRate, FALSE_ALARMS, Inclusion, PlanRegion, Regions, verdict_name};
