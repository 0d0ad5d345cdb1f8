//! Running the proofs forwards: maps, their checks and samples.

use std::collections::BTreeMap;
use std::fmt;

use counterpoint::exact::{ExactError, Ratio};
use counterpoint::interactive::{
    DecomposeError, Simulator, SimulatorError, Step, System, Turn, Voiced,
};
use counterpoint::pair::{
    ComposeError, Composed, Events, Map, MapError, Pair, compose, draw, events,
};

use super::draws::{Words, ask};
use super::read::{FileStage, FileSystem, Simulation};
use super::renyi::Divergences;
use super::{MOST_SAMPLES, written};
use crate::error::PlanError;

/// Up to so many transcripts are all listed; of more, those that were drawn.
const LISTED: u128 = 4096;
/// Up to so many entries the composed map is shown.
const SHOWN: usize = 65_536;

/// What comes of a simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulated {
    /// The stages, if it is of mechanisms.
    pub stages: Vec<SimulatedStage>,
    /// The systems, if it is of systems.
    pub systems: Vec<SimulatedSystem>,
    /// The map from all responses together to all transcripts, if it is of mechanisms and not too large.
    pub map: Option<Map>,
    /// Whether every part is made up by its response, exactly.
    pub parts_agree: bool,
    /// Whether the whole was compared too, and agrees: the composed map, or every interleaved history. `None` if it is
    /// too large.
    pub whole_agrees: Option<bool>,
    /// How many transcripts there are, or interleaved histories; `None` if too many to count.
    pub size: Option<u128>,
    /// Transcripts with their laws and how often they were drawn: all, or of very many those that were drawn.
    pub transcripts: Vec<Drawn>,
    /// How many were drawn on each of the data sets.
    pub samples: u64,
    /// With which seed.
    pub seed: u64,
    /// Divergences, if they were asked for.
    pub divergences: Option<Divergences>,
}

/// A stage with its maps.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulatedStage {
    /// As it is in the file.
    pub stage: FileStage,
    /// For each mechanism the events of MV Lemma 3.3, and MV Lemma 3.2's map.
    pub maps: Vec<(Events, Map)>,
}

/// A system with who answers for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulatedSystem {
    /// As it is in the file.
    pub system: FileSystem,
    /// Every answer after every history; empty if they are more than are listed.
    pub answers: Vec<Answered>,
}

/// An answer after a history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answered {
    /// What was said before: queries and answers.
    pub after: Vec<String>,
    /// The query.
    pub query: String,
    /// The answer.
    pub answer: String,
    /// Its probabilities on both data sets.
    pub real: [Ratio; 2],
    /// By E^0, N^0, N^1 and E^1.
    pub voices: [Ratio; 4],
}

/// A transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Drawn {
    /// Its outcomes, stage by stage; or queries with their answers.
    pub said: Vec<String>,
    /// Its probabilities on both data sets.
    pub law: [Ratio; 2],
    /// How often it was drawn on each.
    pub counts: [u64; 2],
}

/// Why there is no simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum NotSimulated {
    /// A claim is refuted.
    Refuted(Box<Refuted>),
    /// Something is not legal.
    Input(PlanError),
}

/// A claim that an event refutes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refuted {
    /// A stage or a system.
    pub of: &'static str,
    /// Which, counted from 1.
    pub index: usize,
    /// What it is called: its mechanism, or itself.
    pub name: String,
    /// The event: outcomes, or transcripts of the adversary.
    pub event: Vec<Vec<String>>,
    /// Its probabilities on both data sets.
    pub masses: [Ratio; 2],
    /// Under which it is too likely, 0 or 1.
    pub side: usize,
    /// The likelihood ratio that is claimed, e^epsilon.
    pub ratio: Ratio,
    /// The delta that is claimed.
    pub delta: Ratio,
}

impl fmt::Display for Refuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 8;
        let [large, small] = [self.side, 1 - self.side].map(|side| shown(&self.masses[side]));
        let mut event: Vec<String> =
            self.event.iter().take(MOST).map(|said| said.join(" ")).collect();
        if self.event.len() > MOST {
            event.push(format!("{} more", self.event.len() - MOST));
        }
        write!(
            f,
            "{} {} ({:?}): the claim is refuted by the event {{{}}}: its probability is {large} under {} and \
             {small} under {}; legal: at most {} times that and {}",
            self.of,
            self.index,
            self.name,
            event.join(", "),
            ["p", "q"][self.side],
            ["q", "p"][self.side],
            shown(&self.ratio),
            shown(&self.delta),
        )
    }
}

