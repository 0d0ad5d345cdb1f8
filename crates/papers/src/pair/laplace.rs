//! Laplace noise from randomized response (S Exercise 3.2).

use counterpoint::quantity::{Epsilon, OutOfRangeError};

/// The randomized function that turns randomized response with parameter epsilon into Laplace noise of scale 1/epsilon:
/// around 0 for one distribution of the response, and around 1 for the other.
///
/// Let p and q be the two densities, and x = e^epsilon. The response "plus" (of ratio x) becomes a number with density
/// `(x p - q) / (x - 1)`. The response "minus" becomes its mirror image about 1/2.
///
/// - Below 0, the ratio p/q is x, and only "plus" leads there.
/// - Between 0 and 1, the density after "plus" is proportional to sinh(epsilon (1 - z)).
/// - Above 1, only "minus" leads there.
///
/// ```
/// use counterpoint::Epsilon;
/// use counterpoint_papers::pair::LaplaceMap;
///
/// let map = LaplaceMap::new(Epsilon::new(1.0)?)?;
/// let plus = 1.0 / (1.0 + (-1.0_f64).exp());
/// let mixed = plus * map.cumulative(true, -2.0) + (1.0 - plus) * map.cumulative(false, -2.0);
/// assert!((mixed - 0.5 * (-2.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The map is for study. Its values are accurate to about a double's precision. Noise that is made with it in floating
/// point is not a private release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceMap {
    epsilon: f64,
}

impl LaplaceMap {
    /// The map for this epsilon.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless epsilon is from 1e-6 to 500.
    pub fn new(epsilon: Epsilon) -> Result<Self, OutOfRangeError> {
        let value = epsilon.get();
        if (1e-6..=500.0).contains(&value) {
            return Ok(Self { epsilon: value });
        }
        let legal = "a number from 1e-6 to 500, for the Laplace map";
        Err(OutOfRangeError { quantity: "epsilon", value, legal })
    }

    /// The density at z after the response plus (or minus).
    #[must_use]
    pub fn density(&self, is_plus: bool, z: f64) -> f64 {
        let (e, z) = (self.epsilon, if is_plus { z } else { 1.0 - z });
        if z <= 0.0 {
            e / 2.0 * (1.0 + (-e).exp()) * (e * z).exp()
        } else if z < 1.0 {
            e / 2.0 * (-e * z).exp() * (-2.0 * e * (1.0 - z)).exp_m1() / (-e).exp_m1()
        } else {
            0.0
        }
    }

    /// The probability of at most z after the response plus (or minus).
    #[must_use]
    pub fn cumulative(&self, is_plus: bool, z: f64) -> f64 {
        if is_plus { 1.0 - self.tail(z) } else { self.tail(1.0 - z) }
    }

    /// The probability of more than z after the response plus.
    fn tail(&self, z: f64) -> f64 {
        let e = self.epsilon;
        if z <= 0.0 {
            1.0 - (1.0 + (-e).exp()) / 2.0 * (e * z).exp()
        } else if z < 1.0 {
            (-e * z).exp() * (-e * (1.0 - z)).exp_m1().powi(2) / (-2.0 * (-e).exp_m1())
        } else {
            0.0
        }
    }

    /// The inverse of [`LaplaceMap::cumulative`] at a uniform number between 0 and 1.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless the number is above 0 and below 1.
    pub fn quantile(&self, is_plus: bool, uniform: f64) -> Result<f64, OutOfRangeError> {
        if !(uniform > 0.0 && uniform < 1.0) {
            let legal = "a number above 0 and below 1";
            return Err(OutOfRangeError { quantity: "uniform", value: uniform, legal });
        }
        let above = |tail: f64| self.inverse_tail(tail);
        Ok(if is_plus { above(1.0 - uniform) } else { 1.0 - above(uniform) })
    }

    /// The number at which the tail has this value.
    fn inverse_tail(&self, tail: f64) -> f64 {
        let e = self.epsilon;
        let below = (1.0 + (-e).exp()) / 2.0;
        if 1.0 - tail <= below {
            return ((1.0 - tail) / below).ln() / e;
        }
        let root = (-2.0 * tail / (-e).exp_m1()).sqrt();
        1.0 - 2.0 / e * ((e / 2.0).sinh() * root).asinh()
    }
}
