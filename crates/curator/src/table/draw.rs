//! Running questions and drawing their answers, **which are to be charged first**.

use super::held::Held;
use super::ready::Ready;
use crate::compile::together;
use crate::engine::{Failed, Rows};
use crate::stages::{Stage, Stages};
use counterpoint_mechanisms::Drawn;
use std::time::Instant;

/// Runs a question and draws its answer, **which is to be charged first**.
pub(crate) fn draw(
    held: &Held,
    ready: &Ready,
    deadline: Instant,
    stages: &Stages,
) -> Result<Vec<Vec<Drawn>>, Failed> {
    let statement = ready.compiled().statement();
    let rows = stages.time(Stage::Engine, || held.engine.run(statement, deadline))?;
    stages.time(Stage::Noise, || drawn(ready, &rows))
}

/// The same for several questions, **each of which is to be charged first**.
pub(super) fn draw_all(
    held: &Held,
    questions: &[&Ready],
    deadline: Instant,
    stages: &Stages,
) -> Vec<Result<Vec<Vec<Drawn>>, Failed>> {
    let list: Vec<_> = questions.iter().map(|ready| (ready.checked(), ready.compiled())).collect();
    let one = if list.len() > 1 { together(&list, &held.public, &held.place()) } else { None };
    let Some(one) = one else {
        return questions.iter().map(|ready| draw(held, ready, deadline, stages)).collect();
    };
    let rows = stages.time(Stage::Engine, || held.engine.run(one.statement(), deadline));
    let rows = rows.and_then(|rows| one.split(&rows).ok_or_else(unlike));
    let draw = |(ready, rows): (&&Ready, &Rows)| stages.time(Stage::Noise, || drawn(ready, rows));
    match rows {
        Ok(rows) => questions.iter().zip(&rows).map(draw).collect(),
        Err(failed) => questions.iter().map(|_| Err(failed.clone())).collect(),
    }
}

pub(super) fn unlike() -> Failed {
    Failed::new("the engine's rows are not what was asked")
}

/// An answer, drawn from what the engine added up.
fn drawn(ready: &Ready, rows: &Rows) -> Result<Vec<Vec<Drawn>>, Failed> {
    let tallies = ready.compiled().tallies(ready.measured(), rows).ok_or_else(unlike)?;
    let cell = |tallies: &Vec<_>| {
        let drawn = ready
            .measured()
            .iter()
            .zip(tallies)
            .map(|(measurement, tally)| measurement.draw(tally));
        drawn.collect::<Result<Vec<_>, _>>().map_err(Failed::new)
    };
    tallies.iter().map(cell).collect()
}
