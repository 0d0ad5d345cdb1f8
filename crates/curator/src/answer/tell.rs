//! Questions, answered in turn: debited, run together, stored.

use super::debit::{
    Debited, Due, Payer, Told, debit, keep, remembered, stored_counts, without_count,
};
use super::draw::{count_all, drawn};
use super::ready::Ready;
use super::stages::{Stage, Stages};
use super::unanswered::Unanswered;
use crate::engine::{Failed, Held, REACH};
use counterpoint_ledger::Pool;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Answers a question: from what is stored, or else debited, run until the deadline, drawn, stored.
///
/// # Errors
/// [`Unanswered`]; what it says depends on the question, on what is public and on the ledger, never on the data.
pub fn tell(
    pool: &Pool,
    held: &Held,
    ready: &Ready,
    payer: &Payer<'_>,
    deadline: Instant,
) -> Result<Told, Unanswered> {
    let limit = deadline.saturating_duration_since(Instant::now());
    let told = tell_all(pool, &[Due { held, ready, payer: *payer }], limit, &Stages::default());
    told.into_iter().next().unwrap_or_else(|| Err(Unanswered::Charged(Failed::unlike())))
}

/// Answers questions: each is debited on its own, in the order in which they are given, and what is not stored is run
/// together with others about the same table, in as few passes as the engine allows; a pass may take as long as its questions
/// one by one. Which passes there are, and until when each may take, depends on the questions and the ledger alone. Nothing is
/// debited for an engine that cannot be reached, nor for a question whose count is neither stored nor among those before it.
pub fn tell_all(
    pool: &Pool,
    questions: &[Due<'_>],
    limit: Duration,
    stages: &Stages,
) -> Vec<Result<Told, Unanswered>> {
    let lost = unreachable(questions);
    let mut debited: Vec<Result<Debited, Unanswered>> = Vec::with_capacity(questions.len());
    for due in questions {
        let lost = lost.iter().find(|(held, _)| std::ptr::eq(*held, due.held));
        let one = stages.time(Stage::Ledger, || match lost {
            None => {
                has_count(pool, due, questions.iter().zip(&debited))?;
                debit(pool, due.held, due.ready, &due.payer)
            }
            Some((_, failed)) => remembered(pool, due)?
                .map(Debited::Stored)
                .ok_or_else(|| Unanswered::Unreachable(failed.clone())),
        });
        debited.push(one);
    }
    let is_paid = |debited: &Result<Debited, _>| matches!(debited, Ok(Debited::Paid(_)));
    let paid = questions.iter().zip(&debited).enumerate().filter(|(_, (_, one))| is_paid(one));
    let mut waiting: Vec<(usize, &Due<'_>)> = paid.map(|(place, (due, _))| (place, due)).collect();
    stages.count_runs(waiting.len());
    let mut counted = BTreeMap::new();
    while let Some((_, first)) = waiting.first().copied() {
        let (mut some, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, due)| std::ptr::eq(due.held, first.held));
        waiting = some.split_off(some.len().min(TOGETHER)).into_iter().chain(rest).collect();
        let ready: Vec<&Ready> = some.iter().map(|(_, due)| due.ready).collect();
        let deadline = Instant::now() + limit * ready.len() as u32;
        let places = some.into_iter().map(|(place, _)| place);
        counted.extend(places.zip(count_all(first.held, &ready, deadline, stages)));
    }
    let told = |(place, (due, debited)): (usize, (&Due<'_>, Result<Debited, Unanswered>))| {
        match debited? {
            Debited::Stored(told) => Ok(told),
            Debited::Paid(charge) => {
                let counted = counted.remove(&place).unwrap_or_else(|| Err(Failed::unlike()));
                let counted = counted.map_err(Unanswered::Charged)?;
                // A count that comes before is stored by now; one that failed is drawn when it is asked again.
                let counts = stored_counts(pool, due.ready, &due.payer);
                let counts = counts.map_err(|error| Unanswered::Charged(Failed::new(error)))?;
                if due.ready.count().is_some() && counts.is_none() {
                    return Err(Unanswered::Charged(Failed::unlike()));
                }
                let measured = due.ready.measured();
                let drawn =
                    stages.time(Stage::Noise, || drawn(measured, counted, counts.as_deref()));
                let drawn = drawn.map_err(Unanswered::Charged)?;
                stages.time(Stage::Ledger, || keep(pool, due.ready, &due.payer, charge, drawn))
            }
        }
    };
    questions.iter().zip(debited).enumerate().map(told).collect()
}

/// An error if a question shares a count that is neither stored nor paid for by a question before it.
fn has_count<'a>(
    pool: &Pool,
    due: &Due<'a>,
    before: impl Iterator<Item = (&'a Due<'a>, &'a Result<Debited, Unanswered>)>,
) -> Result<(), Unanswered> {
    let Some(count) = due.ready.count() else { return Ok(()) };
    let mut paid = before.filter(|(other, debited)| {
        debited.is_ok()
            && other.payer.account == due.payer.account
            && other.ready.key() == count.key()
    });
    match paid.next() {
        Some(_) => Ok(()),
        None if stored_counts(pool, due.ready, &due.payer)?.is_some() => Ok(()),
        None => Err(without_count(due.ready, count)),
    }
}

/// The tables whose engines cannot be reached now.
fn unreachable<'a>(questions: &[Due<'a>]) -> Vec<(&'a Held, Failed)> {
    let mut tables: Vec<&Held> = Vec::new();
    for due in questions {
        if !tables.iter().any(|held| std::ptr::eq(*held, due.held)) {
            tables.push(due.held);
        }
    }
    let reach = |held: &'a Held| {
        let failed = held.reach(Instant::now() + REACH).err()?;
        Some((held, failed))
    };
    tables.into_iter().filter_map(reach).collect()
}

/// So many questions are run together at most.
const TOGETHER: usize = 16;
