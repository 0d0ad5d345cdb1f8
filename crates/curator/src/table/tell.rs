//! Questions, answered in turn: debited, run together, stored.

use super::debit::{Debited, Due, Payer, Told, Unanswered, debit, keep, remembered};
use super::draw::draw_all;
use super::held::{Held, REACH, unlike};
use super::ready::Ready;
use crate::engine::Failed;
use crate::stages::{Stage, Stages};
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
    told.into_iter().next().unwrap_or_else(|| Err(Unanswered::Charged(unlike())))
}

/// Answers questions: each is debited on its own, in the order in which they are given, and what is not stored is run
/// together with others about the same table, in as few passes as the engine allows; a pass may take as long as its questions
/// one by one. Which passes there are, and until when each may take, depends on the questions and the ledger alone. Nothing is
/// debited for an engine that cannot be reached.
pub fn tell_all(
    pool: &Pool,
    questions: &[Due<'_>],
    limit: Duration,
    stages: &Stages,
) -> Vec<Result<Told, Unanswered>> {
    let lost = unreachable(questions);
    let debited = questions.iter().map(|due| {
        let lost = lost.iter().find(|(held, _)| std::ptr::eq(*held, due.held));
        stages.time(Stage::Ledger, || match lost {
            None => debit(pool, due.held, due.ready, &due.payer),
            Some((_, failed)) => remembered(pool, due)?
                .map(Debited::Stored)
                .ok_or_else(|| Unanswered::Unreachable(failed.clone())),
        })
    });
    let debited: Vec<Result<Debited, Unanswered>> = debited.collect();
    let is_paid = |debited: &Result<Debited, _>| matches!(debited, Ok(Debited::Paid(_)));
    let paid = questions.iter().zip(&debited).enumerate().filter(|(_, (_, one))| is_paid(one));
    let mut waiting: Vec<(usize, &Due<'_>)> = paid.map(|(place, (due, _))| (place, due)).collect();
    stages.count_runs(waiting.len());
    let mut drawn = BTreeMap::new();
    while let Some((_, first)) = waiting.first().copied() {
        let (mut some, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, due)| std::ptr::eq(due.held, first.held));
        waiting = some.split_off(some.len().min(TOGETHER)).into_iter().chain(rest).collect();
        let ready: Vec<&Ready> = some.iter().map(|(_, due)| due.ready).collect();
        let deadline = Instant::now() + limit * ready.len() as u32;
        let places = some.into_iter().map(|(place, _)| place);
        drawn.extend(places.zip(draw_all(first.held, &ready, deadline, stages)));
    }
    let told = |(place, (due, debited)): (usize, (&Due<'_>, Result<Debited, Unanswered>))| {
        match debited? {
            Debited::Stored(told) => Ok(told),
            Debited::Paid(charge) => {
                let drawn = drawn.remove(&place).unwrap_or_else(|| Err(unlike()));
                let drawn = drawn.map_err(Unanswered::Charged)?;
                stages.time(Stage::Ledger, || keep(pool, due.ready, &due.payer, charge, drawn))
            }
        }
    };
    questions.iter().zip(debited).enumerate().map(told).collect()
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
