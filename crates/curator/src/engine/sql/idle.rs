//! Connections that wait for their next use.

use std::sync::{Mutex, PoisonError};

/// So many are kept open.
const MOST: usize = 8;

/// Open connections that nobody uses.
#[derive(Debug)]
pub(super) struct Idle<T>(Mutex<Vec<T>>);

impl<T> Idle<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// One of them, if there is any.
    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps one, unless there are enough.
    pub(super) fn keep(&self, connection: T) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(connection);
        }
    }

    /// All of them.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}
