//! Watching and stopping long work.

use std::fmt;

/// Looks on while a long computation runs, and may stop it.
///
/// The callback is given the fraction of work done so far, from 0 to 1, a few
/// times a second at most; returning [`Go::Stop`] ends the computation with
/// [`crate::ask::AskError::Stopped`].
///
/// ```
/// use counterpoint::watch::{Go, Watch};
/// let report = |done: f64| {
///     eprintln!("{:.0} %", 100.0 * done);
///     Go::On
/// };
/// let watch = Watch::with(&report);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    callback: Option<&'a dyn Fn(f64) -> Go>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Carry on.
    On,
    /// Stop as soon as possible.
    Stop,
}

/// The computation was stopped by its watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

impl<'a> Watch<'a> {
    /// Nobody watches.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Calls back as work goes on.
    #[must_use]
    pub fn with(callback: &'a dyn Fn(f64) -> Go) -> Self {
        Self { callback: Some(callback) }
    }

    /// Reports the fraction done, and says whether the watcher wants to go on: for work that asks several questions.
    #[must_use]
    pub fn tell(&self, done: f64) -> Go {
        self.callback.map_or(Go::On, |callback| callback(done.clamp(0.0, 1.0)))
    }

    /// The same; an error if the watcher wants to stop.
    pub(crate) fn at(&self, done: f64) -> Result<(), Stopped> {
        if self.tell(done) == Go::Stop { Err(Stopped) } else { Ok(()) }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.callback.is_some() { "watched" } else { "unwatched" };
        f.debug_tuple("Watch").field(&state).finish()
    }
}
