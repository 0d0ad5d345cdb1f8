//! Several handles on one ledger, shared by the threads of a program.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chain::Head;
use crate::database::{DatabaseError, Url};
use crate::error::LedgerError;
use crate::ledger::{Ledger, OpenOptions};

/// How long a handle is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Handles on one ledger that any number of threads may use at once. A handle that stopped, or whose
/// server went away while it was idle, is replaced by a new one; every handle refuses a history in which anything is missing that the
/// pool was told.
///
/// Calls block. In an async program they belong on a thread for such work (`spawn_blocking`).
///
/// ```
/// # use counterpoint_ledger::{Ledger, LedgerError, OpenOptions, Pool, Url};
/// # let folder = tempfile::tempdir()?;
/// # let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse()?;
/// # Ledger::init(&url)?;
/// let pool = Pool::new(&url, &OpenOptions::default(), 4)?;
/// std::thread::scope(|scope| {
///     for _ in 0..16 {
///         scope.spawn(|| pool.with(|ledger| ledger.head()));
///     }
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pool {
    url: Url,
    options: OpenOptions,
    size: usize,
    patience: Duration,
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    idle: Vec<Ledger>,
    /// How many handles there are, idle or lent.
    handles: usize,
    /// The latest entry that any handle has seen.
    seen: Head,
}

impl Pool {
    /// The most handles.
    pub const MOST: usize = 1000;

    /// A pool of at most so many handles. One is opened now, others as they are needed.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be opened, or the size is not in 1 to [`Pool::MOST`].
    pub fn new(url: &Url, options: &OpenOptions, size: usize) -> Result<Self, LedgerError> {
        if !(1..=Self::MOST).contains(&size) {
            let problem = format!("a pool of {size} handles; legal: 1 to {}", Self::MOST);
            return Err(DatabaseError::Unusable(problem).into());
        }
        let first = Ledger::open_with(url, options)?;
        let state = State { seen: first.seen(), idle: vec![first], handles: 1 };
        Ok(Self {
            url: url.clone(),
            options: *options,
            size,
            patience: PATIENCE,
            state: Mutex::new(state),
            returned: Condvar::new(),
        })
    }

    /// Lends a handle to a function, which waits for one for a minute at most.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if all handles are in use for too long, an error of opening
    /// another, and what the function itself returns.
    pub fn with<T, E: From<LedgerError>>(
        &self,
        work: impl FnOnce(&mut Ledger) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut lent = self.lend()?;
        match &mut lent.ledger {
            Some(ledger) => work(ledger),
            None => Err(LedgerError::from(DatabaseError::Stopped).into()),
        }
    }

    /// A handle of one's own, until it is dropped.
    fn lend(&self) -> Result<Lent<'_>, LedgerError> {
        let deadline = Instant::now() + self.patience;
        let mut state = self.state();
        while state.idle.is_empty() && state.handles >= self.size {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(DatabaseError::Busy.into());
            }
            let woken = self.returned.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let (idle, seen) = (state.idle.pop(), state.seen);
        state.handles += usize::from(idle.is_none());
        drop(state);
        // From here on the place is given back whatever happens.
        let mut lent = Lent { pool: self, ledger: idle };
        let expect = (seen != Head::NONE).then_some(seen);
        let kept = lent.ledger.take().and_then(|mut idle| (!idle.is_lost()).then_some(idle));
        let ledger = match kept {
            Some(idle) => idle,
            None => Ledger::open_with(&self.url, &OpenOptions { expect, ..self.options })?,
        };
        lent.ledger.insert(ledger).expect(seen);
        Ok(lent)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can fail is done under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle that is given back when dropped.
struct Lent<'a> {
    pool: &'a Pool,
    ledger: Option<Ledger>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let ledger = self.ledger.take();
        let seen = ledger.as_ref().map_or(Head::NONE, Ledger::seen);
        // A panic may have left it in the middle of a transaction, which ends with the handle.
        let sound = ledger.filter(|ledger| !ledger.is_stopped() && !std::thread::panicking());
        let mut state = self.pool.state();
        if state.seen.sequence < seen.sequence {
            state.seen = seen;
        }
        state.handles -= usize::from(sound.is_none());
        state.idle.extend(sound);
        drop(state);
        self.pool.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_not_waited_for_forever() {
        let folder = tempfile::tempdir().unwrap();
        let url: Url = format!("sqlite:{}", folder.path().join("l").display()).parse().unwrap();
        Ledger::init(&url).unwrap();
        let mut pool = Pool::new(&url, &OpenOptions::default(), 1).unwrap();
        pool.patience = Duration::from_millis(20);
        let inner = pool.with(|_| pool.with(Ledger::head));
        assert_eq!(inner, Err(DatabaseError::Busy.into()));
        assert!(pool.with(Ledger::head).is_ok());
    }
}
