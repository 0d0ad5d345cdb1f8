//! Sessions of mechanisms that the owner registered.

use super::id::SessionId;
use super::program::{ProgramError, RegisteredMechanism, step};
use super::spec::{SessionMechanism, SessionRecord};
use crate::answer::AnswerError;
use crate::charge::StoredBytes;
use crate::engine::{EngineError, OpenTable};
use crate::session::custom::{DataScope, Step, ask_custom, open_custom_as};
use crate::session::steps::{SessionReceipt, StepError, find_answer};
use counterpoint_ledger::{Hash, Pool};
use std::time::{Duration, Instant};

/// Opens a session of a registered mechanism and debits its guarantee. Does not run the program.
///
/// # Errors
/// [`AnswerError`]. It does not depend on the data.
pub fn open_registered(
    pool: &Pool,
    table: &OpenTable,
    id: &SessionId<'_>,
    slot: Option<&str>,
    mechanism: &RegisteredMechanism,
) -> Result<SessionReceipt, AnswerError> {
    let (key, custom) = (id.ledger_key()?, &mechanism.mechanism);
    let charged = SessionMechanism::Custom(custom.clone());
    let declaration = SessionRecord::new(id.key, &mechanism.table, charged).to_bytes()?;
    let scope = DataScope { relation: Some(table.public.relation()), part: None };
    Ok(open_custom_as(&mut &*pool, &id.bill(&key, slot), custom, &scope, &declaration)?)
}

/// Asks an open session of a registered mechanism. The question is JSON. Each run of the program may take until
/// `limit`.
///
/// # Errors
/// [`AnswerError`]: [`AnswerError::Ended`] if the program fails.
pub fn ask_registered(
    pool: &Pool,
    id: &SessionId<'_>,
    (name, question): (&str, &str),
    mechanism: &RegisteredMechanism,
    limit: Duration,
) -> Result<StoredBytes, AnswerError> {
    let key = id.ledger_key()?;
    let (place, scope) = ((id.account, key.as_str()), DataScope::default());
    ask_custom(&mut &*pool, place, (name, question), &scope, |state, question| {
        // The length of a reply may reveal data, so the error is for the operator alone.
        let fits = |step: Step| {
            step.check_length().map(|()| step).map_err(|error| EngineError::new(error).into())
        };
        let deadline = Instant::now() + limit;
        let made = step(mechanism, state, question, deadline).and_then(fits);
        made.map_err(|fault| match fault {
            ProgramError::NotStarted(failed) => {
                StepError::Stopped(AnswerError::Unreachable(failed))
            }
            ProgramError::Failed(failed) => StepError::Failed(AnswerError::Ended(failed)),
        })
    })
}

/// The answer stored under a question's name in a session of a registered mechanism, if there is one.
///
/// # Errors
/// [`AnswerError`] if the name stands for another question, or the ledger fails.
pub fn find_registered_answer(
    pool: &Pool,
    id: &SessionId<'_>,
    (name, question): (&str, &str),
) -> Result<Option<StoredBytes>, AnswerError> {
    let key = id.ledger_key()?;
    let question_id = (name, Hash::of(question.as_bytes()));
    Ok(find_answer(&mut &*pool, (id.account, &key), question_id)?)
}
