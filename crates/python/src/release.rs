//! Releases of studies: charged to a ledger, drawn, stored, and only then published.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use counterpoint::Options;
use counterpoint_curator::{
    ReleaseError, ReleaseJob, ReleaseRows, StudyRelease, rehearse_release, release_ledger,
    run_release, table_of,
};
use counterpoint_ledger::{OpenOptions, Url};
use counterpoint_planner::PlanningError;
use counterpoint_studies::{PlannedStudy, StudyFile, locate_study_error};
use counterpoint_studies::{read_study_file, study_file_from_table};
use counterpoint_wire::ledger::ExactPlan;
use counterpoint_wire::{Format, publication};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::errors::{self, invalid, wrong_type};
use crate::frame;
use crate::ledger::{self, Ledger};
use crate::run::RunOptions;
use crate::value;

/// A publication.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Publication {
    published: publication::Publication,
}

/// The columns of release.csv.
#[derive(Default)]
struct Columns {
    texts: [Vec<String>; 3],
    value: Vec<f64>,
    ends: [Vec<Option<f64>>; 2],
    confidence: Vec<f64>,
}

impl Columns {
    fn of(published: &publication::Publication) -> Self {
        let mut columns = Self::default();
        for statistic in &published.statistics {
            for number in &statistic.numbers {
                let texts = [statistic.name.clone(), statistic.group(number), number.part.clone()];
                columns.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
                columns.value.push(number.value);
                let ends = columns.ends.iter_mut().zip([number.lower, number.upper]);
                ends.for_each(|(column, end)| column.push(end));
                columns.confidence.push(number.confidence);
            }
        }
        columns
    }
}

#[pymethods]
impl Publication {
    /// True if the numbers were computed from made-up rows.
    #[getter]
    fn made_up(&self) -> bool {
        self.published.made_up
    }

    /// The promise to the people in the data: epsilon, at a delta.
    #[getter]
    fn promise(&self) -> (f64, f64) {
        (self.published.privacy.epsilon, self.published.privacy.delta)
    }

    /// The account that paid and the ledger's head; None for made-up rows.
    #[getter]
    fn ledger(&self) -> Option<(&str, &str)> {
        let place = self.published.ledger.as_ref()?;
        Some((&place.account, &place.head))
    }

    /// The files: their names and texts.
    fn files(&self) -> PyResult<Vec<(&'static str, String)>> {
        let files = counterpoint_report::publication_files(&self.published);
        Ok(files.map_err(|error| invalid(error.to_string()))?.into())
    }

    /// The columns of release.csv, by name.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Columns { texts: [statistic, group, part], value, ends: [lower, upper], confidence } =
            Columns::of(&self.published);
        let dict = PyDict::new(py);
        dict.set_item("statistic", statistic)?;
        dict.set_item("group", group)?;
        dict.set_item("part", part)?;
        dict.set_item("value", value)?;
        dict.set_item("lower", lower)?;
        dict.set_item("upper", upper)?;
        dict.set_item("confidence", confidence)?;
        Ok(dict)
    }

    /// The same columns as an Arrow stream.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let Columns { texts: [statistic, group, part], value, ends: [lower, upper], confidence } =
            Columns::of(&self.published);
        let text = |texts: Vec<String>| Arc::new(StringArray::from(texts)) as ArrayRef;
        let columns: [(&str, ArrayRef, bool); 7] = [
            ("statistic", text(statistic), false),
            ("group", text(group), false),
            ("part", text(part), false),
            ("value", Arc::new(Float64Array::from(value)), false),
            ("lower", Arc::new(Float64Array::from(lower)), true),
            ("upper", Arc::new(Float64Array::from(upper)), true),
            ("confidence", Arc::new(Float64Array::from(confidence)), false),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns);
        frame::stream(py, batch.map_err(|error| invalid(error.to_string()))?, requested_schema)
    }
}

/// The error of a release.
enum StudyReleaseError {
    Planning(Box<StudyFile>, PlanningError),
    Release(ReleaseError),
}

impl From<ReleaseError> for StudyReleaseError {
    fn from(error: ReleaseError) -> Self {
        Self::Release(error)
    }
}

impl From<StudyReleaseError> for PyErr {
    fn from(failure: StudyReleaseError) -> Self {
        match failure {
            StudyReleaseError::Planning(study, PlanningError::Study(at)) => {
                invalid(locate_study_error(&study.study, &at).to_string())
            }
            StudyReleaseError::Planning(_, error) => errors::planning(error),
            StudyReleaseError::Release(error) => errors::release(error),
        }
    }
}

/// A release whose arguments have been read, so that it needs no interpreter.
struct ReleaseRequest {
    study: StudyFile,
    title: String,
    plan: Option<ExactPlan>,
    /// `None` for a rehearsal.
    from: Option<RowsAndLedger>,
}

/// The origin of the rows, and the ledger that pays.
struct RowsAndLedger {
    rows: ReleaseRows,
    ledger: Url,
    options: OpenOptions,
    secret: PathBuf,
    folder: Option<PathBuf>,
    changed: bool,
}