/// In full, unless it is very long.
fn shown(exact: &Ratio) -> String {
    let full = written(exact);
    if full.len() <= 24 { full } else { format!("{:e}", counterpoint::exact::nearest(exact)) }
}

impl Simulated {
    /// Finds the maps, checks them, and draws so many transcripts for each of the data sets.
    ///
    /// # Errors
    /// [`NotSimulated::Refuted`] with an event if a claim does not hold.
    pub fn new(simulation: &Simulation, samples: u64, seed: u64) -> Result<Self, NotSimulated> {
        if samples > MOST_SAMPLES {
            let problem = format!("is {samples}; legal: at most {MOST_SAMPLES}");
            return Err(NotSimulated::Input(PlanError::field("samples", problem)));
        }
        match simulation {
            Simulation::Stages(stages) => of_stages(stages, samples, seed),
            Simulation::Systems(systems) => of_systems(systems, samples, seed),
        }
    }

    /// With the divergences of an order, if one is given.
    ///
    /// # Errors
    /// See [`Divergences::new`].
    pub fn with_order(
        self,
        simulation: &Simulation,
        order: Option<f64>,
    ) -> Result<Self, NotSimulated> {
        let divergences = order.map(|order| Divergences::new(simulation, order)).transpose()?;
        Ok(Self { divergences, ..self })
    }
}

pub(super) fn input(error: impl fmt::Display) -> NotSimulated {
    NotSimulated::Input(PlanError::plan(error.to_string()))
}

/// Drawn for data set 0 or 1: one side of a response.
fn side(response: &Pair, b: usize) -> Vec<Ratio> {
    response.outcomes().iter().map(|masses| masses[b].clone()).collect()
}

fn of_stages(file: &[FileStage], samples: u64, seed: u64) -> Result<Simulated, NotSimulated> {
    let composed = compose(file.iter().map(FileStage::stage).collect())
        .map_err(|error| refuted_stage(file, error))?;
    let responses: Vec<Pair> = file
        .iter()
        .map(|stage| Pair::response(&stage.ratio, &stage.delta))
        .collect::<Result<_, ExactError>>()
        .map_err(input)?;
    let sides = [0, 1].map(|b| responses.iter().map(|r| side(r, b)).collect::<Vec<_>>());
    let (mut words, mut counts) = (Words(seed), BTreeMap::<Vec<usize>, [u64; 2]>::new());
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
        let (said, law) = told(file, &outcomes);
        Drawn { said, law, counts }
    });
    let transcripts = transcripts.collect();
    let whole = whole_map(&composed);
    Ok(Simulated {
        stages: stages(file, &composed).map_err(input)?,
        systems: Vec::new(),
        parts_agree: composed.carries(),
        whole_agrees: whole.as_ref().map(|(_, agrees)| *agrees),
        map: whole
            .map(|(map, _)| map)
            .filter(|map| map.rows().len() * map.rows().first().map_or(0, Vec::len) <= SHOWN),
        size: Some(composed.count()).filter(|count| *count < u128::MAX),
        transcripts,
        samples,
        seed,
        divergences: None,
    })
}

/// The composed map, and whether it carries the responses onto the transcripts; `None` if it is too large.
fn whole_map(composed: &Composed) -> Option<(Map, bool)> {
    let (map, responses) = (composed.map().ok()?, composed.responses().ok()?);
    let transcripts = composed.transcripts().ok()?;
    let agrees = map.carries(&responses, &transcripts.pair);
    Some((map, agrees))
}

fn stages(file: &[FileStage], composed: &Composed) -> Result<Vec<SimulatedStage>, MapError> {
    let one = |(stage, maps): (&FileStage, &Vec<Map>)| {
        let each = stage.mechanisms.iter().zip(maps);
        let maps = each.map(|(mechanism, map)| {
            let events = events(&mechanism.pair, &stage.ratio, &stage.delta)?;
            Ok::<_, MapError>((events, map.clone()))
        });
        Ok(SimulatedStage { stage: stage.clone(), maps: maps.collect::<Result<_, _>>()? })
    };
    file.iter().zip(composed.maps()).map(one).collect()
}

