//! Finite pairs of distributions in exact fractions: profiles, domination, and the maps that carry a dominating pair
//! onto a dominated one.
//!
//! A pair (P, Q) dominates another if its profile delta(x) = sum of (p - xq)+ is at least as large at every likelihood
//! ratio x = e^epsilon, including x < 1. By Blackwell's theorem (KOV Theorem II.5), this holds if and only if the other
//! pair is a randomized function of (P, Q). [`simulate`] finds that function, or the x at which the profiles cross:
//!
//! ```
//! use counterpoint_numerics::fractions::Ratio;
//! use counterpoint_papers::pair::{Pair, simulate};
//!
//! let fractions = |list: &[&str]| -> Result<Vec<Ratio>, _> {
//!     list.iter().map(|text| text.parse::<Ratio>()).collect()
//! };
//! let three = Pair::new(
//!     fractions(&["1/2", "1/3", "1/6"])?,
//!     fractions(&["1/6", "1/3", "1/2"])?,
//! )?;
//! let response = Pair::response(&"3".parse()?, &Ratio::ZERO)?;
//! let map = simulate(&response, &three)?;
//! assert!(map.carries(&response, &three));
//! // There is no map in the other direction: the profiles cross.
//! println!("{}", simulate(&three, &response).unwrap_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`from_response`] is the map from leaky randomized response, which is built from [`events`]. [`compose`] joins such
//! maps to one map that simulates a whole adaptive composition by responses.

mod adaptive;
mod draw;
mod events;
mod laplace;
mod map;
mod response;
mod simulate;

pub use adaptive::{ComposeError, ComposedMaps, Mechanism, Stage, Transcripts, compose};
pub use draw::draw;
pub use events::{Breach, EventOutcome, Events, Side, breach, events};
pub use laplace::LaplaceMap;
pub use map::{Map, MapError, Violation};
pub use response::from_response;
pub(crate) use simulate::cross;
pub use simulate::{simulate, violation};

use counterpoint::mechanism::FinitePair;
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The largest number of outcomes of a pair.
const MOST_OUTCOMES: u128 = 1_000_000;

/// Two distributions over the same outcomes, in exact fractions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    outcomes: Vec<[Ratio; 2]>,
}

impl Pair {
    /// Makes a pair from two lists, which must be probabilities that sum to one.
    ///
    /// # Errors
    /// [`ExactError`], which names the illegal number.
    pub fn new(p: Vec<Ratio>, q: Vec<Ratio>) -> Result<Self, ExactError> {
        fractions::check_size("outcomes", p.len() as u128, (1, MOST_OUTCOMES))?;
        let same = p.len() as u128;
        fractions::check_size("entries of q", q.len() as u128, (same, same))?;
        for (name, list) in [("p", &p), ("q", &q)] {
            for (index, value) in list.iter().enumerate() {
                fractions::check_probability(|| format!("{name}[{index}]"), value)?;
            }
            fractions::check_list("bits of the probabilities", list.iter())?;
            fractions::check_sum(|| format!("the entries of {name}"), fractions::sum(list))?;
        }
        Ok(Self { outcomes: p.into_iter().zip(q).map(|(p, q)| [p, q]).collect() })
    }

    /// Makes a pair from outcomes whose probabilities are known to sum to one.
    pub(crate) fn of_outcomes(outcomes: Vec<[Ratio; 2]>) -> Self {
        Self { outcomes }
    }

    /// Leaky randomized response (MV section 3) for the ratio x = e^epsilon. Its outcomes are, in this order: P's leak,
    /// +epsilon, -epsilon, Q's leak.
    ///
    /// # Errors
    /// [`ExactError`] unless x is at least 1 and delta is at least 0 and less than 1.
    pub fn response(ratio: &Ratio, delta: &Ratio) -> Result<Self, ExactError> {
        fractions::check_guarantee(ratio, delta)?;
        let minus = (Ratio::ONE - delta) / (Ratio::ONE + ratio);
        let plus = ratio * &minus;
        Ok(Self::of_outcomes(vec![
            [delta.clone(), Ratio::ZERO],
            [plus.clone(), minus.clone()],
            [minus, plus],
            [Ratio::ZERO, delta.clone()],
        ]))
    }

    /// The length of a common denominator, in bits.
    fn bits(&self) -> u128 {
        fractions::common_bits(self.outcomes.iter().flatten(), u128::MAX)
    }

    /// The probabilities of the outcomes under P and under Q.
    #[must_use]
    pub fn outcomes(&self) -> &[[Ratio; 2]] {
        &self.outcomes
    }

    /// The profile at the likelihood ratio x = e^epsilon: the sum of (p - xq)+.
    #[must_use]
    pub fn delta(&self, ratio: &Ratio) -> Ratio {
        fractions::sum(self.outcomes.iter().map(|[p, q]| fractions::positive_part(p - ratio * q)))
    }

    /// The same pair in the other direction: (Q, P).
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self::of_outcomes(self.outcomes.iter().map(|[p, q]| [q.clone(), p.clone()]).collect())
    }

    /// The product of two pairs: the outcomes of both, observed independently.
    ///
    /// # Errors
    /// [`ExactError::Size`] if it has more than a million outcomes.
    pub fn product(&self, other: &Self) -> Result<Self, ExactError> {
        let size = self.outcomes.len() as u128 * other.outcomes.len() as u128;
        fractions::check_size("outcomes", size, (1, MOST_OUTCOMES))?;
        fractions::check_bits("bits of the outcomes", size, self.bits() + other.bits())?;
        let both = self.outcomes.iter().flat_map(|[p, q]| {
            other.outcomes.iter().map(move |[other_p, other_q]| [p * other_p, q * other_q])
        });
        Ok(Self::of_outcomes(both.collect()))
    }
}

impl From<&FinitePair> for Pair {
    /// The pair of the exact values of the doubles. Each list is divided by its sum, which is one except for rounding.
    fn from(pair: &FinitePair) -> Self {
        let doubles = pair.outcomes().iter();
        let lists = doubles.map(|&(p, q)| [fractions::from_double(p), fractions::from_double(q)]);
        let outcomes: Vec<[Ratio; 2]> = lists.collect();
        let sums: [Ratio; 2] =
            [0, 1].map(|side| fractions::sum(outcomes.iter().map(|outcome| &outcome[side])));
        let scaled = outcomes.into_iter().map(|[p, q]| [p / &sums[0], q / &sums[1]]);
        Self::of_outcomes(scaled.collect())
    }
}
