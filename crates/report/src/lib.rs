//! Formats answers as text tables, figures and pages.
//!
//! Upper bounds are rounded up and lower bounds down, so the shown numbers are valid bounds.

mod audit;
mod calibrate;
mod columns;
mod compare;
mod compose;
pub mod figures;
mod losses;
mod plan;
pub mod plot;
mod publication;
mod readings;
mod region;
mod rules;
mod simulate;
mod sketch;
pub mod ledger;
mod wording;

pub use audit::audit;
pub use calibrate::calibrate;
pub use compare::compare;
pub use compose::compose;
pub use losses::losses;
pub use plan::{plan, plan_figure};
pub use publication::{
    Deposit, publication_chart, publication_files, publication_metadata, publication_page,
};
pub use readings::readings;
pub use region::{region, region_figure};
pub use rules::{convert, noise};
pub use simulate::simulate;
pub use sketch::sketch;
