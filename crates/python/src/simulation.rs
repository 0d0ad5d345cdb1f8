//! Simulations and sketches: the objects that `simulate --json` and `sketch --json` print.

use std::path::Path;

use counterpoint_studies::{Simulation, SimulationError, SimulationResult, SketchFile};

use counterpoint_wire::Format;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{invalid, wrong_type};
use crate::run::RunOptions;
use crate::value::{self, whole};

/// Simulates: the object, and the refutation in words if a claim is refuted.
#[pyfunction]
#[pyo3(signature = (simulation, path, samples, seed, order))]
pub(crate) fn simulate(
    py: Python<'_>,
    simulation: &Bound<'_, PyAny>,
    path: Option<&str>,
    samples: &Bound<'_, PyAny>,
    seed: &Bound<'_, PyAny>,
    order: Option<f64>,
) -> PyResult<(String, Option<String>)> {
    let read = if let Ok(fields) = simulation.cast::<PyDict>() {
        Simulation::from_table(value::table(fields)?)
    } else if let Ok(text) = simulation.cast::<PyBytes>() {
        let text = text.as_bytes();
        Simulation::parse(text, Format::detect(path.map(Path::new), text))
    } else {
        return Err(wrong_type("simulation", simulation, "a dict, or a simulation file's text"));
    };
    let read = read.map_err(|error| invalid(error.to_string()))?;
    let (samples, seed) = (whole("samples", samples)?, whole("seed", seed)?);
    let (object, refuted) = match RunOptions::in_background(py, move || {
        SimulationResult::new(&read, samples, seed)?.with_order(&read, order)
    })? {
        Ok(simulated) => (simulated.json(), None),
        Err(SimulationError::Refuted(refuted)) => (refuted.json(), Some(refuted.to_string())),
        Err(SimulationError::Input(error)) => return Err(invalid(error.to_string())),
    };
    Ok((object.map_err(|error| invalid(error.to_string()))?, refuted))
}

/// The object.
#[pyfunction]
#[pyo3(signature = (sketch, path))]
pub(crate) fn sketch(
    py: Python<'_>,
    sketch: &Bound<'_, PyAny>,
    path: Option<&str>,
) -> PyResult<String> {
    let read = if let Ok(fields) = sketch.cast::<PyDict>() {
        SketchFile::from_table(value::table(fields)?)
    } else if let Ok(text) = sketch.cast::<PyBytes>() {
        let text = text.as_bytes();
        SketchFile::parse(text, Format::detect(path.map(Path::new), text))
    } else {
        return Err(wrong_type("sketch", sketch, "a dict, or a sketch file's text"));
    };
    let read = read.map_err(|error| invalid(error.to_string()))?;
    let sketched = RunOptions::in_background(py, move || read.sketch())?;
    let object = sketched.map_err(|error| invalid(error.to_string()))?.json();
    object.map_err(|error| invalid(error.to_string()))
}
