//! Sessions: mechanisms whose answers are given one by one. One debit pays for all of them; then
//! each answer is durable, with the private state after it, before it is shown.

use std::fmt;

use counterpoint_wire::ledger::Event;

use super::find::{self, begun};
use super::ledger::{Ledger, append, now};
use super::release::steps::fits;
use super::tables::Tables;
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::LEAST_STATE;
use crate::rules::{name, rows};

/// What nobody but the mechanism may see.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The bytes, for the mechanism alone.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A session as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The entry that began it.
    pub begun: u64,
    /// What it was declared to be.
    pub declaration: Vec<u8>,
    /// What the mechanism goes on from; `None` once it is over.
    pub state: Option<Secret>,
    /// How many answers there are.
    pub answered: u64,
    /// The entry that ended it, if it is over.
    pub ended: Option<u64>,
    /// The ledger's head.
    pub head: Head,
}

/// An answer that is to be stored.
#[derive(Clone, Copy)]
pub struct NewAnswer<'a> {
    /// The caller's name for this question, in the session. It is answered once.
    pub ask: &'a str,
    /// The question's digest: the same name stands for no other.
    pub question: Hash,
    /// How many answers there were when the state was read.
    pub after: u64,
    /// What may be shown once it is stored.
    pub response: &'a [u8],
    /// What the mechanism goes on from, 32 secret random bytes among it; not kept after the last.
    pub state: &'a [u8],
    /// Whether the session is over with this answer.
    pub last: bool,
}

impl fmt::Debug for NewAnswer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ask, question, after, last, .. } = self;
        let mut told = f.debug_struct("NewAnswer");
        told.field("ask", ask).field("question", question).field("after", after);
        // Neither the state nor an answer that is not durable.
        told.field("last", last).finish_non_exhaustive()
    }
}

/// An answer that is durable, and may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Which of the session's answers, from 1.
    pub number: u64,
    /// The question's digest.
    pub question: Hash,
    /// The entry that stored it.
    pub entry: u64,
    /// The stored bytes.
    pub response: Vec<u8>,
}

/// What storing an answer came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered {
    /// The stored answer, which need not be the one offered: only this may be shown.
    pub answer: Answer,
    /// Whether an earlier call stored it.
    pub repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

impl Ledger {
    /// Begins a session that was reserved: stores what it was declared to be and the private
    /// state it starts from. If it was begun before, that session is returned and nothing is
    /// stored: what the caller drew is not to be used.
    ///
    /// # Errors
    /// [`LedgerError::UnfitKey`] if the key is no session's, [`LedgerError::KeyInUse`] if it was
    /// begun with another declaration.
    pub fn begin(
        &mut self,
        account: &str,
        key: &str,
        declaration: &[u8],
        state: &[u8],
    ) -> Result<Session> {
        name::place(account, key)?;
        fits("declaration", declaration, 1)?;
        fits("state", state, LEAST_STATE)?;
        self.write(|tables, head| {
            find::session(tables, account, key)?;
            if let Some(found) = tables.session(account, key)? {
                if found.declaration != declaration {
                    return Err(LedgerError::KeyInUse { key: key.to_owned() });
                }
                tables.touch(head)?;
                return whole(tables, found, head);
            }
            let event = Event::Begin {
                at: now(),
                account: account.to_owned(),
                key: key.to_owned(),
                declaration: Hash::of(declaration).to_string(),
                state: Hash::of(state).to_string(),
            };
            let head = append(tables, head, &event)?;
            let session = rows::Session {
                key: key.to_owned(),
                account: account.to_owned(),
                begun: head.sequence,
                declaration: declaration.to_vec(),
                answered: 0,
                ended: None,
            };
            tables.add_session(&session, state)?;
            Ok(told(session, Some(state.to_vec()), head))
        })
    }

    /// A session as it is now; `None` if it was reserved and has not begun. Its state is for the
    /// mechanism alone, and what it answers from it may be shown once it is stored.
    ///
    /// # Errors
    /// [`LedgerError::UnfitKey`] if the key is no session's.
    pub fn session(&mut self, account: &str, key: &str) -> Result<Option<Session>> {
        name::place(account, key)?;
        self.read(|tables| {
            find::session(tables, account, key)?;
            let head = tables.head()?;
            let found = tables.session(account, key)?;
            found.map(|found| whole(tables, found, head)).transpose()
        })
    }

    /// What was answered to a question; `None` if it was not asked. It may be shown: it is
    /// durable.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such session.
    pub fn answered(&mut self, account: &str, key: &str, ask: &str) -> Result<Option<Answer>> {
        name::place(account, key)?;
        name::word("ask", ask)?;
        let found = self.read(|tables| {
            begun(tables, account, key)?;
            tables.answer(account, key, ask)
        })?;
        if found.is_some() {
            self.settle()?;
        }
        Ok(found.map(shown))
    }

