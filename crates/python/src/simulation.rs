//! Proofs run forwards, and sketches: what `simulate --json` and `sketch --json` print.

use std::path::Path;

use counterpoint_wire::{Format, NotSimulated, Simulated, Simulation, SketchFile};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{invalid, wrong_type};
use crate::run::How;
use crate::value::{self, whole};

/// The object, and if a claim is refuted what refutes it in words.
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
        Simulation::of(value::table(fields)?)
    } else if let Ok(text) = simulation.cast::<PyBytes>() {
        let text = text.as_bytes();
        Simulation::parse(text, Format::detect(path.map(Path::new), text))
    } else {
        return Err(wrong_type("simulation", simulation, "a dict, or a simulation file's text"));
    };
    let read = read.map_err(|error| invalid(error.to_string()))?;
    let (samples, seed) = (whole("samples", samples)?, whole("seed", seed)?);
    let (object, refuted) = match How::in_background(py, move || {
        Simulated::new(&read, samples, seed)?.with_order(&read, order)
    })? {
        Ok(simulated) => (simulated.json(), None),
        Err(NotSimulated::Refuted(refuted)) => (refuted.json(), Some(refuted.to_string())),
        Err(NotSimulated::Input(error)) => return Err(invalid(error.to_string())),
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
        SketchFile::of(value::table(fields)?)
    } else if let Ok(text) = sketch.cast::<PyBytes>() {
        let text = text.as_bytes();
        SketchFile::parse(text, Format::detect(path.map(Path::new), text))
    } else {
        return Err(wrong_type("sketch", sketch, "a dict, or a sketch file's text"));
    };
    let read = read.map_err(|error| invalid(error.to_string()))?;
    let sketched = How::in_background(py, move || read.sketch())?;
    let object = sketched.map_err(|error| invalid(error.to_string()))?.json();
    object.map_err(|error| invalid(error.to_string()))
}
