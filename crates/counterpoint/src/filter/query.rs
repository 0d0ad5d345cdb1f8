//! What is asked of an account: a description whose amounts are exact.

use super::amount::Amount;
use crate::mechanism::{Guarantee, Mechanism, Release};
use crate::quantity::{Count, Delta, Mu, Noise, OutOfRange, Rho, Sensitivity};
use std::sync::Arc;

/// A release that is asked for, or a slot that is declared.
///
/// Descriptions whose cost is a decimal amount keep it exactly. Wherever doubles are needed
/// they are rounded to the safe side: epsilons, deltas and sensitivities up, noise down.
///
/// ```
/// use counterpoint::filter::Query;
/// use counterpoint::quantity::Count;
/// let query = Query::approx_dp("0.1".parse()?, "1e-9".parse()?)?.times(Count::new(3)?);
/// assert_eq!(query.count().get(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    description: Description,
    /// The same in doubles, on the safe side; the count and the part are kept here.
    rounded: Release,
}

/// What a [`Query`] describes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Description {
    /// Any mechanism with this guarantee.
    ApproxDp {
        /// The multiplicative part.
        epsilon: Amount,
        /// The additive part.
        delta: Amount,
    },
    /// A number plus Laplace noise.
    Laplace {
        /// The noise's scale.
        scale: Amount,
        /// How far one person can move the number.
        sensitivity: Amount,
    },
    /// A number or vector plus Gaussian noise.
    Gaussian {
        /// The noise's standard deviation.
        sigma: Amount,
        /// How far, in Euclidean norm, one person can move it.
        sensitivity: Amount,
    },
    /// Any mechanism with this concentrated privacy, but for a leak.
    Zcdp {
        /// The slope of its Rényi curve.
        rho: Amount,
        /// The leak.
        delta: Amount,
    },
    /// Any mechanism with this Gaussian privacy.
    Gdp {
        /// It is no easier to attack than N(0, 1) against N(mu, 1).
        mu: Amount,
    },
    /// Any other, or any on a Poisson sample; its numbers are exactly the doubles given.
    Other(Mechanism),
}

impl Query {
    /// Any mechanism with an (epsilon, delta) guarantee.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn approx_dp(epsilon: Amount, delta: Amount) -> Result<Self, OutOfRange> {
        let rounded = Guarantee::new(epsilon.upper(), delta.upper())?;
        Ok(Self::of(Description::ApproxDp { epsilon, delta }, Mechanism::ApproxDp(rounded)))
    }

    /// A number plus Laplace noise.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn laplace(scale: Amount, sensitivity: Amount) -> Result<Self, OutOfRange> {
        let rounded = Mechanism::Laplace {
            scale: Noise::new(scale.lower())?,
            sensitivity: Sensitivity::new(sensitivity.upper())?,
        };
        Ok(Self::of(Description::Laplace { scale, sensitivity }, rounded))
    }

    /// A number or vector plus Gaussian noise.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn gaussian(sigma: Amount, sensitivity: Amount) -> Result<Self, OutOfRange> {
        let rounded = Mechanism::Gaussian {
            sigma: Noise::new(sigma.lower())?,
            sensitivity: Sensitivity::new(sensitivity.upper())?,
        };
        Ok(Self::of(Description::Gaussian { sigma, sensitivity }, rounded))
    }

    /// Any mechanism with this concentrated privacy, but for a leak.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn zcdp(rho: Amount, delta: Amount) -> Result<Self, OutOfRange> {
        let rounded =
            Mechanism::Zcdp { rho: Rho::new(rho.upper())?, delta: Delta::new(delta.upper())? };
        Ok(Self::of(Description::Zcdp { rho, delta }, rounded))
    }

    /// Any mechanism with this Gaussian privacy.
    ///
    /// # Errors
    /// [`OutOfRange`] if mu is not legal.
    pub fn gdp(mu: Amount) -> Result<Self, OutOfRange> {
        let rounded = Mechanism::Gdp { mu: Mu::new(mu.upper())? };
        Ok(Self::of(Description::Gdp { mu }, rounded))
    }

    fn of(description: Description, mechanism: Mechanism) -> Self {
        let rounded = Release { mechanism, rate: None, count: Count::ONE, part: None };
        Self { description, rounded }
    }

    /// The same, this many times.
    #[must_use]
    pub fn times(mut self, count: Count) -> Self {
        self.rounded.count = count;
        self
    }

    /// The same about one part of the data. An account is charged as if it were about all of
    /// it; a plan takes parts into account.
    #[must_use]
    pub fn about(mut self, part: Option<Arc<str>>) -> Self {
        self.rounded.part = part;
        self
    }

    /// What is described.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// How many times.
    #[must_use]
    pub fn count(&self) -> Count {
        self.rounded.count
    }

    /// The part of the data it is about.
    #[must_use]
    pub fn part(&self) -> Option<&Arc<str>> {
        self.rounded.part.as_ref()
    }

    /// A release in doubles that costs at least as much.
    #[must_use]
    pub fn release(&self) -> &Release {
        &self.rounded
    }

    /// The release once.
    pub(super) fn once(&self) -> Release {
        Release { count: Count::ONE, part: None, ..self.rounded.clone() }
    }

    /// Whether it is run on a Poisson sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.rounded.rate.is_some_and(|rate| rate.get() < 1.0)
    }
}

impl From<Release> for Query {
    /// The numbers are the doubles given, exactly.
    fn from(release: Release) -> Self {
        let exact = |value: f64| Amount::from_f64(value).unwrap_or_default();
        let sampled = release.rate.is_some_and(|rate| rate.get() < 1.0);
        let description = match &release.mechanism {
            mechanism if sampled => Description::Other(mechanism.clone()),
            Mechanism::ApproxDp(guarantee) => Description::ApproxDp {
                epsilon: exact(guarantee.epsilon.get()),
                delta: exact(guarantee.delta.get()),
            },
            Mechanism::Laplace { scale, sensitivity } => Description::Laplace {
                scale: exact(scale.get()),
                sensitivity: exact(sensitivity.get()),
            },
            Mechanism::Gaussian { sigma, sensitivity } => Description::Gaussian {
                sigma: exact(sigma.get()),
                sensitivity: exact(sensitivity.get()),
            },
            Mechanism::Zcdp { rho, delta } => {
                Description::Zcdp { rho: exact(rho.get()), delta: exact(delta.get()) }
            }
            Mechanism::Gdp { mu } => Description::Gdp { mu: exact(mu.get()) },
            mechanism => Description::Other(mechanism.clone()),
        };
        Self { description, rounded: release }
    }
}
