//! The extension module `counterpoint._native`: thin wrappers, so that every number is the library's own. The Python
//! interface that people use is written in Python, in `python/counterpoint`.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod arrays;
mod audit;
mod bracket;
mod calibrate;
mod errors;
#[cfg(feature = "ledger")]
mod frame;
mod interval;
mod keys;
#[cfg_attr(not(feature = "ledger"), path = "no_ledger.rs")]
mod ledger;
mod losses;
mod mechanism;
mod noise;
mod plan;
mod planned;
mod query;
mod readings;
mod region;
#[cfg(feature = "ledger")]
mod release;
mod rules;
mod run;
mod session;
mod simulation;
#[cfg(feature = "ledger")]
mod stored;
mod study;
mod value;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::audit::{Audit, audit};
    #[pymodule_export]
    use super::bracket::{Answer, Bracket};
    #[pymodule_export]
    use super::calibrate::{Calibration, calibrate};
    #[pymodule_export]
    use super::keys::{KeyMeasurement, KeyedData};
    #[pymodule_export]
    use super::ledger::Ledger;
    #[pymodule_export]
    use super::losses::Losses;
    #[pymodule_export]
    use super::mechanism::{Blank, Mechanism, kinds};
    #[pymodule_export]
    use super::noise::{Exponential, LeakyResponse, Noise, Response};
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::planned::{PlannedStudy, plan_study};
    #[pymodule_export]
    use super::query::{Data, Measurement, MeasurementReply, NoisyQuery, Query, secret};
    #[pymodule_export]
    use super::readings::Readings;
    #[pymodule_export]
    use super::region::Region;
    #[cfg(feature = "ledger")]
    #[pymodule_export]
    use super::release::{Publication, release};
    #[pymodule_export]
    use super::rules::{convert, noise_rules, pairs};
    #[pymodule_export]
    use super::session::{SessionSpec, Sessions};
    #[pymodule_export]
    use super::simulation::{simulate, sketch};
    #[cfg(feature = "ledger")]
    #[pymodule_export]
    use super::stored::{OwnSpec, StoredSessions};
    #[pymodule_export]
    use super::study::study_new;
}
