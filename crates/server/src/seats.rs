//! Who may be connected: a few strangers, of whom the newest are let in, and many who showed a valid token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The most connections of clients that have shown no valid token. One more takes the place of the oldest.
const MOST_STRANGERS: usize = 128;
/// The most connections of clients that have, and of each token.
const MOST_KNOWN: usize = 384;
const MOST_EACH: usize = 128;

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    /// By age; told when they have to go.
    strangers: BTreeMap<u64, Arc<Notify>>,
    /// How many connections each token has.
    known: BTreeMap<i64, usize>,
}

/// A connection's place.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    leave: Arc<Notify>,
    /// The token that was shown first.
    token: Mutex<Option<i64>>,
}

impl Seats {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a stranger, if need be that of the oldest.
    pub(crate) fn sit(self: &Arc<Self>) -> Seat {
        let mut taken = self.taken();
        if taken.strangers.len() >= MOST_STRANGERS
            && let Some((_, oldest)) = taken.strangers.pop_first()
        {
            oldest.notify_one();
        }
        let (number, leave) = (taken.next, Arc::new(Notify::new()));
        taken.next += 1;
        taken.strangers.insert(number, Arc::clone(&leave));
        Seat { seats: Arc::clone(self), number, leave, token: Mutex::new(None) }
    }
}

impl Seat {
    /// Waits until a newer stranger needs the place.
    pub(crate) async fn lost(&self) {
        self.leave.notified().await;
    }

    /// Keeps the place for whoever showed this token. `false` if there are too many connections of such clients.
    pub(crate) fn keep_for(&self, token: i64) -> bool {
        let mut own = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_some() {
            return true;
        }
        let mut taken = self.seats.taken();
        let (all, each) = (taken.known.values().sum::<usize>(), taken.known.get(&token).copied());
        let each = each.unwrap_or_default();
        if all >= MOST_KNOWN || each >= MOST_EACH {
            return false;
        }
        taken.known.insert(token, each + 1);
        taken.strangers.remove(&self.number);
        *own = Some(token);
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let own = self.token.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let mut taken = self.seats.taken();
        taken.strangers.remove(&self.number);
        if let Some(token) = own
            && let Some(count) = taken.known.get_mut(&token)
        {
            *count -= 1;
            if *count == 0 {
                taken.known.remove(&token);
            }
        }
    }
}
