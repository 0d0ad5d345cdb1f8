//! Mechanisms: a release each, described as in a plan file.

use counterpoint::ask::Unknown;
use counterpoint_wire::catalogue::{Field, KINDS, MechanismKind, kind};
use counterpoint_wire::{Release, Table, Value, unknown_field_name};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::errors::{invalid, wrong_type};
use crate::value;

/// The placeholder for a number that a calibration is to find.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Blank;

#[pymethods]
impl Blank {
    #[new]
    fn new() -> Self {
        Self
    }

    fn __repr__(&self) -> &'static str {
        "UNKNOWN"
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.is_instance_of::<Self>()
    }

    fn __hash__(&self) -> u64 {
        0
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, ()) {
        (slf.get_type(), ())
    }
}

/// The base class of all mechanisms. Made by its subclasses, such as :class:`counterpoint.Gaussian`.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
pub(crate) struct Mechanism {
    /// The release, with an arbitrary number in place of the unknown one.
    release: Release,
    unknown: Option<Unknown>,
}

/// The numbers that may be unknown.
pub(crate) const UNKNOWNS: [Unknown; 4] =
    [Unknown::Sigma, Unknown::Scale, Unknown::Epsilon, Unknown::Count];

/// The keywords of the classes, after their own fields: all for sampled kinds, else those from the count on.
const KEYWORDS: [&str; 7] = ["rate", "examples", "batch", "epochs", "count", "name", "partition"];

