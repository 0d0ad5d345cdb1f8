//! Mechanisms that choose: randomized responses and the exponential mechanism.

use crate::error::{Error, check};
use crate::noise::ratio;
use crate::sample;
use counterpoint::quantity::{Buckets, Delta, Epsilon};
use counterpoint::{Guarantee, Mechanism, OutOfRange};
use dashu_float::FBig;
use dashu_float::round::mode::{Down, Up};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

const LEGAL_EPSILON: &str = "a number from 2^-20 to 500";

fn epsilon_in_range(epsilon: f64) -> Result<Epsilon, Error> {
    check((2.0_f64.powi(-20)..=500.0).contains(&epsilon), "epsilon", epsilon, LEGAL_EPSILON)?;
    Ok(Epsilon::new(epsilon)?)
}

/// The true one of m answers with probability e^eps/(e^eps + m - 1), else any of the others
/// alike.
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
    inverse_epsilon: RBig,
    /// Around the probability of the truth, times 2^128.
    truth: (UBig, UBig),
}

impl RandomizedResponse {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500 and 2 <= buckets <= 10^12.
    pub fn new(epsilon: f64, buckets: u64) -> Result<Self, Error> {
        let epsilon = epsilon_in_range(epsilon)?;
        let inverse_epsilon = RBig::ONE / ratio(epsilon.get())?;
        let buckets = Buckets::new(buckets)?;
        let truth = truth(epsilon.get(), buckets.get(), 128)?;
        Ok(Self { epsilon, buckets, inverse_epsilon, truth })
    }

    /// What a release is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        Mechanism::RandomizedResponse { epsilon: self.epsilon, buckets: self.buckets }
    }

    /// A response to the true answer, which counts from 0. What is not among the answers is
    /// taken as the last one.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none to be had.
    pub fn release(&self, answer: u64) -> Result<u64, Error> {
        let last = self.buckets.get() - 1;
        let answer = answer.min(last);
        if self.is_true()? {
            return Ok(answer);
        }
        let other = sample::below(last)?;
        Ok(if other < answer { other } else { other + 1 })
    }

    fn is_true(&self) -> Result<bool, Error> {
        if self.buckets.get() == 2 {
            // Discrete Laplace noise with e^-eps a step is at most zero this often.
            return Ok(sample::laplace(&self.inverse_epsilon)? <= IBig::ZERO);
        }
        sample::lazy(|bits| match bits {
            128 => Ok(self.truth.clone()),
            more => truth(self.epsilon.get(), self.buckets.get(), more),
        })
    }
}

/// Whole numbers around 2^bits / (1 + (m - 1) e^-epsilon).
fn truth(epsilon: f64, buckets: u64, bits: usize) -> Result<(UBig, UBig), Error> {
    let out_of_range = OutOfRange { quantity: "epsilon", value: epsilon, legal: LEGAL_EPSILON };
    // e^-epsilon from below and from above.
    let down = FBig::<Down>::try_from(-epsilon).map_err(|_| out_of_range)?;
    let up = FBig::<Up>::try_from(-epsilon).map_err(|_| out_of_range)?;
    let low = RBig::try_from(down.with_precision(bits + 64).value().exp());
    let high = RBig::try_from(up.with_precision(bits + 64).value().exp());
    let share = |decay: RBig| {
        let weight = RBig::ONE + RBig::from(buckets - 1) * decay;
        UBig::try_from((RBig::from(UBig::ONE << bits) / weight).floor()).map_err(|_| out_of_range)
    };
    let least = share(high.map_err(|_| out_of_range)?)?;
    let most = share(low.map_err(|_| out_of_range)?)? + UBig::ONE;
    Ok((least, most))
}

/// One bit, leaked with probability delta and else randomized (Murtagh and Vadhan, Definition
/// 3.1): the worst of all (epsilon, delta) mechanisms.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakyResponse {
    guarantee: Guarantee,
    inverse_epsilon: RBig,
    leak: RBig,
}

/// What a [`LeakyResponse`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaky {
    /// The true bit, and that it is true.
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
        let inverse_epsilon = RBig::ONE / ratio(epsilon)?;
        Ok(Self { guarantee, inverse_epsilon, leak: ratio(delta)? })
    }

    /// What a release is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.guarantee.into()
    }

    /// A response to the true bit.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none to be had.
    pub fn release(&self, bit: bool) -> Result<Leaky, Error> {
        if sample::coin(&self.leak)? {
            return Ok(Leaky::Leaked(bit));
        }
        let is_true = sample::laplace(&self.inverse_epsilon)? <= IBig::ZERO;
        Ok(Leaky::Randomized(bit == is_true))
    }
}

