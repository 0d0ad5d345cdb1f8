//! What is asked of an account: a description whose amounts are exact.

use crate::amount::Amount;
use crate::error::FilterError;
use counterpoint::mechanism::{Guarantee, Mechanism, Release, RenyiCurve};
use counterpoint::quantity::{
    Count, Delta, Epsilon, Mu, Noise, Order, OutOfRange, Rho, Sensitivity,
};
use std::sync::Arc;

/// A release that is asked for, or a slot that is declared.
///
/// Descriptions whose cost is a decimal amount keep it exactly. Wherever doubles are needed
/// they are rounded to the safe side: epsilons, deltas and sensitivities up, noise down.
///
/// ```
/// use counterpoint_budget::Query;
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
    /// Any mechanism with a Rényi divergence of at most so much at one order.
    Renyi {
        /// The order.
        order: Order,
        /// The divergence, in both directions.
        tau: Amount,
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
        Self::of(Description::ApproxDp { epsilon, delta })
    }

    /// A number plus Laplace noise.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn laplace(scale: Amount, sensitivity: Amount) -> Result<Self, OutOfRange> {
        Self::of(Description::Laplace { scale, sensitivity })
    }

    /// A number or vector plus Gaussian noise.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn gaussian(sigma: Amount, sensitivity: Amount) -> Result<Self, OutOfRange> {
        Self::of(Description::Gaussian { sigma, sensitivity })
    }

    /// Any mechanism with this concentrated privacy, but for a leak.
    ///
    /// # Errors
    /// [`OutOfRange`] naming the amount that is not legal.
    pub fn zcdp(rho: Amount, delta: Amount) -> Result<Self, OutOfRange> {
        Self::of(Description::Zcdp { rho, delta })
    }

    /// Any mechanism with this Gaussian privacy.
    ///
    /// # Errors
    /// [`OutOfRange`] if mu is not legal.
    pub fn gdp(mu: Amount) -> Result<Self, OutOfRange> {
        Self::of(Description::Gdp { mu })
    }

    /// Any mechanism with a Rényi divergence of at most `tau` at one order, in both
    /// directions.
    ///
    /// # Errors
    /// [`OutOfRange`] if tau is not legal.
    pub fn renyi(order: Order, tau: Amount) -> Result<Self, OutOfRange> {
        Self::of(Description::Renyi { order, tau })
    }

    fn of(description: Description) -> Result<Self, OutOfRange> {
        let mechanism = description.rounded(Side::Above)?;
        let rounded = Release { mechanism, rate: None, count: Count::ONE, part: None };
        Ok(Self { description, rounded })
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

    /// A release in doubles that costs at most as much, once: what a slot surely covers.
    /// `None` where rounding leaves the legal range.
    pub(super) fn beneath(&self) -> Option<Release> {
        let mechanism = self.description.rounded(Side::Beneath).ok()?;
        Some(Release { mechanism, ..self.once() })
    }

    /// Whether it is run on a Poisson sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.rounded.rate.is_some_and(|rate| rate.get() < 1.0)
    }
}

/// Whether a query may be asked of an account that is about a part of the data, or about all
/// of it: it has to say that it is about that very part, or may be about any.
///
/// ```
/// use counterpoint_budget::{Query, is_within_part};
/// let north = Query::approx_dp("0.1".parse()?, "0".parse()?)?.about(Some("north".into()));
/// assert!(is_within_part(Some("north"), &north).is_ok() && is_within_part(None, &north).is_ok());
/// assert!(is_within_part(Some("south"), &north).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FilterError::OtherPart`] naming both.
pub fn is_within_part(account: Option<&str>, query: &Query) -> Result<(), FilterError> {
    let asked = query.part().map(|part| &**part);
    match account {
        Some(part) if asked != Some(part) => Err(FilterError::OtherPart {
            account: part.to_owned(),
            asked: asked.map(str::to_owned),
        }),
        _ => Ok(()),
    }
}

/// On which side of the exact amounts doubles are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// They cost at least as much.
    Above,
    /// They cost at most as much.
    Beneath,
}

impl Description {
    /// The mechanism in doubles: what costs is rounded to the side asked for, noise to the
    /// other.
    fn rounded(&self, side: Side) -> Result<Mechanism, OutOfRange> {
        let to = |amount: &Amount, up: bool| if up { amount.upper() } else { amount.lower() };
        let cost = |amount: &Amount| to(amount, side == Side::Above);
        let noise = |amount: &Amount| Noise::new(to(amount, side == Side::Beneath));
        Ok(match self {
            Self::ApproxDp { epsilon, delta } => {
                Mechanism::ApproxDp(Guarantee::new(cost(epsilon), cost(delta))?)
            }
            Self::Laplace { scale, sensitivity } => Mechanism::Laplace {
                scale: noise(scale)?,
                sensitivity: Sensitivity::new(cost(sensitivity))?,
            },
            Self::Gaussian { sigma, sensitivity } => Mechanism::Gaussian {
                sigma: noise(sigma)?,
                sensitivity: Sensitivity::new(cost(sensitivity))?,
            },
            Self::Zcdp { rho, delta } => {
                Mechanism::Zcdp { rho: Rho::new(cost(rho))?, delta: Delta::new(cost(delta))? }
            }
            Self::Gdp { mu } => Mechanism::Gdp { mu: Mu::new(cost(mu))? },
            Self::Renyi { order, tau } => Mechanism::Rdp(one_order(*order, cost(tau))?),
            Self::Other(mechanism) => mechanism.clone(),
        })
    }
}

/// A curve that says something about one order.
fn one_order(order: Order, tau: f64) -> Result<RenyiCurve, OutOfRange> {
    let (quantity, legal) = ("tau", Epsilon::LEGAL);
    let curve = RenyiCurve::new(&[order.get()], &[tau]);
    curve.map_err(|_| OutOfRange { quantity, value: tau, legal })
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
            Mechanism::Rdp(curve) => of_one_order(curve)
                .unwrap_or_else(|| Description::Other(Mechanism::Rdp(curve.clone()))),
            mechanism => Description::Other(mechanism.clone()),
        };
        Self { description, rounded: release }
    }
}

/// A curve with one point, exactly.
fn of_one_order(curve: &RenyiCurve) -> Option<Description> {
    let &[(order, tau)] = curve.points() else { return None };
    Some(Description::Renyi { order: Order::new(order).ok()?, tau: Amount::from_f64(tau)? })
}
