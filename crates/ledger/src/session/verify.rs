//! Sessions as they should be.

use crate::chain::Hash;
use crate::error::LedgerError;
use crate::name::Place;
use crate::rows::Session;
use crate::tables::Tables;

use super::replay::{Kept, KeptAnswer, Sessions};

/// How many are read at a time.
const PAGE: u64 = 100;

/// The first problem with sessions, their states and their answers, if there is one: from an entry on before which there
/// were so many sessions and answers, and with those that were not over.
pub(crate) fn sessions(
    tables: &mut Tables<'_>,
    mut due: Sessions,
    mut after: i64,
    before: [usize; 2],
) -> Result<Option<String>, LedgerError> {
    let is_earlier = |kept: &Kept| i64::try_from(kept.begun).is_ok_and(|begun| begun <= after);
    let earlier: Vec<Place> = due
        .sessions
        .iter()
        .filter(|(_, kept)| is_earlier(kept))
        .map(|(place, _)| place.clone())
        .collect();
    let going = due.sessions.values().filter(|kept| kept.ended.is_none()).count();
    let [sessions, answers] = before;
    let counts = tables.counts(["ledger_session", "ledger_answer"])?;
    let new = due.sessions.len() - earlier.len();
    if counts != [sessions + new, answers + due.answers.len()] || tables.states()? != going {
        return Ok(Some("sessions, states or answers are missing, or too many".to_owned()));
    }
    let from = after;
    for (account, key) in earlier {
        let found = tables.session(&account, &key)?;
        let problem = match found {
            Some(session) => unlike(tables, &mut due, session)?,
            None => Some(format!("session {key:?} is missing")),
        };
        if problem.is_some() {
            return Ok(problem);
        }
    }
    loop {
        let page = tables.sessions(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = i64::try_from(last.begun).unwrap_or(i64::MAX);
        for session in page {
            if let Some(problem) = unlike(tables, &mut due, session)? {
                return Ok(Some(problem));
            }
        }
    }
    // What is filed before all that is read was on no page.
    if let Some((_, key)) = due.sessions.keys().next() {
        return Ok(Some(format!("session {key:?} was begun and is missing")));
    }
    self::answers(tables, due, from)
}

/// What is wrong with a stored session, which is taken off what is due.
fn unlike(
    tables: &mut Tables<'_>,
    due: &mut Sessions,
    session: Session,
) -> Result<Option<String>, LedgerError> {
    let state = tables.state_digest(&session.account, &session.key)?;
    let stored = Kept {
        begun: session.begun,
        declaration: Hash::of(&session.declaration).to_string(),
        state: state.map(|state| state.to_string()),
        answered: session.answered,
        ended: session.ended,
    };
    let key = session.key.clone();
    let is_same = due.sessions.remove(&(session.account, session.key)) == Some(stored);
    Ok((!is_same).then(|| format!("session {key:?} is not what its history says")))
}

fn answers(
    tables: &mut Tables<'_>,
    mut due: Sessions,
    mut after: i64,
) -> Result<Option<String>, LedgerError> {
    loop {
        let page = tables.answers(after, PAGE)?;
        let Some((last, _)) = page.last() else { break };
        after = i64::try_from(last.entry).unwrap_or(i64::MAX);
        for (answer, response) in page {
            let response = response.map(|(hash, length)| (hash.to_string(), length));
            let stored = KeptAnswer {
                place: (answer.account, answer.key.clone()),
                number: answer.number,
                ask: answer.ask.clone(),
                question: answer.question.to_string(),
                response: response.unwrap_or_default(),
            };
            if due.answers.remove(&answer.entry) != Some(stored) {
                let (ask, key) = (answer.ask, answer.key);
                let problem = format!("answer {ask:?} of {key:?} is not what its history says");
                return Ok(Some(problem));
            }
        }
    }
    let missing = due.answers.values().next();
    Ok(missing.map(|due| format!("answer {:?} of {:?} is missing", due.ask, due.place.1)))
}
