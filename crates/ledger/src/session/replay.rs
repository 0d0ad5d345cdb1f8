//! Sessions, derived from the history once more.

use std::collections::{BTreeMap, BTreeSet};

use counterpoint_wire::ledger::Event;

use crate::chain::Hash;
use crate::error::Problem;
use crate::name::{self, Place};

/// All sessions that follow from a history.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// By account and key.
    pub(crate) sessions: BTreeMap<Place, Kept>,
    /// By the entry that stored them.
    pub(crate) answers: BTreeMap<u64, KeptAnswer>,
    /// The names of all questions, by account and key.
    asks: BTreeSet<(Place, String)>,
}

/// What became of a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) begun: u64,
    /// The declaration's digest.
    pub(crate) declaration: String,
    /// The state's digest, as long as the session is not over.
    pub(crate) state: Option<String>,
    pub(crate) answered: u64,
    pub(crate) ended: Option<u64>,
}

/// An answer, with the response's digest and length.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeptAnswer {
    pub(crate) place: Place,
    pub(crate) number: u64,
    pub(crate) ask: String,
    pub(crate) question: String,
    pub(crate) response: (String, u64),
}

impl Sessions {
    /// Those that were not over at some entry, with the questions that they had answered.
    pub(crate) fn resumed(
        sessions: BTreeMap<Place, Kept>,
        asks: BTreeSet<(Place, String)>,
    ) -> Self {
        Self { sessions, answers: BTreeMap::new(), asks }
    }

    /// One event later, about a key that was reserved for a session.
    pub(crate) fn apply(
        &mut self,
        sequence: u64,
        (account, key): (&str, &str),
        event: &Event,
    ) -> Result<(), Problem> {
        let place = (account.to_owned(), key.to_owned());
        match event {
            Event::Begin { declaration, state, .. } => {
                let (declaration, state) = (declaration.clone(), Some(state.clone()));
                let (begun, answered, ended) = (sequence, 0, None);
                let kept = Kept { begun, declaration, state, answered, ended };
                match self.sessions.insert(place, kept) {
                    None => Ok(()),
                    Some(_) => Err("the session was begun before".to_owned()),
                }
            }
            Event::Answer { ask, number, question, sha256, length, state, .. } => {
                let going = self.going(&place)?;
                if *number != going.answered + 1 {
                    return Err(format!("answer {number} follows {}", going.answered));
                }
                (going.answered, going.state) = (*number, state.clone());
                going.ended = state.is_none().then_some(sequence);
                name::word("ask", ask).map_err(|error| error.to_string())?;
                if Hash::read(question).is_none() {
                    return Err("the question's digest is none".to_owned());
                }
                if !self.asks.insert((place.clone(), ask.clone())) {
                    return Err("the question was answered before".to_owned());
                }
                let (number, ask, question) = (*number, ask.clone(), question.clone());
                let response = (sha256.clone(), *length);
                let kept = KeptAnswer { place, number, ask, question, response };
                self.answers.insert(sequence, kept);
                Ok(())
            }
            _ => {
                let going = self.going(&place)?;
                (going.state, going.ended) = (None, Some(sequence));
                Ok(())
            }
        }
    }

    /// A session that has begun and is not over.
    fn going(&mut self, place: &Place) -> Result<&mut Kept, Problem> {
        let kept = self.sessions.get_mut(place).ok_or("the session was not begun")?;
        match kept.ended {
            None => Ok(kept),
            Some(_) => Err("the session was over".to_owned()),
        }
    }
}
