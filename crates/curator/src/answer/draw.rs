//! Counts for questions and draws their answers. **The questions must have been charged before.**

use super::prepared::PreparedQuestion;
use super::stages::{Stage, StageTimes};
use crate::engine::{EngineError, OpenTable, RawGroup};
use counterpoint_mechanisms::{Measurement, NoisyAnswer};
use std::time::Instant;

/// Counts for questions in one pass. **Each question must have been charged before.**
pub(super) fn count_batch(
    table: &OpenTable,
    questions: &[&PreparedQuestion],
    deadline: Instant,
    stages: &StageTimes,
) -> Vec<Result<Vec<RawGroup>, EngineError>> {
    let list: Vec<_> = questions.iter().map(|question| question.tabulation()).collect();
    match stages.time(Stage::Engine, || table.count(&list, deadline)) {
        Ok(raw) => raw.into_iter().map(Ok).collect(),
        Err(failed) => questions.iter().map(|_| Err(failed.clone())).collect(),
    }
}

/// Draws an answer from the raw numbers of each group and, if the question shares a count, from the noisy count of each
/// group.
pub(crate) fn draw_answer(
    measurements: &[Measurement],
    raw: Vec<RawGroup>,
    counts: Option<&[f64]>,
) -> Result<Vec<Vec<NoisyAnswer>>, EngineError> {
    let cell = |(cell, RawGroup { rows, numbers }): (usize, RawGroup)| {
        let draw = |(measurement, numbers): (&Measurement, Vec<i128>)| {
            let tally = measurement
                .tally_from_numbers(rows, numbers)
                .map_err(|_| EngineError::unexpected_rows())?;
            let drawn = match counts {
                Some(counts) => {
                    let count =
                        counts.get(cell).copied().ok_or_else(EngineError::unexpected_rows)?;
                    measurement.draw_with_count(&tally, count)
                }
                None => measurement.draw(&tally),
            };
            drawn.map_err(EngineError::new)
        };
        measurements.iter().zip(numbers).map(draw).collect()
    };
    raw.into_iter().enumerate().map(cell).collect()
}

/// Returns the noisy count of each group from the noisy answers of a count.
pub(crate) fn noisy_counts(drawn: &[Vec<NoisyAnswer>]) -> Result<Vec<f64>, EngineError> {
    let count = |parts: &Vec<NoisyAnswer>| match parts.as_slice() {
        [drawn] => drawn.count().ok_or_else(EngineError::unexpected_rows),
        _ => Err(EngineError::unexpected_rows()),
    };
    drawn.iter().map(count).collect()
}

/// Draws an answer about made-up rows. A shared count is drawn for this answer alone.
pub(crate) fn draw_without_charge(
    table: &OpenTable,
    question: &PreparedQuestion,
    deadline: Instant,
) -> Result<Vec<Vec<NoisyAnswer>>, EngineError> {
    let shared = match question.shared_count() {
        Some(count) => Some(noisy_counts(&draw_without_charge(table, count, deadline)?)?),
        None => None,
    };
    let raw = table.count(&[question.tabulation()], deadline)?;
    draw_answer(question.measurements(), raw.concat(), shared.as_deref())
}
