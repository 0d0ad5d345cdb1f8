//! Several handles on one ledger, shared by the threads of a program.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::database::{DatabaseError, Url};
use super::ledger::{Ledger, OpenOptions};
use super::release::steps::{Reservation, Step, StepOutcome, StoredResponse};
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result};
use crate::rules::request::Request;

/// The longest wait for a handle.
const HANDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The most steps in one transaction: reservations, commits and aliases.
const MAX_STEPS: usize = 64;

/// A pool of handles on one ledger, for any number of threads. A handle that stopped, or that lost its server while
/// idle, is replaced by a new one. Every handle refuses a history that lacks an entry which any handle of the pool has
/// seen.
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
    handle_timeout: Duration,
    state: Mutex<State>,
    returned: Condvar,
    queue: Mutex<Queue>,
}

/// The steps that wait for a transaction, with their threads, in order of arrival.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Step, Sender<Turn>)>,
    /// True if some thread has been told to run the next transaction.
    has_leader: bool,
}

/// A message to a thread that waits.
enum Turn {
    /// The thread must run the next transaction. Its own step is first in the queue.
    Lead,
    /// The thread's step is done, with this outcome.
    Done(Result<StepOutcome>),
}

struct State {
    idle: Vec<Ledger>,
    /// The number of handles, idle or in use.
    handles: usize,
    /// The latest entry that any handle has seen.
    seen: Head,
}

impl Pool {
    /// The most handles of a pool.
    pub const MAX_HANDLES: usize = 1000;

    /// Creates a pool of at most `size` handles. One is opened now, the others when they are needed.
    ///
    /// # Errors
    /// [`LedgerError`] if the ledger cannot be opened, or the size is not in 1 to [`Pool::MAX_HANDLES`].
    pub fn new(url: &Url, options: &OpenOptions, size: usize) -> Result<Self> {
        if !(1..=Self::MAX_HANDLES).contains(&size) {
            let problem = format!("a pool of {size} handles; legal: 1 to {}", Self::MAX_HANDLES);
            return Err(DatabaseError::Unusable(problem).into());
        }
        let first = Ledger::open_with(url, options)?;
        let state = State { seen: first.seen, idle: vec![first], handles: 1 };
        Ok(Self {
            url: url.clone(),
            options: *options,
            size,
            handle_timeout: HANDLE_TIMEOUT,
            state: Mutex::new(state),
            returned: Condvar::new(),
            queue: Mutex::default(),
        })
    }

    /// Reserves a release like [`Ledger::reserve`]. Requests that arrive during a transaction run together in the next
    /// one, in order of arrival. They are as durable as requests that run alone.
    ///
    /// # Errors
    /// Those of [`Ledger::reserve`] and [`Pool::with`].
    pub fn reserve(&self, request: &Request<'_>) -> Result<Reservation> {
        let new = self.with(|ledger| ledger.new_release(request))?;
        match self.wait_for(Step::Reserve(Box::new(new))) {
            Err(error @ LedgerError::Refused(_)) => {
                Err(self.with(|ledger| Ok::<_, LedgerError>(ledger.explain(error, request)))?)
            }
            done => done?.reserved(),
        }
    }

    /// Stores a response like [`Ledger::commit`], in a transaction that threads share.
    ///
    /// # Errors
    /// Those of [`Ledger::commit`] and [`Pool::with`].
    pub fn commit(&self, account: &str, key: &str, response: &[u8]) -> Result<StoredResponse> {
        self.wait_for(Step::commit(account, key, response)?)?.committed()
    }

    /// Lets an analyst's own key, given by its digest, stand for an existing release, whoever reserved the release.
    ///
    /// # Errors
    /// [`LedgerError::AliasInUse`] if the analyst's key stands for another release; those of [`Pool::with`].
    pub fn alias(
        &self,
        account: &str,
        analyst: Option<&str>,
        alias: Hash,
        key: &str,
    ) -> Result<Head> {
        self.wait_for(Step::alias(account, analyst, alias, key)?)?.aliased()
    }

    /// Waits until this thread or another has run a step.
    fn wait_for(&self, step: Step) -> Result<StepOutcome> {
        let (sender, receiver) = channel();
        let mut queue = self.queue();
        if !queue.has_leader {
            queue.has_leader = true;
            let _ = sender.send(Turn::Lead);
        }
        queue.waiting.push_back((step, sender));
        drop(queue);
        loop {
            match receiver.recv() {
                Ok(Turn::Lead) => self.lead(),
                Ok(Turn::Done(done)) => return done,
                // The thread that ran the step panicked.
                Err(_) => {
                    let problem = "the thread that wrote it has ended".to_owned();
                    return Err(DatabaseError::Uncertain(problem).into());
                }
            }
        }
    }

