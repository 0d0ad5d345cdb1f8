//! Sessions as they should be.

use crate::chain::Hash;
use crate::error::LedgerError;
use crate::tables::Tables;

use super::replay::{Kept, KeptAnswer, Sessions};

/// How many are read at a time.
const PAGE: u64 = 100;

/// The first problem with sessions, their states and their answers, if there is one.
pub(crate) fn sessions(
    tables: &mut Tables<'_>,
    mut due: Sessions,
) -> Result<Option<String>, LedgerError> {
    let counts = tables.counts(["ledger_session", "ledger_state", "ledger_answer"])?;
    let going = due.sessions.values().filter(|kept| kept.ended.is_none()).count();
    if counts != [due.sessions.len(), going, due.answers.len()] {
        return Ok(Some("sessions, states or answers are missing, or too many".to_owned()));
    }
    let mut after = i64::MIN;
    loop {
        let page = tables.sessions(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = i64::try_from(last.begun).unwrap_or(i64::MAX);
        for session in page {
            let state = tables.state(&session.account, &session.key)?;
            let stored = Kept {
                begun: session.begun,
                declaration: Hash::of(&session.declaration).to_string(),
                state: state.map(|state| Hash::of(&state).to_string()),
                answered: session.answered,
                ended: session.ended,
            };
            if due.sessions.remove(&(session.account, session.key.clone())) != Some(stored) {
                let key = session.key;
                return Ok(Some(format!("session {key:?} is not what its history says")));
            }
        }
    }
    answers(tables, due)
}

fn answers(tables: &mut Tables<'_>, mut due: Sessions) -> Result<Option<String>, LedgerError> {
    let mut after = i64::MIN;
    loop {
        let page = tables.answers(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(None) };
        after = i64::try_from(last.entry).unwrap_or(i64::MAX);
        for answer in page {
            let stored = KeptAnswer {
                place: (answer.account, answer.key.clone()),
                number: answer.number,
                ask: answer.ask.clone(),
                question: answer.question.to_string(),
                response: (Hash::of(&answer.response).to_string(), answer.response.len() as u64),
            };
            if due.answers.remove(&answer.entry) != Some(stored) {
                let (ask, key) = (answer.ask, answer.key);
                let problem = format!("answer {ask:?} of {key:?} is not what its history says");
                return Ok(Some(problem));
            }
        }
    }
}
