//! The exact profile, and the adversary that reaches it (L equation (19)).

use super::System;
use crate::pair::Pair;
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// A query and its answer, both counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the query.
    pub query: usize,
    /// The number of the answer.
    pub answer: usize,
}

/// A deterministic adversary: its query at each state. A randomized adversary is a mixture of deterministic ones, and
/// no better than the best of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adversary {
    pub(super) choices: Vec<usize>,
}

/// The success of an adversary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attack {
    /// The largest value of P0(A) - x P1(A), where Pb(A) is the probability that the adversary accuses b = 0 if the bit
    /// is b.
    pub delta: Ratio,
    /// An adversary that reaches delta.
    pub adversary: Adversary,
}

/// The values of the recursion at each state, with the best query there.
pub(super) struct LowerValues {
    /// The maximum over queries of L's Lower, or (M^b - x M^(1-b))+ if the interaction is over.
    pub(super) values: Vec<Ratio>,
    pub(super) choices: Vec<usize>,
}

impl LowerValues {
    /// Runs L (19) from the last state to the first: the maximum over the queries of the sum over the answers.
    pub(super) fn new(system: &System, masses: &[[Ratio; 2]], b: usize, ratio: &Ratio) -> Self {
        let mut values = vec![Ratio::ZERO; system.states.len()];
        let mut choices = vec![0; system.states.len()];
        for (index, state) in system.states.iter().enumerate().rev() {
            let sums = state
                .queries
                .iter()
                .map(|query| fractions::sum(query.iter().map(|branch| &values[branch.next])));
            // The first of the best queries.
            let best =
                sums.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
            (choices[index], values[index]) = best.unwrap_or_else(|| {
                let mass = &masses[index];
                (0, fractions::positive_part(&mass[b] - ratio * &mass[1 - b]))
            });
        }
        Self { values, choices }
    }
}

impl System {
    /// Finds the best adversary at the likelihood ratio x = e^epsilon that accuses b = 0. For b = 1, attack
    /// [`System::swapped`].
    ///
    /// ```
    /// use counterpoint_numerics::fractions::Ratio;
    /// use counterpoint_papers::interactive::System;
    /// use counterpoint_papers::pair::Pair;
    ///
    /// let (x, delta): (Ratio, Ratio) = ("3".parse()?, "1/5".parse()?);
    /// let system = System::from(&Pair::response(&x, &delta)?);
    /// let attack = system.attack(&x);
    /// assert_eq!(attack.delta, delta);
    /// assert_eq!(system.pair(&attack.adversary)?.delta(&x), delta);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn attack(&self, ratio: &Ratio) -> Attack {
        let LowerValues { mut values, choices } = LowerValues::new(self, &self.masses(), 0, ratio);
        Attack { delta: values.swap_remove(0), adversary: Adversary { choices } }
    }

    /// The least deltas at x = e^epsilon against every adversary: of b = 0 from b = 1, and of b = 1 from b = 0.
    #[must_use]
    pub fn deltas(&self, ratio: &Ratio) -> [Ratio; 2] {
        let masses = self.masses();
        [0, 1].map(|b| LowerValues::new(self, &masses, b, ratio).values.swap_remove(0))
    }

    /// The least delta for which the system is (epsilon, delta)-indistinguishable at
    /// x = e^epsilon, in both directions, against every adversary.
    #[must_use]
    pub fn delta(&self, ratio: &Ratio) -> Ratio {
        let [zero, one] = self.deltas(ratio);
        fractions::larger(zero, one)
    }

    /// The view of an adversary: the probabilities of its transcripts under b = 0 and b = 1.
    ///
    /// # Errors
    /// [`ExactError::Size`] if the adversary was made for a system of another size.
    pub fn pair(&self, adversary: &Adversary) -> Result<Pair, ExactError> {
        let size = self.states.len() as u128;
        fractions::check_size(
            "states of the adversary",
            adversary.choices.len() as u128,
            (size, size),
        )?;
        let masses = self.masses();
        let (mut outcomes, mut open) = (Vec::new(), vec![0]);
        while let Some(index) = open.pop() {
            match self.states[index].queries.get(adversary.choices[index]) {
                Some(query) => open.extend(query.iter().rev().map(|branch| branch.next)),
                None => outcomes.push(masses[index].clone()),
            }
        }
        Ok(Pair::of_outcomes(outcomes))
    }

    /// Returns an adversary's query after a history; `None` if the interaction is over or the history is impossible.
    #[must_use]
    pub fn next_query(&self, adversary: &Adversary, history: &[Step]) -> Option<usize> {
        let state = history.iter().try_fold(0, |index: usize, step| {
            let query = self.states.get(index)?.queries.get(step.query)?;
            Some(query.get(step.answer)?.next)
        })?;
        let choice = *adversary.choices.get(state)?;
        (choice < self.states.get(state)?.queries.len()).then_some(choice)
    }

    /// Makes an adversary from a rule. The rule receives a history and the number of queries to choose from, and
    /// returns its choice.
    ///
    /// # Errors
    /// [`ExactError::Size`] if the rule chooses a query that does not exist.
    pub fn adversary(
        &self,
        mut rule: impl FnMut(&[Step], usize) -> usize,
    ) -> Result<Adversary, ExactError> {
        let mut choices = vec![0; self.states.len()];
        let mut parents: Vec<Option<(usize, Step)>> = vec![None; self.states.len()];
        for (index, state) in self.states.iter().enumerate() {
            for (query, branches) in state.queries.iter().enumerate() {
                for (answer, branch) in branches.iter().enumerate() {
                    parents[branch.next] = Some((index, Step { query, answer }));
                }
            }
            if !state.queries.is_empty() {
                choices[index] = rule(&history(&parents, index), state.queries.len());
                let (choice, most) = (choices[index] as u128, state.queries.len() as u128 - 1);
                fractions::check_size("the query chosen is", choice, (0, most))?;
            }
        }
        Ok(Adversary { choices })
    }
}

/// The steps that lead to a state.
fn history(parents: &[Option<(usize, Step)>], mut index: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some((parent, step)) = parents[index] {
        steps.push(step);
        index = parent;
    }
    steps.reverse();
    steps
}
