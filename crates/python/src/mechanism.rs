//! Mechanisms: one release each, described as in a plan file.

use counterpoint_wire::{Release, Table};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::errors::{invalid, wrong_type};
use crate::value;

/// What all mechanism classes have in common.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
pub(crate) struct Mechanism {
    pub(crate) release: Release,
}

/// The fields every release has, whatever its mechanism.
const COMMON: [&str; 7] = ["mechanism", "name", "count", "rate", "examples", "batch", "partition"];

#[pymethods]
impl Mechanism {
    #[new]
    #[pyo3(signature = (fields, /))]
    fn new(fields: &Bound<'_, PyDict>) -> PyResult<Self> {
        let release = Release::read(value::table(fields)?);
        release.map(|release| Self { release }).map_err(|error| invalid(error.to_string()))
    }

    /// The fields that describe it in a plan file.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, field) in self.table()? {
            dict.set_item(name.as_ref(), value::to_python(py, &field)?)?;
        }
        Ok(dict)
    }

    /// Its name in plan files.
    #[getter]
    fn kind(&self) -> PyResult<String> {
        let table = self.table()?;
        let kind = table.into_iter().find(|(name, _)| name == "mechanism");
        Ok(kind.map_or_else(String::new, |(_, kind)| text(&kind)))
    }

    /// What people call this release, or None.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.release.name.as_deref()
    }

    /// How many times it is run.
    #[getter]
    fn count(&self) -> u64 {
        self.release.count.get()
    }

    /// The rate of the Poisson sample it is run on, or None.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.release.sample.as_ref().map(|sample| sample.rate.get())
    }

    /// The part of the data it looks at, or None for all of it.
    #[getter]
    fn partition(&self) -> Option<&str> {
        self.release.partition.as_deref()
    }

    /// The mechanism's own parameters.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, field) in self.table()? {
            if !COMMON.contains(&name.as_ref()) {
                dict.set_item(name.as_ref(), value::to_python(py, &field)?)?;
            }
        }
        Ok(dict)
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.table()?.into_iter().find(|(field, _)| {
            field == name && !["mechanism", "name", "count", "rate", "partition"].contains(&name)
        });
        match found {
            Some((_, field)) => value::to_python(py, &field),
            None => Err(PyAttributeError::new_err(format!("{} has no {name}", self.kind()?))),
        }
    }

    /// A copy with other fields.
    #[pyo3(signature = (**fields))]
    fn replace<'py>(
        slf: &Bound<'py, Self>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all = slf.get().fields(slf.py())?;
        let Some(fields) = fields else { return Ok(slf.clone().into_any()) };
        // A rate takes the place of the batches it was said by, and they of it.
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
        let count = u128::from(slf.get().count()) * u128::from(times);
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
        other.cast::<Self>().is_ok_and(|other| other.get().release == self.release)
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
            let once = name == "count" && slf.get().count() == 1;
            if name != "mechanism" && !once {
                let value = value::to_python(slf.py(), &field)?;
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
    fn table(&self) -> PyResult<Table<'_>> {
        self.release.fields().map_err(|error| invalid(error.to_string()))
    }
}

fn text(value: &counterpoint_wire::Value<'_>) -> String {
    match value {
        counterpoint_wire::Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}

/// An object of a mechanism class with these fields.
fn build<'py>(
    class: &Bound<'py, PyType>,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    class.py().get_type::<Mechanism>().call_method1("__new__", (class, fields))
}

/// A release as an object of its own class.
fn wrap<'py>(py: Python<'py>, release: &Release) -> PyResult<Bound<'py, PyAny>> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let bare = Mechanism { release: release.clone() };
    let classes = CLASSES.get_or_try_init(py, || -> PyResult<Py<PyDict>> {
        let module = py.import("counterpoint.mechanisms")?;
        Ok(module.getattr("CLASSES")?.cast_into::<PyDict>()?.unbind())
    })?;
    let class = classes.bind(py).as_any().get_item(bare.kind()?)?;
    build(class.cast::<PyType>()?, &bare.fields(py)?)
}

/// Looks after the interpreter's signals, now and then on the way through a long list.
fn look(py: Python<'_>, index: usize) -> PyResult<()> {
    if index % 10_000 == 9_999 { py.check_signals() } else { Ok(()) }
}

/// Releases as objects of their classes.
pub(crate) fn wrap_all<'py>(
    py: Python<'py>,
    releases: &[Release],
) -> PyResult<Bound<'py, PyTuple>> {
    let one = |(index, release)| {
        look(py, index)?;
        wrap(py, release)
    };
    PyTuple::new(py, releases.iter().enumerate().map(one).collect::<PyResult<Vec<_>>>()?)
}

/// The releases of a list of mechanisms.
pub(crate) fn releases(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Release>> {
    let legal = "a list of mechanisms";
    if let Ok(one) = given.cast::<Mechanism>() {
        return Ok(vec![one.get().release.clone()]);
    }
    let items = given.try_iter().map_err(|_| wrong_type(argument, given, legal))?;
    let mut releases = Vec::new();
    for (index, item) in items.enumerate() {
        let item = item?;
        look(given.py(), index)?;
        match item.cast::<Mechanism>() {
            Ok(one) => releases.push(one.get().release.clone()),
            Err(_) => {
                let place = format!("{argument}[{index}]");
                return Err(wrong_type(&place, &item, "a mechanism"));
            }
        }
    }
    Ok(releases)
}
