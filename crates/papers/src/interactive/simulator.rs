//! Lyu's Theorem 3 as a program: a simulator answers in place of systems and uses only randomized responses.
//!
//! For each system, a leaky randomized response is drawn. Its outcome decides which system answers, to the end of the
//! conversation:
//!
//! - E^0 after the leak of b = 0;
//! - N^0 after +epsilon, and N^1 after -epsilon;
//! - E^1 after the leak of b = 1.
//!
//! Queries may go to any of the systems, in any order. The four answering systems know neither the bit nor the other
//! systems.

use super::{Branch, DecomposeError, Decomposition, System, decompose};
use crate::pair::{Pair, draw};
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The largest number of histories that are enumerated.
const MOST_HISTORIES: u128 = 100_000;

/// Systems that run concurrently, and the decompositions that answer in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulator {
    systems: Vec<System>,
    parts: Vec<Decomposition>,
}

/// The reason why there is no simulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulatorError {
    /// A system does not have the claimed guarantee.
    #[error("system {}: {error}", .system + 1)]
    System {
        /// The number of the system, from 0.
        system: usize,
        /// The reason.
        error: DecomposeError,
    },
    /// There are no systems, or too many.
    #[error(transparent)]
    Input(#[from] ExactError),
}

/// A query to one of the systems, and its answer, all counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turn {
    /// The number of the system.
    pub system: usize,
    /// The number of the query.
    pub query: usize,
    /// The number of the answer.
    pub answer: usize,
}

/// A transcript of an adversary with its probabilities under b = 0 and b = 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptLaw {
    /// The queries and answers.
    pub turns: Vec<Turn>,
    /// The probabilities with the simulator, over its responses.
    pub simulated: [Ratio; 2],
    /// The probabilities with the systems themselves.
    pub real: [Ratio; 2],
}

/// The probabilities of an answer, given the history before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerProbabilities {
    /// The earlier queries to this system, and its answers.
    pub history: Vec<Turn>,
    /// The query, and this answer.
    pub step: Turn,
    /// The probabilities under E^0, N^0, N^1 and E^1, which answer after the outcomes 0 to 3 of the response.
    pub simulated: [Ratio; 4],
    /// The probabilities under the system itself, for b = 0 and b = 1.
    pub real: [Ratio; 2],
}

/// An adversary. It receives the turns so far and the number of queries that each system answers now. It returns a
/// system and a query, or ends the conversation.
type AdversaryFn<'a> = dyn FnMut(&[Turn], &[usize]) -> Option<(usize, usize)> + 'a;

impl Simulator {
    /// Decomposes each system by its guarantee: a likelihood ratio e^epsilon, and a delta.
    ///
    /// ```
    /// use counterpoint_numerics::fractions::Ratio;
    /// use counterpoint_papers::interactive::{Answer, Simulator, System};
    ///
    /// let ratio = |text: &str| text.parse::<Ratio>();
    /// let coin = System::new(vec![vec![
    ///     Answer::last(ratio("3/4")?, ratio("1/4")?),
    ///     Answer::last(ratio("1/4")?, ratio("3/4")?),
    /// ]])?;
    /// let claim = (ratio("2")?, ratio("1/4")?);
    /// let both = Simulator::new(vec![(coin.clone(), claim.clone()), (coin, claim)])?;
    /// // The second system is asked first. The outcome of its response is 3, the leak of b = 1.
    /// let mut words = [1, 2].into_iter();
    /// let mut talk = both.begin(&[0, 3])?;
    /// assert_eq!(talk.ask(1, 0, &mut || words.next().unwrap_or(0)), Some(1));
    /// assert!(both.histories_agree()?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SimulatorError::System`] with an adversary for the first system that does not have its guarantee.
    pub fn new(claims: Vec<(System, (Ratio, Ratio))>) -> Result<Self, SimulatorError> {
        fractions::check_size("systems", claims.len() as u128, (1, 64))?;
        let (mut systems, mut parts) = (Vec::new(), Vec::new());
        for (at, (system, (ratio, delta))) in claims.into_iter().enumerate() {
            let placed = |error| SimulatorError::System { system: at, error };
            parts.push(decompose(&system, &ratio, &delta).map_err(placed)?);
            systems.push(system);
        }
        Ok(Self { systems, parts })
    }

    /// The systems' decompositions.
    #[must_use]
    pub fn parts(&self) -> &[Decomposition] {
        &self.parts
    }

    /// True if every decomposition reproduces its system, exactly.
    #[must_use]
    pub fn reproduces(&self) -> bool {
        self.systems.iter().zip(&self.parts).all(|(system, parts)| parts.reproduces(system))
    }