/// The catalogue: for each kind its names, fields and keywords.
#[pyfunction]
pub(crate) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let fields = |list: &[Field]| {
        let field = |field: &Field| {
            let dict = PyDict::new(py);
            dict.set_item("name", field.name)?;
            dict.set_item("shape", format!("{:?}", field.field_type.shape))?;
            dict.set_item("presence", format!("{:?}", field.field_type.presence))?;
            dict.set_item("default", field.default)?;
            Ok(dict)
        };
        list.iter().map(field).collect::<PyResult<Vec<_>>>()
    };
    let one = |kind: &MechanismKind| {
        let dict = PyDict::new(py);
        dict.set_item("name", kind.name)?;
        dict.set_item("class", kind.class)?;
        dict.set_item("meaning", kind.meaning)?;
        dict.set_item("fields", fields(kind.fields)?)?;
        dict.set_item("instead", fields(kind.alternatives)?)?;
        dict.set_item("keywords", KEYWORDS.get(if kind.is_sampled { 0 } else { 4 }..))?;
        Ok(dict)
    };
    PyList::new(py, KINDS.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl Mechanism {
    #[new]
    #[pyo3(signature = (fields, /))]
    fn new(fields: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (fields, unknown) = without_blank(fields)?;
        let release = Release::read(value::table(&fields)?);
        let mut release = release.map_err(|error| invalid(error.to_string()))?;
        if let Some(unknown) = unknown {
            clear(&mut release, unknown)?;
        }
        Ok(Self { release, unknown })
    }

    /// The fields that describe the release in a plan file.
    ///
    /// Returns
    /// -------
    /// dict
    ///     The fields by name.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, field) in self.table()? {
            dict.set_item(name.as_ref(), self.shown(py, &name, &field)?)?;
        }
        Ok(dict)
    }

    /// The kind's name in plan files.
    #[getter]
    fn kind(&self) -> &'static str {
        self.release.mechanism.kind()
    }

    /// The release's name, or None.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.release.name.as_deref()
    }

    /// The number of times the mechanism runs.
    #[getter]
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let count = Value::Whole(self.release.count.get().into());
        self.shown(py, "count", &count)
    }

    /// The rate of the Poisson sample that the mechanism runs on, or None.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.release.sample.as_ref().map(|sample| sample.rate.get())
    }

    /// The part of the data that the mechanism reads, or None for all of it.
    #[getter]
    fn partition(&self) -> Option<&str> {
        self.release.partition.as_deref()
    }

    /// The mechanism's own parameters.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, kind) = (PyDict::new(py), kind(self.kind()));
        for (name, field) in self.table()? {
            if kind.is_some_and(|kind| kind.fields.iter().any(|field| field.name == name)) {
                dict.set_item(name.as_ref(), self.shown(py, &name, &field)?)?;
            }
        }
        Ok(dict)
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.table()?.into_iter().find(|(field, _)| {
            field == name && !["mechanism", "name", "count", "rate", "partition"].contains(&name)
        });
        match found {
            Some((_, field)) => self.shown(py, name, &field),
            None => Err(PyAttributeError::new_err(format!("{} has no {name}", self.kind()))),
        }
    }

    /// Copies the release with other fields.
    ///
    /// Parameters
    /// ----------
    /// **fields
    ///     The fields to change.
    ///
    /// Returns
    /// -------
    /// Mechanism
    ///     The copy.
    ///
    /// Raises
    /// ------
    /// counterpoint.InvalidArgumentError
    ///     A field is unknown or outside its range.
    #[pyo3(signature = (**fields))]
    fn replace<'py>(
        slf: &Bound<'py, Self>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all = slf.get().fields(slf.py())?;
        let Some(fields) = fields else { return Ok(slf.clone().into_any()) };
        // A new rate replaces batches, and new batches replace a rate.
        let drop: &[&str] = match (fields.contains("rate")?, fields.contains("examples")?) {
            (true, _) => &["examples", "batch"],
            (_, true) => &["rate"],
            _ => &[],
        };
        for name in drop {
            if all.contains(*name)? {
                all.del_item(*name)?;
            }
        }
        all.update(fields.as_mapping())?;
        build(&slf.get_type(), &all)
    }

    fn __mul__<'py>(
        slf: &Bound<'py, Self>,
        times: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let times = value::whole("the number of times", times)?;
        if slf.get().unknown == Some(Unknown::Count) {
            return Err(invalid("count is unknown, and is multiplied; legal: one or the other"));
        }
        let count = u128::from(slf.get().release.count.get()) * u128::from(times);
        let fields = slf.get().fields(slf.py())?;
        fields.set_item("count", count)?;
        build(&slf.get_type(), &fields)
    }

    fn __rmul__<'py>(
        slf: &Bound<'py, Self>,
        times: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::__mul__(slf, times)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            (&other.get().release, other.get().unknown) == (&self.release, self.unknown)
        })
    }

    fn __hash__(&self) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        for (name, field) in self.table()? {
            name.hash(&mut hasher);
            field.to_string().hash(&mut hasher);
        }
        Ok(hasher.finish())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut shown = Vec::new();
        for (name, field) in slf.get().table()? {
            let once = name == "count" && slf.get().release.count.get() == 1;
            let known = slf.get().unknown != Some(Unknown::Count);
            if name != "mechanism" && !(once && known) {
                let value = slf.get().shown(slf.py(), &name, &field)?;
                shown.push(format!("{name}={}", value.repr()?));
            }
        }
        Ok(format!("{}({})", slf.get_type().name()?, shown.join(", ")))
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyType>, Bound<'py, PyDict>))> {
        let new = slf.py().get_type::<Self>().getattr("__new__")?;
        Ok((new, (slf.get_type(), slf.get().fields(slf.py())?)))
    }
}

impl Mechanism {
    /// A field's value, or the placeholder if it is unknown.
    fn shown<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        field: &Value<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.unknown {
            Some(unknown) if unknown_field_name(unknown) == name => {
                Ok(Bound::new(py, Blank)?.into_any())
            }
            _ => value::to_python(py, field),
        }
    }

    fn table(&self) -> PyResult<Table<'_>> {
        self.release.fields().map_err(|error| invalid(error.to_string()))
    }
}

/// The fields with something in the place of what is unknown, and what that is.
fn without_blank<'py>(
    fields: &Bound<'py, PyDict>,
) -> PyResult<(Bound<'py, PyDict>, Option<Unknown>)> {
    let (kept, mut found) = (fields.copy()?, None);
    for (name, value) in fields {
        if !value.is_instance_of::<Blank>() {
            continue;
        }
        let name = name.str()?.to_string();
        let unknown = UNKNOWNS.into_iter().find(|unknown| unknown_field_name(*unknown) == name);
        if found.is_some() || unknown.is_none() {
            let legal = UNKNOWNS.map(unknown_field_name).join(", ");
            return Err(invalid(format!(
                "{name} is UNKNOWN; legal: numbers, but for one of {legal}"
            )));
        }
        kept.set_item(name, 1)?;
        found = unknown;
    }
    Ok((kept, found))
}

