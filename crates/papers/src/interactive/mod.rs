//! Finite interactive systems (Lyu 2022), and what an adversary can learn from them. The adversary chooses every query
//! by the answers so far.
//!
//! A [`System`] is a tree. At each state the adversary picks one of the queries. The probability of each answer depends
//! on the hidden bit b, which is 0 or 1 (two neighbouring data sets).
//!
//! - [`System::delta`] is the exact profile against all adaptive adversaries. [`System::attack`] finds the best of
//!   them. [`System::dominating_pair`] is a pair that has the same profile.
//! - [`decompose`] proves that no adversary is better, in the form of Lyu's Theorem 3. A [`Simulator`] runs this proof:
//!   it answers in place of several systems and uses nothing but randomized responses.
//! - [`concurrent_delta`] is the profile of several systems whose queries are interleaved.
//! - [`System::moment_attack`] and [`System::renyi_attack`] find the adversaries with the largest Rényi divergence. A
//!   [`Monitor`] computes the divergence that remains possible during a conversation (Lyu's Theorem 2).
//!
//! All results are exact fractions, except divergences of real order, which are brackets.
//!
//! ```
//! use counterpoint_numerics::fractions::Ratio;
//! use counterpoint_papers::interactive::{Answer, System, concurrent_delta};
//! use counterpoint_papers::pair::Pair;
//!
//! let ratio = |text: &str| text.parse::<Ratio>();
//! // Two rounds; the second query may be asked in two ways.
//! let last = System::new(vec![
//!     vec![Answer::last(ratio("2/3")?, ratio("1/3")?), Answer::last(ratio("1/3")?, ratio("2/3")?)],
//!     vec![Answer::last(ratio("3/5")?, ratio("3/4")?), Answer::last(ratio("2/5")?, ratio("1/4")?)],
//! ])?;
//! let first = System::new(vec![vec![
//!     Answer::new(ratio("1/2")?, ratio("1/3")?, last.clone()),
//!     Answer::new(ratio("1/2")?, ratio("2/3")?, last),
//! ]])?;
//! // At e^epsilon = 2 each of the two is (epsilon, delta)-indistinguishable. Interleaved, they are no worse than two
//! // randomized responses with this guarantee.
//! let two = ratio("2")?;
//! let response = Pair::response(&two, &first.delta(&two))?;
//! let together = concurrent_delta(&[first.clone(), first], &two)?;
//! assert!(together <= response.product(&response)?.delta(&two));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attack;
mod concurrent;
mod decomposition;
mod monitor;
mod region;
mod renyi;
mod simulator;

pub use attack::{Adversary, Attack, Step};
pub use concurrent::{concurrent, concurrent_delta, concurrent_deltas};
pub use decomposition::{DecomposeError, Decomposition, decompose};
pub use monitor::Monitor;
pub use renyi::{MomentAttack, RenyiAttack};
pub use simulator::{
    AnswerProbabilities, Conversation, Simulator, SimulatorError, TranscriptLaw, Turn,
};

use crate::pair::Pair;
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The largest number of states of a system.
pub const MOST_STATES: u128 = 1_000_000;

/// A finite interactive system under both values of the hidden bit.
///
/// The states are in one list. The first state comes first, and every state comes before the states that follow it. So
/// no function needs recursion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    states: Vec<State>,
}

/// The queries at a state; none if the interaction is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    queries: Vec<Vec<Branch>>,
}

/// An answer's probabilities under b = 0 and b = 1, and the state it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Branch {
    probabilities: [Ratio; 2],
    next: usize,
}

/// An answer to a query, for building a [`System`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The probability of the answer under b = 0 and under b = 1, given the history.
    pub probabilities: [Ratio; 2],
    /// The system that answers the next queries.
    pub then: System,
}

impl Answer {
    /// An answer after which the interaction continues.
    #[must_use]
    pub fn new(under_zero: Ratio, under_one: Ratio, then: System) -> Self {
        Self { probabilities: [under_zero, under_one], then }
    }

    /// An answer that ends the interaction.
    #[must_use]
    pub fn last(under_zero: Ratio, under_one: Ratio) -> Self {
        Self::new(under_zero, under_one, System::over())
    }

    /// The answers to a query that a pair answers, each followed by the same system.
    ///
    /// ```
    /// use counterpoint_papers::interactive::{Answer, System};
    /// use counterpoint::mechanism::FinitePair;
    /// use counterpoint_numerics::fractions::nearest;
    /// use counterpoint_papers::pair::Pair;
    ///
    /// let noisy = Pair::from(&FinitePair::new(&[0.6, 0.4], &[0.4, 0.6])?);
    /// let once = System::from(&noisy);
    /// let twice = System::new(vec![Answer::list(&noisy, &once)])?;
    /// let delta = nearest(&twice.delta(&"3/2".parse()?));
    /// assert!((delta - (0.36 - 1.5 * 0.16)).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn list(pair: &Pair, then: &System) -> Vec<Self> {
        let answer =
            |masses: &[Ratio; 2]| Self { probabilities: masses.clone(), then: then.clone() };
        pair.outcomes().iter().map(answer).collect()
    }
}

