//! Mechanisms that are held open: debited in full when they are opened, each answer stored with
//! the state after it before it is shown. Where a process dies, another goes on from the same
//! threshold.

use crate::bill::Bill;
use crate::error::Error;
use crate::shown::Shown;
use crate::text;
use counterpoint_ledger::{Answer, Hash, Head, Ledger, LedgerError, NewAnswer, Pool, Session};
use counterpoint_mechanisms::{
    Data, Error as Refusal, Interactive, Protocol, Question, Reply, State,
};
use counterpoint_wire::ledger::Cost;
use std::sync::Arc;

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

/// How a ledger is reached, for one short step at a time.
pub(crate) trait Reach {
    fn with<T>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError>;
}

/// A handle of one's own.
impl Reach for Ledger {
    fn with<T>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        step(self)
    }
}

/// A handle for each step: none is held in between.
impl Reach for &Pool {
    fn with<T>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        Pool::with(self, step)
    }
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
    opened(ledger, bill, &protocol, &text::write(declared)?, data.part())
}

/// The same of a declaration that was made ready, and is stored as these bytes.
pub(crate) fn opened(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    protocol: &Protocol,
    declaration: &[u8],
    part: Option<&Arc<str>>,
) -> Result<Opened, Error> {
    let asked = bill.asked(protocol.releases(), part)?;
    text::short("the declaration", declaration.len() + MOST_STATE)?;
    let request = bill.request(&asked, protocol.relation(), Hash::of(declaration), true);
    let debit = ledger.reserve(&request)?;
    let session = match ledger.session(bill.account, bill.key)? {
        Some(session) => session,
        None => {
            let state = text::salted(protocol.begin()?, part)?;
            ledger.begin(bill.account, bill.key, declaration, &state)?
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
    place: (&str, &str),
    name: &str,
    question: &Question,
    data: &Data,
) -> Result<Shown, Error> {
    if let Question::Measure(recipe) = question {
        text::fits(recipe)?;
    }
    let asked = (name, text::digest(question)?);
    answered(ledger, place, asked, data.part(), |declaration, state| {
        let declared: Interactive = text::read("a session's declaration", declaration)?;
        Ok(declared.under(data.relation())?.answer(data, state, question))
    })
}

/// What is stored under a question's name, or else what is drawn from the stored state, once it
/// is stored with the state after it.
pub(crate) fn answered<E: From<Error>>(
    ledger: &mut impl Reach,
    (account, key): (&str, &str),
    (name, question): (&str, Hash),
    part: Option<&Arc<str>>,
    mut draw: impl FnMut(&[u8], &State) -> Result<Result<(Reply, State), Refusal>, E>,
) -> Result<Shown, E> {
    if let Some(shown) = stored(ledger, (account, key), (name, question))? {
        return Ok(shown);
    }
    for _ in 0..MOST_TRIES {
        let session = ledger.with(|ledger| ledger.session(account, key)).map_err(Error::from)?;
        let session = session.ok_or_else(|| Error::NotBegun { key: key.to_owned() })?;
        let over = || Error::from(Refusal::Exhausted);
        let state = text::state(session.state.as_ref().ok_or_else(over)?.bytes(), part)?;
        let (reply, next) = match draw(&session.declaration, &state)? {
            Err(refusal @ Refusal::Randomness { .. }) => {
                ledger.with(|ledger| ledger.end(account, key)).map_err(Error::from)?;
                return Err(Error::from(refusal).into());
            }
            drawn => drawn.map_err(Error::from)?,
        };
        let (response, last) = (text::write(&reply)?, next.is_exhausted());
        let state = text::salted(next, part)?;
        let (response, state, after) = (&response[..], &state[..], session.answered);
        let new = NewAnswer { ask: name, question, after, response, state, last };
        match ledger.with(|ledger| ledger.answer(account, key, &new)) {
            // What was drawn is forgotten: nobody saw it, and why does not depend on it.
            Err(LedgerError::Moved { .. }) => {}
            Ok(stored) => return Ok(shown(stored.answer, stored.repeated, stored.head)?),
            Err(error) => return Err(Error::from(error).into()),
        }
    }
    Err(Error::Busy { key: key.to_owned() }.into())
}

/// What is stored under a question's name, if anything is.
pub(crate) fn stored(
    ledger: &mut impl Reach,
    (account, key): (&str, &str),
    (name, question): (&str, Hash),
) -> Result<Option<Shown>, Error> {
    let stored = ledger.with(|ledger| {
        let answer = ledger.answered(account, key, name)?;
        answer.map(|answer| Ok((answer, ledger.head()?))).transpose()
    })?;
    stored.map(|(answer, head)| repeated(answer, question, name, head)).transpose()
}

/// Ends a session for good. It is not refunded.
///
/// # Errors
/// [`Error::Ledger`] if there is no such session.
pub fn close(ledger: &mut Ledger, (account, key): (&str, &str)) -> Result<Head, Error> {
    Ok(ledger.end(account, key)?)
}

/// An answer that was stored before.
fn repeated(answer: Answer, question: Hash, name: &str, head: Head) -> Result<Shown, Error> {
    if answer.question != question {
        return Err(LedgerError::KeyInUse { key: name.to_owned() }.into());
    }
    shown(answer, true, head)
}

fn shown(answer: Answer, is_repeated: bool, head: Head) -> Result<Shown, Error> {
    Shown::stored(answer.response, answer.entry, is_repeated, head)
}
