//! Sessions, derived from the history once more.

use std::collections::{BTreeMap, BTreeSet};

use counterpoint_wire::ledger::Event;

use super::{Impossible, once};
use crate::rules::chain::Hash;
use crate::rules::name::{self, Place};

/// All sessions that follow from a history.
#[derive(Debug, Default)]
pub(in crate::history) struct Sessions {
    /// By account and key.
    pub(in crate::history) sessions: BTreeMap<Place, KeptSession>,
    /// By the entry that stored them.
    pub(in crate::history) answers: BTreeMap<u64, KeptAnswer>,
    /// The names of all questions, by account and key.
    asks: BTreeSet<(Place, String)>,
}

/// What became of a session.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::history) struct KeptSession {
    pub(in crate::history) begun: u64,
    /// The declaration's digest.
    pub(in crate::history) declaration: String,
    /// The state's digest, as long as the session is not over.
    pub(in crate::history) state: Option<String>,
    pub(in crate::history) answered: u64,
    pub(in crate::history) ended: Option<u64>,
}

/// An answer, with the response's digest and length.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::history) struct KeptAnswer {
    pub(in crate::history) place: Place,
    pub(in crate::history) number: u64,
    pub(in crate::history) ask: String,
    pub(in crate::history) question: String,
    pub(in crate::history) response: (String, u64),
}

impl Sessions {
    /// Those that were not over at some entry, with the questions that they had answered.
    pub(in crate::history) fn resumed(
        sessions: BTreeMap<Place, KeptSession>,
        asks: BTreeSet<(Place, String)>,
    ) -> Self {
        Self { sessions, answers: BTreeMap::new(), asks }
    }

    /// One event later, about a key that was reserved for a session.
    pub(in crate::history) fn apply(
        &mut self,
        sequence: u64,
        (account, key): (&str, &str),
        event: &Event,
    ) -> Result<(), Impossible> {
        let place = (account.to_owned(), key.to_owned());
        match event {
            Event::Begin { declaration, state, .. } => {
                let (declaration, state) = (declaration.clone(), Some(state.clone()));
                let (begun, answered, ended) = (sequence, 0, None);
                let kept = KeptSession { begun, declaration, state, answered, ended };
                once(self.sessions.insert(place, kept), "the session was begun before")
            }
            Event::Answer { ask, number, question, sha256, length, state, .. } => {
                let going = self.going(&place)?;
                if *number != going.answered + 1 {
                    return Err(format!("answer {number} follows {}", going.answered).into());
                }
                (going.answered, going.state) = (*number, state.clone());
                going.ended = state.is_none().then_some(sequence);
                name::word("ask", ask)?;
                Hash::read(question).ok_or("the question's digest is none")?;
                let asked = self.asks.replace((place.clone(), ask.clone()));
                once(asked, "the question was answered before")?;
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
    fn going(&mut self, place: &Place) -> Result<&mut KeptSession, Impossible> {
        let kept = self.sessions.get_mut(place).ok_or("the session was not begun")?;
        once(kept.ended, "the session was over")?;
        Ok(kept)
    }
}
