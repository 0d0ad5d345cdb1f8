//! Long calls: without the interpreter's lock, stopped by Ctrl-C, with progress told.

use counterpoint::Route;
use counterpoint::ask::{AskError, Asked, Options};
use counterpoint::quantity::Tolerance;
use counterpoint::watch::{Go, Watch};
use pyo3::prelude::*;
use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::thread;
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

    /// Asks something that is mostly answered within microseconds, on the spot if it is. What is
    /// not is asked again on a thread of its own.
    pub(crate) fn run_quickly<T: Send + 'static>(
        &self,
        py: Python<'_>,
        ask: impl Fn(&Options<'_>) -> Result<T, AskError> + Send + 'static,
    ) -> PyResult<T> {
        let (tolerance, route) = (self.tolerance, self.route);
        let (short, ask) = py.detach(move || {
            (on_the_spot(|watch| ask(&Options { tolerance, route, watch, ends: Asked::Both })), ask)
        });
        match short {
            Some(found) => found.map_err(errors::ask),
            None => self.run(py, ask),
        }
    }

    /// Asks on a thread of its own, without the interpreter's lock: this one can look out for
    /// Ctrl-C whatever the library does.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Options<'_>) -> Result<T, AskError> + Send + 'static,
    ) -> PyResult<T> {
        self.run_as(py, ask, errors::ask)
    }

    /// The same for questions with errors of their own.
    pub(crate) fn run_as<T: Send + 'static, E: Send + 'static>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Options<'_>) -> Result<T, E> + Send + 'static,
        raise: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        let (tolerance, route) = (self.tolerance, self.route);
        let found = self.wait(py, move |course| {
            let callback = |done| course.look(done);
            ask(&Options { tolerance, route, watch: Watch::with(&callback), ends: Asked::Both })
        });
        found?.map_err(raise)
    }

    /// Work that cannot be watched, on a thread of its own.
    pub(crate) fn in_background<T: Send + 'static>(
        py: Python<'_>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<T> {
        Self::default().wait(py, |_| work())
    }

    /// Waits for work on another thread. An exception, such as Ctrl-C's, is raised at once; the
    /// work is told to stop and ends on its own.
    fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Course) -> T + Send + 'static,
    ) -> PyResult<T> {
        let course = Arc::new(Course::default());
        let (sender, mut receiver) = mpsc::channel();
        let worker = {
            let course = Arc::clone(&course);
            // Nobody receives what comes after an exception.
            let work = move || drop(sender.send(work(&course)));
            thread::Builder::new().name("counterpoint".to_owned()).spawn(work)?
        };
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(PATIENCE)) {
                Ok(found) => return Ok(found),
                Err(RecvTimeoutError::Timeout) => {
                    self.look(py, &course).inspect_err(|_| course.stop())?;
                }
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Ok(()) => return Err(errors::stopped()),
                    Err(panic) => resume_unwind(panic),
                },
            }
        }
    }

    /// Looks after the interpreter's signals and tells how far the work is.
    fn look(&self, py: Python<'_>, course: &Course) -> PyResult<()> {
        py.check_signals()?;
        let Some(progress) = &self.progress else { return Ok(()) };
        let said = progress.call1(py, (course.done(),))?;
        match said.extract::<bool>(py) {
            Ok(false) => Err(errors::stopped()),
            _ => Ok(()),
        }
    }
}

fn route_named(name: &str) -> PyResult<Route> {
    let legal = || Route::names(Route::ALL);
    Route::named(name).ok_or_else(|| invalid(format!("route is {name:?}; legal: {}", legal())))
}

/// What is not answered by then gets a thread of its own.
const SHORT: Duration = Duration::from_millis(1);

/// How often a waiting thread looks after the interpreter.
const PATIENCE: Duration = Duration::from_millis(25);

/// An answer that comes soon, or `None`.
fn on_the_spot<T>(ask: impl FnOnce(Watch<'_>) -> T) -> Option<T> {
    let (end, late) = (Instant::now() + SHORT, Cell::new(false));
    let callback = |_| {
        late.set(Instant::now() > end);
        if late.get() { Go::Stop } else { Go::On }
    };
    let found = ask(Watch::with(&callback));
    if late.get() { None } else { Some(found) }
}

/// How far work on another thread is, and whether it is still wanted.
#[derive(Default)]
struct Course {
    done: AtomicU64,
    unwanted: AtomicBool,
}

impl Course {
    fn look(&self, done: f64) -> Go {
        self.done.store(done.to_bits(), Ordering::Relaxed);
        if self.unwanted.load(Ordering::Relaxed) { Go::Stop } else { Go::On }
    }

    fn done(&self) -> f64 {
        f64::from_bits(self.done.load(Ordering::Relaxed))
    }

    fn stop(&self) {
        self.unwanted.store(true, Ordering::Relaxed);
    }
}
