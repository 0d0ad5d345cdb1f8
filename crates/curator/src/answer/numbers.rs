//! The numbers of an answer, and how far off they are.

use counterpoint_mechanisms::{Drawn, Gaps, Measurement, Reply, Within};
use counterpoint_questions::Illegal;
use counterpoint_questions::public::Key;
use counterpoint_questions::{Checked, Part};
use serde::Serialize;

/// One number of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// The group's keys, in the order of the columns grouped by.
    pub group: Vec<Key>,
    /// Which aggregate it is of.
    pub name: String,
    /// The bin that it counts, from the first up to but not including the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<(f64, f64)>,
    /// The share that it is the quantile of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The edge that it counts the rows below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<f64>,
    /// The coefficient that it is: `intercept`, or a predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coefficient: Option<String>,
    /// The number, with noise.
    pub value: f64,
    /// The number without noise is no further from it, with the confidence; none if nothing is known.
    pub half_width: Option<f64>,
    /// It is within these.
    pub interval: Option<(f64, f64)>,
    /// With so much probability, for each number on its own.
    pub confidence: f64,
}

/// The numbers of what was drawn for each group and aggregate.
pub(crate) fn numbers(
    drawn: &[Vec<Drawn>],
    (checked, measured): (&Checked, &[Measurement]),
    confidence: f64,
) -> Result<Vec<Number>, Illegal> {
    let mut list = Vec::new();
    for (cell, drawn) in drawn.iter().enumerate() {
        let group: Vec<Key> = checked.keys(cell).into_iter().cloned().collect();
        for ((part, measurement), drawn) in checked.parts().iter().zip(measured).zip(drawn) {
            let within = measurement.within(drawn, confidence).map_err(no_confidence)?;
            list.extend(of_part(&within, (part, measurement), (&group, confidence)));
        }
    }
    Ok(list)
}

/// The numbers of one aggregate in a group.
fn of_part(
    within: &Within,
    (part, measurement): (&Part, &Measurement),
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
    let shares = measurement.recipe().query().shares();
    let coefficients: Vec<String> = match values.len() {
        // The intercept, and one for each column but the last, which is the outcome.
        1 => Vec::new(),
        _ if part.others.is_empty() => Vec::new(),
        _ => ["intercept"].into_iter().chain(part.columns()).map(str::to_owned).collect(),
    };
    let number = |(place, value): (usize, &f64)| {
        let interval = within.intervals.get(place).map(|interval| (interval.low, interval.high));
        // Coefficients may be anywhere.
        let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
        Number {
            group: group.to_vec(),
            name: part.name.clone(),
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

/// The half-widths of what is measured; none where they depend on how many rows there are, and that is not public.
pub(crate) fn half_widths(
    checked: &Checked,
    measured: &[Measurement],
    confidence: f64,
) -> Result<Vec<(String, Option<f64>)>, Illegal> {
    let width = |(part, measurement): (&Part, &Measurement)| {
        // Counts, sums and bins have the same whatever their number.
        let plain = measurement.noises().len() == 1 && !measurement.has_outside_count();
        let rows = match checked.public_rows(part) {
            Some(rows) => Some(rows),
            None if plain && !measurement.relation().is_length_public() => Some(0),
            None => None,
        };
        let width = rows.map(|rows| measurement.half_width(rows, confidence)).transpose();
        Ok((part.name.clone(), width.map_err(no_confidence)?))
    };
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(no_confidence(format!("is {confidence}")));
    }
    checked.parts().iter().zip(measured).map(width).collect()
}

fn no_confidence(problem: impl ToString) -> Illegal {
    Illegal::new("confidence", problem.to_string(), "a number strictly between 0 and 1")
}
