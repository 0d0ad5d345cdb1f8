//! Simulating a pair by another: Blackwell's map, or the event that excludes a map.

use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::pair::{MapError, Violation, draw, simulate};

use super::draws::SampleWords;
use super::file::FilePair;
use super::result::{Counterexample, SimulationError, SimulationResult, Transcript, input, side};

pub(super) fn simulate_pairs(
    pairs: &[FilePair; 2],
    samples: u64,
    seed: u64,
) -> Result<SimulationResult, SimulationError> {
    let [source, target] = pairs;
    let map = simulate(&source.pair, &target.pair).map_err(|error| match error {
        MapError::Violated(line) => SimulationError::Refuted(Box::new(refuted(target, &line))),
        error => input(error),
    })?;
    let sides = [0, 1].map(|b| side(&source.pair, b));
    let (mut words, mut counts) = (SampleWords(seed), vec![[0_u64; 2]; target.outcomes.len()]);
    for _ in 0..samples {
        for b in [0, 1] {
            let mut next = || words.next();
            let row = map.rows().get(draw(&sides[b], &mut next));
            let outcome = row.map_or(0, |row| draw(row, &mut next));
            counts[outcome][b] += 1;
        }
    }
    let each = target.outcomes.iter().zip(target.pair.outcomes()).zip(counts);
    let transcripts = each.map(|((name, law), counts)| Transcript {
        steps: vec![name.clone()],
        law: law.clone(),
        counts,
    });
    let agrees = map.carries(&source.pair, &target.pair);
    Ok(SimulationResult {
        pairs: Some(Box::new(pairs.clone())),
        parts_agree: agrees,
        whole_agrees: Some(agrees),
        size: Some(target.outcomes.len() as u128),
        transcripts: transcripts.collect(),
        map: Some(map),
        ..SimulationResult::empty(samples, seed)
    })
}

/// Returns the event of the target's outcomes above the line. However the target is made from the source, this event is
/// at most as likely under p as the line allows.
fn refuted(target: &FilePair, line: &Violation) -> Counterexample {
    let outcomes = target.outcomes.iter().zip(target.pair.outcomes());
    let event: Vec<_> = outcomes.filter(|(_, [p, q])| *p > &line.ratio * q).collect();
    let zero = [Ratio::ZERO, Ratio::ZERO];
    let masses = event.iter().fold(zero, |sum, (_, [p, q])| [&sum[0] + p, &sum[1] + q]);
    Counterexample {
        kind: "target",
        index: 1,
        name: target.name.clone(),
        event: event.into_iter().map(|(name, _)| vec![name.clone()]).collect(),
        masses,
        side: 0,
        ratio: line.ratio.clone(),
        delta: line.source.clone(),
    }
}
