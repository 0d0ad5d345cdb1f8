//! A session that is held in memory.

use super::{InteractiveMechanism, Protocol, SessionQuery, State};
use crate::data::Data;
use crate::error::Error;
use crate::reply::Reply;
use counterpoint::Release;
use std::fmt;
use std::sync::Mutex;

/// An open interactive mechanism with its state. It can be shared between threads.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{Bounds, Data, GuessAndCheck, InteractiveMechanism, Query, SessionQuery, Reply};
///
/// let ages = Data::new(Relation::single_record(Adjacency::AddRemove), [31.0, 45.0, 27.0, 62.0, 38.0]);
/// // Two wrong guesses are corrected; as many right ones as you like are passed.
/// let declared = InteractiveMechanism::from(GuessAndCheck::new(0.5, 2, 10.0)?);
/// let session = declared.open(&ages)?;
/// let adults = Query::count_within(Bounds::new(18.0, 150.0)?);
/// match session.ask(&SessionQuery::Check(adults, 5.0))? {
///     Reply::Pass => println!("about 5, yes"),
///     Reply::Wrong(value) => println!("rather {value}"),
///     _ => unreachable!(),
/// }
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
pub struct Session {
    protocol: Protocol,
    data: Data,
    state: Mutex<State>,
    /// A forked process has a copy of the state and would answer from it a second time.
    process: u32,
}

/// Omits the data and the noisy threshold, since output may end up in a log.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("declared", self.declared()).finish_non_exhaustive()
    }
}

impl InteractiveMechanism {
    /// Opens a session on data, which is charged from now on. (To open several sessions about the same data, use
    /// [`ConcurrentSessions`](super::ConcurrentSessions).)
    ///
    /// # Errors
    /// As for [`InteractiveMechanism::under`]; [`Error::Randomness`] if the source of randomness fails.
    pub fn open(&self, data: &Data) -> Result<Session, Error> {
        Session::begin(self.under(data.relation())?, data.clone())
    }
}

impl Session {
    pub(super) fn begin(protocol: Protocol, data: Data) -> Result<Self, Error> {
        let state = Mutex::new(protocol.begin()?);
        Ok(Self { protocol, data, state, process: std::process::id() })
    }

    /// Answers a query. The query is checked before the data are read, so that an error reveals nothing about the data.
    /// If the source of randomness fails, the session ends.
    ///
    /// # Errors
    /// As for [`Protocol::answer`]; [`Error::OtherProcess`] in any process except the one that opened the session.
    pub fn ask(&self, question: &SessionQuery) -> Result<Reply, Error> {
        if self.process != std::process::id() {
            return Err(Error::OtherProcess { process: self.process });
        }
        let mut state = self.state.lock().map_err(|_| Error::Exhausted)?;
        match self.protocol.answer(&self.data, &state, question) {
            Ok((reply, next)) => {
                *state = next;
                Ok(reply)
            }
            Err(error) => {
                if matches!(error, Error::Randomness { .. }) {
                    *state = state.ended();
                }
                Err(error)
            }
        }
    }

    /// The releases that the whole session is charged as, however much of it is used.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        self.protocol.releases()
    }

    /// True if the session answers nothing more.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.state.lock().map_or(true, |state| state.is_exhausted())
    }

    /// The number of answers given.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.state.lock().map_or(0, |state| state.answered())
    }

    /// The declaration.
    #[must_use]
    pub fn declared(&self) -> &InteractiveMechanism {
        self.protocol.declared()
    }
}