    /// The responses of the systems, in their order.
    ///
    /// # Errors
    /// None in practice: the guarantees were checked.
    pub fn responses(&self) -> Result<Vec<Pair>, ExactError> {
        self.parts.iter().map(|parts| Pair::response(&parts.ratio, &parts.delta)).collect()
    }

    /// Begins a conversation. `responses` has the outcome of each system's response, from 0 to 3 in the order of
    /// [`Pair::response`].
    ///
    /// # Errors
    /// [`ExactError::Size`] unless there is an outcome for each system, from 0 to 3.
    pub fn begin(&self, responses: &[usize]) -> Result<Conversation<'_>, ExactError> {
        let systems = self.systems.len() as u128;
        fractions::check_size("responses", responses.len() as u128, (systems, systems))?;
        for &response in responses {
            fractions::check_size("a response is", response as u128, (0, 3))?;
        }
        let states = vec![0; self.systems.len()];
        Ok(Conversation { simulator: self, responses: responses.to_vec(), states, turns: vec![] })
    }

    /// Returns the answers to a query at a state, with their probabilities under each answering system and under the
    /// system itself.
    fn answers(&self, system: usize, state: usize, query: usize) -> Option<Vec<Chances>> {
        let branches = |system: &System| -> Option<Vec<Branch>> {
            system.states.get(state)?.queries.get(query).cloned()
        };
        let parts = self.parts.get(system)?;
        let real = branches(self.systems.get(system)?)?;
        let (veiled, exposed) = (branches(&parts.veiled)?, branches(&parts.exposed)?);
        let all = real.into_iter().zip(veiled.into_iter().zip(exposed));
        let chances = |(real, (veiled, exposed)): (Branch, (Branch, Branch))| {
            let ([zero, one], [first, last]) = (veiled.probabilities, exposed.probabilities);
            Chances {
                simulated: [first, zero, one, last],
                real: real.probabilities,
                next: real.next,
            }
        };
        Some(all.map(chances).collect())
    }

    /// Returns every answer of a system after every history, with its probabilities under each answering system. The
    /// histories are in order.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a hundred thousand, or no such system.
    pub fn answer_probabilities(
        &self,
        system: usize,
    ) -> Result<Vec<AnswerProbabilities>, ExactError> {
        let last = self.systems.len() as u128 - 1;
        fractions::check_size("the system is", system as u128, (0, last))?;
        let (mut found, mut open) = (Vec::new(), vec![(Vec::new(), 0)]);
        while let Some((history, state)) = open.pop() {
            let (mut query, mut next) = (0, Vec::new());
            while let Some(answers) = self.answers(system, state, query) {
                for (answer, chances) in answers.into_iter().enumerate() {
                    let step = Turn { system, query, answer };
                    let Chances { simulated, real, next: to } = chances;
                    next.push((history.iter().copied().chain([step]).collect(), to));
                    found.push(AnswerProbabilities {
                        history: history.clone(),
                        step,
                        simulated,
                        real,
                    });
                }
                query += 1;
            }
            open.extend(next.into_iter().rev());
            fractions::check_size("answers", found.len() as u128, (0, MOST_HISTORIES))?;
        }
        Ok(found)
    }

    /// The number of queries that each system answers in these states.
    fn open(&self, states: &[usize]) -> Vec<usize> {
        let queries = |(system, &state): (&System, &usize)| {
            system.states.get(state).map_or(0, |state| state.queries.len())
        };
        self.systems.iter().zip(states).map(queries).collect()
    }

    /// Returns the transcripts of an adversary, who may interleave the systems in any order, with their probabilities
    /// under the simulator and under the systems themselves.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a hundred thousand.
    pub fn law(&self, adversary: &mut AdversaryFn<'_>) -> Result<Vec<TranscriptLaw>, ExactError> {
        let responses = self.responses()?;
        let (mut found, mut open) = (Vec::new(), vec![History::start(self)]);
        while let Some(history) = open.pop() {
            let asked = adversary(&history.turns, &self.open(&history.states));
            match asked.and_then(|(system, query)| history.after(self, system, query)) {
                Some(next) => open.extend(next.into_iter().rev()),
                None => found.push(history.law(&responses)),
            }
            let size = (open.len() + found.len()) as u128;
            fractions::check_size("transcripts", size, (1, MOST_HISTORIES))?;
        }
        Ok(found)
    }

    /// Compares both laws at every interleaved history. Returns the number of histories, or `None` if the laws differ
    /// at a history. The probability of a transcript is that of its answers times that of the adversary's queries (L
    /// (16)). So if the laws agree at every history, they agree for all adversaries.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a hundred thousand.
    pub fn histories_agree(&self) -> Result<Option<u128>, ExactError> {
        let responses = self.responses()?;
        let (mut count, mut open) = (0_u128, vec![History::start(self)]);
        while let Some(history) = open.pop() {
            count += 1;
            fractions::check_size("histories", count + open.len() as u128, (1, MOST_HISTORIES))?;
            for (system, queries) in self.open(&history.states).into_iter().enumerate() {
                for query in 0..queries {
                    open.extend(history.after(self, system, query).into_iter().flatten());
                }
            }
            let law = history.law(&responses);
            if law.simulated != law.real {
                return Ok(None);
            }
        }
        Ok(Some(count))
    }
}

