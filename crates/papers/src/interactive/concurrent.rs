//! Several systems whose queries are interleaved in any order (L section 1.1).

use super::{Branch, MOST_STATES, State, System};
use counterpoint_numerics::fractions::{self, ExactError, Ratio};
use std::collections::VecDeque;

/// The exact profile of the concurrent composition: the least delta at x = e^epsilon of b = 0 from b = 1, and of b = 1
/// from b = 0, against all adversaries and all interleavings.
///
/// The gain that remains possible depends on the state of each system alone, not on the order in which the states were
/// reached. So the recursion L (19) runs over tuples of states. The number of tuples is the product of the systems'
/// sizes, which is far smaller than the number of interleaved histories.
///
/// # Errors
/// [`ExactError::Size`] if there are no systems, or more than a million tuples.
pub fn concurrent_deltas(systems: &[System], ratio: &Ratio) -> Result<[Ratio; 2], ExactError> {
    fractions::check_size("systems", systems.len() as u128, (1, 64))?;
    let sizes = systems.iter().map(|system| system.states.len() as u128);
    let tuples = sizes.fold(1_u128, u128::saturating_mul);
    fractions::check_size("tuples of states", tuples, (1, MOST_STATES))?;
    let bits = systems.iter().map(System::bits).sum();
    fractions::check_bits("bits of all tuples' probabilities", tuples, bits)?;
    let masses: Vec<Vec<[Ratio; 2]>> = systems.iter().map(System::masses).collect();
    Ok([0, 1].map(|b| best(systems, &masses, b, ratio, tuples as usize)))
}

/// The larger delta of both directions.
///
/// # Errors
/// As [`concurrent_deltas`].
pub fn concurrent_delta(systems: &[System], ratio: &Ratio) -> Result<Ratio, ExactError> {
    let [zero, one] = concurrent_deltas(systems, ratio)?;
    Ok(fractions::larger(zero, one))
}

/// Runs L (19) over tuples. The index of a tuple has the systems' states as its digits in mixed radix. Every answer
/// leads to a larger index.
fn best(
    systems: &[System],
    masses: &[Vec<[Ratio; 2]>],
    b: usize,
    ratio: &Ratio,
    tuples: usize,
) -> Ratio {
    let mut values = vec![Ratio::ZERO; tuples];
    for tuple in (0..tuples).rev() {
        let mut most: Option<Ratio> = None;
        let mut product = [Ratio::ONE, Ratio::ONE];
        let mut stride = 1;
        for (system, masses) in systems.iter().zip(masses) {
            let state = tuple / stride % system.states.len();
            for query in &system.states[state].queries {
                let after = |branch: &Branch| &values[tuple + (branch.next - state) * stride];
                let sum = fractions::sum(query.iter().map(after));
                most = Some(most.map_or(sum.clone(), |most| fractions::larger(most, sum)));
            }
            if most.is_none() {
                product = [0, 1].map(|b: usize| &product[b] * &masses[state][b]);
            }
            stride *= system.states.len();
        }
        let over = || fractions::positive_part(&product[b] - ratio * &product[1 - b]);
        values[tuple] = most.unwrap_or_else(over);
    }
    values.swap_remove(0)
}

/// The concurrent composition as one system: at each state it answers the queries of the first system, then those of
/// the second, and so on. Every interleaving is a separate history, so this is for small systems; [`concurrent_delta`]
/// handles larger ones.
///
/// # Errors
/// [`ExactError::Size`] if there are no systems, or more than a million states.
pub fn concurrent(systems: &[System]) -> Result<System, ExactError> {
    fractions::check_size("systems", systems.len() as u128, (1, 64))?;
    let bits: u128 = systems.iter().map(System::bits).sum();
    let mut states = vec![State::default()];
    let mut open = VecDeque::from([(0, vec![0; systems.len()])]);
    while let Some((index, tuple)) = open.pop_front() {
        for (which, system) in systems.iter().enumerate() {
            for query in &system.states[tuple[which]].queries {
                let size = (states.len() + query.len()) as u128;
                fractions::check_size("states", size, (1, MOST_STATES))?;
                fractions::check_bits("bits of all histories' probabilities", size, bits)?;
                let mut branches = Vec::with_capacity(query.len());
                for branch in query {
                    let mut after = tuple.clone();
                    after[which] = branch.next;
                    let next = states.len();
                    branches.push(Branch { probabilities: branch.probabilities.clone(), next });
                    states.push(State::default());
                    open.push_back((next, after));
                }
                states[index].queries.push(branches);
            }
        }
    }
    Ok(System { states })
}