    /// Runs the first steps of the queue in one transaction. Then the next thread leads.
    fn lead(&self) {
        let _next = LeaderHandover(self);
        let mut queue = self.queue();
        let most = queue.waiting.len().min(MAX_STEPS);
        let (steps, senders): (Vec<Step>, Vec<Sender<Turn>>) = queue.waiting.drain(..most).unzip();
        drop(queue);
        let done = self.with(|ledger| Ok::<_, LedgerError>(ledger.apply(&steps)));
        let done = done.unwrap_or_else(|error| steps.iter().map(|_| Err(error.clone())).collect());
        for (sender, done) in senders.into_iter().zip(done) {
            // Threads wait until they are served, so the receiver exists.
            let _ = sender.send(Turn::Done(done));
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No code that can fail runs under this lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a function with a handle, and waits for the handle for a minute at most.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if all handles are in use for too long, an error of opening another handle, and the
    /// errors of the function itself.
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

    /// Takes a handle out of the pool until it is dropped.
    fn lend(&self) -> Result<PooledHandle<'_>> {
        let deadline = Instant::now() + self.handle_timeout;
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
        // From here on, dropping `lent` gives the place in the pool back.
        let mut lent = PooledHandle { pool: self, ledger: idle };
        let expect = (seen != Head::NONE).then_some(seen);
        let kept =
            lent.ledger.take().and_then(|mut idle| (!idle.database.is_lost()).then_some(idle));
        let ledger = match kept {
            Some(idle) => idle,
            None => Ledger::open_with(&self.url, &OpenOptions { expect, ..self.options })?,
        };
        lent.ledger.insert(ledger).expect(seen);
        Ok(lent)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can fail runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When dropped, lets the thread that has waited longest lead, even if this thread panics.
struct LeaderHandover<'a>(&'a Pool);

impl Drop for LeaderHandover<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.waiting.front() {
            Some((_, sender)) => drop(sender.send(Turn::Lead)),
            None => queue.has_leader = false,
        }
    }
}

/// A handle that returns to the pool when it is dropped.
struct PooledHandle<'a> {
    pool: &'a Pool,
    ledger: Option<Ledger>,
}

impl Drop for PooledHandle<'_> {
    fn drop(&mut self) {
        let ledger = self.ledger.take();
        let seen = ledger.as_ref().map_or(Head::NONE, |ledger| ledger.seen);
        // After a panic the handle may be in the middle of a transaction, so it is dropped, which ends the transaction.
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

    /// A new ledger in a temporary folder.
    fn new_ledger() -> (tempfile::TempDir, Url, Ledger) {
        let folder = tempfile::tempdir().unwrap();
        let url = Url::Sqlite(folder.path().join("l").to_str().unwrap().to_owned());
        let ledger = Ledger::init(&url).unwrap();
        (folder, url, ledger)
    }

    #[test]
    fn a_handle_is_not_waited_for_forever() {
        let (_folder, url, _) = new_ledger();
        let mut pool = Pool::new(&url, &OpenOptions::default(), 1).unwrap();
        pool.handle_timeout = Duration::from_millis(20);
        let inner = pool.with(|_| pool.with(Ledger::head));
        assert_eq!(inner, Err(DatabaseError::Busy.into()));
        assert!(pool.with(Ledger::head).is_ok());
    }

    /// Sixteen threads arrive one after the other while another connection holds the ledger's lock. The first waits for
    /// the lock, and the others are served in order by the next transaction.
    #[test]
    fn those_who_wait_are_served_together_in_the_order_they_came() {
        let (folder, url, mut ledger) = new_ledger();
        let budget = |epsilon: &str| {
            let (epsilon, delta) = (epsilon.parse().unwrap(), "0".parse().unwrap());
            crate::NewFilter::new(crate::FilterKind::Sums, epsilon, delta)
        };
        let relation = counterpoint::Relation::single_record(counterpoint::Adjacency::AddRemove);
        ledger.add_dataset("data", relation, &budget("1")).unwrap();
        let account = crate::NewAccount::Filter(budget("1"));
        ledger.open_account("account", "data", &account).unwrap();
        let text = br#"{"release": [{"mechanism": "laplace", "scale": 20}]}"#;
        let plan =
            counterpoint_wire::ledger::ExactPlan::parse(text, counterpoint_wire::Format::Json);
        let asked = counterpoint_wire::ledger::ReleaseRequest::Described(plan.unwrap().releases);
        let pool = &Pool::new(&url, &OpenOptions::default(), 2).unwrap();
        let busy = rusqlite::Connection::open(folder.path().join("l")).unwrap();
        busy.execute_batch("BEGIN IMMEDIATE").unwrap();
        let entries: Vec<u64> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for thread in 0..16 {
                let (key, asked) = (format!("key-{thread}"), &asked);
                threads.push(scope.spawn(move || {
                    pool.reserve(&Request::new("account", &key, asked)).unwrap().entry
                }));
                // The first thread has taken its step out of the queue; the steps of the others wait there.
                let waits = || {
                    let queue = pool.queue();
                    (queue.has_leader, queue.waiting.len())
                };
                while waits() != (true, thread) {
                    std::thread::yield_now();
                }
            }
            busy.execute_batch("ROLLBACK").unwrap();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(entries, (4..20).collect::<Vec<u64>>());
        assert!(!pool.queue().has_leader);
        assert_eq!(ledger.verify(None).unwrap().problem, None);
    }

    #[test]
    fn a_thread_that_panics_lets_the_next_one_lead() {
        let (_folder, url, _) = new_ledger();
        let pool = Pool::new(&url, &OpenOptions::default(), 1).unwrap();
        pool.queue().has_leader = true;
        let panics = || {
            let _next = LeaderHandover(&pool);
            panic!("on purpose");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        let unknown = pool.commit("account", "key", b"").unwrap_err();
        assert!(matches!(unknown, LedgerError::Unknown { .. }), "{unknown}");
    }
}
