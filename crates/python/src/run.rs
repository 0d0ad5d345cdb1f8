//! Long calls: without the interpreter's lock, stopped by Ctrl-C, with progress told.

use counterpoint::ask::{AskError, Options};
use counterpoint::quantity::Tolerance;
use counterpoint::route::Route;
use counterpoint::watch::{Go, Watch};
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::errors::{self, invalid, out_of_range, wrong_type};
use crate::value::number;

/// How a question is to be answered, as Python says it.
#[derive(Default)]
pub(crate) struct How {
    tolerance: Tolerance,
    route: Option<Route>,
    progress: Option<Py<PyAny>>,
}

impl How {
    pub(crate) fn new(
        tolerance: Option<&Bound<'_, PyAny>>,
        route: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let tolerance = match tolerance {
            None => Tolerance::default(),
            Some(given) => {
                Tolerance::new(number("tolerance", given)?).map_err(out_of_range("tolerance"))?
            }
        };
        if let Some(given) = progress.filter(|given| !given.is_callable()) {
            return Err(wrong_type("progress", given, "a function of one number"));
        }
        let route = route.map(route_named).transpose()?;
        Ok(Self { tolerance, route, progress: progress.map(|given| given.clone().unbind()) })
    }

    /// Asks without holding the interpreter's lock.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Options<'_>) -> Result<T, AskError> + Send,
    ) -> PyResult<T> {
        self.run_as(py, ask, errors::ask)
    }

    /// The same for questions with errors of their own.
    pub(crate) fn run_as<T: Send, E: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Options<'_>) -> Result<T, E> + Send,
        raise: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        let (answer, raised) = py.detach(|| {
            let watcher = Watcher::new(self.progress.as_ref());
            let callback = |done| watcher.look(done);
            let watch = Watch::with(&callback);
            let options = Options { tolerance: self.tolerance, route: self.route, watch };
            let answer = ask(&options);
            (answer, watcher.raised.into_inner())
        });
        match raised {
            Some(error) => Err(error),
            None => answer.map_err(raise),
        }
    }
}

fn route_named(name: &str) -> PyResult<Route> {
    let found = Route::ALL.into_iter().find(|route| route.name() == name);
    found.ok_or_else(|| {
        let legal = Route::ALL.map(Route::name).join(", ");
        invalid(format!("route is {name:?}; legal: {legal}"))
    })
}

/// How often the interpreter is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(25);

/// Looks on from the interpreter's side.
struct Watcher<'a> {
    progress: Option<&'a Py<PyAny>>,
    next: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl<'a> Watcher<'a> {
    fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        let next = Cell::new(Instant::now() + PATIENCE);
        Self { progress, next, raised: RefCell::new(None) }
    }

    fn look(&self, done: f64) -> Go {
        if self.raised.borrow().is_some() {
            return Go::Stop;
        }
        if Instant::now() < self.next.get() {
            return Go::On;
        }
        let looked = Python::attach(|py| {
            py.check_signals()?;
            match self.progress {
                Some(progress) => {
                    let said = progress.call1(py, (done,))?;
                    Ok(said.extract::<bool>(py).unwrap_or(true))
                }
                None => Ok(true),
            }
        });
        self.next.set(Instant::now() + PATIENCE);
        match looked {
            Ok(true) => Go::On,
            Ok(false) => Go::Stop,
            Err(error) => {
                *self.raised.borrow_mut() = Some(error);
                Go::Stop
            }
        }
    }
}