/// The probabilities of an answer after a history: under each answering system, and under the system itself for b = 0
/// and b = 1.
struct Chances {
    simulated: [Ratio; 4],
    real: [Ratio; 2],
    next: usize,
}

/// A history, and each system's factor of its probability.
#[derive(Clone)]
struct History {
    turns: Vec<Turn>,
    states: Vec<usize>,
    simulated: Vec<[Ratio; 4]>,
    real: Vec<[Ratio; 2]>,
}

impl History {
    fn start(simulator: &Simulator) -> Self {
        let systems = simulator.systems.len();
        Self {
            turns: Vec::new(),
            states: vec![0; systems],
            simulated: vec![[const { Ratio::ONE }; 4]; systems],
            real: vec![[const { Ratio::ONE }; 2]; systems],
        }
    }

    /// Returns the histories after a query, one for each answer.
    fn after(&self, simulator: &Simulator, system: usize, query: usize) -> Option<Vec<Self>> {
        let answers = simulator.answers(system, *self.states.get(system)?, query)?;
        let one = |(answer, chances): (usize, Chances)| {
            let mut next = self.clone();
            next.turns.push(Turn { system, query, answer });
            next.states[system] = chances.next;
            let simulated = next.simulated[system].iter_mut().zip(&chances.simulated);
            simulated.for_each(|(mass, chance)| *mass *= chance);
            let real = next.real[system].iter_mut().zip(&chances.real);
            real.for_each(|(mass, chance)| *mass *= chance);
            next
        };
        Some(answers.into_iter().enumerate().map(one).collect())
    }

    /// Returns the probabilities of the history. The responses are independent, so the factors of the systems are
    /// multiplied.
    fn law(&self, responses: &[Pair]) -> TranscriptLaw {
        let simulated = [0, 1].map(|b: usize| {
            let parts = self.simulated.iter().zip(responses).map(|(simulated, response)| {
                let terms = response.outcomes().iter().zip(simulated).map(|(mass, v)| &mass[b] * v);
                fractions::sum(terms)
            });
            parts.fold(Ratio::ONE, |product, part| product * part)
        });
        let real = [0, 1]
            .map(|b: usize| self.real.iter().fold(Ratio::ONE, |product, part| product * &part[b]));
        TranscriptLaw { turns: self.turns.clone(), simulated, real }
    }
}

/// A conversation with a [`Simulator`].
#[derive(Clone, Debug)]
pub struct Conversation<'a> {
    simulator: &'a Simulator,
    responses: Vec<usize>,
    states: Vec<usize>,
    turns: Vec<Turn>,
}

impl Conversation<'_> {
    /// The queries and answers so far.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The number of queries that each system answers now; 0 if its interaction is over.
    #[must_use]
    pub fn open(&self) -> Vec<usize> {
        self.simulator.open(&self.states)
    }

    /// The probabilities of the answers to a query, given the response; `None` if there is no such query.
    #[must_use]
    pub fn chances(&self, system: usize, query: usize) -> Option<Vec<Ratio>> {
        let (state, response) = (*self.states.get(system)?, *self.responses.get(system)?);
        let answers = self.simulator.answers(system, state, query)?;
        answers.iter().map(|chances| chances.simulated.get(response).cloned()).collect()
    }

    /// Asks a query and draws the answer from uniformly random words. Returns `None` if there is no such query.
    pub fn ask(
        &mut self,
        system: usize,
        query: usize,
        words: &mut dyn FnMut() -> u64,
    ) -> Option<usize> {
        let answer = draw(&self.chances(system, query)?, words);
        let answers = self.simulator.answers(system, *self.states.get(system)?, query)?;
        *self.states.get_mut(system)? = answers.get(answer)?.next;
        self.turns.push(Turn { system, query, answer });
        Some(answer)
    }
}
