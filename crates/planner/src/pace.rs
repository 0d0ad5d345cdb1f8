//! How far planning has come, and whether it is to go on.

use counterpoint::AskError;
use counterpoint::watch::{Go, Watch};
use std::cell::Cell;

/// Tells a watcher the fraction done, which never falls: stages one after the other, the work within some of which is known
/// beforehand.
pub(crate) struct Pace<'a> {
    watch: Watch<'a>,
    from: Cell<f64>,
    until: Cell<f64>,
    done: Cell<f64>,
}

impl<'a> Pace<'a> {
    pub(crate) fn new(watch: Watch<'a>) -> Self {
        Self { watch, from: Cell::new(0.0), until: Cell::new(0.0), done: Cell::new(0.0) }
    }

    /// The next stage, with which so much of all will be done.
    pub(crate) fn stage(&self, until: f64) {
        self.from.set(self.until.replace(until));
        self.done.set(self.done.get().max(self.from.get()));
    }

    /// So many of so many parts of the stage are done.
    pub(crate) fn part(&self, done: usize, of: usize) -> Result<(), AskError> {
        let share = done as f64 / of.max(1) as f64;
        let now = self.from.get() + share * (self.until.get() - self.from.get());
        self.done.set(self.done.get().max(now.min(self.until.get())));
        self.look()
    }

    /// One of nobody knows how many: a tenth of what is left.
    pub(crate) fn trial(&self) -> Result<(), AskError> {
        let left = self.until.get() - self.done.get();
        self.done.set(self.done.get() + 0.1 * left.max(0.0));
        self.look()
    }

    /// Whether to go on.
    pub(crate) fn look(&self) -> Result<(), AskError> {
        match self.go() {
            Go::On => Ok(()),
            Go::Stop => Err(AskError::Stopped),
        }
    }

    /// The same within a composition, which has fractions of its own.
    pub(crate) fn go(&self) -> Go {
        self.watch.tell(self.done.get())
    }
}
