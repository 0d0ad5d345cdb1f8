//! A pool of idle connections.

use std::sync::{Mutex, PoisonError};

/// The largest number of idle connections.
const MOST: usize = 8;

/// Open connections that are not in use.
#[derive(Debug)]
pub(super) struct IdleConnections<T>(Mutex<Vec<T>>);

impl<T> IdleConnections<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Takes a connection, if there is one.
    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a connection, unless the pool is full.
    pub(super) fn keep(&self, connection: T) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(connection);
        }
    }

    /// Takes all connections.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}
