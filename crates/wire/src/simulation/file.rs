//! What a simulation file says.

use counterpoint::Epsilon;
use counterpoint_numerics::fractions::{ExactError, Ratio};
use counterpoint_papers::interactive::{Answer, System, Turn};
use counterpoint_papers::pair::{Mechanism, Pair, Stage};

/// A simulation file.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// What is to be simulated.
    pub of: Subject,
    /// Where the least deltas are wanted.
    pub places: Vec<Place>,
}

/// What is to be simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// An adaptive composition of finite mechanisms; of one, a pair.
    Stages(Vec<FileStage>),
    /// Interactive systems, run concurrently.
    Systems(Vec<FileSystem>),
    /// A pair, the source, and one that is to be made of it, the target.
    Pairs(Box<[FilePair; 2]>),
    /// Laplace noise, to be made of randomized response with this epsilon.
    Laplace(Epsilon),
}

/// Where a least delta is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// At a likelihood ratio, e^epsilon.
    Ratio(Ratio),
    /// At an epsilon.
    Epsilon(Ratio),
}

/// A pair of distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePair {
    /// What it is called.
    pub name: String,
    /// What its outcomes are called.
    pub outcomes: Vec<String>,
    /// Their probabilities on both data sets.
    pub pair: Pair,
}

/// One stage.
#[derive(Clone, Debug, PartialEq)]
pub struct FileStage {
    /// What it is called, if anything.
    pub name: Option<String>,
    /// The likelihood ratio that is claimed, e^epsilon.
    pub ratio: Ratio,
    /// The delta that is claimed.
    pub delta: Ratio,
    /// The mechanisms that may be run.
    pub mechanisms: Vec<FileMechanism>,
}

/// A mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMechanism {
    /// What it is called: its number, unless it has a name.
    pub name: String,
    /// What its outcomes are called.
    pub outcomes: Vec<String>,
    /// Its probabilities on both data sets.
    pub pair: Pair,
    /// The mechanism of the next stage after each outcome.
    pub then: Vec<usize>,
}

/// A system.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystem {
    /// What it is called: its number, unless it has a name.
    pub name: String,
    /// The likelihood ratio that is claimed, e^epsilon.
    pub ratio: Ratio,
    /// The delta that is claimed.
    pub delta: Ratio,
    /// Its states, the first one first; each leads to later ones.
    pub states: Vec<FileState>,
}

/// A state of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// What it is called: its number, unless it has a name.
    pub name: String,
    /// What may be asked.
    pub queries: Vec<FileQuery>,
}

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub struct FileQuery {
    /// What it is called: its number, unless it has a name.
    pub name: String,
    /// What its answers are called.
    pub answers: Vec<String>,
    /// Their probabilities on both data sets.
    pub pair: Pair,
    /// The state after each answer; `None` where the interaction is over.
    pub then: Vec<Option<usize>>,
}

impl FileStage {
    /// The stage of the core.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let one = |m: &FileMechanism| Mechanism { pair: m.pair.clone(), then: m.then.clone() };
        let mechanisms = self.mechanisms.iter().map(one).collect();
        Stage { ratio: self.ratio.clone(), delta: self.delta.clone(), mechanisms }
    }
}

impl FileSystem {
    /// A query, by its number, that can be made after what was said; `None` if there is none such.
    pub(super) fn query(&self, turns: &[Turn], query: usize) -> Option<&FileQuery> {
        let next = |state: usize, turn: &Turn| {
            *self.states.get(state)?.queries.get(turn.query)?.then.get(turn.answer)?
        };
        self.states.get(turns.iter().try_fold(0, next)?)?.queries.get(query)
    }

    /// The system of the core, from its last state to its first.
    ///
    /// # Errors
    /// [`ExactError::Size`] if it has more than a million histories, or too long numbers.
    pub fn system(&self) -> Result<System, ExactError> {
        let mut built: Vec<System> = vec![System::over(); self.states.len()];
        for (at, state) in self.states.iter().enumerate().rev() {
            // Known before any of it is copied.
            let sizes = state.queries.iter().flat_map(|query| &query.then);
            let sizes = sizes.map(|then| then.map_or(1, |to| built[to].size()) as u128);
            let (size, most) =
                (1 + sizes.sum::<u128>(), counterpoint_papers::interactive::MOST_STATES);
            if size > most {
                return Err(ExactError::Size { what: "states", size, least: 1, most });
            }
            let queries = state.queries.iter().map(|query| {
                let answers = query.pair.outcomes().iter().zip(&query.then);
                let answer = |([p, q], then): (&[Ratio; 2], &Option<usize>)| {
                    let then = then.map_or_else(System::over, |to| built[to].clone());
                    Answer::new(p.clone(), q.clone(), then)
                };
                answers.map(answer).collect()
            });
            built[at] = System::new(queries.collect())?;
        }
        Ok(built.swap_remove(0))
    }
}
