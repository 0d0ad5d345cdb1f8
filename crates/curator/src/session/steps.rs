//! Mechanisms that are held open: debited in full when they are opened, each answer stored with
//! the state after it before it is shown. Where a process dies, another goes on from the same
//! threshold.

use crate::charge::{Bill, Error, Stored, text};
use counterpoint_ledger::{Answer, Hash, Head, Ledger, LedgerError, NewAnswer, Pool, Session};
use counterpoint_mechanisms::{Error as Refusal, Protocol, Reply, State};
use counterpoint_wire::ledger::Cost;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// How often a question is tried again because another was answered in between.
const MOST_TRIES: usize = 1000;

/// What a state takes beside the list of what is left of a sequence, which is shorter than its
/// declaration.
pub(super) const MOST_STATE: usize = 1 << 12;

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
pub trait Reach {
    /// Does one step.
    ///
    /// # Errors
    /// The step's, and those of reaching the ledger.
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError>;
}

/// A handle of one's own.
impl Reach for Ledger {
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        step(self)
    }
}

/// A handle for each step: none is held in between.
impl Reach for &Pool {
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        Pool::with(self, step)
    }
}

/// Opens a session of a declaration that was made ready, and is stored as these bytes; all of it is debited.
pub(super) fn opened(
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
    Ok(Opened::of(debit.charge, session))
}

impl Opened {
    pub(super) fn of(charge: Option<Cost>, session: Session) -> Self {
        let Session { answered, ended, head, .. } = session;
        Self { charge, answered, is_over: ended.is_some(), head }
    }
}

/// An answer that was drawn and is not stored yet, and the state after it.
pub(super) struct Drawn<S> {
    pub(super) response: Vec<u8>,
    pub(super) state: S,
    /// Whether it is the last.
    pub(super) last: bool,
}

/// Why nothing was answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfinished<E> {
    /// The mechanism failed. Whoever asks sees that it did: the session is over, so that nobody tries until it does not.
    Failed(E),
    /// It was refused, or stopped from outside. Nobody saw anything, and the session is as before.
    Stopped(E),
}

/// An answer of one of our mechanisms, which fail for want of randomness alone.
pub(super) fn drawn_by_ours<E: From<Error>>(
    drawn: Result<Result<(Reply, State), Refusal>, E>,
) -> Result<Drawn<State>, Unfinished<E>> {
    let (reply, state) = match drawn.map_err(Unfinished::Stopped)? {
        Err(refusal @ Refusal::Randomness { .. }) => {
            return Err(Unfinished::Failed(Error::from(refusal).into()));
        }
        drawn => drawn.map_err(|refusal| Unfinished::Stopped(Error::from(refusal).into()))?,
    };
    let response = text::write(&reply).map_err(|error| Unfinished::Stopped(error.into()))?;
    let last = state.is_exhausted();
    Ok(Drawn { response, state, last })
}

/// What is stored under a question's name, or else what is drawn from the stored state, once it
/// is stored with the state after it.
pub(super) fn answered<S: Serialize + DeserializeOwned, E: From<Error>>(
    ledger: &mut impl Reach,
    (account, key): (&str, &str),
    (name, question): (&str, Hash),
    part: Option<&Arc<str>>,
    mut draw: impl FnMut(&[u8], &S) -> Result<Drawn<S>, Unfinished<E>>,
) -> Result<Stored, E> {
    if let Some(stored) = stored(ledger, (account, key), (name, question))? {
        return Ok(stored);
    }
    for _ in 0..MOST_TRIES {
        let session = ledger.with(|ledger| ledger.session(account, key)).map_err(Error::from)?;
        let session = session.ok_or_else(|| Error::NotBegun { key: key.to_owned() })?;
        let over = || Error::from(Refusal::Exhausted);
        let state = text::state(session.state.as_ref().ok_or_else(over)?.bytes(), part)?;
        let Drawn { response, state, last } = match draw(&session.declaration, &state) {
            Err(Unfinished::Failed(error)) => {
                let after = session.answered;
                match ledger.with(|ledger| ledger.end_after(account, key, after)) {
                    // Nobody saw that it failed from a state that somebody else was answered from.
                    Err(LedgerError::Moved { .. }) => continue,
                    ended => ended.map_err(Error::from)?,
                };
                return Err(error);
            }
            Err(Unfinished::Stopped(error)) => return Err(error),
            Ok(drawn) => drawn,
        };
        let state = text::salted(state, part)?;
        let (response, state, after) = (&response[..], &state[..], session.answered);
        let new = NewAnswer { ask: name, question, after, response, state, last };
        match ledger.with(|ledger| ledger.answer(account, key, &new)) {
            // What was drawn is forgotten: nobody saw it, and why does not depend on it.
            Err(LedgerError::Moved { .. }) => {}
            Ok(added) => return Ok(entered(added.answer, added.repeated, added.head)),
            Err(error) => return Err(Error::from(error).into()),
        }
    }
    Err(Error::Busy { key: key.to_owned() }.into())
}

/// What is stored under a question's name, if anything is.
pub(super) fn stored(
    ledger: &mut impl Reach,
    (account, key): (&str, &str),
    (name, question): (&str, Hash),
) -> Result<Option<Stored>, Error> {
    let stored = ledger.with(|ledger| {
        let answer = ledger.answered(account, key, name)?;
        answer.map(|answer| Ok((answer, ledger.head()?))).transpose()
    })?;
    stored.map(|(answer, head)| repeated(answer, question, name, head)).transpose()
}

/// An answer that was stored before.
fn repeated(answer: Answer, question: Hash, name: &str, head: Head) -> Result<Stored, Error> {
    if answer.question != question {
        return Err(LedgerError::KeyInUse { key: name.to_owned() }.into());
    }
    Ok(entered(answer, true, head))
}

fn entered(answer: Answer, is_repeated: bool, head: Head) -> Stored {
    Stored { bytes: answer.response, entry: answer.entry, is_repeated, head }
}
