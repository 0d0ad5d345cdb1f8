//! The budget monitor of the proof of Lyu's Theorem 2 (L Lemma 5, equations (32) and (33)).

use super::renyi::factor;
use super::{MOST_STATES, Step, System};
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// Follows a conversation with several systems, interleaved in any order. At each moment it computes the loss that
/// remains possible: the largest E[(P/Q)^a] = e^((a - 1) D_a) of all that can follow.
///
/// The moment that a system reserves depends on its own answers alone (L (32)). So the remaining moment is a product
/// over the systems. It is never overdrawn (L Lemma 5, Claim 3): summed over the answers to any query, p^a q^(1-a)
/// times the remaining moment after the answer is at most the remaining moment before the query. So the likelihood
/// ratio to the power a, times `remaining`, is a supermartingale under b = 1. The sum of `weight` times `remaining`
/// over histories, none of which continues another, is at most `remaining` at the beginning, which is the product of
/// the systems' largest moments.
///
/// ```
/// use counterpoint_numerics::fractions::Ratio;
/// use counterpoint_papers::interactive::{Monitor, Step, System};
/// use counterpoint_papers::pair::Pair;
///
/// let (three, none): (Ratio, Ratio) = ("3".parse()?, "0".parse()?);
/// let system = System::from(&Pair::response(&three, &none)?);
/// let systems = [system.clone(), system];
/// let mut monitor = Monitor::new(&systems, 2)?;
/// assert_eq!(monitor.remaining(), Some("49/9".parse()?));
/// monitor.follow(1, Step { query: 0, answer: 0 })?;
/// assert_eq!(monitor.remaining(), Some("7/3".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monitor<'a> {
    parts: Vec<MonitoredSystem<'a>>,
    order: u32,
    /// The probabilities of all answers so far under b = 0 and b = 1.
    masses: [Ratio; 2],
}

/// A system, the largest moments after each of its states, and its current state.
#[derive(Clone, Debug)]
struct MonitoredSystem<'a> {
    system: &'a System,
    moments: Vec<Option<Ratio>>,
    state: usize,
}

impl<'a> Monitor<'a> {
    /// A monitor of systems before the first query, at a whole order.
    ///
    /// # Errors
    /// [`ExactError::Size`] unless there are 1 to 64 systems, the order is from 2 to 1000, and the fractions fit in
    /// memory.
    pub fn new(systems: &'a [System], order: u32) -> Result<Self, ExactError> {
        fractions::check_size("systems", systems.len() as u128, (1, 64))?;
        let part = |system: &'a System| {
            let (moments, _) = system.moments(order)?;
            Ok(MonitoredSystem { system, moments, state: 0 })
        };
        let parts: Result<Vec<MonitoredSystem<'a>>, ExactError> =
            systems.iter().map(part).collect();
        Ok(Self { parts: parts?, order, masses: [Ratio::ONE, Ratio::ONE] })
    }

    /// The largest moment of all that can follow, against all adversaries and interleavings; `None` if it is infinite.
    #[must_use]
    pub fn remaining(&self) -> Option<Ratio> {
        let each = self.parts.iter().map(|part| part.moments[part.state].as_ref());
        each.into_iter().try_fold(Ratio::ONE, |product, moment| Some(product * moment?))
    }

    /// P^a Q^(1-a) of the answers so far, given the queries; `None` if it is infinite.
    #[must_use]
    pub fn weight(&self) -> Option<Ratio> {
        factor(&self.masses, self.order)
    }

    /// Records a query to one of the systems, and its answer.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there is no such system, query or answer at this state.
    pub fn follow(&mut self, which: usize, step: Step) -> Result<(), ExactError> {
        let is_there = |what: &'static str, asked: usize, count: usize| {
            fractions::check_size(what, count as u128, (asked as u128 + 1, MOST_STATES))
        };
        is_there("systems", which, self.parts.len())?;
        let part = &mut self.parts[which];
        let queries = &part.system.states[part.state].queries;
        is_there("queries that can be made now", step.query, queries.len())?;
        let query = &queries[step.query];
        is_there("answers to the query", step.answer, query.len())?;
        let branch = &query[step.answer];
        self.masses = [0, 1].map(|b: usize| &self.masses[b] * &branch.probabilities[b]);
        part.state = branch.next;
        Ok(())
    }
}
