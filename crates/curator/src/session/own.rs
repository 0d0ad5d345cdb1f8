//! Interactive mechanisms that people bring. Concurrent composition covers any interactive mechanism that has a guarantee
//! (Lyu 2022, Theorem 1; Vadhan and Zhang 2023), whoever wrote it: it is charged what it is declared to cost, and
//! that this is true is the word of whoever brings it. Everything else is as for ours: all of it is debited when it is opened, and each
//! reply is stored, with the state after it, before it is shown.

use super::steps::{Drawn, MOST_STATE, Opened, Reach, Unfinished, answered};
use crate::charge::{Bill, Error, Stored, text};
use counterpoint::Relation;
use counterpoint_ledger::{Hash, Request};
use counterpoint_wire::ledger::Described;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A mechanism that somebody brings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    /// Its name, by which history and answers tell whose word the guarantee is.
    pub own: String,
    /// What all of it is charged as, however much of it is used.
    pub guarantee: Vec<Described>,
}

/// What a mechanism's data are, as far as that is said: it must be what the account is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// What neighbours are.
    pub relation: Option<Relation>,
    /// The part of the data set, if not all of it.
    pub part: Option<Arc<str>>,
}

/// A reply, and the state after it, both as JSON; no state after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is shown.
    pub reply: String,
    /// What is kept.
    pub state: Option<String>,
}

impl Step {
    /// Whether it can be stored. A state is stored as a text in a text, which takes at most twice as much.
    pub(super) fn fits(&self) -> Result<(), Error> {
        let state = self.state.as_ref().map_or(0, |state| 2 * state.len() + MOST_STATE);
        text::short("a reply", self.reply.len()).and(text::short("a state", state))
    }
}

/// The state of a session before its mechanism has been started, and after.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    started: Option<String>,
}

/// Opens a session of a mechanism that somebody brings, and debits all of it. Nothing is run. If the bill's key was
/// opened before with the same name and guarantee, it is that session, as it is now.
///
/// # Errors
/// [`Error`]; what fails after the debit stays charged, and may be tried again.
pub fn open_own(
    ledger: &mut impl Reach,
    bill: &Bill<'_>,
    own: &Own,
    about: &About,
) -> Result<Opened, Error> {
    declared_own(ledger, bill, own, about, &text::write(own)?)
}

/// The same with a declaration that says more than what the mechanism is.
pub(super) fn declared_own(
    ledger: &mut impl Reach,
    bill: &Bill<'_>,
    own: &Own,
    about: &About,
    declaration: &[u8],
) -> Result<Opened, Error> {
    text::short("the declaration", declaration.len())?;
    let asked = bill.described(own.guarantee.clone(), about.part.as_ref())?;
    let request = Request::new(bill.account, bill.key, &asked);
    let request = match about.relation {
        Some(relation) => request.under(relation),
        None => request,
    };
    let request = Request {
        analyst: bill.analyst,
        session: true,
        question: Some(Hash::of(declaration)),
        own: Some(&own.own),
        ..request
    };
    let state = text::salted(State { started: None }, about.part.as_ref())?;
    let (charge, session) = ledger.with(|ledger| {
        let debit = ledger.reserve(&request)?;
        let session = match ledger.session(bill.account, bill.key)? {
            Some(session) => session,
            None => ledger.begin(bill.account, bill.key, declaration, &state)?,
        };
        Ok((debit.charge, session))
    })?;
    Ok(Opened::of(charge, session))
}

/// Asks an open session of a mechanism that somebody brings. `step` is told the state, `None` before the first question, and
/// the question. It may be run several times where many ask at once, and only what is stored is shown. `name` is the
/// caller's for this question.
///
/// # Errors
/// [`Error`], or what `step` says.
pub fn ask_own<E: From<Error>>(
    ledger: &mut impl Reach,
    place: (&str, &str),
    (name, question): (&str, &str),
    about: &About,
    mut step: impl FnMut(Option<&str>, &str) -> Result<Step, Unfinished<E>>,
) -> Result<Stored, E> {
    let part = about.part.as_ref();
    let asked = (name, Hash::of(question.as_bytes()));
    answered(ledger, place, asked, part, |_, state: &State| {
        let step = step(state.started.as_deref(), question)?;
        step.fits().map_err(|error| Unfinished::Failed(error.into()))?;
        let Step { reply, state } = step;
        let last = state.is_none();
        Ok(Drawn { response: reply.into_bytes(), state: State { started: state }, last })
    })
}
