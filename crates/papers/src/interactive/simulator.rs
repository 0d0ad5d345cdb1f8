//! Lyu's Theorem 3 run forwards: systems are played by what has seen nothing but randomized responses.
//!
//! The outcome of a system's response says who answers for it, to the end: E^0 after b = 0's leak, N^0 after +epsilon,
//! N^1 after -epsilon, E^1 after b = 1's leak. Queries come in any order, to any of the systems; none of those who
//! answer knows the bit, or the other systems.

use super::{Branch, DecomposeError, Decomposition, System, decompose};
use crate::pair::{Pair, draw};
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The most histories that are looked at one by one.
const MOST_HISTORIES: u128 = 100_000;

/// Systems that are run concurrently, and who answers in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulator {
    systems: Vec<System>,
    parts: Vec<Decomposition>,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulatorError {
    /// A system has not the guarantee that is claimed.
    #[error("system {}: {error}", .system + 1)]
    System {
        /// Which, counted from 0.
        system: usize,
        /// Why.
        error: DecomposeError,
    },
    /// There are no systems, or too many.
    #[error(transparent)]
    Input(#[from] ExactError),
}

/// A query to one of the systems, and its answer; all counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turn {
    /// Which of the systems.
    pub system: usize,
    /// Which of its queries.
    pub query: usize,
    /// Which of the answers.
    pub answer: usize,
}

/// A transcript of an adversary with its probabilities under b = 0 and b = 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Said {
    /// What was asked and answered.
    pub turns: Vec<Turn>,
    /// With the simulator, over its responses.
    pub simulated: [Ratio; 2],
    /// With the systems themselves.
    pub real: [Ratio; 2],
}

/// An answer after a history, with its probabilities there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Voiced {
    /// What was said before, to this system.
    pub history: Vec<Turn>,
    /// The query, and this answer.
    pub step: Turn,
    /// By E^0, N^0, N^1 and E^1: those who answer after the outcomes 0 to 3 of the response.
    pub voices: [Ratio; 4],
    /// By the system itself, under b = 0 and b = 1.
    pub real: [Ratio; 2],
}

/// Who asks: from what was said and the number of queries each system takes now, the system and the query, or the end.
type Asker<'a> = dyn FnMut(&[Turn], &[usize]) -> Option<(usize, usize)> + 'a;

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
    /// // Two responses were drawn; the second system is asked first.
    /// let mut words = [1, 2].into_iter();
    /// let mut talk = both.begin(&[0, 3])?;
    /// assert_eq!(talk.ask(1, 0, &mut || words.next().unwrap_or(0)), Some(1));
    /// assert!(both.histories_agree()?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SimulatorError::System`] with an adversary for the first system that is not that private.
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

    /// Whether every decomposition makes up its system, exactly.
    #[must_use]
    pub fn makes_up(&self) -> bool {
        self.systems.iter().zip(&self.parts).all(|(system, parts)| parts.makes_up(system))
    }

    /// The systems' responses, in their order.
    ///
    /// # Errors
    /// None that could happen: guarantees were checked.
    pub fn responses(&self) -> Result<Vec<Pair>, ExactError> {
        self.parts.iter().map(|parts| Pair::response(&parts.ratio, &parts.delta)).collect()
    }

    /// A conversation, after these outcomes of the systems' responses: 0 to 3 each, in the order of
    /// [`Pair::response`].
    ///
    /// # Errors
    /// [`ExactError::Size`] unless there is one for each system, from 0 to 3.
    pub fn begin(&self, responses: &[usize]) -> Result<Conversation<'_>, ExactError> {
        let systems = self.systems.len() as u128;
        fractions::check_size("responses", responses.len() as u128, (systems, systems))?;
        for &response in responses {
            fractions::check_size("a response is", response as u128, (0, 3))?;
        }
        let states = vec![0; self.systems.len()];
        Ok(Conversation { simulator: self, responses: responses.to_vec(), states, turns: vec![] })
    }

    /// A query's answers at a state: with their probabilities by who answers, and as they truly are.
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
            Chances { voices: [first, zero, one, last], real: real.probabilities, next: real.next }
        };
        Some(all.map(chances).collect())
    }

    /// Who answers what: every answer that a system may give, after every history, the histories in their order.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a hundred thousand, or no such system.
    pub fn voices(&self, system: usize) -> Result<Vec<Voiced>, ExactError> {
        let last = self.systems.len() as u128 - 1;
        fractions::check_size("the system is", system as u128, (0, last))?;
        let (mut found, mut open) = (Vec::new(), vec![(Vec::new(), 0)]);
        while let Some((history, state)) = open.pop() {
            let (mut query, mut next) = (0, Vec::new());
            while let Some(answers) = self.answers(system, state, query) {
                for (answer, chances) in answers.into_iter().enumerate() {
                    let step = Turn { system, query, answer };
                    let Chances { voices, real, next: to } = chances;
                    next.push((history.iter().copied().chain([step]).collect(), to));
                    found.push(Voiced { history: history.clone(), step, voices, real });
                }
                query += 1;
            }
            open.extend(next.into_iter().rev());
            fractions::check_size("answers", found.len() as u128, (0, MOST_HISTORIES))?;
        }
        Ok(found)
    }

    /// How many queries each system takes.
    fn open(&self, states: &[usize]) -> Vec<usize> {
        let queries = |(system, &state): (&System, &usize)| {
            system.states.get(state).map_or(0, |state| state.queries.len())
        };
        self.systems.iter().zip(states).map(queries).collect()
    }

    /// The transcripts of an adversary, who may interleave the systems as it likes, with their probabilities through the
    /// simulator and with the systems themselves.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a hundred thousand.
    pub fn law(&self, asker: &mut Asker<'_>) -> Result<Vec<Said>, ExactError> {
        let responses = self.responses()?;
        let (mut found, mut open) = (Vec::new(), vec![History::start(self)]);
        while let Some(history) = open.pop() {
            let asked = asker(&history.turns, &self.open(&history.states));
            match asked.and_then(|(system, query)| history.after(self, system, query)) {
                Some(next) => open.extend(next.into_iter().rev()),
                None => found.push(history.said(&responses)),
            }
            let size = (open.len() + found.len()) as u128;
            fractions::check_size("transcripts", size, (1, MOST_HISTORIES))?;
        }
        Ok(found)
    }

    /// Compares both laws at every interleaved history: how many there are, or `None` if they differ at one. A
    /// transcript's probability is that of its answers times that of the adversary's queries (L (16)): then they agree
    /// for all adversaries.
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
            let said = history.said(&responses);
            if said.simulated != said.real {
                return Ok(None);
            }
        }
        Ok(Some(count))
    }
}

