//! Sessions, derived from the history again.

use std::collections::{BTreeMap, BTreeSet};

use counterpoint_wire::ledger::Event;

use super::{ReplayError, check_once};
use crate::rules::chain::Hash;
use crate::rules::name::{self, NameInAccount};

/// All sessions that follow from a history.
#[derive(Debug, Default)]
pub(in crate::history) struct Sessions {
    /// The sessions, by account and key.
    pub(in crate::history) sessions: BTreeMap<NameInAccount, SessionRecord>,
    /// The answers, by the entry that stored them.
    pub(in crate::history) answers: BTreeMap<u64, AnswerRecord>,
    /// The names of all answered questions, with the session's account and key.
    asks: BTreeSet<(NameInAccount, String)>,
}

/// A session as it follows from the history.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::history) struct SessionRecord {
    pub(in crate::history) begun: u64,
    /// The declaration's digest.
    pub(in crate::history) declaration: String,
    /// The digest of the private state; `None` once the session has ended.
    pub(in crate::history) state: Option<String>,
    pub(in crate::history) answered: u64,
    pub(in crate::history) ended: Option<u64>,
}

/// An answer, with the response's digest and length.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::history) struct AnswerRecord {
    pub(in crate::history) place: NameInAccount,
    pub(in crate::history) number: u64,
    pub(in crate::history) ask: String,
    pub(in crate::history) question: String,
    pub(in crate::history) response: (String, u64),
}

impl Sessions {
    /// The sessions that had not ended at some entry, with the questions that they had answered.
    pub(in crate::history) fn resumed(
        sessions: BTreeMap<NameInAccount, SessionRecord>,
        asks: BTreeSet<(NameInAccount, String)>,
    ) -> Self {
        Self { sessions, answers: BTreeMap::new(), asks }
    }

    /// Applies one event about a key that was reserved for a session.
    pub(in crate::history) fn apply(
        &mut self,
        sequence: u64,
        (account, key): (&str, &str),
        event: &Event,
    ) -> Result<(), ReplayError> {
        let place = (account.to_owned(), key.to_owned());
        match event {
            Event::Begin { declaration, state, .. } => {
                let (declaration, state) = (declaration.clone(), Some(state.clone()));
                let (begun, answered, ended) = (sequence, 0, None);
                let kept = SessionRecord { begun, declaration, state, answered, ended };
                check_once(self.sessions.insert(place, kept), "the session was begun before")
            }
            Event::Answer { ask, number, question, sha256, length, state, .. } => {
                let session = self.open_session(&place)?;
                if *number != session.answered + 1 {
                    return Err(format!("answer {number} follows {}", session.answered).into());
                }
                (session.answered, session.state) = (*number, state.clone());
                session.ended = state.is_none().then_some(sequence);
                name::check_name("ask", ask)?;
                Hash::read(question).ok_or("the question's digest is not a hash")?;
                let asked = self.asks.replace((place.clone(), ask.clone()));
                check_once(asked, "the question was answered before")?;
                let (number, ask, question) = (*number, ask.clone(), question.clone());
                let response = (sha256.clone(), *length);
                let kept = AnswerRecord { place, number, ask, question, response };
                self.answers.insert(sequence, kept);
                Ok(())
            }
            _ => {
                let session = self.open_session(&place)?;
                (session.state, session.ended) = (None, Some(sequence));
                Ok(())
            }
        }
    }

    /// Finds a session that was begun and has not ended.
    fn open_session(&mut self, place: &NameInAccount) -> Result<&mut SessionRecord, ReplayError> {
        let kept = self.sessions.get_mut(place).ok_or("the session was not begun")?;
        check_once(kept.ended, "the session had ended")?;
        Ok(kept)
    }
}
