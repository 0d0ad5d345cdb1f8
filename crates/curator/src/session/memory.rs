//! Sessions about data in memory.

use super::steps::{SessionReceipt, answer_step, open_session, pending_answer};
use crate::charge::{Bill, Error, StoredReply, text};
use counterpoint_ledger::{Head, Ledger};
use counterpoint_mechanisms::{Data, InteractiveMechanism, SessionQuery};

/// Opens a session and debits all of it. If the bill's key was opened before with the same declaration, returns that
/// session as it is now: nothing is charged or drawn again.
///
/// # Errors
/// [`Error`]; a failure after the debit leaves the session charged, and opening it may be tried again.
pub fn open(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    declared: &InteractiveMechanism,
    data: &Data,
) -> Result<SessionReceipt, Error> {
    let protocol = declared.under(data.relation())?;
    open_session(ledger, bill, &protocol, &text::write(declared)?, data.part())
}

/// Asks an open session. `name` is the caller's name for this question in the session: the same question asked again
/// under it gets the same answer.
///
/// # Errors
/// [`Error`]; nothing is shown, and the session stays as it was. Only a failure of the source of randomness ends it.
pub fn ask(
    ledger: &mut Ledger,
    place: (&str, &str),
    name: &str,
    question: &SessionQuery,
    data: &Data,
) -> Result<StoredReply, Error> {
    if let SessionQuery::Measure(recipe) = question {
        text::check_answer_fits(recipe)?;
    }
    let question_id = (name, text::digest(question)?);
    let stored = answer_step(ledger, place, question_id, data.part(), |declaration, state| {
        let draw = || {
            let declared: InteractiveMechanism =
                text::read("a session's declaration", declaration)?;
            Ok(declared.under(data.relation())?.answer(data, state, question))
        };
        pending_answer::<Error>(draw())
    });
    StoredReply::of(stored?, None)
}

/// Ends a session for good. Nothing is refunded.
///
/// # Errors
/// [`Error::Ledger`] if there is no such session.
pub fn close(ledger: &mut Ledger, (account, key): (&str, &str)) -> Result<Head, Error> {
    Ok(ledger.end_session(account, key)?)
}