    /// Stores an answer and the state after it, if the session is still where the state was
    /// read. Only what this returns may be shown: if the question was answered before, that is
    /// the earlier answer.
    ///
    /// # Errors
    /// [`LedgerError::Moved`] if somebody else answered in between, [`LedgerError::Over`] if the
    /// session has ended, [`LedgerError::KeyInUse`] if the name stands for another question.
    pub fn answer(&mut self, account: &str, key: &str, new: &NewAnswer<'_>) -> Result<Answered> {
        name::place(account, key)?;
        name::word("ask", new.ask)?;
        fits("response", new.response, 0)?;
        if !new.last {
            fits("state", new.state, LEAST_STATE)?;
        }
        self.write(|tables, head| {
            let session = begun(tables, account, key)?;
            if let Some(found) = tables.answer(account, key, new.ask)? {
                if found.question != new.question {
                    return Err(LedgerError::KeyInUse { key: new.ask.to_owned() });
                }
                tables.touch(head)?;
                return Ok(Answered { answer: shown(found), repeated: true, head });
            }
            store(tables, head, going(session, new.after)?, new)
        })
    }

    /// Ends a session: there are no more answers, and its state is forgotten.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if it has not begun.
    pub fn end(&mut self, account: &str, key: &str) -> Result<Head> {
        name::place(account, key)?;
        self.write(|tables, head| {
            if begun(tables, account, key)?.ended.is_some() {
                return tables.touch(head);
            }
            ended(tables, head, account, key)
        })
    }

    /// Ends a session whose mechanism failed after so many answers, if those are all there are. That it failed is an outcome
    /// of that state, and may be told once this has returned.
    ///
    /// # Errors
    /// [`LedgerError::Moved`] if somebody else was answered in between, [`LedgerError::Over`] if the session is over.
    pub fn end_after(&mut self, account: &str, key: &str, after: u64) -> Result<Head> {
        name::place(account, key)?;
        self.write(|tables, head| {
            going(begun(tables, account, key)?, after)?;
            ended(tables, head, account, key)
        })
    }
}

/// A session that is not over and has so many answers.
fn going(session: rows::Session, after: u64) -> Result<rows::Session> {
    let rows::Session { answered, ended, .. } = session;
    match ended {
        Some(_) => Err(LedgerError::Over { key: session.key }),
        None if answered != after => Err(LedgerError::Moved { key: session.key, answered }),
        None => Ok(session),
    }
}

fn ended(tables: &mut Tables<'_>, head: Head, account: &str, key: &str) -> Result<Head> {
    let event = Event::End { at: now(), account: account.to_owned(), key: key.to_owned() };
    let head = append(tables, head, &event)?;
    tables.end(account, key, head.sequence)?;
    Ok(head)
}

/// One more answer.
fn store(
    tables: &mut Tables<'_>,
    head: Head,
    session: rows::Session,
    new: &NewAnswer<'_>,
) -> Result<Answered> {
    let rows::Session { account, key, answered, .. } = session;
    let event = Event::Answer {
        at: now(),
        account: account.clone(),
        key: key.clone(),
        ask: new.ask.to_owned(),
        number: answered + 1,
        question: new.question.to_string(),
        sha256: Hash::of(new.response).to_string(),
        length: new.response.len() as u64,
        state: (!new.last).then(|| Hash::of(new.state).to_string()),
    };
    let head = append(tables, head, &event)?;
    let answer = rows::Answer {
        key,
        account,
        number: answered + 1,
        ask: new.ask.to_owned(),
        question: new.question,
        entry: head.sequence,
        response: new.response.to_vec(),
    };
    tables.add_answer(&answer)?;
    if new.last {
        tables.end(&answer.account, &answer.key, answer.entry)?;
    } else {
        tables.set_state(&answer.account, &answer.key, new.state)?;
    }
    Ok(Answered { answer: shown(answer), repeated: false, head })
}

/// A session with its state.
fn whole(tables: &mut Tables<'_>, session: rows::Session, head: Head) -> Result<Session> {
    let state = tables.state(&session.account, &session.key)?;
    if state.is_some() == session.ended.is_some() {
        return Err(damaged("a session's state is missing, or left over"));
    }
    Ok(told(session, state, head))
}

fn told(session: rows::Session, state: Option<Vec<u8>>, head: Head) -> Session {
    let rows::Session { begun, declaration, answered, ended, .. } = session;
    Session { begun, declaration, state: state.map(Secret), answered, ended, head }
}

fn shown(answer: rows::Answer) -> Answer {
    let rows::Answer { number, question, entry, response, .. } = answer;
    Answer { number, question, entry, response }
}