impl ReleaseRequest {
    fn run(self, options: &Options<'_>) -> Result<publication::Publication, StudyReleaseError> {
        let plan = match self.plan {
            Some(plan) => plan,
            None => plan_of(&self.study, options)?,
        };
        let name = self.from.as_ref().map_or("made-up rows".to_owned(), |from| from.rows.name());
        let release =
            StudyRelease { study: &self.study, plan: &plan, title: &self.title, source: &name };
        let Some(from) = &self.from else { return Ok(rehearse_release(&release)?) };
        if let Some(folder) = &from.folder {
            let failed = |error| ReleaseError::Rows(format!("{}: {error}", folder.display()));
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        Ok(run_release(&ReleaseJob {
            release,
            rows: &from.rows,
            dataset: table_of(&self.study)?.name(),
            ledger: &from.ledger,
            options: &from.options,
            secret: &from.secret,
            changed: from.changed,
            watch: options.watch,
        })?)
    }
}

/// Plans a study.
fn plan_of(study: &StudyFile, options: &Options<'_>) -> Result<ExactPlan, StudyReleaseError> {
    let planned = counterpoint_planner::plan(&study.study, options);
    let planned =
        planned.map_err(|error| StudyReleaseError::Planning(Box::new(study.clone()), error))?;
    let exact = PlannedStudy::new(&study.study, planned).exact_plan();
    exact.map_err(|error| ReleaseError::Computation(error.to_string()).into())
}

/// Releases a study: a dict, or the text of a study file with its path.
#[pyfunction]
#[pyo3(signature = (study, path, data, plan, ledger, folder, changed, dry_run, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn release(
    py: Python<'_>,
    study: &Bound<'_, PyAny>,
    path: Option<PathBuf>,
    data: Option<&Bound<'_, PyAny>>,
    plan: Option<(Vec<u8>, Option<String>)>,
    ledger: Option<&Bound<'_, PyAny>>,
    folder: Option<PathBuf>,
    changed: bool,
    dry_run: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Publication> {
    let study = self::study(study, path.as_deref())?;
    let stem = path.as_deref().and_then(Path::file_stem);
    let title = stem.map_or("study".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let plan = plan.map(|(text, path)| ledger::plan(&text, path.as_deref())).transpose()?;
    let from = match dry_run {
        true => None,
        false => {
            let (ledger, options) = ledger.map(paying).transpose()?.unzip();
            let paying = release_ledger(ledger.as_ref(), folder.as_deref());
            let (ledger, secret) = paying.ok_or_else(|| {
                invalid(
                    "nothing says what pays or where the key is; legal: ledger of a file, or out",
                )
            })?;
            let beside = path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
            let rows = rows(&study, beside, data)?;
            let options = options.unwrap_or_default();
            Some(RowsAndLedger { rows, ledger, options, secret, folder, changed })
        }
    };
    let request = ReleaseRequest { study, title, plan, from };
    let how = RunOptions::new(None, None, progress)?;
    let published = how.run_as(py, move |options| request.run(options), PyErr::from)?;
    Ok(Publication { published })
}

fn study(study: &Bound<'_, PyAny>, path: Option<&Path>) -> PyResult<StudyFile> {
    let read = if let Ok(fields) = study.cast::<PyDict>() {
        study_file_from_table(value::table(fields)?)
    } else if let Ok(text) = study.cast::<PyBytes>() {
        let text = text.as_bytes();
        read_study_file(text, Format::detect(path, text))
    } else {
        return Err(wrong_type("study", study, "a dict, or a study file's text"));
    };
    read.map_err(|error| invalid(error.to_string()))
}

/// Reads a ledger or the URL of one.
fn paying(ledger: &Bound<'_, PyAny>) -> PyResult<(Url, OpenOptions)> {
    if let Ok(ledger) = ledger.cast::<Ledger>() {
        let ledger = ledger.get();
        return Ok((ledger.url.clone(), ledger.options));
    }
    let text = ledger.cast::<PyString>();
    let text = text
        .map_err(|_| wrong_type("ledger", ledger, "a Ledger, or the address of one"))?
        .to_cow()?;
    let url = text.parse().map_err(|error| invalid(format!("ledger is {text:?}: {error}")))?;
    Ok((url, OpenOptions::default()))
}

/// Reads the rows of a path, of a frame, or of the study's own source.
fn rows(
    study: &StudyFile,
    folder: &Path,
    data: Option<&Bound<'_, PyAny>>,
) -> PyResult<ReleaseRows> {
    let path = match data {
        None => None,
        Some(data) => match data.cast::<PyString>() {
            Ok(path) => Some(PathBuf::from(&*path.to_cow()?)),
            Err(_) => return Ok(ReleaseRows::InMemory(frame::rows(data)?)),
        },
    };
    ReleaseRows::of(study, folder, path.as_deref()).map_err(errors::release)
}
