//! Counting for questions and drawing their answers, **which are to be charged first**.

use super::ready::Ready;
use super::stages::{Stage, Stages};
use crate::engine::{Counted, Failed, Held};
use counterpoint_mechanisms::{Drawn, Measurement};
use std::time::Instant;

/// Counts for questions in one pass, **each of which is to be charged first**.
pub(super) fn count_all(
    held: &Held,
    questions: &[&Ready],
    deadline: Instant,
    stages: &Stages,
) -> Vec<Result<Vec<Counted>, Failed>> {
    let list: Vec<_> = questions.iter().map(|ready| ready.tabulation()).collect();
    match stages.time(Stage::Engine, || held.count(&list, deadline)) {
        Ok(counted) => counted.into_iter().map(Ok).collect(),
        Err(failed) => questions.iter().map(|_| Err(failed.clone())).collect(),
    }
}

/// An answer, drawn from what was counted in each group, and from the noisy counts of each group if it shares them.
pub(crate) fn drawn(
    measured: &[Measurement],
    counted: Vec<Counted>,
    counts: Option<&[f64]>,
) -> Result<Vec<Vec<Drawn>>, Failed> {
    let cell = |(cell, Counted { rows, numbers }): (usize, Counted)| {
        let draw = |(measurement, numbers): (&Measurement, Vec<i128>)| {
            let tally = measurement.tallied(rows, numbers).map_err(|_| Failed::unlike())?;
            let drawn = match counts {
                Some(counts) => {
                    let count = counts.get(cell).copied().ok_or_else(Failed::unlike)?;
                    measurement.draw_with_count(&tally, count)
                }
                None => measurement.draw(&tally),
            };
            drawn.map_err(Failed::new)
        };
        measured.iter().zip(numbers).map(draw).collect()
    };
    counted.into_iter().enumerate().map(cell).collect()
}

/// The noisy count of each group, of what was drawn for a count.
pub(crate) fn counts(drawn: &[Vec<Drawn>]) -> Result<Vec<f64>, Failed> {
    let count = |parts: &Vec<Drawn>| match parts.as_slice() {
        [drawn] => drawn.count().ok_or_else(Failed::unlike),
        _ => Err(Failed::unlike()),
    };
    drawn.iter().map(count).collect()
}

/// An answer from made-up rows, with a count drawn for it alone if it shares one.
pub(crate) fn rehearsed(
    held: &Held,
    ready: &Ready,
    deadline: Instant,
) -> Result<Vec<Vec<Drawn>>, Failed> {
    let shared = match ready.count() {
        Some(count) => Some(counts(&rehearsed(held, count, deadline)?)?),
        None => None,
    };
    let counted = held.count(&[ready.tabulation()], deadline)?;
    drawn(ready.measured(), counted.concat(), shared.as_deref())
}
