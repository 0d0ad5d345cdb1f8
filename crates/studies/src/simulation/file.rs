//! The contents of simulation files.

use counterpoint::Epsilon;
use counterpoint_numerics::fractions::{ExactError, Ratio};
use counterpoint_papers::interactive::{Answer, System, Turn};
use counterpoint_papers::pair::{Mechanism, Pair, Stage};

/// A simulation file.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// The mechanisms, systems or pairs that are simulated.
    pub subject: Subject,
    /// The points at which the least deltas are computed.
    pub points: Vec<DeltaPoint>,
}

/// The mechanisms, systems or pairs that are simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// An adaptive composition of finite mechanisms.
    Stages(Vec<FileStage>),
    /// Interactive systems that run concurrently.
    Systems(Vec<FileSystem>),
    /// Two pairs: the source, and the target that is made from it.
    Pairs(Box<[FilePair; 2]>),
    /// Laplace noise that is made from randomized response with this epsilon.
    Laplace(Epsilon),
}

/// A point at which the least deltas are computed.
#[derive(Clone, Debug, PartialEq)]
pub enum DeltaPoint {
    /// A likelihood ratio, e^epsilon.
    Ratio(Ratio),
    /// An epsilon.
    Epsilon(Ratio),
}

/// A pair of distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePair {
    /// The name of the pair.
    pub name: String,
    /// The names of the outcomes.
    pub outcomes: Vec<String>,
    /// The probabilities of the outcomes on both data sets.
    pub pair: Pair,
}

/// A stage of an adaptive composition.
#[derive(Clone, Debug, PartialEq)]
pub struct FileStage {
    /// The name of the stage, if it has one.
    pub name: Option<String>,
    /// The claimed likelihood ratio, e^epsilon.
    pub ratio: Ratio,
    /// The claimed delta.
    pub delta: Ratio,
    /// The mechanisms that may run in the stage.
    pub mechanisms: Vec<FileMechanism>,
}

/// A finite mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMechanism {
    /// The name of the mechanism: its number, unless the file names it.
    pub name: String,
    /// The names of the outcomes.
    pub outcomes: Vec<String>,
    /// The probabilities of the outcomes on both data sets.
    pub pair: Pair,
    /// The mechanism of the next stage after each outcome.
    pub then: Vec<usize>,
}

/// An interactive system.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystem {
    /// The name of the system: its number, unless the file names it.
    pub name: String,
    /// The claimed likelihood ratio, e^epsilon.
    pub ratio: Ratio,
    /// The claimed delta.
    pub delta: Ratio,
    /// The states; the system begins in the first one, and each state leads to later ones.
    pub states: Vec<FileState>,
}

/// A state of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// The name of the state: its number, unless the file names it.
    pub name: String,
    /// The queries that the state answers.
    pub queries: Vec<FileQuery>,
}

/// A query to a system.
#[derive(Clone, Debug, PartialEq)]
pub struct FileQuery {
    /// The name of the query: its number, unless the file names it.
    pub name: String,
    /// The names of the answers.
    pub answers: Vec<String>,
    /// The probabilities of the answers on both data sets.
    pub pair: Pair,
    /// The state after each answer; `None` if the interaction is over.
    pub then: Vec<Option<usize>>,
}

impl FileStage {
    /// The stage in terms of `counterpoint-papers`.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let one = |m: &FileMechanism| Mechanism { pair: m.pair.clone(), then: m.then.clone() };
        let mechanisms = self.mechanisms.iter().map(one).collect();
        Stage { ratio: self.ratio.clone(), delta: self.delta.clone(), mechanisms }
    }
}

impl FileSystem {
    /// Returns a query by its number, if the system answers it after these turns.
    pub(super) fn query(&self, turns: &[Turn], query: usize) -> Option<&FileQuery> {
        let next = |state: usize, turn: &Turn| {
            *self.states.get(state)?.queries.get(turn.query)?.then.get(turn.answer)?
        };
        self.states.get(turns.iter().try_fold(0, next)?)?.queries.get(query)
    }

    /// The system in terms of `counterpoint-papers`, built from its last state to its first.
    ///
    /// # Errors
    /// [`ExactError::Size`] if the system has more than a million histories, or its numbers are too long.
    pub fn system(&self) -> Result<System, ExactError> {
        let mut built: Vec<System> = vec![System::over(); self.states.len()];
        for (at, state) in self.states.iter().enumerate().rev() {
            // The size is computed before anything is copied.
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