/// An answer's probabilities after what came before: by who answers, and as they are under b = 0 and b = 1.
struct Chances {
    voices: [Ratio; 4],
    real: [Ratio; 2],
    next: usize,
}

/// What was said, and each system's part in its probability.
#[derive(Clone)]
struct History {
    turns: Vec<Turn>,
    states: Vec<usize>,
    voices: Vec<[Ratio; 4]>,
    real: Vec<[Ratio; 2]>,
}

impl History {
    fn start(simulator: &Simulator) -> Self {
        let systems = simulator.systems.len();
        Self {
            turns: Vec::new(),
            states: vec![0; systems],
            voices: vec![[const { Ratio::ONE }; 4]; systems],
            real: vec![[const { Ratio::ONE }; 2]; systems],
        }
    }

    /// The histories after a query, one for each answer.
    fn after(&self, simulator: &Simulator, system: usize, query: usize) -> Option<Vec<Self>> {
        let answers = simulator.answers(system, *self.states.get(system)?, query)?;
        let one = |(answer, chances): (usize, Chances)| {
            let mut next = self.clone();
            next.turns.push(Turn { system, query, answer });
            next.states[system] = chances.next;
            let voices = next.voices[system].iter_mut().zip(&chances.voices);
            voices.for_each(|(mass, chance)| *mass *= chance);
            let real = next.real[system].iter_mut().zip(&chances.real);
            real.for_each(|(mass, chance)| *mass *= chance);
            next
        };
        Some(answers.into_iter().enumerate().map(one).collect())
    }

    /// Responses are drawn independently, so that the systems' parts multiply.
    fn said(&self, responses: &[Pair]) -> Said {
        let simulated = [0, 1].map(|b: usize| {
            let parts = self.voices.iter().zip(responses).map(|(voices, response)| {
                let terms = response.outcomes().iter().zip(voices).map(|(mass, v)| &mass[b] * v);
                fractions::sum(terms)
            });
            parts.fold(Ratio::ONE, |product, part| product * part)
        });
        let real = [0, 1]
            .map(|b: usize| self.real.iter().fold(Ratio::ONE, |product, part| product * &part[b]));
        Said { turns: self.turns.clone(), simulated, real }
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
    /// What was said so far.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How many queries each system takes now; none where it is over.
    #[must_use]
    pub fn open(&self) -> Vec<usize> {
        self.simulator.open(&self.states)
    }

    /// The probabilities of the answers to a query, given who answers; `None` if there is no such query.
    #[must_use]
    pub fn chances(&self, system: usize, query: usize) -> Option<Vec<Ratio>> {
        let (state, response) = (*self.states.get(system)?, *self.responses.get(system)?);
        let answers = self.simulator.answers(system, state, query)?;
        answers.iter().map(|chances| chances.voices.get(response).cloned()).collect()
    }

    /// Asks a query, and draws the answer with fair words; `None` if there is no such query.
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
