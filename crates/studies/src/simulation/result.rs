//! Results of simulations.

use std::fmt;

use counterpoint::Bracket;
use counterpoint::quantity::format_number;
use counterpoint_numerics::fractions::{Ratio, enclose};
use counterpoint_papers::pair::{Events, Map, Pair};
use counterpoint_wire::{PlanError, fraction_text};

use super::file::{DeltaPoint, FilePair, FileStage, FileSystem};

/// The largest number of transcripts that are all listed; of more, only those that were drawn are listed.
pub(super) const LISTED: u128 = 4096;

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulationResult {
    /// The stages of a simulation of mechanisms.
    pub stages: Vec<StageResult>,
    /// The systems of a simulation of systems.
    pub systems: Vec<SystemResult>,
    /// The source and the target of a simulation of pairs.
    pub pairs: Option<Box<[FilePair; 2]>>,
    /// The result of a simulation of Laplace noise.
    pub laplace: Option<LaplaceResult>,
    /// Of mechanisms, the map from all responses together to all transcripts, unless it is too large; of pairs, the map
    /// from the source's outcomes to the target's.
    pub map: Option<Map>,
    /// True if every part is simulated by its response: exactly, or for Laplace noise within the rounding of doubles.
    pub parts_agree: bool,
    /// True if the composed map, or every interleaved history, agrees with the composition; `None` if that is too large
    /// to check.
    pub whole_agrees: Option<bool>,
    /// The number of transcripts, or of interleaved histories; `None` if there are too many to count.
    pub size: Option<u128>,
    /// All transcripts, or if they are too many those that were drawn.
    pub transcripts: Vec<Transcript>,
    /// The number of samples on each of the data sets.
    pub samples: u64,
    /// The seed of the samples.
    pub seed: u64,
    /// Rényi divergences, if an order is given.
    pub divergences: Option<Divergences>,
    /// The least deltas at each requested point.
    pub profile: Vec<LeastDeltas>,
}

/// A stage with its maps.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageResult {
    /// The stage of the file.
    pub stage: FileStage,
    /// For each mechanism the events of MV Lemma 3.3, and the map of MV Lemma 3.2.
    pub maps: Vec<(Events, Map)>,
}

/// A system with its simulator's answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SystemResult {
    /// The system of the file.
    pub system: FileSystem,
    /// Every answer after every history; empty if there are too many to list.
    pub answers: Vec<AnswerLaw>,
    /// The pair that is as bad as all adversaries of the system together; `None` if the system has too many states to
    /// list.
    pub pair: Option<Pair>,
}

/// Laplace noise of scale 1/epsilon around 0 and around 1, made from randomized response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LaplaceResult {
    /// The epsilon.
    pub epsilon: f64,
    /// Probabilities at several numbers, the smallest first.
    pub rows: Vec<LaplaceRow>,
}

/// The probabilities that noise is at most a number, accurate to about a double's precision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LaplaceRow {
    /// The number.
    pub at: f64,
    /// The probabilities after the response plus, and after the response minus.
    pub responses: [f64; 2],
    /// The probabilities of the simulated noise on each of the data sets.
    pub mixed: [f64; 2],
    /// The probabilities of Laplace noise around 0 and around 1.
    pub laplace: [f64; 2],
    /// The number of samples that are at most the number, on each of the data sets.
    pub drawn: [u64; 2],
}

/// The least deltas at one point, of p from q and of q from p.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeastDeltas {
    /// The point.
    pub point: DeltaPoint,
    /// The least deltas of each mechanism, system or pair, by its name.
    pub parts: Vec<(String, [LeastDelta; 2])>,
    /// The least deltas of the composition, for systems against all adversaries who interleave them; `None` for one
    /// part alone, and if the composition is too large to search.
    pub composition: Option<[LeastDelta; 2]>,
}

/// Bounds on a least delta, which are equal if the likelihood ratio is a fraction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeastDelta {
    /// A number that is not above the least delta.
    pub lower: Ratio,
    /// A number that is not below the least delta.
    pub upper: Ratio,
}

impl LeastDelta {
    /// The least delta itself, if it is known.
    #[must_use]
    pub fn exact(&self) -> Option<&Ratio> {
        (self.lower == self.upper).then_some(&self.upper)
    }

    /// Doubles below and above the least delta.
    #[must_use]
    pub fn bracket(&self) -> Bracket {
        enclose(&self.lower, &self.upper)
    }
}

