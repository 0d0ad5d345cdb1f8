//! The progress of planning, and whether to continue.

use counterpoint::AskError;
use counterpoint::watch::{Control, Watch};
use std::cell::Cell;

/// Reports the fraction done to a watcher. The fraction never falls. Planning is a sequence of stages, and the amount
/// of work is known for some of them.
pub(crate) struct Progress<'a> {
    watch: Watch<'a>,
    from: Cell<f64>,
    until: Cell<f64>,
    done: Cell<f64>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(watch: Watch<'a>) -> Self {
        Self { watch, from: Cell::new(0.0), until: Cell::new(0.0), done: Cell::new(0.0) }
    }

    /// Begins the next stage, which ends at the fraction `until`.
    pub(crate) fn stage(&self, until: f64) {
        self.from.set(self.until.replace(until));
        self.done.set(self.done.get().max(self.from.get()));
    }

    /// Reports that `done` of `of` parts of the stage are done.
    pub(crate) fn part(&self, done: usize, of: usize) -> Result<(), AskError> {
        let share = done as f64 / of.max(1) as f64;
        let now = self.from.get() + share * (self.until.get() - self.from.get());
        self.done.set(self.done.get().max(now.min(self.until.get())));
        self.look()
    }

    /// Reports one of an unknown number of parts: a tenth of the remaining fraction.
    pub(crate) fn trial(&self) -> Result<(), AskError> {
        let left = self.until.get() - self.done.get();
        self.done.set(self.done.get() + 0.1 * left.max(0.0));
        self.look()
    }

    /// Reports, and returns an error if the watcher stops the planning.
    pub(crate) fn look(&self) -> Result<(), AskError> {
        match self.go() {
            Control::Continue => Ok(()),
            Control::Stop => Err(AskError::Stopped),
        }
    }

    /// Reports from within a composition, which has fractions of its own.
    pub(crate) fn go(&self) -> Control {
        self.watch.report(self.done.get())
    }
}
