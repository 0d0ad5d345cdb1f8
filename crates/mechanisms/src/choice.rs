//! Mechanisms that choose: randomized responses and the exponential mechanism.

use crate::error::{Error, check};
use crate::noise::ratio;
use crate::sample::{self, ResponseDraw, ResponseSampler, Weights};
use counterpoint::quantity::{Buckets, Delta, Epsilon};
use counterpoint::{Guarantee, Mechanism};
use dashu_ratio::RBig;

const LEGAL_EPSILON: &str = "a number from 2^-20 to 500";

fn epsilon_in_range(epsilon: f64) -> Result<Epsilon, Error> {
    check((2.0_f64.powi(-20)..=500.0).contains(&epsilon), "epsilon", epsilon, LEGAL_EPSILON)?;
    Ok(Epsilon::new(epsilon)?)
}

/// Randomized response: returns the true one of m answers with probability e^eps/(e^eps + m - 1), and otherwise one of
/// the other answers uniformly.
///
/// ```
/// use counterpoint_mechanisms::RandomizedResponse;
///
/// let response = RandomizedResponse::new(1.0, 4)?;
/// assert!(response.release(2)? < 4);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RandomizedResponse {
    epsilon: Epsilon,
    buckets: Buckets,
    response: ResponseSampler,
}

impl RandomizedResponse {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500 and 2 <= buckets <= 10^12.
    pub fn new(epsilon: f64, buckets: u64) -> Result<Self, Error> {
        let epsilon = epsilon_in_range(epsilon)?;
        let buckets = Buckets::new(buckets)?;
        let response = ResponseSampler::new(ratio(epsilon.get())?, buckets.get() - 1, RBig::ZERO);
        Ok(Self { epsilon, buckets, response })
    }

    /// The mechanism that a release is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        Mechanism::RandomizedResponse { epsilon: self.epsilon, buckets: self.buckets }
    }

    /// A response to the true answer, which counts from 0. An answer above the largest is treated as the largest.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn release(&self, answer: u64) -> Result<u64, Error> {
        let answer = answer.min(self.buckets.get() - 1);
        let ResponseDraw { truth, other, .. } = sample::response(&self.response)?;
        // `other` counts the other answers only. Both answers are computed, and one is selected without a branch.
        let other = other + u64::from(other >= answer);
        let kept = truth.wrapping_neg();
        Ok((answer & kept) | (other & !kept))
    }
}

/// Leaky randomized response: one bit, leaked with probability delta and randomized otherwise (Murtagh and Vadhan,
/// Definition 3.1). It dominates every (epsilon, delta)-private mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakyResponse {
    guarantee: Guarantee,
    response: ResponseSampler,
}

/// The answer of a [`LeakyResponse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeakyAnswer {
    /// The true bit, marked as true.
    Leaked(bool),
    /// A bit that is more likely true than not.
    Randomized(bool),
}

impl LeakyResponse {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500 and 0 <= delta < 1.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, Error> {
        let guarantee =
            Guarantee { epsilon: epsilon_in_range(epsilon)?, delta: Delta::new(delta)? };
        let response = ResponseSampler::new(ratio(epsilon)?, 1, ratio(delta)?);
        Ok(Self { guarantee, response })
    }

    /// The mechanism that a release is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.guarantee.into()
    }

    /// A response to the true bit.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn release(&self, bit: bool) -> Result<LeakyAnswer, Error> {
        let ResponseDraw { leaked, truth, .. } = sample::response(&self.response)?;
        let randomized = u64::from(bit) ^ truth == 0;
        Ok(if leaked == 1 { LeakyAnswer::Leaked(bit) } else { LeakyAnswer::Randomized(randomized) })
    }
}

/// The exponential mechanism, which equals report-noisy-max with Gumbel noise: it chooses i with probability
/// proportional to e^(epsilon score_i / (2 sensitivity)).
///
/// Scores are whole numbers that change by at most the sensitivity between neighbouring data sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    epsilon: Epsilon,
    sensitivity: u64,
    weights: Weights,
}

