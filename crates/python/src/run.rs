//! Long calls: without the interpreter's lock, stopped by Ctrl-C, with progress reports.

use counterpoint::Route;
use counterpoint::ask::{AskError, Options, RequestedEnds};
use counterpoint::quantity::Tolerance;
use counterpoint::watch::{Control, Watch};
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

/// The options of a question, as given in Python.
#[derive(Default)]
pub(crate) struct RunOptions {
    tolerance: Tolerance,
    route: Option<Route>,
    progress: Option<Py<PyAny>>,
}

impl RunOptions {
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

    /// Asks a question that usually takes microseconds, on the calling thread. If it takes longer, asks again on another
    /// thread.
    pub(crate) fn run_quickly<T: Send + 'static>(
        &self,
        py: Python<'_>,
        ask: impl Fn(&Options<'_>) -> Result<T, AskError> + Send + 'static,
    ) -> PyResult<T> {
        let (tolerance, route) = (self.tolerance, self.route);
        let (short, ask) = py.detach(move || {
            (
                on_the_spot(|watch| {
                    ask(&Options { tolerance, route, watch, ends: RequestedEnds::Both })
                }),
                ask,
            )
        });
        match short {
            Some(found) => found.map_err(errors::ask),
            None => self.run(py, ask),
        }
    }

    /// Asks on another thread, without the interpreter's lock, while the calling thread watches for Ctrl-C.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Options<'_>) -> Result<T, AskError> + Send + 'static,
    ) -> PyResult<T> {
        self.run_as(py, ask, errors::ask)
    }

    /// Does the same for questions with their own errors.
    pub(crate) fn run_as<T: Send + 'static, E: Send + 'static>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Options<'_>) -> Result<T, E> + Send + 'static,
        raise: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        let (tolerance, route) = (self.tolerance, self.route);
        let found = self.wait(py, move |course| {
            let callback = |done| course.look(done);
            ask(&Options {
                tolerance,
                route,
                watch: Watch::new(&callback),
                ends: RequestedEnds::Both,
            })
        });
        found?.map_err(raise)
    }

    /// Does work that reports no progress on another thread.
    pub(crate) fn in_background<T: Send + 'static>(
        py: Python<'_>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<T> {
        Self::default().wait(py, |_| work())
    }

    /// Waits for work on another thread. An exception, such as that of Ctrl-C, is raised at once; the work stops at its
    /// next report of progress.
    fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Progress) -> T + Send + 'static,
    ) -> PyResult<T> {
        let course = Arc::new(Progress::default());
        let (sender, mut receiver) = mpsc::channel();
        let worker = {
            let course = Arc::clone(&course);
            // After an exception nobody receives the result.
            let work = move || drop(sender.send(work(&course)));
            thread::Builder::new().name("counterpoint".to_owned()).spawn(work)?
        };
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(SIGNAL_INTERVAL)) {
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

    /// Handles the interpreter's signals and reports progress.
    fn look(&self, py: Python<'_>, course: &Progress) -> PyResult<()> {
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

/// The time after which a question moves to another thread.
const INLINE_LIMIT: Duration = Duration::from_millis(1);

/// The time between two looks at the interpreter's signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(25);

/// The answer, or `None` if it takes too long.
fn on_the_spot<T>(ask: impl FnOnce(Watch<'_>) -> T) -> Option<T> {
    let (end, late) = (Instant::now() + INLINE_LIMIT, Cell::new(false));
    let callback = |_| {
        late.set(Instant::now() > end);
        if late.get() { Control::Stop } else { Control::Continue }
    };
    let found = ask(Watch::new(&callback));
    if late.get() { None } else { Some(found) }
}

/// The progress of work on another thread, and a flag to stop it.
#[derive(Default)]
struct Progress {
    done: AtomicU64,
    stopped: AtomicBool,
}

impl Progress {
    fn look(&self, done: f64) -> Control {
        self.done.store(done.to_bits(), Ordering::Relaxed);
        if self.stopped.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }

    fn done(&self) -> f64 {
        f64::from_bits(self.done.load(Ordering::Relaxed))
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}
