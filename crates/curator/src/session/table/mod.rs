//! Sessions about tables: sparse vector, guess and check, and sequences, with filters and aggregates as questions.
//! Opening debits all of a session; each answer is stored together with the next state before it is shown. No ledger
//! handle is kept while the engine runs.

mod spec;
mod id;
mod program;
mod registered_session;

pub use id::SessionId;
pub use program::RegisteredMechanism;
pub use registered_session::{ask_registered, find_registered_answer, open_registered};
pub use spec::{QuerySpec, SessionMechanism, SessionQuestion, SessionRecord, SessionSpec};

use super::steps::{
    SessionReceipt, answer_step, find_answer as find_stored, open_session, pending_answer,
};
use crate::answer::{AnswerError, Stage, StageTimes};
use crate::charge::{Error, StoredReply, text};
use crate::engine::{EngineError, OpenTable, RawGroup, Tabulation, TallySpec, not_countable};
use counterpoint_ledger::{Hash, Head, Pool};
use counterpoint_mechanisms::{RawAggregate, RequiredAggregate, SessionQuery, State};
use counterpoint_questions::public::{Table, TableText};
use counterpoint_questions::{CheckedQuestion, Spend};
use serde::Serialize;
use spec::{illegal_parameter, relation};
use std::time::Instant;

/// The content that identifies a question to a session.
#[derive(Serialize)]
struct StepIdentity<'a> {
    version: u64,
    checked: &'a CheckedQuestion,
    guess: Option<f64>,
    spend: Option<Spend>,
    public: &'a TableText,
}

/// Opens a session about a table and debits all of it. If the key was opened before with the same declaration, returns
/// that session as it is now.
///
/// # Errors
/// [`AnswerError`]. It does not depend on the data, which are not read.
pub fn open(
    pool: &Pool,
    table: &OpenTable,
    id: &SessionId<'_>,
    slot: Option<&str>,
    spec: &SessionSpec,
) -> Result<SessionReceipt, AnswerError> {
    let (key, public) = (id.ledger_key()?, &table.public);
    let mechanism = spec.mechanism(public)?;
    let protocol = mechanism.under(relation(public));
    let protocol = protocol.map_err(|error| illegal_parameter("the session", &error))?;
    let declaration =
        SessionRecord::new(id.key, public.name(), SessionMechanism::BuiltIn(mechanism))
            .to_bytes()?;
    let bill = id.bill(&key, slot);
    Ok(pool.with(|ledger| open_session(ledger, &bill, &protocol, &declaration, None))?)
}

/// Asks an open session until the deadline, and measures each stage. `name` is the analyst's name for this question in
/// the session: the same question asked again under it gets the same answer.
///
/// # Errors
/// [`AnswerError`]. Its content depends on the question, the public description and the ledger, never on the data.
pub fn ask(
    pool: &Pool,
    table: &OpenTable,
    id: &SessionId<'_>,
    (name, question): (&str, &SessionQuestion),
    deadline: Instant,
    stages: &StageTimes,
) -> Result<StoredReply, AnswerError> {
    let (key, public) = (id.ledger_key()?, &table.public);
    let checked = question.question.check(public)?;
    let digest = digest(&checked, question, public)?;
    // The engine counts once, however often other questions are answered first.
    let mut found: Option<RawAggregate> = None;
    let place = (id.account, key.as_str());
    let mut draw = |declaration: &[u8], state: &State| {
        let record = SessionRecord::read(declaration)?;
        let query = record.session_query(&checked, question)?;
        if let SessionQuery::Measure(recipe) = &query {
            text::check_answer_fits(recipe)?;
        }
        let protocol = record.mechanism.built_in()?.under(relation(public)).map_err(Error::from)?;
        let needed = protocol.required_aggregate(state, &query).map_err(Error::from)?;
        let found = match &mut found {
            Some(found) => &*found,
            none => none.insert(count_for_step(table, &checked, &needed, deadline, stages)?),
        };
        Ok(stages.time(Stage::Noise, || protocol.answer_from_aggregate(state, &query, found)))
    };
    let stored = answer_step(&mut &*pool, place, (name, digest), None, |declaration, state| {
        pending_answer::<AnswerError>(draw(declaration, state))
    });
    Ok(StoredReply::of(stored?, None)?)
}

fn digest(
    checked: &CheckedQuestion,
    question: &SessionQuestion,
    table: &Table,
) -> Result<Hash, Error> {
    let SessionQuestion { guess, spend, .. } = *question;
    text::digest(&StepIdentity { version: 1, checked, guess, spend, public: table.text() })
}

/// The aggregate that a question needs, counted by the engine. **It is as secret as the data.**
fn count_for_step(
    table: &OpenTable,
    checked: &CheckedQuestion,
    needed: &RequiredAggregate,
    deadline: Instant,
    stages: &StageTimes,
) -> Result<RawAggregate, AnswerError> {
    let tally = match needed {
        RequiredAggregate::Units(summand) => Some(TallySpec::Sums(vec![*summand])),
        RequiredAggregate::Tally(measurement) => TallySpec::of(measurement),
        _ => None,
    };
    let tally = tally.ok_or_else(not_countable)?;
    let tabulation = Tabulation::new(checked, &[tally])?;
    table.compile(&[&tabulation])?;
    let failed = || AnswerError::Charged(EngineError::unexpected_rows());
    table.check_reachable(deadline).map_err(AnswerError::Unreachable)?;
    stages.count_runs(1);
    let count = || table.count(&[&tabulation], deadline);
    let counted = stages.time(Stage::Engine, count).map_err(AnswerError::Charged)?;
    let counted = counted.into_iter().flatten().next_back();
    let RawGroup { rows, mut numbers } = counted.ok_or_else(failed)?;
    let numbers = numbers.pop().ok_or_else(failed)?;
    match needed {
        RequiredAggregate::Tally(measurement) => {
            let tally = measurement.tally_from_numbers(rows, numbers).map_err(|_| failed())?;
            Ok(RawAggregate::Tally(Box::new(tally)))
        }
        _ => numbers.first().map(|units| RawAggregate::Units(*units)).ok_or_else(failed),
    }
}

/// The answer stored under a question's name, if there is one.
///
/// # Errors
/// [`AnswerError`] if the name stands for another question, or the ledger fails.
pub fn find_answer(
    pool: &Pool,
    table: &OpenTable,
    id: &SessionId<'_>,
    name: &str,
    question: &SessionQuestion,
) -> Result<Option<StoredReply>, AnswerError> {
    let (key, public) = (id.ledger_key()?, &table.public);
    let digest = digest(&question.question.check(public)?, question, public)?;
    let found = find_stored(&mut &*pool, (id.account, &key), (name, digest))?;
    Ok(found.map(|stored| StoredReply::of(stored, None)).transpose()?)
}

/// Ends a session for good. Nothing is refunded.
///
/// # Errors
/// [`AnswerError::Ledger`] if there is no such session.
pub fn close(pool: &Pool, id: &SessionId<'_>) -> Result<Head, AnswerError> {
    let key = id.ledger_key()?;
    Ok(pool.with(|ledger| ledger.end_session(id.account, &key))?)
}