/// The exponential mechanism, which is also report-noisy-max with Gumbel noise: chooses i with
/// probability proportional to e^(epsilon score_i / (2 sensitivity)).
///
/// Scores are whole numbers that one person moves by at most the sensitivity.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    epsilon: Epsilon,
    sensitivity: u64,
    scale: RBig,
}

impl Exponential {
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500 and 1 <= sensitivity <= 2^53.
    pub fn new(epsilon: f64, sensitivity: u64) -> Result<Self, Error> {
        let epsilon = epsilon_in_range(epsilon)?;
        let legal = "a whole number from 1 to 2^53";
        check((1..=1 << 53).contains(&sensitivity), "sensitivity", sensitivity as f64, legal)?;
        let scale = RBig::from(2 * sensitivity) / ratio(epsilon.get())?;
        Ok(Self { epsilon, sensitivity, scale })
    }

    /// What a release is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        Mechanism::Exponential { epsilon: self.epsilon }
    }

    /// How far one person may move a score.
    #[must_use]
    pub fn sensitivity(&self) -> u64 {
        self.sensitivity
    }

    /// The weights fall by e^(-1/scale) with each point of the score.
    pub(crate) fn scale(&self) -> f64 {
        self.scale.to_f64().value()
    }

    /// Where the chosen score is in the list.
    ///
    /// Proposes places alike and keeps one with probability e^(-gap / scale), its gap being
    /// what it lacks to the best: that is how often geometric noise reaches the gap. It takes
    /// as many proposals as there are scores at most, on average.
    ///
    /// # Errors
    /// [`Error::Length`] if there are no scores, [`Error::Randomness`] if there is none.
    pub fn release(&self, scores: &[i64]) -> Result<usize, Error> {
        let (what, length, legal) = ("scores", scores.len(), "at least one");
        let best = *scores.iter().max().ok_or(Error::Length { what, length, legal })?;
        #[cfg(test)]
        if let Some(draw) =
            sample::watch::draw(|| sample::watch::Seen::Chosen(scores.to_vec(), self.clone()))
        {
            return Ok(draw.rem_euclid(length as i128) as usize);
        }
        loop {
            let place = sample::below(length as u64)? as usize;
            let score = scores.get(place).copied().unwrap_or(best);
            let gap = i128::from(best) - i128::from(score);
            if gap == 0 || sample::geometric(&self.scale)? >= IBig::from(gap) {
                return Ok(place);
            }
        }
    }

    /// The chosen score falls short of the best of `count` by at most this, with at least this
    /// probability: count e^(-t / scale) bounds that of more.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn shortfall(&self, count: usize, confidence: f64) -> Result<f64, Error> {
        crate::noise::confident(confidence)?;
        Ok((count as f64 / (1.0 - confidence)).ln() * self.scale())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::script;

    #[test]
    fn the_truth_is_told_as_often_as_promised() {
        for (epsilon, buckets) in [(1.0, 3), (0.1, 10), (20.0, 1_000_000_000_000), (500.0, 7)] {
            let (low, high) = truth(epsilon, buckets, 128).unwrap();
            assert!(&high - &low <= UBig::from(2_u8), "{epsilon} {buckets}: {low} {high}");
            let expected = 1.0 / (1.0 + (buckets - 1) as f64 * (-epsilon).exp());
            let found = low.to_f64().value() / 2.0_f64.powi(128);
            assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
        }
    }

    #[test]
    fn responses_follow_the_draws() {
        let three = RandomizedResponse::new(1.0, 3).unwrap();
        assert_eq!(script::with(&[0], || three.release(1)), Ok(1));
        assert_eq!(script::with(&[-1, 1], || three.release(1)), Ok(2));
        assert_eq!(script::with(&[-1, 0], || three.release(1)), Ok(0));
        let two = RandomizedResponse::new(1.0, 2).unwrap();
        assert_eq!(script::with(&[0], || two.release(1)), Ok(1));
        assert_eq!(script::with(&[1, 0], || two.release(1)), Ok(0));
        let leaky = LeakyResponse::new(1.0, 0.1).unwrap();
        assert_eq!(script::with(&[1], || leaky.release(true)), Ok(Leaky::Leaked(true)));
        assert_eq!(script::with(&[0, 3], || leaky.release(true)), Ok(Leaky::Randomized(false)));
    }

    #[test]
    fn a_score_is_kept_if_the_noise_reaches_its_gap() {
        let choice = Exponential::new(1.0, 1).unwrap();
        assert_eq!(script::with(&[0, 4, 0, 5], || choice.release(&[5, 10])), Ok(0));
        assert_eq!(script::with(&[0, 4, 1], || choice.release(&[5, 10])), Ok(1));
        let extreme = [i64::MIN, i64::MAX];
        assert_eq!(script::with(&[0, 9, 1], || choice.release(&extreme)), Ok(1));
        assert!(choice.release(&[]).is_err());
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
