//! Lyu's Theorem 3: an (epsilon, delta)-indistinguishable system is a randomized function of a leaky randomized
//! response.
//!
//! The construction (L Lemma 1) computes D^b = delta E^b instead of E^b, which needs no division and covers delta = 0,
//! where D is zero throughout. With U^b = M^b - M^(1-b)/x and L's Lower as low^b, D satisfies at every state:
//!
//! - D^b >= low^b (L (24)), and D^b <= U^b + D^(1-b)/x (L (25)),
//! - the sum of the answers' D^b is that of their state (L (26)).
//!
//! The answers to a query start at low^b. One after the other is raised as far as (25) and the rest of the state's D^b
//! allow. This largest point has a closed form. Let the cap c^b be low^b plus the rest of the state's D^b; then it is
//! D^b = min(c^b, U^b + c^(1-b)/x, M^b). The last bound holds because both constraints (25) together imply D^b <= M^b.
//! It also covers epsilon = 0 without a special case, where L argues by continuity.

use super::attack::LowerValues;
use super::{Attack, Branch, State, System};
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The four systems that a system is a mixture of, L (3): M^b = delta E^b + (1 - delta) (x N^b + N^(1-b)) / (1 + x).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decomposition {
    /// The likelihood ratio x = e^epsilon.
    pub ratio: Ratio,
    /// The probability of the exposed part.
    pub delta: Ratio,
    /// N^0 and N^1 as one system, which answers after a randomized response.
    pub veiled: System,
    /// E^0 and E^1 as one system, which answers after a leak.
    pub exposed: System,
}

/// The reason why there is no decomposition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecomposeError {
    /// An adversary distinguishes the bits better than the guarantee allows.
    #[error("an adversary reaches delta {} against b = {bit}; legal: at most {}",
        fractions::nearest(&.attack.delta), fractions::nearest(.delta))]
    Distinguishable {
        /// The bit that the adversary accuses. An attack on 1 is an attack on the swapped system.
        bit: usize,
        /// The attack.
        attack: Box<Attack>,
        /// The claimed delta.
        delta: Ratio,
    },
    /// The guarantee is outside its range.
    #[error(transparent)]
    Input(#[from] ExactError),
}

/// Decomposes a system that is (epsilon, delta)-indistinguishable, x = e^epsilon.
///
/// ```
/// use counterpoint_numerics::fractions::Ratio;
/// use counterpoint_papers::interactive::{Answer, System, decompose};
///
/// let ratio = |text: &str| text.parse::<Ratio>();
/// let system = System::new(vec![
///     vec![Answer::last(ratio("3/4")?, ratio("1/4")?), Answer::last(ratio("1/4")?, ratio("3/4")?)],
///     vec![Answer::last(ratio("1")?, ratio("7/8")?), Answer::last(ratio("0")?, ratio("1/8")?)],
/// ])?;
/// let x = ratio("2")?;
/// let parts = decompose(&system, &x, &system.delta(&x))?;
/// assert!(parts.reproduces(&system));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DecomposeError::Distinguishable`], with an adversary, if the system does not have the guarantee.
/// [`DecomposeError::Input`] unless x is at least 1 and delta is at least 0 and less than 1.
pub fn decompose(
    system: &System,
    ratio: &Ratio,
    delta: &Ratio,
) -> Result<Decomposition, DecomposeError> {
    fractions::check_guarantee(ratio, delta)?;
    for (bit, side) in [(0, system.clone()), (1, system.swapped())] {
        let attack = Box::new(side.attack(ratio));
        if attack.delta > *delta {
            return Err(DecomposeError::Distinguishable { bit, attack, delta: delta.clone() });
        }
    }
    let masses = system.masses();
    let leaked = leak_masses(system, &masses, ratio, delta);
    let veiled: Vec<[Ratio; 2]> =
        masses.iter().zip(&leaked).map(|(mass, leak)| unmix(mass, leak, ratio)).collect();
    Ok(Decomposition {
        ratio: ratio.clone(),
        delta: delta.clone(),
        veiled: condition(system, &veiled),
        exposed: condition(system, &leaked),
    })
}

/// L Lemma 1: returns D^b = delta E^b at every state.
fn leak_masses(
    system: &System,
    masses: &[[Ratio; 2]],
    ratio: &Ratio,
    delta: &Ratio,
) -> Vec<[Ratio; 2]> {
    let [zero, one] = [0, 1].map(|b| LowerValues::new(system, masses, b, ratio).values);
    let mut leaked: Vec<[Ratio; 2]> = zero.into_iter().zip(one).map(|(a, b)| [a, b]).collect();
    leaked[0] = [delta.clone(), delta.clone()];
    for (index, state) in system.states.iter().enumerate() {
        for query in &state.queries {
            raise(query, index, masses, &mut leaked, ratio);
        }
    }
    leaked
}