impl From<&Pair> for System {
    /// A system with one query and one answer: a mechanism that is not interactive.
    fn from(pair: &Pair) -> Self {
        let branch = |(index, masses): (usize, &[Ratio; 2])| Branch {
            probabilities: masses.clone(),
            next: index + 1,
        };
        let query: Vec<Branch> = pair.outcomes().iter().enumerate().map(branch).collect();
        let mut states = vec![State::default(); query.len() + 1];
        states[0].queries.push(query);
        Self { states }
    }
}

impl System {
    /// A system without queries.
    #[must_use]
    pub fn over() -> Self {
        Self { states: vec![State::default()] }
    }

    /// A system from the answers to each first query.
    ///
    /// # Errors
    /// [`ExactError`] if a query has no answers, a number is not a probability, probabilities do not sum to one, or
    /// there are more than a million states.
    pub fn new(queries: Vec<Vec<Answer>>) -> Result<Self, ExactError> {
        let answers = queries.iter().flatten();
        let size = 1 + answers.map(|answer| answer.then.states.len() as u128).sum::<u128>();
        fractions::check_size("states", size, (1, MOST_STATES))?;
        let mut states = vec![State::default()];
        for (index, answers) in queries.into_iter().enumerate() {
            check(index, &answers)?;
            let mut query = Vec::with_capacity(answers.len());
            for Answer { probabilities, then } in answers {
                let next = states.len();
                query.push(Branch { probabilities, next });
                states.extend(then.states.into_iter().map(|state| state.moved(next)));
            }
            states[0].queries.push(query);
        }
        let system = Self { states };
        let size = system.states.len() as u128;
        fractions::check_bits("bits of all histories' probabilities", size, system.bits())?;
        Ok(system)
    }

    /// The system with the two values of the hidden bit exchanged.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let mut swapped = self.clone();
        for branch in swapped.states.iter_mut().flat_map(|state| state.queries.iter_mut().flatten())
        {
            branch.probabilities.reverse();
        }
        swapped
    }

    /// The number of states.
    #[must_use]
    pub fn size(&self) -> usize {
        self.states.len()
    }

    /// The length of a common denominator of all histories' probabilities, in bits: the sum over the rounds.
    fn bits(&self) -> u128 {
        let mut rounds: Vec<Vec<&Ratio>> = Vec::new();
        let mut depths = vec![0; self.states.len()];
        for (index, state) in self.states.iter().enumerate() {
            let depth = depths[index];
            for branch in state.queries.iter().flatten() {
                depths[branch.next] = depth + 1;
                if rounds.len() == depth {
                    rounds.push(Vec::new());
                }
                rounds[depth].extend(&branch.probabilities);
            }
        }
        let most = fractions::MOST_TOTAL_BITS / self.states.len() as u128;
        rounds.into_iter().map(|round| fractions::common_bits(round, most)).sum()
    }

    /// Returns, for each state, the probabilities under b = 0 and b = 1 of the answers that lead to it, given the
    /// queries: L (14).
    fn masses(&self) -> Vec<[Ratio; 2]> {
        let mut masses = vec![[Ratio::ONE, Ratio::ONE]; self.states.len()];
        for (index, state) in self.states.iter().enumerate() {
            for branch in state.queries.iter().flatten() {
                masses[branch.next] =
                    [0, 1].map(|b: usize| &masses[index][b] * &branch.probabilities[b]);
            }
        }
        masses
    }
}

impl State {
    /// Adds a number to the indices of the states that follow this state. A list of states needs this when it is
    /// appended to another list.
    fn moved(mut self, by: usize) -> Self {
        for branch in self.queries.iter_mut().flatten() {
            branch.next += by;
        }
        self
    }
}

/// Refuses answers whose probabilities are not a distribution under one of the bits.
fn check(query: usize, answers: &[Answer]) -> Result<(), ExactError> {
    fractions::check_size("answers to a query", answers.len() as u128, (1, MOST_STATES))?;
    let list: Vec<&Ratio> = answers.iter().flat_map(|answer| &answer.probabilities).collect();
    fractions::check_list("bits of the answers' probabilities", list.into_iter())?;
    for b in [0, 1] {
        for (index, answer) in answers.iter().enumerate() {
            let place = || format!("the probability of answer {index} to query {query}, b = {b},");
            fractions::check_probability(place, &answer.probabilities[b])?;
        }
        let sum = fractions::sum(answers.iter().map(|answer| &answer.probabilities[b]));
        let place = || format!("the probabilities of the answers to query {query}, b = {b},");
        fractions::check_sum(place, sum)?;
    }
    Ok(())
}
