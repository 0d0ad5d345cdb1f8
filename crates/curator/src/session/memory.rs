//! Sessions about data in memory.

use super::steps::{Opened, answered, drawn_by_ours, opened};
use crate::charge::{Bill, Error, Shown, text};
use counterpoint_ledger::{Head, Ledger};
use counterpoint_mechanisms::{Data, Interactive, Question};

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
    let stored = answered(ledger, place, asked, data.part(), |declaration, state| {
        let drawn = || {
            let declared: Interactive = text::read("a session's declaration", declaration)?;
            Ok(declared.under(data.relation())?.answer(data, state, question))
        };
        drawn_by_ours::<Error>(drawn())
    });
    Shown::of(stored?, None)
}

/// Ends a session for good. It is not refunded.
///
/// # Errors
/// [`Error::Ledger`] if there is no such session.
pub fn close(ledger: &mut Ledger, (account, key): (&str, &str)) -> Result<Head, Error> {
    Ok(ledger.end(account, key)?)
}