impl Exponential {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500 and 1 <= sensitivity <= 2^53.
    pub fn new(epsilon: f64, sensitivity: u64) -> Result<Self, Error> {
        let epsilon = epsilon_in_range(epsilon)?;
        let legal = "a whole number from 1 to 2^53";
        check((1..=1 << 53).contains(&sensitivity), "sensitivity", sensitivity as f64, legal)?;
        let weights = Weights::new(ratio(epsilon.get())? / RBig::from(2 * sensitivity));
        Ok(Self { epsilon, sensitivity, weights })
    }

    /// The mechanism that a release is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        Mechanism::Exponential { epsilon: self.epsilon }
    }

    /// The largest change of a score between neighbouring data sets.
    #[must_use]
    pub fn sensitivity(&self) -> u64 {
        self.sensitivity
    }

    /// The decrease of the score that divides its weight by e.
    pub(crate) fn scale(&self) -> f64 {
        (RBig::ONE / self.weights.rate()).to_f64().value()
    }

    /// The index of the chosen score.
    ///
    /// Compares one uniform number with all partial sums of the weights: the time depends on the number of scores, not
    /// on their values.
    ///
    /// # Errors
    /// [`Error::Length`] if there are no scores, [`Error::Randomness`] if the source of randomness fails.
    pub fn release(&self, scores: &[i64]) -> Result<usize, Error> {
        let (what, length, legal) = ("scores", scores.len(), "at least one");
        if scores.is_empty() {
            return Err(Error::Length { what, length, legal });
        }
        #[cfg(test)]
        if let Some(draw) = sample::watch::draw(|| {
            sample::watch::Observation::Chosen(scores.to_vec(), self.clone())
        }) {
            return Ok(draw.rem_euclid(length as i128) as usize);
        }
        sample::choose(&self.weights, scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::script;

    /// The draws are: leaked, truthful, and the index among the other answers.
    #[test]
    fn responses_follow_the_draws() {
        let three = RandomizedResponse::new(1.0, 3).unwrap();
        assert_eq!(script::with(&[0, 1, 1], || three.release(1)), Ok(1));
        assert_eq!(script::with(&[0, 0, 1], || three.release(1)), Ok(2));
        assert_eq!(script::with(&[0, 0, 0], || three.release(1)), Ok(0));
        assert_eq!(script::with(&[0, 1, 0], || three.release(9)), Ok(2));
        let two = RandomizedResponse::new(1.0, 2).unwrap();
        assert_eq!(script::with(&[0, 1, 0], || two.release(1)), Ok(1));
        assert_eq!(script::with(&[0, 0, 0], || two.release(1)), Ok(0));
        assert_eq!(script::with(&[0, 0, 0], || two.release(0)), Ok(1));
        let leaky = LeakyResponse::new(1.0, 0.1).unwrap();
        for truth in [0, 1] {
            assert_eq!(
                script::with(&[1, truth, 0], || leaky.release(true)),
                Ok(LeakyAnswer::Leaked(true))
            );
            assert_eq!(
                script::with(&[0, truth, 0], || leaky.release(false)),
                Ok(LeakyAnswer::Randomized(truth == 0))
            );
        }
        assert!(matches!(script::with(&[0, 1], || two.release(1)), Err(Error::Randomness { .. })));
    }

    #[test]
    fn the_ends_of_what_is_legal_are_answered() {
        for scores in [&[i64::MIN, i64::MAX][..], &[i64::MAX], &[0; 3]] {
            for (epsilon, sensitivity) in [(500.0, 1), (2.0_f64.powi(-20), 1 << 53)] {
                let choice = Exponential::new(epsilon, sensitivity).unwrap();
                assert!(choice.release(scores).unwrap() < scores.len());
            }
        }
        let sharp = Exponential::new(500.0, 1).unwrap();
        assert_eq!(sharp.release(&[i64::MIN, i64::MAX]), Ok(1));
        assert!(sharp.release(&[]).is_err());
    }

    #[test]
    fn bad_parameters_are_named() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 501.0] {
            let text = RandomizedResponse::new(bad, 2).unwrap_err().to_string();
            assert_eq!(text, format!("epsilon is {bad}; legal: {LEGAL_EPSILON}"));
            assert!(LeakyResponse::new(bad, 0.0).is_err() && Exponential::new(bad, 1).is_err());
        }
        assert!(RandomizedResponse::new(1.0, 1).is_err());
        assert!(LeakyResponse::new(1.0, 1.0).is_err() && Exponential::new(1.0, 0).is_err());
    }
}