/// Raises the answers' D until they add up to that of their state.
fn raise(
    query: &[Branch],
    index: usize,
    masses: &[[Ratio; 2]],
    leaked: &mut [[Ratio; 2]],
    ratio: &Ratio,
) {
    let mut gap = [0, 1].map(|b: usize| {
        &leaked[index][b] - fractions::sum(query.iter().map(|branch| &leaked[branch.next][b]))
    });
    for branch in query {
        let (mass, now) = (&masses[branch.next], leaked[branch.next].clone());
        let caps = [0, 1].map(|b: usize| &now[b] + &gap[b]);
        let raised = [0, 1].map(|b: usize| {
            let other = &mass[b] + (&caps[1 - b] - &mass[1 - b]) / ratio;
            fractions::smaller(fractions::smaller(caps[b].clone(), other), mass[b].clone())
        });
        for b in [0, 1] {
            gap[b] -= &raised[b] - &now[b];
        }
        leaked[branch.next] = raised;
    }
}

/// L Lemmas 2 and 3: R^b = M^b - D^b is the mass without the leak, and N^b is proportional to x R^b - R^(1-b), or to
/// R^b if x = 1, where R^0 = R^1.
fn unmix(mass: &[Ratio; 2], leak: &[Ratio; 2], ratio: &Ratio) -> [Ratio; 2] {
    let rest = [0, 1].map(|b: usize| &mass[b] - &leak[b]);
    if ratio.is_one() {
        return rest;
    }
    [0, 1].map(|b: usize| ratio * &rest[b] - &rest[1 - b])
}

/// Returns the system with these masses, up to a factor. After a history of mass zero, the answers have the original
/// probabilities.
fn condition(system: &System, masses: &[[Ratio; 2]]) -> System {
    let states = system.states.iter().zip(masses).map(|(state, whole)| {
        let branch = |branch: &Branch| {
            let probabilities = [0, 1].map(|b: usize| {
                if whole[b].is_zero() {
                    branch.probabilities[b].clone()
                } else {
                    &masses[branch.next][b] / &whole[b]
                }
            });
            Branch { probabilities, next: branch.next }
        };
        let queries = state.queries.iter().map(|query| query.iter().map(branch).collect());
        State { queries: queries.collect() }
    });
    System { states: states.collect() }
}

impl Decomposition {
    /// True if all four parts are systems and L (3) holds exactly for every history. Then L (3) holds for the
    /// transcripts of every adversary, because the probabilities of the adversary's queries multiply both sides (L
    /// (16)).
    #[must_use]
    pub fn reproduces(&self, system: &System) -> bool {
        let parts = [&self.veiled, &self.exposed];
        if !parts.iter().all(|part| part.is_legal() && part.has_shape_of(system)) {
            return false;
        }
        let share = (Ratio::ONE - &self.delta) / (Ratio::ONE + &self.ratio);
        let (veiled, exposed) = (self.veiled.masses(), self.exposed.masses());
        let all = system.masses().into_iter().zip(veiled.iter().zip(&exposed));
        all.into_iter().all(|(mass, (n, e))| {
            [0, 1].into_iter().all(|b: usize| {
                mass[b] == &self.delta * &e[b] + &share * (&self.ratio * &n[b] + &n[1 - b])
            })
        })
    }
}

impl System {
    /// True if the answers to every query are a distribution, as in systems built by [`System::new`].
    fn is_legal(&self) -> bool {
        self.states.iter().flat_map(|state| &state.queries).all(|query| {
            [0, 1].into_iter().all(|b: usize| {
                let list = || query.iter().map(|branch| &branch.probabilities[b]);
                list().all(|p| *p >= Ratio::ZERO) && fractions::sum(list()).is_one()
            })
        })
    }

    /// True if both systems have the same queries and answers; probabilities may differ.
    fn has_shape_of(&self, other: &Self) -> bool {
        let shape = |state: &State| -> Vec<Vec<usize>> {
            let nexts = |query: &Vec<Branch>| query.iter().map(|branch| branch.next).collect();
            state.queries.iter().map(nexts).collect()
        };
        self.states.iter().map(shape).eq(other.states.iter().map(shape))
    }
}
