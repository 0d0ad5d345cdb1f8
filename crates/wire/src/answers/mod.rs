//! What programs are told: answers, and the JSON objects that carry them.

mod audit;
mod calibrated;
pub(crate) mod composed;
mod losses;
mod planned;
pub mod publication;
mod region;
mod rules;

pub use audit::Audited;
pub use calibrated::{Calibrated, Change, OutOfReach};
pub use composed::{Asked, Composed};
pub use losses::{Loss, Losses};
pub use planned::{Planned, warning_text};
pub use region::{AtRate, FALSE_ALARMS, Inclusion, PlanRegion, Regions, name_of_verdict};
pub use rules::{Advised, Converted, NoiseRules, Rule};
