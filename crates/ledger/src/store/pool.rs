//! Several handles on one ledger, shared by the threads of a program.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::database::{DatabaseError, Url};
use super::ledger::{Ledger, OpenOptions};
use super::release::steps::{Committed, Done, Reservation, Step};
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result};
use crate::rules::request::Request;

/// How long a handle is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// So many releases are reserved or committed in one transaction at most.
const MOST_STEPS: usize = 64;

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
    queue: Mutex<Queue>,
}

/// Threads that wait for a transaction, in the order they came.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Step, Sender<Turn>)>,
    /// Whether a thread is to do what waits.
    has_leader: bool,
}

/// What a thread that waits is told.
enum Turn {
    /// To do the next of what waits, which its own step is the first of.
    Lead,
    /// What became of its step.
    Done(Result<Done>),
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
    pub fn new(url: &Url, options: &OpenOptions, size: usize) -> Result<Self> {
        if !(1..=Self::MOST).contains(&size) {
            let problem = format!("a pool of {size} handles; legal: 1 to {}", Self::MOST);
            return Err(DatabaseError::Unusable(problem).into());
        }
        let first = Ledger::open_with(url, options)?;
        let state = State { seen: first.seen, idle: vec![first], handles: 1 };
        Ok(Self {
            url: url.clone(),
            options: *options,
            size,
            patience: PATIENCE,
            state: Mutex::new(state),
            returned: Condvar::new(),
            queue: Mutex::default(),
        })
    }

    /// [`Ledger::reserve`]. What threads ask for while a transaction is under way is done by the next one, together: as
    /// durable as alone, and in the order in which they came.
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

    /// [`Ledger::commit`], in the same way.
    ///
    /// # Errors
    /// Those of [`Ledger::commit`] and [`Pool::with`].
    pub fn commit(&self, account: &str, key: &str, response: &[u8]) -> Result<Committed> {
        self.wait_for(Step::commit(account, key, response)?)?.committed()
    }

    /// Lets an analyst's own key, of which this is the digest, stand for a release that is there, whoever reserved it.
    ///
    /// # Errors
    /// [`LedgerError::AliasInUse`] if it stands for another; those of [`Pool::with`].
    pub fn alias(
        &self,
        account: &str,
        analyst: Option<&str>,
        alias: Hash,
        key: &str,
    ) -> Result<Head> {
        self.wait_for(Step::alias(account, analyst, alias, key)?)?.named()
    }

    /// Waits until a step is done, by this thread or another.
    fn wait_for(&self, step: Step) -> Result<Done> {
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
                // The thread that had the step panicked.
                Err(_) => {
                    let problem = "the thread that wrote it is gone".to_owned();
                    return Err(DatabaseError::Uncertain(problem).into());
                }
            }
        }
    }

    /// Does the first of what waits, and lets the next thread lead.
    fn lead(&self) {
        let _next = Next(self);
        let mut queue = self.queue();
        let most = queue.waiting.len().min(MOST_STEPS);
        let (steps, senders): (Vec<Step>, Vec<Sender<Turn>>) = queue.waiting.drain(..most).unzip();
        drop(queue);
        let done = self.with(|ledger| Ok::<_, LedgerError>(ledger.apply(&steps)));
        let done = done.unwrap_or_else(|error| steps.iter().map(|_| Err(error.clone())).collect());
        for (sender, done) in senders.into_iter().zip(done) {
            // Whoever waits is there.
            let _ = sender.send(Turn::Done(done));
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing that can fail is done under this lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn lend(&self) -> Result<Lent<'_>> {
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
        // Nothing that can fail is done under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the thread that waits longest lead, when dropped: also where this one panics.
struct Next<'a>(&'a Pool);

impl Drop for Next<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.waiting.front() {
            Some((_, sender)) => drop(sender.send(Turn::Lead)),
            None => queue.has_leader = false,
        }
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
        let seen = ledger.as_ref().map_or(Head::NONE, |ledger| ledger.seen);
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

    /// A new ledger, in a file of a folder that is gone when dropped.
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
        pool.patience = Duration::from_millis(20);
        let inner = pool.with(|_| pool.with(Ledger::head));
        assert_eq!(inner, Err(DatabaseError::Busy.into()));
        assert!(pool.with(Ledger::head).is_ok());
    }

    /// Sixteen threads come one after the other while somebody has the ledger's lock: one waits for it, and the others for
    /// the next transaction, in which everybody has their turn.
    #[test]
    fn those_who_wait_are_served_together_in_the_order_they_came() {
        let (folder, url, mut ledger) = new_ledger();
        let budget = |epsilon: &str| {
            let (epsilon, delta) = (epsilon.parse().unwrap(), "0".parse().unwrap());
            crate::NewFilter::new(crate::Kind::Sums, epsilon, delta)
        };
        let relation = counterpoint::Relation::one(counterpoint::Adjacency::AddRemove);
        ledger.dataset("data", relation, &budget("1")).unwrap();
        let account = crate::NewAccount::Filter(budget("1"));
        ledger.open_account("account", "data", &account).unwrap();
        let text = br#"{"release": [{"mechanism": "laplace", "scale": 20}]}"#;
        let plan =
            counterpoint_wire::ledger::ExactPlan::parse(text, counterpoint_wire::Format::Json);
        let asked = counterpoint_wire::ledger::Asked::Described(plan.unwrap().releases);
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
                // The first has its step in hand; the others wait for it.
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
            let _next = Next(&pool);
            panic!("on purpose");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        let unknown = pool.commit("account", "key", b"").unwrap_err();
        assert!(matches!(unknown, LedgerError::Unknown { .. }), "{unknown}");
    }
}
