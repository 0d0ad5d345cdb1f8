//! One pair made of another: Blackwell's map, or the event that forbids one.

use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::pair::{MapError, Violation, draw, simulate};

use super::draws::Words;
use super::file::FilePair;
use super::found::{Drawn, NotSimulated, Refuted, Simulated, input, side};

pub(super) fn of_pairs(
    pairs: &[FilePair; 2],
    samples: u64,
    seed: u64,
) -> Result<Simulated, NotSimulated> {
    let [source, target] = pairs;
    let map = simulate(&source.pair, &target.pair).map_err(|error| match error {
        MapError::Violated(line) => NotSimulated::Refuted(Box::new(refuted(target, &line))),
        error => input(error),
    })?;
    let sides = [0, 1].map(|b| side(&source.pair, b));
    let (mut words, mut counts) = (Words(seed), vec![[0_u64; 2]; target.outcomes.len()]);
    for _ in 0..samples {
        for b in [0, 1] {
            let mut next = || words.next();
            let row = map.rows().get(draw(&sides[b], &mut next));
            let outcome = row.map_or(0, |row| draw(row, &mut next));
            counts[outcome][b] += 1;
        }
    }
    let each = target.outcomes.iter().zip(target.pair.outcomes()).zip(counts);
    let transcripts = each.map(|((name, law), counts)| Drawn {
        said: vec![name.clone()],
        law: law.clone(),
        counts,
    });
    let agrees = map.carries(&source.pair, &target.pair);
    Ok(Simulated {
        pairs: Some(Box::new(pairs.clone())),
        parts_agree: agrees,
        whole_agrees: Some(agrees),
        size: Some(target.outcomes.len() as u128),
        transcripts: transcripts.collect(),
        map: Some(map),
        ..Simulated::empty(samples, seed)
    })
}

/// The target's outcomes above the line: whatever is made of the source, they are at most as likely under p as the line allows.
fn refuted(target: &FilePair, line: &Violation) -> Refuted {
    let outcomes = target.outcomes.iter().zip(target.pair.outcomes());
    let event: Vec<_> = outcomes.filter(|(_, [p, q])| *p > &line.ratio * q).collect();
    let zero = [Ratio::ZERO, Ratio::ZERO];
    let masses = event.iter().fold(zero, |sum, (_, [p, q])| [&sum[0] + p, &sum[1] + q]);
    Refuted {
        of: "target",
        index: 1,
        name: target.name.clone(),
        event: event.into_iter().map(|(name, _)| vec![name.clone()]).collect(),
        masses,
        side: 0,
        ratio: line.ratio.clone(),
        delta: line.source.clone(),
    }
}
