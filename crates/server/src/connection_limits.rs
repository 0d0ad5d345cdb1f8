//! Limits on open connections. Few connections may be without a valid token: one more evicts the oldest of them. Many
//! connections may have a valid token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The most connections that have not shown a valid token. A further connection evicts the oldest.
const MAX_ANONYMOUS: usize = 128;
/// The most connections with a valid token, in total and for each token.
const MAX_AUTHENTICATED: usize = 384;
const MAX_PER_TOKEN: usize = 128;

/// The open connections, counted.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLimits(Mutex<OpenConnections>);

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    /// Connections without a token, in the order they opened; each is notified when it is evicted.
    anonymous: BTreeMap<u64, Arc<Notify>>,
    /// The number of connections of each token.
    by_token: BTreeMap<i64, usize>,
}

/// The permit of one open connection; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limits: Arc<ConnectionLimits>,
    number: u64,
    eviction: Arc<Notify>,
    /// The token that the connection showed first.
    token: Mutex<Option<i64>>,
}

impl ConnectionLimits {
    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a new connection without a token; evicts the oldest one if there are too many.
    pub(crate) fn admit(self: &Arc<Self>) -> ConnectionPermit {
        let mut open = self.open();
        if open.anonymous.len() >= MAX_ANONYMOUS
            && let Some((_, oldest)) = open.anonymous.pop_first()
        {
            oldest.notify_one();
        }
        let (number, eviction) = (open.next, Arc::new(Notify::new()));
        open.next += 1;
        open.anonymous.insert(number, Arc::clone(&eviction));
        ConnectionPermit { limits: Arc::clone(self), number, eviction, token: Mutex::new(None) }
    }
}

impl ConnectionPermit {
    /// Waits until the connection is evicted.
    pub(crate) async fn evicted(&self) {
        self.eviction.notified().await;
    }

    /// Counts the connection as one of this token. Returns `false` if there are too many connections with tokens.
    pub(crate) fn authenticate(&self, token: i64) -> bool {
        let mut own = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_some() {
            return true;
        }
        let mut open = self.limits.open();
        let (all, each) =
            (open.by_token.values().sum::<usize>(), open.by_token.get(&token).copied());
        let each = each.unwrap_or_default();
        if all >= MAX_AUTHENTICATED || each >= MAX_PER_TOKEN {
            return false;
        }
        open.by_token.insert(token, each + 1);
        open.anonymous.remove(&self.number);
        *own = Some(token);
        true
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let own = self.token.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let mut open = self.limits.open();
        open.anonymous.remove(&self.number);
        if let Some(token) = own
            && let Some(count) = open.by_token.get_mut(&token)
        {
            *count -= 1;
            if *count == 0 {
                open.by_token.remove(&token);
            }
        }
    }
}
