//! Answers a batch of questions: debits them in turn, counts for them together, then draws and stores each answer.

use super::debit::{
    BatchItem, DebitOutcome, Payer, StoredAnswer, debit, missing_count_error, store, stored_answer,
    stored_counts,
};
use super::draw::{count_batch, draw_answer};
use super::error::AnswerError;
use super::prepared::PreparedQuestion;
use super::stages::{Stage, StageTimes};
use crate::engine::{EngineError, OpenTable, REACH};
use counterpoint_ledger::Pool;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Answers one question: from its stored answer, or else by debiting, counting until the deadline, drawing and storing.
///
/// # Errors
/// [`AnswerError`]. Its content depends on the question, the public description and the ledger, never on the data.
pub fn answer_question(
    pool: &Pool,
    table: &OpenTable,
    question: &PreparedQuestion,
    payer: &Payer<'_>,
    deadline: Instant,
) -> Result<StoredAnswer, AnswerError> {
    let limit = deadline.saturating_duration_since(Instant::now());
    let answer = answer_batch(
        pool,
        &[BatchItem { table, question, payer: *payer }],
        limit,
        &StageTimes::default(),
    );
    answer
        .into_iter()
        .next()
        .unwrap_or_else(|| Err(AnswerError::Charged(EngineError::unexpected_rows())))
}

/// Answers questions. Each question is debited on its own, in the given order. Questions without a stored answer that
/// are about the same table are then counted together, in as few passes as the engine allows; a pass may take as long
/// as its questions would take one by one. The passes and their deadlines depend on the questions and the ledger alone.
/// Nothing is debited for an engine that cannot be reached, nor for a question that shares a count which is neither
/// stored nor asked for earlier in the batch.
pub fn answer_batch(
    pool: &Pool,
    questions: &[BatchItem<'_>],
    limit: Duration,
    stages: &StageTimes,
) -> Vec<Result<StoredAnswer, AnswerError>> {
    let unreachable = unreachable_tables(questions);
    let mut outcomes: Vec<Result<DebitOutcome, AnswerError>> = Vec::with_capacity(questions.len());
    for item in questions {
        let unreachable = unreachable.iter().find(|(table, _)| std::ptr::eq(*table, item.table));
        let one = stages.time(Stage::Ledger, || match unreachable {
            None => {
                check_shared_count(pool, item, questions.iter().zip(&outcomes))?;
                debit(pool, item.table, item.question, &item.payer)
            }
            Some((_, failed)) => stored_answer(pool, item)?
                .map(DebitOutcome::Stored)
                .ok_or_else(|| AnswerError::Unreachable(failed.clone())),
        });
        outcomes.push(one);
    }
    let is_paid =
        |outcomes: &Result<DebitOutcome, _>| matches!(outcomes, Ok(DebitOutcome::Paid(_)));
    let paid = questions.iter().zip(&outcomes).enumerate().filter(|(_, (_, one))| is_paid(one));
    let mut waiting: Vec<(usize, &BatchItem<'_>)> =
        paid.map(|(place, (item, _))| (place, item)).collect();
    stages.count_runs(waiting.len());
    let mut counted = BTreeMap::new();
    while let Some((_, first)) = waiting.first().copied() {
        let (mut some, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, item)| std::ptr::eq(item.table, first.table));
        waiting = some.split_off(some.len().min(MAX_BATCH)).into_iter().chain(rest).collect();
        let question: Vec<&PreparedQuestion> = some.iter().map(|(_, item)| item.question).collect();
        let deadline = Instant::now() + limit * question.len() as u32;
        let places = some.into_iter().map(|(place, _)| place);
        counted.extend(places.zip(count_batch(first.table, &question, deadline, stages)));
    }
    let answer = |(place, (item, outcomes)): (
        usize,
        (&BatchItem<'_>, Result<DebitOutcome, AnswerError>),
    )| {
        match outcomes? {
            DebitOutcome::Stored(answer) => Ok(answer),
            DebitOutcome::Paid(charge) => {
                let counted =
                    counted.remove(&place).unwrap_or_else(|| Err(EngineError::unexpected_rows()));
                let counted = counted.map_err(AnswerError::Charged)?;
                // A count earlier in the batch is stored by now. If it failed, this question is drawn when it is asked
                // again.
                let counts = stored_counts(pool, item.question, &item.payer);
                let counts =
                    counts.map_err(|error| AnswerError::Charged(EngineError::new(error)))?;
                if item.question.shared_count().is_some() && counts.is_none() {
                    return Err(AnswerError::Charged(EngineError::unexpected_rows()));
                }
                let measurements = item.question.measurements();
                let drawn = stages
                    .time(Stage::Noise, || draw_answer(measurements, counted, counts.as_deref()));
                let drawn = drawn.map_err(AnswerError::Charged)?;
                stages
                    .time(Stage::Ledger, || store(pool, item.question, &item.payer, charge, drawn))
            }
        }
    };
    questions.iter().zip(outcomes).enumerate().map(answer).collect()
}

/// Returns an error if a question shares a count that is neither stored nor paid for by an earlier question of the
/// batch.
fn check_shared_count<'a>(
    pool: &Pool,
    item: &BatchItem<'a>,
    before: impl Iterator<Item = (&'a BatchItem<'a>, &'a Result<DebitOutcome, AnswerError>)>,
) -> Result<(), AnswerError> {
    let Some(count) = item.question.shared_count() else { return Ok(()) };
    let mut paid = before.filter(|(other, outcomes)| {
        outcomes.is_ok()
            && other.payer.account == item.payer.account
            && other.question.key() == count.key()
    });
    match paid.next() {
        Some(_) => Ok(()),
        None if stored_counts(pool, item.question, &item.payer)?.is_some() => Ok(()),
        None => Err(missing_count_error(item.question, count)),
    }
}

/// The tables whose engines cannot be reached now, with the reasons.
fn unreachable_tables<'a>(questions: &[BatchItem<'a>]) -> Vec<(&'a OpenTable, EngineError)> {
    let mut tables: Vec<&OpenTable> = Vec::new();
    for item in questions {
        if !tables.iter().any(|table| std::ptr::eq(*table, item.table)) {
            tables.push(item.table);
        }
    }
    let reach = |table: &'a OpenTable| {
        let failed = table.check_reachable(Instant::now() + REACH).err()?;
        Some((table, failed))
    };
    tables.into_iter().filter_map(reach).collect()
}

/// The largest number of questions that are counted in one statement.
const MAX_BATCH: usize = 16;