/// Sets what is unknown in proportion to what it hides, as in a plan that leaves it out.
fn clear(release: &mut Release, unknown: Unknown) -> PyResult<()> {
    let name = unknown_field_name(unknown);
    let mut cleared = release.without_bundle();
    if unknown.value(&cleared).is_none() {
        return Err(invalid(format!("{name} is UNKNOWN; legal: a number, or the noise itself")));
    }
    unknown.fill_default(&mut cleared).map_err(|error| {
        invalid(format!("sensitivity is {}; legal: {name} to be given here", error.value))
    })?;
    (release.mechanism, release.count) = (cleared.mechanism, cleared.count);
    Ok(())
}

/// Makes an object of a mechanism class.
fn build<'py>(
    class: &Bound<'py, PyType>,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    class.py().get_type::<Mechanism>().call_method1("__new__", (class, fields))
}

/// Makes an object of the release's class.
fn wrap<'py>(py: Python<'py>, release: &Release) -> PyResult<Bound<'py, PyAny>> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let bare = Mechanism { release: release.clone(), unknown: None };
    let classes = CLASSES.get_or_try_init(py, || -> PyResult<Py<PyDict>> {
        let module = py.import("counterpoint.mechanisms")?;
        Ok(module.getattr("CLASSES")?.cast_into::<PyDict>()?.unbind())
    })?;
    let class = classes.bind(py).as_any().get_item(bare.kind())?;
    build(class.cast::<PyType>()?, &bare.fields(py)?)
}

/// Handles the interpreter's signals now and then while a long list is read.
fn look(py: Python<'_>, index: usize) -> PyResult<()> {
    if index % 10_000 == 9_999 { py.check_signals() } else { Ok(()) }
}

/// Makes objects of the releases' classes.
pub(crate) fn wrap_all<'py>(
    py: Python<'py>,
    releases: &[Release],
) -> PyResult<Bound<'py, PyTuple>> {
    let mut list = Vec::with_capacity(releases.len());
    for (index, release) in releases.iter().enumerate() {
        look(py, index)?;
        match release.bundle {
            None => list.push(wrap(py, release)?),
            Some(_) => {
                for part in release.unbundle() {
                    list.push(wrap(py, &part)?);
                }
            }
        }
    }
    PyTuple::new(py, list)
}

/// Makes objects of charged releases' classes.
pub(crate) fn wrap_releases<'py>(
    py: Python<'py>,
    releases: &[counterpoint::Release],
) -> PyResult<Bound<'py, PyTuple>> {
    wrap_all(py, &releases.iter().cloned().map(Release::from).collect::<Vec<_>>())
}

/// The releases of a list of mechanisms.
pub(crate) fn releases(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Release>> {
    let (releases, unknowns) = with_unknowns(argument, given)?;
    match unknowns.first() {
        None => Ok(releases),
        Some((index, unknown)) => {
            let name = unknown_field_name(*unknown);
            let legal = "a number; counterpoint.calibrate finds one";
            Err(invalid(format!("{argument}[{index}]: {name} is UNKNOWN; legal: {legal}")))
        }
    }
}

/// The index of each release with an unknown number, and which number it is.
pub(crate) type Unknowns = Vec<(usize, Unknown)>;

/// The releases of a list of mechanisms, and their unknown numbers.
pub(crate) fn with_unknowns(
    argument: &str,
    given: &Bound<'_, PyAny>,
) -> PyResult<(Vec<Release>, Unknowns)> {
    let legal = "a list of mechanisms";
    let (mut releases, mut unknowns) = (Vec::new(), Vec::new());
    let mut add = |index, one: &Bound<'_, Mechanism>| {
        releases.push(one.get().release.clone());
        unknowns.extend(one.get().unknown.map(|unknown| (index, unknown)));
    };
    if let Ok(one) = given.cast::<Mechanism>() {
        add(0, one);
        return Ok((releases, unknowns));
    }
    let items = given.try_iter().map_err(|_| wrong_type(argument, given, legal))?;
    for (index, item) in items.enumerate() {
        let item = item?;
        look(given.py(), index)?;
        match item.cast::<Mechanism>() {
            Ok(one) => add(index, one),
            Err(_) => {
                let place = format!("{argument}[{index}]");
                return Err(wrong_type(&place, &item, "a mechanism"));
            }
        }
    }
    Ok((releases, unknowns))
}