/// An answer after a history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnswerLaw {
    /// The queries and answers before.
    pub history: Vec<String>,
    /// The query.
    pub query: String,
    /// The answer.
    pub answer: String,
    /// The probabilities of the answer on both data sets.
    pub real: [Ratio; 2],
    /// The probabilities of the answer under E^0, N^0, N^1 and E^1.
    pub voices: [Ratio; 4],
}

/// A transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transcript {
    /// The outcomes, stage by stage; or queries with their answers.
    pub steps: Vec<String>,
    /// The probabilities of the transcript on both data sets.
    pub law: [Ratio; 2],
    /// The number of times that it was drawn on each of the data sets.
    pub counts: [u64; 2],
}

/// The reason why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulationError {
    /// A claim is refuted.
    Refuted(Box<Counterexample>),
    /// The input is not legal.
    Input(PlanError),
}

/// An event that refutes a claim.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Counterexample {
    /// The kind of the claim's subject: a stage, a system, or the target, which is claimed to be made from the source.
    pub kind: &'static str,
    /// The number of the stage or system, from 1.
    pub index: usize,
    /// The name of the mechanism of the stage, of the system, or of the target.
    pub name: String,
    /// The event: outcomes, or transcripts of the adversary.
    pub event: Vec<Vec<String>>,
    /// The probabilities of the event on both data sets.
    pub masses: [Ratio; 2],
    /// The data set on which the event is too likely, 0 or 1.
    pub side: usize,
    /// The claimed likelihood ratio, e^epsilon.
    pub ratio: Ratio,
    /// The claimed delta; the target's is at most the source's.
    pub delta: Ratio,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 8;
        let [large, small] = [self.side, 1 - self.side].map(|side| shown(&self.masses[side]));
        let mut event: Vec<String> =
            self.event.iter().take(MOST).map(|said| said.join(" ")).collect();
        if self.event.len() > MOST {
            event.push(format!("{} more", self.event.len() - MOST));
        }
        match self.kind {
            "target" => write!(f, "no map makes {:?} of the source: refuted by", self.name)?,
            of => write!(f, "{of} {} ({:?}): the claim is refuted by", self.index, self.name)?,
        }
        write!(
            f,
            " the event {{{}}}: its probability is {large} under {} and {small} under {}; legal: at most \
             {} times that and {}",
            event.join(", "),
            ["p", "q"][self.side],
            ["q", "p"][self.side],
            shown(&self.ratio),
            shown(&self.delta),
        )
    }
}

/// Writes a number exactly, unless that is very long.
fn shown(exact: &Ratio) -> String {
    let full = fraction_text(exact);
    if full.len() <= 24 {
        full
    } else {
        format_number(counterpoint_numerics::fractions::nearest(exact))
    }
}

/// Rényi divergences of systems at one order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergences {
    /// The order.
    pub order: f64,
    /// The largest divergences of each system.
    pub systems: Vec<Divergence>,
    /// The sums of the systems' divergences, which no adversary who interleaves the systems exceeds.
    pub sums: [Bracket; 2],
    /// The largest divergences over all interleavings, found by a search; `None` if there are too many.
    pub searched: Option<[Bracket; 2]>,
    /// The states of the budget monitor along the best adversaries' likeliest transcript, for whole orders: after each
    /// turn, e^((order - 1) times the divergence) of all that can follow. Empty for other orders, and if the divergence
    /// is infinite.
    pub monitor: Vec<MonitorState>,
}

/// The largest divergences of a system.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// The system's name.
    pub name: String,
    /// The largest divergences of p from q, and of q from p.
    pub largest: [Bracket; 2],
    /// The queries of the adversary who reaches the first divergence, each after its history.
    pub asks: Vec<(Vec<String>, String)>,
}

/// The state of the budget monitor after a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MonitorState {
    /// The query and answer of the turn; empty at the beginning.
    pub step: String,
    /// The weight p^a q^(1-a) of the transcript so far, at order a.
    pub weight: Ratio,
    /// The largest moment of all that can follow.
    pub remaining: Ratio,
}

pub(super) fn input(error: impl fmt::Display) -> SimulationError {
    SimulationError::Input(PlanError::plan(error.to_string()))
}

/// The probabilities of a response on data set 0 or 1.
pub(super) fn side(response: &Pair, b: usize) -> Vec<Ratio> {
    response.outcomes().iter().map(|masses| masses[b].clone()).collect()
}
