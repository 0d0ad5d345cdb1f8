//! Interactive mechanisms that are not part of this program. Concurrent composition covers any interactive mechanism
//! that has a guarantee (Lyu 2022, Theorem 1; Vadhan and Zhang 2023), whoever wrote it. The charge is the declared
//! guarantee, and whoever supplies the mechanism vouches for it. Everything else is as for built-in mechanisms: opening
//! debits all of the guarantee, and each reply is stored together with the next state before it is shown.

use super::steps::{
    LedgerAccess, MOST_STATE, PendingAnswer, SessionReceipt, StepError, answer_step,
};
use crate::charge::{Bill, Error, StoredBytes, text};
use counterpoint::Relation;
use counterpoint_ledger::{Hash, Request};
use counterpoint_wire::ledger::ReleaseRecord;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A mechanism that is not part of this program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomMechanism {
    /// The mechanism's name. History and answers show it, as the guarantee is its supplier's word.
    #[serde(rename = "own")]
    pub name: String,
    /// The releases that the whole session is charged as, however much of it is used.
    pub guarantee: Vec<ReleaseRecord>,
}

/// The data that a mechanism runs on, as far as the caller states it. It must match the account's data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataScope {
    /// The neighbouring relation.
    pub relation: Option<Relation>,
    /// The part of the data set; `None` for all of it.
    pub part: Option<Arc<str>>,
}

/// A reply and the next state, both as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The reply that is shown.
    pub reply: String,
    /// The next state, which is kept secret; `None` after the last reply.
    pub state: Option<String>,
}

impl Step {
    /// Returns an error unless the step can be stored. Storing a state as a text inside JSON at most doubles its
    /// length.
    pub(super) fn check_length(&self) -> Result<(), Error> {
        let state = self.state.as_ref().map_or(0, |state| 2 * state.len() + MOST_STATE);
        text::check_length("a reply", self.reply.len()).and(text::check_length("a state", state))
    }
}

/// The stored state of a session: `None` before the mechanism's first step.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    started: Option<String>,
}

/// Opens a session of a custom mechanism and debits its guarantee. Runs nothing. If the bill's key was opened before
/// with the same name and guarantee, returns that session as it is now.
///
/// # Errors
/// [`Error`]; a failure after the debit leaves the session charged, and opening it may be tried again.
pub fn open_custom(
    ledger: &mut impl LedgerAccess,
    bill: &Bill<'_>,
    mechanism: &CustomMechanism,
    scope: &DataScope,
) -> Result<SessionReceipt, Error> {
    open_custom_as(ledger, bill, mechanism, scope, &text::write(mechanism)?)
}

/// Opens a session whose stored declaration holds more than the mechanism.
pub(super) fn open_custom_as(
    ledger: &mut impl LedgerAccess,
    bill: &Bill<'_>,
    mechanism: &CustomMechanism,
    scope: &DataScope,
    declaration: &[u8],
) -> Result<SessionReceipt, Error> {
    text::check_length("the declaration", declaration.len())?;
    let charge = bill.charge_for_described(mechanism.guarantee.clone(), scope.part.as_ref())?;
    let request = Request::new(bill.account, bill.key, &charge);
    let request = match scope.relation {
        Some(relation) => request.with_relation(relation),
        None => request,
    };
    let request = Request {
        analyst: bill.analyst,
        session: true,
        question: Some(Hash::of(declaration)),
        owner_mechanism: Some(&mechanism.name),
        ..request
    };
    let state = text::salt_state(State { started: None }, scope.part.as_ref())?;
    let (charge, session) = ledger.with(|ledger| {
        let debit = ledger.reserve(&request)?;
        let session = match ledger.session(bill.account, bill.key)? {
            Some(session) => session,
            None => ledger.begin_session(bill.account, bill.key, declaration, &state)?,
        };
        Ok((debit.charge, session))
    })?;
    Ok(SessionReceipt::of(charge, session))
}

/// Asks an open session of a custom mechanism. `step` receives the state (`None` before the first question) and the
/// question. If several callers ask at once, `step` may run more than once for one answer; only the stored reply is
/// shown. `name` is the caller's name for this question.
///
/// # Errors
/// [`Error`], or the error of `step`.
pub fn ask_custom<E: From<Error>>(
    ledger: &mut impl LedgerAccess,
    place: (&str, &str),
    (name, question): (&str, &str),
    scope: &DataScope,
    mut step: impl FnMut(Option<&str>, &str) -> Result<Step, StepError<E>>,
) -> Result<StoredBytes, E> {
    let part = scope.part.as_ref();
    let question_id = (name, Hash::of(question.as_bytes()));
    answer_step(ledger, place, question_id, part, |_, state: &State| {
        let step = step(state.started.as_deref(), question)?;
        step.check_length().map_err(|error| StepError::Failed(error.into()))?;
        let Step { reply, state } = step;
        let is_last = state.is_none();
        Ok(PendingAnswer { response: reply.into_bytes(), state: State { started: state }, is_last })
    })
}
