//! Progress reports of long computations, and stopping them.

use std::fmt;

/// A callback that observes a long computation and may stop it.
///
/// The callback is given the completed fraction of the work, from 0 to 1, at most a few times a second. If it returns
/// [`Control::Stop`], the computation ends with [`crate::ask::AskError::Stopped`].
///
/// ```
/// use counterpoint::watch::{Control, Watch};
/// let report = |done: f64| {
///     eprintln!("{:.0} %", 100.0 * done);
///     Control::Continue
/// };
/// let watch = Watch::new(&report);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    callback: Option<&'a dyn Fn(f64) -> Control>,
}

/// The callback's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue the computation.
    Continue,
    /// Stop as soon as possible.
    Stop,
}

/// The error of a computation that its callback stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopRequest;

impl<'a> Watch<'a> {
    /// Returns a watch without a callback.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns a watch that calls `callback` as the work proceeds.
    #[must_use]
    pub fn new(callback: &'a dyn Fn(f64) -> Control) -> Self {
        Self { callback: Some(callback) }
    }

    /// Reports the completed fraction and returns the callback's decision. Work that consists of several computations
    /// calls this itself.
    #[must_use]
    pub fn report(&self, done: f64) -> Control {
        self.callback.map_or(Control::Continue, |callback| callback(done.clamp(0.0, 1.0)))
    }

    /// Reports the completed fraction; an error if the callback asks to stop.
    pub(crate) fn check(&self, done: f64) -> Result<(), StopRequest> {
        if self.report(done) == Control::Stop { Err(StopRequest) } else { Ok(()) }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.callback.is_some() { "watched" } else { "unwatched" };
        f.debug_tuple("Watch").field(&state).finish()
    }
}
