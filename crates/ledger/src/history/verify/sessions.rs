//! Compares sessions with the books.

use crate::history::replay::{AnswerRecord, SessionRecord, Sessions};
use crate::rules::chain::Hash;
use crate::rules::error::{Result, damaged};
use crate::rules::name::NameInAccount;
use crate::rules::rows::SessionRow;
use crate::store::tables::Tables;

/// The number of sessions or answers that are read at a time.
const PAGE: u64 = 100;

/// Compares sessions, their states and their answers with the books: the sessions begun after an entry, and those that
/// had not ended at that entry. Up to that entry there were `sessions` sessions and `answers` answers.
pub(super) fn sessions(
    tables: &mut Tables<'_>,
    mut due: Sessions,
    mut after: i64,
    [sessions, answers]: [usize; 2],
) -> Result<()> {
    let is_earlier =
        |kept: &SessionRecord| i64::try_from(kept.begun).is_ok_and(|begun| begun <= after);
    let earlier = due.sessions.iter().filter(|(_, kept)| is_earlier(kept));
    let earlier: Vec<NameInAccount> = earlier.map(|(place, _)| place.clone()).collect();
    let going = due.sessions.values().filter(|kept| kept.ended.is_none()).count();
    let counts = tables.counts(["ledger_session", "ledger_answer"])?;
    let new = due.sessions.len() - earlier.len();
    if counts != [sessions + new, answers + due.answers.len()] || tables.states()? != going {
        return Err(damaged("sessions, states or answers are missing, or there are too many"));
    }
    let from = after;
    for (account, key) in earlier {
        let found = tables.session(&account, &key)?;
        let missing = || damaged(format_args!("session {key:?} is missing"));
        check(tables, &mut due, found.ok_or_else(missing)?)?;
    }
    loop {
        let page = tables.sessions(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = i64::try_from(last.begun).unwrap_or(i64::MAX);
        page.into_iter().try_for_each(|session| check(tables, &mut due, session))?;
    }
    // A session that is in the books and on no page is missing.
    if let Some((_, key)) = due.sessions.keys().next() {
        return Err(damaged(format_args!("session {key:?} was begun and is missing")));
    }
    self::answers(tables, due, from)
}

/// Compares a stored session with the books, and takes it off the books.
fn check(tables: &mut Tables<'_>, due: &mut Sessions, session: SessionRow) -> Result<()> {
    let state = tables.state_digest(&session.account, &session.key)?;
    let stored = SessionRecord {
        begun: session.begun,
        declaration: Hash::of(&session.declaration).to_string(),
        state: state.map(|state| state.to_string()),
        answered: session.answered,
        ended: session.ended,
    };
    let key = session.key.clone();
    if due.sessions.remove(&(session.account, session.key)) != Some(stored) {
        return Err(damaged(format_args!("session {key:?} is not what its history says")));
    }
    Ok(())
}

fn answers(tables: &mut Tables<'_>, mut due: Sessions, mut after: i64) -> Result<()> {
    loop {
        let page = tables.answers(after, PAGE)?;
        let Some((last, _)) = page.last() else { break };
        after = i64::try_from(last.entry).unwrap_or(i64::MAX);
        for (answer, response) in page {
            let response = response.map(|(hash, length)| (hash.to_string(), length));
            let stored = AnswerRecord {
                place: (answer.account, answer.key.clone()),
                number: answer.number,
                ask: answer.ask.clone(),
                question: answer.question.to_string(),
                response: response.unwrap_or_default(),
            };
            if due.answers.remove(&answer.entry) != Some(stored) {
                let (ask, key) = (answer.ask, answer.key);
                let problem = format!("answer {ask:?} of {key:?} is not what its history says");
                return Err(damaged(problem));
            }
        }
    }
    let Some(AnswerRecord { ask, place: (_, key), .. }) = due.answers.values().next() else {
        return Ok(());
    };
    Err(damaged(format_args!("answer {ask:?} of {key:?} is missing")))
}
