//! Mechanisms that are held open: each is declared, then opened on data, then asked, from any
//! thread and in any order, until it is exhausted.

mod concurrent;
mod gate;
mod sequence;
#[cfg(test)]
mod tests;

pub use concurrent::Concurrent;
pub use gate::{GuessAndCheck, SparseVector};
pub use sequence::Sequence;

use crate::error::Error;
use crate::query::{Measurement, Query};
use crate::reply::Reply;
use counterpoint::{Adjacency, Release};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A declaration: what will be charged, before anything is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Interactive {
    /// Measurements chosen as one goes, at prices declared up front.
    Sequence(Sequence),
    /// Which queries are above a threshold.
    SparseVector(SparseVector),
    /// Which guesses are wrong, and what would be right.
    GuessAndCheck(GuessAndCheck),
}

/// What may be asked of a session.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Question<'a> {
    /// To a [`Sequence`]: run this.
    Measure(&'a Measurement),
    /// To a [`SparseVector`]: is this above the threshold?
    Above(&'a Query),
    /// To a [`GuessAndCheck`]: is this about right?
    Check(&'a Query, f64),
}

impl Interactive {
    /// What the whole session is charged as, however much of it is used.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        match self {
            Self::Sequence(sequence) => sequence.releases(),
            Self::SparseVector(sparse) => sparse.releases(),
            Self::GuessAndCheck(guess) => guess.releases(),
        }
    }

    /// Which data sets are neighbours.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        match self {
            Self::Sequence(sequence) => sequence.adjacency(),
            Self::SparseVector(sparse) => sparse.gate().adjacency(),
            Self::GuessAndCheck(guess) => guess.gate().adjacency(),
        }
    }

    /// Opens it on data: from here on it is charged. (To run several about the same data, open
    /// them together, as [`Concurrent`].)
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none to be had.
    pub fn open(self, data: impl Into<Arc<[f64]>>) -> Result<Session, Error> {
        let state = match &self {
            Self::Sequence(sequence) => State::Slots(sequence.slots().to_vec()),
            Self::SparseVector(sparse) => sparse.gate().open()?,
            Self::GuessAndCheck(guess) => guess.gate().open()?,
        };
        let running = Mutex::new(Running { state, answered: 0 });
        Ok(Session { declared: self, data: data.into(), running })
    }
}

/// An open mechanism. Safe to share between threads.
///
/// ```
/// use counterpoint::Adjacency;
/// use counterpoint_mechanisms::{Bounds, GuessAndCheck, Interactive, Query, Question, Reply};
///
/// let ages = [31.0, 45.0, 27.0, 62.0, 38.0];
/// // Two wrong guesses are corrected; as many right ones as you like are passed.
/// let declared = GuessAndCheck::new(0.5, 2, 10.0, Adjacency::AddRemove)?;
/// let session = Interactive::from(declared).open(ages)?;
/// let adults = Query::count_within(Bounds::new(18.0, 150.0)?, Adjacency::AddRemove);
/// match session.ask(Question::Check(&adults, 5.0))? {
///     Reply::Pass => println!("about 5, yes"),
///     Reply::Wrong(value) => println!("rather {value}"),
///     _ => unreachable!(),
/// }
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
pub struct Session {
    declared: Interactive,
    data: Arc<[f64]>,
    running: Mutex<Running>,
}

/// Without the data and the noisy threshold: what is printed may end up in a log.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("declared", &self.declared).finish_non_exhaustive()
    }
}

struct Running {
    state: State,
    answered: u64,
}

enum State {
    /// The prices not yet paid.
    Slots(Vec<Vec<Release>>),
    /// The threshold with its noise, and how many answers above it are left.
    Gate { threshold: i128, left: u64 },
}

impl State {
    fn is_exhausted(&self) -> bool {
        match self {
            Self::Slots(slots) => slots.is_empty(),
            Self::Gate { left, .. } => *left == 0,
        }
    }

    fn exhaust(&mut self) {
        *self = Self::Slots(Vec::new());
    }
}

impl Session {
    /// Asks. The question is checked before the data are looked at, so that an error tells
    /// nothing about them. If randomness fails the session ends: that it failed may depend on
    /// the data.
    ///
    /// # Errors
    /// [`Error::Exhausted`] once all answers have been given; [`Error::Question`],
    /// [`Error::Adjacency`], [`Error::Sensitivity`] or [`Error::NotDeclared`] if the question
    /// does not fit the declaration; [`Error::Randomness`].
    pub fn ask(&self, question: Question<'_>) -> Result<Reply, Error> {
        let mut running = self.running.lock().map_err(|_| Error::Exhausted)?;
        if running.state.is_exhausted() {
            return Err(Error::Exhausted);
        }
        let reply = self.answer(question, &mut running.state);
        match &reply {
            Ok(_) => running.answered += 1,
            Err(Error::Randomness { .. }) => running.state.exhaust(),
            Err(_) => {}
        }
        reply
    }

    fn answer(&self, question: Question<'_>, state: &mut State) -> Result<Reply, Error> {
        match (&self.declared, question, state) {
            (Interactive::Sequence(sequence), Question::Measure(what), State::Slots(slots)) => {
                sequence.answer(what, &self.data, slots)
            }
            (
                Interactive::SparseVector(sparse),
                Question::Above(query),
                State::Gate { threshold, left },
            ) => sparse.answer(query, &self.data, *threshold, left),
            (
                Interactive::GuessAndCheck(guess),
                Question::Check(query, value),
                State::Gate { threshold, left },
            ) => guess.answer(query, value, &self.data, *threshold, left),
            _ => Err(Error::Question {
                legal: match self.declared {
                    Interactive::Sequence(_) => "Measure",
                    Interactive::SparseVector(_) => "Above",
                    Interactive::GuessAndCheck(_) => "Check",
                },
            }),
        }
    }

    /// Whether it answers nothing more.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.running.lock().map_or(true, |running| running.state.is_exhausted())
    }

    /// How many answers it has given.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.running.lock().map_or(0, |running| running.answered)
    }

    /// What was declared.
    #[must_use]
    pub fn declared(&self) -> &Interactive {
        &self.declared
    }
}

macro_rules! declarations {
    ($($name:ident),*) => {$(
        impl From<$name> for Interactive {
            fn from(declared: $name) -> Self {
                Self::$name(declared)
            }
        }
    )*};
}

declarations!(Sequence, SparseVector, GuessAndCheck);
