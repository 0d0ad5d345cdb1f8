//! Adaptive compositions of finite mechanisms: maps, their checks and samples.

use std::collections::BTreeMap;

use counterpoint_numerics::fractions::{ExactError, Ratio};
use counterpoint_papers::pair::{
    ComposeError, ComposedMaps, Map, MapError, Pair, compose, draw, events,
};

use super::draws::SampleWords;
use super::file::{FileMechanism, FileStage};
use super::result::{
    Counterexample, LISTED, SimulationError, SimulationResult, StageResult, Transcript, input, side,
};

/// The largest number of entries of a composed map that is shown.
const SHOWN: usize = 65_536;

pub(super) fn simulate_stages(
    file: &[FileStage],
    samples: u64,
    seed: u64,
) -> Result<SimulationResult, SimulationError> {
    let composed = compose(file.iter().map(FileStage::stage).collect())
        .map_err(|error| refuted_stage(file, error))?;
    let responses: Vec<Pair> = file
        .iter()
        .map(|stage| Pair::response(&stage.ratio, &stage.delta))
        .collect::<Result<_, ExactError>>()
        .map_err(input)?;
    let sides = [0, 1].map(|b| responses.iter().map(|r| side(r, b)).collect::<Vec<_>>());
    let (mut words, mut counts) = (SampleWords(seed), BTreeMap::<Vec<usize>, [u64; 2]>::new());
    if composed.count() <= LISTED {
        let all = composed.transcripts().map_err(input)?;
        counts.extend(all.outcomes.into_iter().map(|outcomes| (outcomes, [0, 0])));
    }
    for _ in 0..samples {
        for b in [0, 1] {
            let mut next = || words.next();
            let z: Vec<usize> = sides[b].iter().map(|row| draw(row, &mut next)).collect();
            let transcript = composed.sample(&z, &mut next).map_err(input)?;
            counts.entry(transcript).or_default()[b] += 1;
        }
    }
    let transcripts = counts.into_iter().map(|(outcomes, counts)| {
        let (said, law) = transcript(file, &outcomes);
        Transcript { steps: said, law, counts }
    });
    let transcripts = transcripts.collect();
    let whole = whole_map(&composed);
    Ok(SimulationResult {
        stages: stages(file, &composed).map_err(input)?,
        parts_agree: composed.carries(),
        whole_agrees: whole.as_ref().map(|(_, agrees)| *agrees),
        map: whole
            .map(|(map, _)| map)
            .filter(|map| map.rows().len() * map.rows().first().map_or(0, Vec::len) <= SHOWN),
        size: Some(composed.count()).filter(|count| *count < u128::MAX),
        transcripts,
        ..SimulationResult::empty(samples, seed)
    })
}

/// Returns the composed map; the flag is true if it carries the responses onto the transcripts. `None` if the map is
/// too large.
fn whole_map(composed: &ComposedMaps) -> Option<(Map, bool)> {
    let (map, responses) = (composed.map().ok()?, composed.responses().ok()?);
    let transcripts = composed.transcripts().ok()?;
    let agrees = map.carries(&responses, &transcripts.pair);
    Some((map, agrees))
}

fn stages(file: &[FileStage], composed: &ComposedMaps) -> Result<Vec<StageResult>, MapError> {
    let one = |(stage, maps): (&FileStage, &Vec<Map>)| {
        let each = stage.mechanisms.iter().zip(maps);
        let maps = each.map(|(mechanism, map)| {
            let events = events(&mechanism.pair, &stage.ratio, &stage.delta)?;
            Ok::<_, MapError>((events, map.clone()))
        });
        Ok(StageResult { stage: stage.clone(), maps: maps.collect::<Result<_, _>>()? })
    };
    file.iter().zip(composed.maps()).map(one).collect()
}

/// Returns the names of the outcomes, and the probabilities of the transcript on both data sets.
fn transcript(file: &[FileStage], outcomes: &[usize]) -> (Vec<String>, [Ratio; 2]) {
    let (mut said, mut law, mut which) = (Vec::new(), [Ratio::ONE, Ratio::ONE], 0);
    for (stage, &outcome) in file.iter().zip(outcomes) {
        let Some(mechanism) = stage.mechanisms.get(which) else { break };
        if let Some([p, q]) = mechanism.pair.outcomes().get(outcome) {
            law = [&law[0] * p, &law[1] * q];
        }
        said.push(mechanism.outcomes.get(outcome).cloned().unwrap_or_default());
        which = mechanism.then.get(outcome).copied().unwrap_or(0);
    }
    (said, law)
}

/// Returns the name of a mechanism; if it is the only one of its stage, the name of the stage.
pub(super) fn mechanism_name(stage: Option<&FileStage>, own: Option<&FileMechanism>) -> String {
    let alone = stage.filter(|stage| stage.mechanisms.len() == 1);
    let named = alone.and_then(|stage| stage.name.clone());
    named.or_else(|| own.map(|own| own.name.clone())).unwrap_or_default()
}

fn refuted_stage(file: &[FileStage], error: ComposeError) -> SimulationError {
    let ComposeError::Refuted { stage, mechanism, breach } = error else { return input(error) };
    let own = file.get(stage).and_then(|stage| stage.mechanisms.get(mechanism));
    let label = |at: &usize| own.and_then(|own| own.outcomes.get(*at)).cloned().unwrap_or_default();
    SimulationError::Refuted(Box::new(Counterexample {
        kind: "stage",
        index: stage + 1,
        name: mechanism_name(file.get(stage), own),
        event: breach.event.iter().map(|at| vec![label(at)]).collect(),
        masses: breach.masses.clone(),
        side: breach.side,
        ratio: breach.ratio.clone(),
        delta: breach.delta.clone(),
    }))
}
