//! Mechanisms that are held open: debited in full when they are opened, each answer stored with
//! the state after it before it is shown. Where a process dies, another goes on from the same
//! threshold.

use crate::bill::Bill;
use crate::error::Error;
use crate::shown::Shown;
use crate::text;
use counterpoint_ledger::{Answer, Hash, Head, Ledger, LedgerError, NewAnswer, Session};
use counterpoint_mechanisms::{Data, Error as Refusal, Interactive, Question, Reply, State};
use counterpoint_wire::ledger::Cost;

/// How often a question is tried again because another was answered in between.
const MOST_TRIES: usize = 1000;

/// What a state takes beside the list of what is left of a sequence, which is shorter than its
/// declaration.
const MOST_STATE: usize = 1 << 12;

/// A session that is open, or was.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opened {
    /// What this call debited; `None` if the session was there already.
    pub charge: Option<Cost>,
    /// How many answers it has given.
    pub answered: u64,
    /// Whether it gives no more.
    pub is_over: bool,
    /// The ledger's head.
    pub head: Head,
}

/// Opens a session, and debits all of it. If the bill's key was opened before with the same
/// declaration it is that session, as it is now: nothing is charged and nothing drawn again.
///
/// # Errors
/// [`Error`]; what fails after the debit stays charged, and may be tried again.
pub fn open(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    declared: &Interactive,
    data: &Data,
) -> Result<Opened, Error> {
    let protocol = declared.under(data.relation())?;
    let (asked, declaration) = (bill.asked(protocol.releases(), data)?, text::write(declared)?);
    text::short("the declaration", declaration.len() + MOST_STATE)?;
    let request = bill.request(&asked, data.relation(), Hash::of(&declaration), true);
    let debit = ledger.reserve(&request)?;
    let session = match ledger.session(bill.account, bill.key)? {
        Some(session) => session,
        None => {
            let state = text::salted(protocol.begin()?, data)?;
            ledger.begin(bill.account, bill.key, &declaration, &state)?
        }
    };
    let Session { answered, ended, head, .. } = session;
    Ok(Opened { charge: debit.charge, answered, is_over: ended.is_some(), head })
}

/// Asks an open session. `name` is the caller's for this question, in the session: asked again
/// under it, the same question gets the same answer.
///
/// # Errors
/// [`Error`]; nothing was shown, and the session is as before, unless there was no randomness:
/// then it has ended.
pub fn ask(
    ledger: &mut Ledger,
    (account, key): (&str, &str),
    name: &str,
    question: &Question,
    data: &Data,
) -> Result<Shown, Error> {
    if let Question::Measure(recipe) = question {
        text::fits(recipe)?;
    }
    let digest = text::digest(question)?;
    if let Some(answer) = ledger.answered(account, key, name)? {
        return repeated(ledger, answer, digest, name);
    }
    for _ in 0..MOST_TRIES {
        let session = found(ledger, account, key)?;
        let (reply, next) = match drawn(&session, question, data) {
            Err(Error::Mechanism(refusal)) if matches!(*refusal, Refusal::Randomness { .. }) => {
                ledger.end(account, key)?;
                return Err(Error::Mechanism(refusal));
            }
            drawn => drawn?,
        };
        let (after, last) = (session.answered, next.is_exhausted());
        let (response, state) = (text::write(&reply)?, text::salted(next, data)?);
        let new = NewAnswer {
            ask: name,
            question: digest,
            after,
            response: &response,
            state: &state,
            last,
        };
        match ledger.answer(account, key, &new) {
            // What was drawn is forgotten: nobody saw it, and why does not depend on it.
            Err(LedgerError::Moved { .. }) => {}
            Ok(stored) => return shown(stored.answer, stored.repeated, stored.head),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Busy { key: key.to_owned() })
}

/// Ends a session for good. It is not refunded.
///
/// # Errors
/// [`Error::Ledger`] if there is no such session.
pub fn close(ledger: &mut Ledger, (account, key): (&str, &str)) -> Result<Head, Error> {
    Ok(ledger.end(account, key)?)
}

/// An answer that was stored before.
fn repeated(
    ledger: &mut Ledger,
    answer: Answer,
    question: Hash,
    name: &str,
) -> Result<Shown, Error> {
    if answer.question != question {
        return Err(LedgerError::KeyInUse { key: name.to_owned() }.into());
    }
    let head = ledger.head()?;
    shown(answer, true, head)
}

fn shown(answer: Answer, is_repeated: bool, head: Head) -> Result<Shown, Error> {
    Shown::stored(answer.response, answer.entry, is_repeated, head)
}

fn found(ledger: &mut Ledger, account: &str, key: &str) -> Result<Session, Error> {
    let not_begun = || Error::NotBegun { key: key.to_owned() };
    ledger.session(account, key)?.ok_or_else(not_begun)
}

/// A reply, and the state after it, from the state that is stored.
fn drawn(session: &Session, question: &Question, data: &Data) -> Result<(Reply, State), Error> {
    let over = || Error::from(Refusal::Exhausted);
    let state = text::state(session.state.as_ref().ok_or_else(over)?.bytes(), data)?;
    let declared: Interactive = text::read("a session's declaration", &session.declaration)?;
    Ok(declared.under(data.relation())?.answer(data, &state, question)?)
}
