//! The numbers of an answer, and their errors.

use counterpoint_mechanisms::{Gaps, Measurement, NoisyAnswer, Reply, ReplyWithIntervals};
use counterpoint_questions::QuestionError;
use counterpoint_questions::public::Key;
use counterpoint_questions::{CheckedAggregate, CheckedQuestion};
use serde::Serialize;

/// One number of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// The group's keys, in the order of the columns grouped by.
    pub group: Vec<Key>,
    /// The aggregate's name.
    pub name: String,
    /// The bin that is counted: from the first edge up to but not including the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<(f64, f64)>,
    /// The quantile's share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The edge below which rows are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<f64>,
    /// The coefficient's name: `intercept`, or a predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coefficient: Option<String>,
    /// The number, with noise.
    pub value: f64,
    /// The largest distance to the value without noise, at the confidence; `None` if it has no finite bound.
    pub half_width: Option<f64>,
    /// The interval that contains the value without noise, at the confidence.
    pub interval: Option<(f64, f64)>,
    /// The probability with which the half-width and the interval hold, for each number on its own.
    pub confidence: f64,
}

/// The numbers of all groups and aggregates.
pub(crate) fn numbers(
    drawn: &[Vec<NoisyAnswer>],
    (checked, measurements): (&CheckedQuestion, &[Measurement]),
    confidence: f64,
) -> Result<Vec<Number>, QuestionError> {
    let mut list = Vec::new();
    for (cell, drawn) in drawn.iter().enumerate() {
        let group: Vec<Key> = checked.group_keys(cell).into_iter().cloned().collect();
        for ((aggregate, measurement), drawn) in
            checked.aggregates().iter().zip(measurements).zip(drawn)
        {
            let within = measurement.with_intervals(drawn, confidence).map_err(no_confidence)?;
            list.extend(numbers_of(&within, (aggregate, measurement), (&group, confidence)));
        }
    }
    Ok(list)
}

/// The numbers of one aggregate in a group.
fn numbers_of(
    within: &ReplyWithIntervals,
    (aggregate, measurement): (&CheckedAggregate, &Measurement),
    (group, confidence): (&[Key], f64),
) -> Vec<Number> {
    let values = match &within.reply {
        Reply::Table(values) => values.clone(),
        other => other.number().into_iter().collect(),
    };
    let (bins, edges) = match measurement.places() {
        Some((edges, Gaps::Between)) => (edges, &[][..]),
        Some((edges, Gaps::Below)) => (&[][..], edges),
        _ => (&[][..], &[][..]),
    };
    let shares = measurement.noisy_query().query().shares();
    let coefficients: Vec<String> = match values.len() {
        // The intercept, and one coefficient for each column but the last, which is the outcome.
        1 => Vec::new(),
        _ if aggregate.others.is_empty() => Vec::new(),
        _ => ["intercept"].into_iter().chain(aggregate.columns()).map(str::to_owned).collect(),
    };
    let number = |(place, value): (usize, &f64)| {
        let interval = within.intervals.get(place).map(|interval| (interval.low, interval.high));
        // A coefficient's interval may be unbounded.
        let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
        Number {
            group: group.to_vec(),
            name: aggregate.name.clone(),
            bin: bins.get(place).copied().zip(bins.get(place + 1).copied()),
            share: shares.get(place).copied(),
            edge: edges.get(place).copied(),
            coefficient: coefficients.get(place).cloned(),
            value: *value,
            half_width: interval.map(|(low, high)| (value - low).max(high - value)),
            interval,
            confidence,
        }
    };
    values.iter().enumerate().map(number).collect()
}

/// The name and half-width of each aggregate; `None` where it depends on the number of rows and that is not public.
pub(crate) fn half_widths(
    checked: &CheckedQuestion,
    measurements: &[Measurement],
    confidence: f64,
) -> Result<Vec<(String, Option<f64>)>, QuestionError> {
    let width = |(aggregate, measurement): (&CheckedAggregate, &Measurement)| {
        // The half-width of counts, sums and bins does not depend on the number of rows.
        let plain = measurement.noises().len() == 1 && !measurement.has_outside_count();
        let rows = match checked.public_rows(aggregate) {
            Some(rows) => Some(rows),
            None if plain && !measurement.relation().is_length_public() => Some(0),
            None => None,
        };
        let width = rows.map(|rows| measurement.half_width(rows, confidence)).transpose();
        Ok((aggregate.name.clone(), width.map_err(no_confidence)?))
    };
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(no_confidence(format!("is {confidence}")));
    }
    checked.aggregates().iter().zip(measurements).map(width).collect()
}

fn no_confidence(problem: impl ToString) -> QuestionError {
    QuestionError::new("confidence", problem.to_string(), "a number strictly between 0 and 1")
}
