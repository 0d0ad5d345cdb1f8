//! Sessions: mechanisms that answer several questions one by one. One debit pays for all answers. Each answer is
//! stored, with the private state after it, before it is shown.

use std::fmt;

use counterpoint_wire::ledger::Event;

use super::find::{self, begun};
use super::ledger::{Ledger, append, now};
use super::release::steps::check_length;
use super::tables::Tables;
use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::MIN_STATE_BYTES;
use crate::rules::{name, rows};

/// Bytes that only the mechanism may see.
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

/// A session that was begun, with its private state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The entry that began the session.
    pub begun: u64,
    /// The declaration of the mechanism, as it was given to [`Ledger::begin_session`].
    pub declaration: Vec<u8>,
    /// The private state from which the mechanism continues; `None` once the session has ended.
    pub state: Option<Secret>,
    /// The number of answers.
    pub answered: u64,
    /// The entry that ended the session, if it has ended.
    pub ended: Option<u64>,
    /// The ledger's head.
    pub head: Head,
}

/// An answer of a session, to be stored.
#[derive(Clone, Copy)]
pub struct NewAnswer<'a> {
    /// The caller's name for this question, within the session. A name is answered once.
    pub ask: &'a str,
    /// The question's digest. The name stands for this question alone.
    pub question: Hash,
    /// The number of answers that the session had when its state was read.
    pub after: u64,
    /// The response, which may be shown once it is stored.
    pub response: &'a [u8],
    /// The private state after this answer, with 32 secret random bytes in it. After the last answer no state is
    /// stored.
    pub state: &'a [u8],
    /// True if this answer ends the session.
    pub last: bool,
}

impl fmt::Debug for NewAnswer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ask, question, after, last, .. } = self;
        let mut fields = f.debug_struct("NewAnswer");
        fields.field("ask", ask).field("question", question).field("after", after);
        // The state is secret, and the response is not durable yet.
        fields.field("last", last).finish_non_exhaustive()
    }
}

/// A stored answer of a session. It is durable and may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionAnswer {
    /// The number of the answer in its session, from 1.
    pub number: u64,
    /// The question's digest.
    pub question: Hash,
    /// The entry that stored the answer.
    pub entry: u64,
    /// The stored response.
    pub response: Vec<u8>,
}

/// The outcome of storing an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerOutcome {
    /// The stored answer. It may be an earlier one instead of the one that was given; only this one may be shown.
    pub answer: SessionAnswer,
    /// True if an earlier call stored the answer.
    pub repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

impl Ledger {
    /// Begins a session that was reserved: stores its declaration and its first private state. If the session was begun
    /// before, stores nothing and returns that session; the caller must then discard its own state.
    ///
    /// # Errors
    /// [`LedgerError::UnfitKey`] if the key was not reserved for a session, [`LedgerError::KeyInUse`] if the session
    /// was begun with another declaration.
    pub fn begin_session(
        &mut self,
        account: &str,
        key: &str,
        declaration: &[u8],
        state: &[u8],
    ) -> Result<Session> {
        name::check_account_and_key(account, key)?;
        check_length("declaration", declaration, 1)?;
        check_length("state", state, MIN_STATE_BYTES)?;
        self.write(|tables, head| {
            find::session(tables, account, key)?;
            if let Some(found) = tables.session(account, key)? {
                if found.declaration != declaration {
                    return Err(LedgerError::KeyInUse { key: key.to_owned() });
                }
                tables.touch(head)?;
                return with_state(tables, found, head);
            }
            let event = Event::Begin {
                at: now(),
                account: account.to_owned(),
                key: key.to_owned(),
                declaration: Hash::of(declaration).to_string(),
                state: Hash::of(state).to_string(),
            };
            let head = append(tables, head, &event)?;
            let session = rows::SessionRow {
                key: key.to_owned(),
                account: account.to_owned(),
                begun: head.sequence,
                declaration: declaration.to_vec(),
                answered: 0,
                ended: None,
            };
            tables.add_session(&session, state)?;
            Ok(to_session(session, Some(state.to_vec()), head))
        })
    }

    /// A session as it is now; `None` if it was reserved and not begun. Only the mechanism may see its state. An answer
    /// that the mechanism computes from the state may be shown once the answer is stored.
    ///
    /// # Errors
    /// [`LedgerError::UnfitKey`] if the key was not reserved for a session.
    pub fn session(&mut self, account: &str, key: &str) -> Result<Option<Session>> {
        name::check_account_and_key(account, key)?;
        self.read(|tables| {
            find::session(tables, account, key)?;
            let head = tables.head()?;
            let found = tables.session(account, key)?;
            found.map(|found| with_state(tables, found, head)).transpose()
        })
    }