/// What outcomes are called, and their probabilities one after the other.
fn told(file: &[FileStage], outcomes: &[usize]) -> (Vec<String>, [Ratio; 2]) {
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

fn refuted_stage(file: &[FileStage], error: ComposeError) -> NotSimulated {
    let ComposeError::Refuted { stage, mechanism, breach } = error else { return input(error) };
    let own = file.get(stage).and_then(|stage| stage.mechanisms.get(mechanism));
    let label = |at: &usize| own.and_then(|own| own.outcomes.get(*at)).cloned().unwrap_or_default();
    NotSimulated::Refuted(Box::new(Refuted {
        of: "stage",
        index: stage + 1,
        name: own.map(|own| own.name.clone()).unwrap_or_default(),
        event: breach.event.iter().map(|at| vec![label(at)]).collect(),
        masses: breach.masses.clone(),
        side: breach.side,
        ratio: breach.ratio.clone(),
        delta: breach.delta.clone(),
    }))
}

fn of_systems(file: &[FileSystem], samples: u64, seed: u64) -> Result<Simulated, NotSimulated> {
    let claim = |(at, own): (usize, &FileSystem)| {
        let system = own.system().map_err(|error| {
            NotSimulated::Input(PlanError::plan(error.to_string()).placed(
                "system",
                at + 1,
                Some(&own.name),
            ))
        })?;
        Ok((system, (own.ratio.clone(), own.delta.clone())))
    };
    let claims = file.iter().enumerate().map(claim).collect::<Result<Vec<_>, NotSimulated>>()?;
    let simulator =
        Simulator::new(claims.clone()).map_err(|error| refuted_system(file, &claims, error))?;
    let responses = simulator.responses().map_err(input)?;
    let sides = [0, 1].map(|b| responses.iter().map(|r| side(r, b)).collect::<Vec<_>>());
    let mut words = Words(seed);
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
        let (said, law) = asked(file, &turns);
        let said = said.into_iter().map(|said| said.words(file.len() > 1)).collect();
        Drawn { said, law, counts }
    });
    let agrees = simulator.histories_agree().ok();
    let systems = file.iter().enumerate().map(|(at, system)| SimulatedSystem {
        system: system.clone(),
        answers: answers(file, &simulator, at),
    });
    Ok(Simulated {
        stages: Vec::new(),
        systems: systems.collect(),
        map: None,
        parts_agree: simulator.makes_up(),
        whole_agrees: agrees.map(|count| count.is_some()),
        size: agrees.flatten(),
        transcripts: transcripts.collect(),
        samples,
        seed,
        divergences: None,
    })
}

/// A query and its answer, by their names.
pub(super) struct Said<'a> {
    system: &'a str,
    query: &'a str,
    answer: &'a str,
}

impl Said<'_> {
    pub(super) fn words(&self, with_system: bool) -> String {
        let said = format!("{}={}", self.query, self.answer);
        if with_system { format!("{}.{said}", self.system) } else { said }
    }
}

/// Queries with their answers, and the probabilities of the answers one after the other.
pub(super) fn asked<'a>(file: &'a [FileSystem], turns: &[Turn]) -> (Vec<Said<'a>>, [Ratio; 2]) {
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
        said.push(Said { system: &own.name, query: &query.name, answer });
        states[turn.system] = query.then.get(turn.answer).copied().flatten();
    }
    (said, law)
}

fn answers(file: &[FileSystem], simulator: &Simulator, at: usize) -> Vec<Answered> {
    let voiced = simulator.voices(at).unwrap_or_default();
    if voiced.len() as u128 > LISTED {
        return Vec::new();
    }
    let one = |voiced: Voiced| {
        let turns: Vec<Turn> = voiced.history.iter().copied().chain([voiced.step]).collect();
        let (mut after, _) = asked(file, &turns);
        let last = after.pop();
        Answered {
            after: after.iter().map(|said| said.words(false)).collect(),
            query: last.as_ref().map_or("", |last| last.query).to_owned(),
            answer: last.as_ref().map_or("", |last| last.answer).to_owned(),
            real: voiced.real,
            voices: voiced.voices,
        }
    };
    voiced.into_iter().map(one).collect()
}

type Claim = (System, (Ratio, Ratio));

/// The transcripts that the best adversary takes for a sign.
fn refuted_system(file: &[FileSystem], claims: &[Claim], error: SimulatorError) -> NotSimulated {
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
                let (said, law) = asked(std::slice::from_ref(own), &turns);
                if law[*bit] > &own.ratio * &law[1 - bit] {
                    masses = [&masses[0] + &law[0], &masses[1] + &law[1]];
                    event.push(said.iter().map(|said| said.words(false)).collect());
                }
            }
        }
    }
    let (ratio, delta) = (own.ratio.clone(), delta.clone());
    let (of, index, name) = ("system", at + 1, own.name.clone());
    NotSimulated::Refuted(Box::new(Refuted {
        of,
        index,
        name,
        event,
        masses,
        side: *bit,
        ratio,
        delta,
    }))
}

/// How many answers a query has after what was said.
fn answers_to(own: &FileSystem, turns: &[Turn], query: usize) -> usize {
    own.query(turns, query).map_or(0, |query| query.answers.len())
}
