//! The steps of every session. Opening debits all of it; each answer is stored together with the next state before it
//! is shown. If a process dies, another one continues from the stored state.

use crate::charge::{Bill, Error, StoredBytes, text};
use counterpoint_ledger::{
    Hash, Head, Ledger, LedgerError, NewAnswer, Pool, Session, SessionAnswer,
};
use counterpoint_mechanisms::{Error as MechanismError, Protocol, Reply, State};
use counterpoint_wire::ledger::Cost;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The number of attempts to answer a question while other questions are answered in between.
const MOST_TRIES: usize = 1000;

/// The length of a state beside the remaining steps of a sequence, which are shorter than its declaration.
pub(super) const MOST_STATE: usize = 1 << 12;

/// The result of opening a session: the debited cost, and the session as it is now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionReceipt {
    /// The cost that this call debited; `None` if the session was open already.
    pub charge: Option<Cost>,
    /// The number of answers that the session has given.
    pub answered: u64,
    /// True if the session gives no more answers.
    pub is_over: bool,
    /// The ledger's head.
    pub head: Head,
}

/// Access to a ledger, for one short step at a time.
pub trait LedgerAccess {
    /// Runs one step.
    ///
    /// # Errors
    /// The step's error, or that of reaching the ledger.
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError>;
}

/// The caller's own handle.
impl LedgerAccess for Ledger {
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        step(self)
    }
}

/// A handle from the pool for each step: none is kept between steps.
impl LedgerAccess for &Pool {
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        Pool::with(self, step)
    }
}

/// Opens a session of a protocol and debits all of it. `declaration` is stored as its declaration.
pub(super) fn open_session(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    protocol: &Protocol,
    declaration: &[u8],
    part: Option<&Arc<str>>,
) -> Result<SessionReceipt, Error> {
    let charge = bill.charge_for(protocol.releases(), part)?;
    text::check_length("the declaration", declaration.len() + MOST_STATE)?;
    let request = bill.request(&charge, protocol.relation(), Hash::of(declaration), true);
    let debit = ledger.reserve(&request)?;
    let session = match ledger.session(bill.account, bill.key)? {
        Some(session) => session,
        None => {
            let state = text::salt_state(protocol.begin()?, part)?;
            ledger.begin_session(bill.account, bill.key, declaration, &state)?
        }
    };
    Ok(SessionReceipt::of(debit.charge, session))
}

impl SessionReceipt {
    pub(super) fn of(charge: Option<Cost>, session: Session) -> Self {
        let Session { answered, ended, head, .. } = session;
        Self { charge, answered, is_over: ended.is_some(), head }
    }
}

/// A drawn answer that is not stored yet, and the next state.
pub(super) struct PendingAnswer<S> {
    pub(super) response: Vec<u8>,
    pub(super) state: S,
    /// True if the session gives no answer after this one.
    pub(super) is_last: bool,
}

/// A step gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError<E> {
    /// The mechanism failed. The caller learns that it failed, so the session is over: otherwise somebody could retry
    /// until it succeeds.
    Failed(E),
    /// The question was refused, or the step was stopped from outside. Nobody learned anything, and the session stays
    /// as it was.
    Stopped(E),
}

/// Converts the answer of a built-in mechanism. Only a failure of the source of randomness is a failure of the
/// mechanism.
pub(super) fn pending_answer<E: From<Error>>(
    drawn: Result<Result<(Reply, State), MechanismError>, E>,
) -> Result<PendingAnswer<State>, StepError<E>> {
    let (reply, state) = match drawn.map_err(StepError::Stopped)? {
        Err(refusal @ MechanismError::Randomness { .. }) => {
            return Err(StepError::Failed(Error::from(refusal).into()));
        }
        drawn => drawn.map_err(|refusal| StepError::Stopped(Error::from(refusal).into()))?,
    };
    let response = text::write(&reply).map_err(|error| StepError::Stopped(error.into()))?;
    let is_last = state.is_exhausted();
    Ok(PendingAnswer { response, state, is_last })
}

/// Returns the stored answer under a question's name. If there is none, draws one from the stored state and stores it
/// with the next state.
pub(super) fn answer_step<S: Serialize + DeserializeOwned, E: From<Error>>(
    ledger: &mut impl LedgerAccess,
    (account, key): (&str, &str),
    (name, question): (&str, Hash),
    part: Option<&Arc<str>>,
    mut draw: impl FnMut(&[u8], &S) -> Result<PendingAnswer<S>, StepError<E>>,
) -> Result<StoredBytes, E> {
    if let Some(stored) = find_answer(ledger, (account, key), (name, question))? {
        return Ok(stored);
    }
    for _ in 0..MOST_TRIES {
        let session = ledger.with(|ledger| ledger.session(account, key)).map_err(Error::from)?;
        let session = session.ok_or_else(|| Error::NotBegun { key: key.to_owned() })?;
        let over = || Error::from(MechanismError::Exhausted);
        let state = text::read_state(session.state.as_ref().ok_or_else(over)?.bytes(), part)?;
        let PendingAnswer { response, state, is_last } = match draw(&session.declaration, &state) {
            Err(StepError::Failed(error)) => {
                let after = session.answered;
                match ledger.with(|ledger| ledger.end_session_after(account, key, after)) {
                    // Another question advanced the session, so nobody learns that the step failed from this state.
                    Err(LedgerError::SessionAdvanced { .. }) => continue,
                    ended => ended.map_err(Error::from)?,
                };
                return Err(error);
            }
            Err(StepError::Stopped(error)) => return Err(error),
            Ok(drawn) => drawn,
        };
        let state = text::salt_state(state, part)?;
        let (response, state, after) = (&response[..], &state[..], session.answered);
        let new = NewAnswer { ask: name, question, after, response, state, last: is_last };
        match ledger.with(|ledger| ledger.store_answer(account, key, &new)) {
            // Another question advanced the session. The draw is discarded: nobody saw it, and the reason does not
            // depend on it.
            Err(LedgerError::SessionAdvanced { .. }) => {}
            Ok(added) => return Ok(stored_bytes(added.answer, added.repeated, added.head)),
            Err(error) => return Err(Error::from(error).into()),
        }
    }
    Err(Error::Busy { key: key.to_owned() }.into())
}

/// The answer stored under a question's name, if there is one.
pub(super) fn find_answer(
    ledger: &mut impl LedgerAccess,
    (account, key): (&str, &str),
    (name, question): (&str, Hash),
) -> Result<Option<StoredBytes>, Error> {
    let stored = ledger.with(|ledger| {
        let answer = ledger.stored_answer(account, key, name)?;
        answer.map(|answer| Ok((answer, ledger.head()?))).transpose()
    })?;
    stored.map(|(answer, head)| repeated_answer(answer, question, name, head)).transpose()
}

/// Returns an answer that an earlier call stored.
fn repeated_answer(
    answer: SessionAnswer,
    question: Hash,
    name: &str,
    head: Head,
) -> Result<StoredBytes, Error> {
    if answer.question != question {
        return Err(LedgerError::KeyInUse { key: name.to_owned() }.into());
    }
    Ok(stored_bytes(answer, true, head))
}

fn stored_bytes(answer: SessionAnswer, is_repeated: bool, head: Head) -> StoredBytes {
    StoredBytes { bytes: answer.response, entry: answer.entry, is_repeated, head }
}
