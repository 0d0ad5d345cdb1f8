//! What comes of a simulation, or why there is none.

use std::fmt;

use counterpoint::Bracket;
use counterpoint::quantity::plain;
use counterpoint_numerics::fractions::{Ratio, enclosed};
use counterpoint_papers::pair::{Events, Map, Pair};

use super::file::{FilePair, FileStage, FileSystem, Place};
use super::written;
use crate::text::error::PlanError;

/// Up to so many transcripts are all listed; of more, those that were drawn.
pub(super) const LISTED: u128 = 4096;

/// What comes of a simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulated {
    /// The stages, if it is of mechanisms.
    pub stages: Vec<SimulatedStage>,
    /// The systems, if it is of systems.
    pub systems: Vec<SimulatedSystem>,
    /// The source and the target, if it is of two pairs.
    pub pairs: Option<Box<[FilePair; 2]>>,
    /// Laplace noise, if it is of that.
    pub laplace: Option<SimulatedLaplace>,
    /// The map from all responses together to all transcripts, if it is of mechanisms and not too large; of pairs, from the
    /// source's outcomes to the target's.
    pub map: Option<Map>,
    /// Whether every part is made up by its response, exactly; Laplace noise, as far as doubles can tell.
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
    /// The least deltas, at each place where they are wanted.
    pub profile: Vec<LeastDeltas>,
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
    /// What all its adversaries together can tell, as one pair; `None` of systems with more states than are listed.
    pub pair: Option<Pair>,
}

/// Laplace noise of scale 1/epsilon, around 0 and around 1, as randomized response makes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulatedLaplace {
    /// The epsilon.
    pub epsilon: f64,
    /// At some numbers, the smallest first.
    pub rows: Vec<LaplaceRow>,
}

/// Probabilities of being at most a number, to about a double's precision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LaplaceRow {
    /// The number.
    pub at: f64,
    /// Of what plus becomes, and what minus becomes.
    pub responses: [f64; 2],
    /// Of both, as often as they are answered on each of the data sets.
    pub mixed: [f64; 2],
    /// Of Laplace noise around 0 and around 1.
    pub laplace: [f64; 2],
    /// How many of the samples were, on each of the data sets.
    pub drawn: [u64; 2],
}

/// The least deltas at one likelihood ratio, of p from q and of q from p.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeastDeltas {
    /// Where.
    pub place: Place,
    /// Of each mechanism, system or pair, by its name.
    pub parts: Vec<(String, [LeastDelta; 2])>,
    /// Of the composition: of systems against all who interleave them. `None` of one alone, and of too many to search.
    pub together: Option<[LeastDelta; 2]>,
}

/// A least delta: between these, which are one number at a ratio that is a fraction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeastDelta {
    /// Never above it.
    pub lower: Ratio,
    /// Never below it.
    pub upper: Ratio,
}

impl LeastDelta {
    /// The number itself, if it is known.
    #[must_use]
    pub fn exact(&self) -> Option<&Ratio> {
        (self.lower == self.upper).then_some(&self.upper)
    }

    /// Doubles on either side.
    #[must_use]
    pub fn bracket(&self) -> Bracket {
        enclosed(&self.lower, &self.upper)
    }
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
    /// A stage, a system, or the target, of which is claimed that it can be made of the source.
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
    /// The delta that is claimed: the target's at most the source's.
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
        match self.of {
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

/// In full, unless it is very long.
fn shown(exact: &Ratio) -> String {
    let full = written(exact);
    if full.len() <= 24 { full } else { plain(counterpoint_numerics::fractions::nearest(exact)) }
}

/// Divergences of an order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergences {
    /// The order.
    pub order: f64,
    /// For each system: its name, the largest divergence of p from q and of q from p, and who reaches the first.
    pub systems: Vec<Divergence>,
    /// The sums of the systems' divergences, which nobody exceeds who interleaves them.
    pub sums: [Bracket; 2],
    /// The largest over all interleavings, searched one by one; `None` if there are too many.
    pub searched: Option<[Bracket; 2]>,
    /// What can still be lost along the best adversaries' likeliest transcript, for whole orders: after each turn, e^((order - 1) times the
    /// divergence) of all that can follow. Empty otherwise, or where it is infinite.
    pub left: Vec<Left>,
}

/// The largest divergences of a system.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// The system's name.
    pub name: String,
    /// Of p from q, and of q from p.
    pub largest: [Bracket; 2],
    /// What the adversary who reaches the first asks, after what was said.
    pub asks: Vec<(Vec<String>, String)>,
}

/// The budget monitor after a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// What was said; nothing at the beginning.
    pub said: String,
    /// p^a q^(1-a) of all that was said so far.
    pub weight: Ratio,
    /// The largest moment of all that can follow.
    pub left: Ratio,
}

pub(super) fn input(error: impl fmt::Display) -> NotSimulated {
    NotSimulated::Input(PlanError::plan(error.to_string()))
}

/// Drawn for data set 0 or 1: one side of a response.
pub(super) fn side(response: &Pair, b: usize) -> Vec<Ratio> {
    response.outcomes().iter().map(|masses| masses[b].clone()).collect()
}
