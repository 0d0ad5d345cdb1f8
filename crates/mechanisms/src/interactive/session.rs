//! A session held in memory.

use super::{Interactive, Protocol, Question, State};
use crate::data::Data;
use crate::error::Error;
use crate::reply::Reply;
use counterpoint::Release;
use std::fmt;
use std::sync::Mutex;

/// An open mechanism. Safe to share between threads.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{Bounds, Data, GuessAndCheck, Interactive, Query, Question, Reply};
///
/// let ages = Data::new(Relation::one(Adjacency::AddRemove), [31.0, 45.0, 27.0, 62.0, 38.0]);
/// // Two wrong guesses are corrected; as many right ones as you like are passed.
/// let declared = Interactive::from(GuessAndCheck::new(0.5, 2, 10.0)?);
/// let session = declared.open(&ages)?;
/// let adults = Query::count_within(Bounds::new(18.0, 150.0)?);
/// match session.ask(&Question::Check(adults, 5.0))? {
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
    /// A fork has a copy of the state, and would answer from it once more.
    process: u32,
}

/// Without the data and the noisy threshold: what is printed may end up in a log.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("declared", self.declared()).finish_non_exhaustive()
    }
}

impl Interactive {
    /// Opens it on data: from here on it is charged. (To run several about the same data, open
    /// them together, as [`Concurrent`](super::Concurrent).)
    ///
    /// # Errors
    /// As [`Interactive::under`]; [`Error::Randomness`] if there is none to be had.
    pub fn open(&self, data: &Data) -> Result<Session, Error> {
        Session::begin(self.under(data.relation())?, data.clone())
    }
}

impl Session {
    pub(super) fn begin(protocol: Protocol, data: Data) -> Result<Self, Error> {
        let state = Mutex::new(protocol.begin()?);
        Ok(Self { protocol, data, state, process: std::process::id() })
    }

    /// Asks. The question is checked before the data are looked at, so that an error tells
    /// nothing about them. If randomness fails the session ends.
    ///
    /// # Errors
    /// As [`Protocol::answer`]; [`Error::OtherProcess`] in any process but the one that opened it.
    pub fn ask(&self, question: &Question) -> Result<Reply, Error> {
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

    /// What all of it is charged as, however much of it is used.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        self.protocol.releases()
    }

    /// Whether it answers nothing more.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.state.lock().map_or(true, |state| state.is_exhausted())
    }

    /// How many answers it has given.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.state.lock().map_or(0, |state| state.answered())
    }

    /// What was declared.
    #[must_use]
    pub fn declared(&self) -> &Interactive {
        self.protocol.declared()
    }
}