    /// The stored answer to a question; `None` if the question was not answered. The answer is durable and may be
    /// shown.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such session.
    pub fn stored_answer(
        &mut self,
        account: &str,
        key: &str,
        ask: &str,
    ) -> Result<Option<SessionAnswer>> {
        name::check_account_and_key(account, key)?;
        name::check_name("ask", ask)?;
        let found = self.read(|tables| {
            begun(tables, account, key)?;
            tables.answer(account, key, ask)
        })?;
        if found.is_some() {
            self.wait_until_durable()?;
        }
        Ok(found.map(to_answer))
    }

    /// Stores an answer and the state after it, if no other answer was stored since the state was read. Only the
    /// returned answer may be shown: if the question was answered before, it is the earlier answer.
    ///
    /// # Errors
    /// [`LedgerError::SessionAdvanced`] if another caller stored an answer since, [`LedgerError::SessionEnded`] if the
    /// session has ended, [`LedgerError::KeyInUse`] if the name stands for another question.
    pub fn store_answer(
        &mut self,
        account: &str,
        key: &str,
        new: &NewAnswer<'_>,
    ) -> Result<AnswerOutcome> {
        name::check_account_and_key(account, key)?;
        name::check_name("ask", new.ask)?;
        check_length("response", new.response, 0)?;
        if !new.last {
            check_length("state", new.state, MIN_STATE_BYTES)?;
        }
        self.write(|tables, head| {
            let session = begun(tables, account, key)?;
            if let Some(found) = tables.answer(account, key, new.ask)? {
                if found.question != new.question {
                    return Err(LedgerError::KeyInUse { key: new.ask.to_owned() });
                }
                tables.touch(head)?;
                return Ok(AnswerOutcome { answer: to_answer(found), repeated: true, head });
            }
            store(tables, head, check_going(session, new.after)?, new)
        })
    }

    /// Ends a session: it gives no more answers, and its state is deleted.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the session was not begun.
    pub fn end_session(&mut self, account: &str, key: &str) -> Result<Head> {
        name::check_account_and_key(account, key)?;
        self.write(|tables, head| {
            if begun(tables, account, key)?.ended.is_some() {
                return tables.touch(head);
            }
            store_end(tables, head, account, key)
        })
    }

    /// Ends a session whose mechanism failed after `after` answers, if the session has no more answers than these. The
    /// failure may reveal something about the private state, as an answer does. Show it only after this has returned.
    ///
    /// # Errors
    /// [`LedgerError::SessionAdvanced`] if another caller stored an answer since, [`LedgerError::SessionEnded`] if the
    /// session has ended.
    pub fn end_session_after(&mut self, account: &str, key: &str, after: u64) -> Result<Head> {
        name::check_account_and_key(account, key)?;
        self.write(|tables, head| {
            check_going(begun(tables, account, key)?, after)?;
            store_end(tables, head, account, key)
        })
    }
}

/// Checks that a session has not ended and has exactly `after` answers.
fn check_going(session: rows::SessionRow, after: u64) -> Result<rows::SessionRow> {
    let rows::SessionRow { answered, ended, .. } = session;
    match ended {
        Some(_) => Err(LedgerError::SessionEnded { key: session.key }),
        None if answered != after => {
            Err(LedgerError::SessionAdvanced { key: session.key, answered })
        }
        None => Ok(session),
    }
}

fn store_end(tables: &mut Tables<'_>, head: Head, account: &str, key: &str) -> Result<Head> {
    let event = Event::End { at: now(), account: account.to_owned(), key: key.to_owned() };
    let head = append(tables, head, &event)?;
    tables.end(account, key, head.sequence)?;
    Ok(head)
}

/// Stores one more answer.
fn store(
    tables: &mut Tables<'_>,
    head: Head,
    session: rows::SessionRow,
    new: &NewAnswer<'_>,
) -> Result<AnswerOutcome> {
    let rows::SessionRow { account, key, answered, .. } = session;
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
    let answer = rows::AnswerRow {
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
    Ok(AnswerOutcome { answer: to_answer(answer), repeated: false, head })
}

/// Adds the private state to a session.
fn with_state(tables: &mut Tables<'_>, session: rows::SessionRow, head: Head) -> Result<Session> {
    let state = tables.state(&session.account, &session.key)?;
    if state.is_some() == session.ended.is_some() {
        return Err(damaged(
            "a session that has not ended lacks its state, or one that has ended still has it",
        ));
    }
    Ok(to_session(session, state, head))
}

fn to_session(session: rows::SessionRow, state: Option<Vec<u8>>, head: Head) -> Session {
    let rows::SessionRow { begun, declaration, answered, ended, .. } = session;
    Session { begun, declaration, state: state.map(Secret), answered, ended, head }
}

fn to_answer(answer: rows::AnswerRow) -> SessionAnswer {
    let rows::AnswerRow { number, question, entry, response, .. } = answer;
    SessionAnswer { number, question, entry, response }
}
