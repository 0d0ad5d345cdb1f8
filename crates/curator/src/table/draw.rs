//! Counting for questions and drawing their answers, **which are to be charged first**.

use super::held::{Held, unlike};
use super::ready::Ready;
use crate::engine::Failed;
use crate::stages::{Stage, Stages};
use crate::tabulation::Counted;
use counterpoint_mechanisms::{Drawn, Measurement};
use std::time::Instant;

/// Counts for questions in one pass and draws their answers, **each of which is to be charged first**.
pub(super) fn draw_all(
    held: &Held,
    questions: &[&Ready],
    deadline: Instant,
    stages: &Stages,
) -> Vec<Result<Vec<Vec<Drawn>>, Failed>> {
    let list: Vec<_> = questions.iter().map(|ready| ready.tabulation()).collect();
    let counted = stages.time(Stage::Engine, || held.count(&list, deadline));
    let draw = |(ready, counted): (&&Ready, Vec<Counted>)| {
        stages.time(Stage::Noise, || drawn(ready.measured(), counted))
    };
    match counted {
        Ok(counted) => questions.iter().zip(counted).map(draw).collect(),
        Err(failed) => questions.iter().map(|_| Err(failed.clone())).collect(),
    }
}

/// An answer, drawn from what was counted in each group.
pub(crate) fn drawn(
    measured: &[Measurement],
    counted: Vec<Counted>,
) -> Result<Vec<Vec<Drawn>>, Failed> {
    let cell = |Counted { rows, numbers }: Counted| {
        let draw = |(measurement, numbers): (&Measurement, Vec<i128>)| {
            let tally = measurement.tallied(rows, numbers).map_err(|_| unlike())?;
            measurement.draw(&tally).map_err(Failed::new)
        };
        measured.iter().zip(numbers).map(draw).collect()
    };
    counted.into_iter().map(cell).collect()
}
