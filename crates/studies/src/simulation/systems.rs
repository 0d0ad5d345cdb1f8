//! Interactive systems: their simulator, its check at every history, and sampled conversations.

use std::collections::BTreeMap;

use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::interactive::{
    AnswerProbabilities, DecomposeError, Simulator, SimulatorError, Step, System, Turn,
};
use counterpoint_papers::pair::draw;
use counterpoint_wire::PlanError;

use super::draws::{SampleWords, ask};
use super::file::FileSystem;
use super::result::{
    AnswerLaw, Counterexample, LISTED, SimulationError, SimulationResult, SystemResult, Transcript,
    input, side,
};

pub(super) fn simulate_systems(
    file: &[FileSystem],
    samples: u64,
    seed: u64,
) -> Result<SimulationResult, SimulationError> {
    let claim = |(at, own): (usize, &FileSystem)| {
        let system = own.system().map_err(|error| {
            SimulationError::Input(PlanError::plan(error.to_string()).in_entry(
                "system",
                at + 1,
                Some(&own.name),
            ))
        })?;
        Ok((system, (own.ratio.clone(), own.delta.clone())))
    };
    let claims = file.iter().enumerate().map(claim).collect::<Result<Vec<_>, SimulationError>>()?;
    let simulator =
        Simulator::new(claims.clone()).map_err(|error| refuted_system(file, &claims, error))?;
    let responses = simulator.responses().map_err(input)?;
    let sides = [0, 1].map(|b| responses.iter().map(|r| side(r, b)).collect::<Vec<_>>());
    let mut words = SampleWords(seed);
    let mut counts = BTreeMap::<Vec<Turn>, [u64; 2]>::new();
    if let Ok(law) = simulator.law(&mut |turns, open| ask(seed, turns, open))
        && law.len() as u128 <= LISTED
    {
        counts.extend(law.into_iter().map(|said| (said.turns, [0, 0])));
    }
    for _ in 0..samples {
        for b in [0, 1] {
            let mut next = || words.next();
            let z: Vec<usize> = sides[b].iter().map(|row| draw(row, &mut next)).collect();
            let mut talk = simulator.begin(&z).map_err(input)?;
            while let Some((system, query)) = ask(seed, talk.turns(), &talk.open()) {
                if talk.ask(system, query, &mut next).is_none() {
                    break;
                }
            }
            counts.entry(talk.turns().to_vec()).or_default()[b] += 1;
        }
    }
    let transcripts = counts.into_iter().map(|(turns, counts)| {
        let (said, law) = transcript(file, &turns);
        let said = said.into_iter().map(|said| said.text(file.len() > 1)).collect();
        Transcript { steps: said, law, counts }
    });
    let agrees = simulator.histories_agree().ok();
    let systems = file.iter().zip(&claims).enumerate().map(|(at, (own, (system, _)))| {
        let is_listed = system.size() as u128 <= LISTED;
        SystemResult {
            system: own.clone(),
            answers: answers(file, &simulator, at),
            pair: is_listed.then(|| system.dominating_pair()),
        }
    });
    Ok(SimulationResult {
        systems: systems.collect(),
        parts_agree: simulator.reproduces(),
        whole_agrees: agrees.map(|count| count.is_some()),
        size: agrees.flatten(),
        transcripts: transcripts.collect(),
        ..SimulationResult::empty(samples, seed)
    })
}

/// A query and its answer by their names.
pub(super) struct Exchange<'a> {
    system: &'a str,
    query: &'a str,
    answer: &'a str,
}

impl Exchange<'_> {
    pub(super) fn text(&self, with_system: bool) -> String {
        let said = format!("{}={}", self.query, self.answer);
        if with_system { format!("{}.{said}", self.system) } else { said }
    }
}

/// Returns the queries with their answers, and the probabilities of the transcript on both data sets.
pub(super) fn transcript<'a>(
    file: &'a [FileSystem],
    turns: &[Turn],
) -> (Vec<Exchange<'a>>, [Ratio; 2]) {
    let mut states: Vec<Option<usize>> = vec![Some(0); file.len()];
    let (mut said, mut law) = (Vec::new(), [Ratio::ONE, Ratio::ONE]);
    for turn in turns {
        let state = states.get(turn.system).copied().flatten();
        let own = file.get(turn.system);
        let query = own.and_then(|own| own.states.get(state?)?.queries.get(turn.query));
        let (Some(own), Some(query)) = (own, query) else { break };
        if let Some([p, q]) = query.pair.outcomes().get(turn.answer) {
            law = [&law[0] * p, &law[1] * q];
        }
        let answer = query.answers.get(turn.answer).map_or("", String::as_str);
        said.push(Exchange { system: &own.name, query: &query.name, answer });
        states[turn.system] = query.then.get(turn.answer).copied().flatten();
    }
    (said, law)
}

fn answers(file: &[FileSystem], simulator: &Simulator, at: usize) -> Vec<AnswerLaw> {
    let voiced = simulator.answer_probabilities(at).unwrap_or_default();
    if voiced.len() as u128 > LISTED {
        return Vec::new();
    }
    let one = |voiced: AnswerProbabilities| {
        let turns: Vec<Turn> = voiced.history.iter().copied().chain([voiced.step]).collect();
        let (mut after, _) = transcript(file, &turns);
        let last = after.pop();
        AnswerLaw {
            history: after.iter().map(|said| said.text(false)).collect(),
            query: last.as_ref().map_or("", |last| last.query).to_owned(),
            answer: last.as_ref().map_or("", |last| last.answer).to_owned(),
            real: voiced.real,
            voices: voiced.simulated,
        }
    };
    voiced.into_iter().map(one).collect()
}

type Claim = (System, (Ratio, Ratio));

/// Returns the event with which the best adversary refutes a claim: the transcripts that are too likely on one data
/// set.
fn refuted_system(file: &[FileSystem], claims: &[Claim], error: SimulatorError) -> SimulationError {
    let SimulatorError::System { system: at, error } = error else { return input(error) };
    let (DecomposeError::Distinguishable { bit, attack, delta }, Some(own), Some((system, _))) =
        (&error, file.get(at), claims.get(at))
    else {
        return input(error);
    };
    let (mut event, mut masses) = (Vec::new(), [Ratio::ZERO, Ratio::ZERO]);
    let mut open: Vec<Vec<Turn>> = vec![Vec::new()];
    while let Some(turns) = open.pop() {
        let history: Vec<Step> =
            turns.iter().map(|turn| Step { query: turn.query, answer: turn.answer }).collect();
        match system.next_query(&attack.adversary, &history) {
            Some(query) => {
                let count = answers_to(own, &turns, query);
                let next = (0..count).rev().map(|answer| {
                    turns.iter().copied().chain([Turn { system: 0, query, answer }]).collect()
                });
                open.extend(next);
            }
            None => {
                let (said, law) = transcript(std::slice::from_ref(own), &turns);
                if law[*bit] > &own.ratio * &law[1 - bit] {
                    masses = [&masses[0] + &law[0], &masses[1] + &law[1]];
                    event.push(said.iter().map(|said| said.text(false)).collect());
                }
            }
        }
    }
    let (ratio, delta) = (own.ratio.clone(), delta.clone());
    let (kind, index, name) = ("system", at + 1, own.name.clone());
    SimulationError::Refuted(Box::new(Counterexample {
        kind,
        index,
        name,
        event,
        masses,
        side: *bit,
        ratio,
        delta,
    }))
}

/// The number of answers to a query after a history.
fn answers_to(own: &FileSystem, turns: &[Turn], query: usize) -> usize {
    own.query(turns, query).map_or(0, |query| query.answers.len())
}
