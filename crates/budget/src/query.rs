//! Queries to accounts: descriptions whose amounts are exact.

use crate::amount::Amount;
use crate::error::FilterError;
use counterpoint::mechanism::{Guarantee, Mechanism, Release, RenyiCurve};
use counterpoint::quantity::{
    Count, Delta, Epsilon, Mu, NoiseScale, Order, OutOfRangeError, Rho, Sensitivity,
};
use std::sync::Arc;

/// A release to be charged to an account, or a slot to be declared.
///
/// Descriptions whose cost is a decimal amount keep it exactly. Where doubles are needed, amounts are rounded to the
/// safe side: epsilons, deltas and sensitivities up, noise down.
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
    /// The description in doubles, rounded to the safe side; it also stores the count and the part.
    rounded: Release,
}

/// The mechanism that a [`Query`] describes.
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
        /// The largest change of the number by one person.
        sensitivity: Amount,
    },
    /// A number or vector plus Gaussian noise.
    Gaussian {
        /// The noise's standard deviation.
        sigma: Amount,
        /// The largest change by one person, in Euclidean norm.
        sensitivity: Amount,
    },
    /// Any mechanism with this concentrated privacy, except for a leak.
    Zcdp {
        /// The slope of its Rényi curve.
        rho: Amount,
        /// The leak.
        delta: Amount,
    },
    /// Any mechanism with this Gaussian privacy.
    Gdp {
        /// The distance of N(0, 1) and N(mu, 1), which the mechanism's outputs do not exceed.
        mu: Amount,
    },
    /// Any mechanism whose Rényi divergence at one order is bounded.
    Renyi {
        /// The order.
        order: Order,
        /// The bound on the divergence, in both directions.
        tau: Amount,
    },
    /// Any other mechanism, or any mechanism on a Poisson sample. Its numbers are exactly the given doubles.
    Other(Mechanism),
}

impl Query {
    /// Any mechanism with an (epsilon, delta) guarantee.
    ///
    /// # Errors
    /// [`OutOfRangeError`] naming the amount that is not legal.
    pub fn approx_dp(epsilon: Amount, delta: Amount) -> Result<Self, OutOfRangeError> {
        Self::of(Description::ApproxDp { epsilon, delta })
    }

    /// A number plus Laplace noise.
    ///
    /// # Errors
    /// [`OutOfRangeError`] naming the amount that is not legal.
    pub fn laplace(scale: Amount, sensitivity: Amount) -> Result<Self, OutOfRangeError> {
        Self::of(Description::Laplace { scale, sensitivity })
    }

    /// A number or vector plus Gaussian noise.
    ///
    /// # Errors
    /// [`OutOfRangeError`] naming the amount that is not legal.
    pub fn gaussian(sigma: Amount, sensitivity: Amount) -> Result<Self, OutOfRangeError> {
        Self::of(Description::Gaussian { sigma, sensitivity })
    }

    /// Any mechanism with this concentrated privacy, except for a leak.
    ///
    /// # Errors
    /// [`OutOfRangeError`] naming the amount that is not legal.
    pub fn zcdp(rho: Amount, delta: Amount) -> Result<Self, OutOfRangeError> {
        Self::of(Description::Zcdp { rho, delta })
    }

    /// Any mechanism with this Gaussian privacy.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if mu is not legal.
    pub fn gdp(mu: Amount) -> Result<Self, OutOfRangeError> {
        Self::of(Description::Gdp { mu })
    }

    /// Any mechanism with a Rényi divergence of at most `tau` at one order, in both
    /// directions.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if tau is not legal.
    pub fn renyi(order: Order, tau: Amount) -> Result<Self, OutOfRangeError> {
        Self::of(Description::Renyi { order, tau })
    }

    fn of(description: Description) -> Result<Self, OutOfRangeError> {
        let mechanism = description.rounded(Side::Above)?;
        let rounded = Release { mechanism, rate: None, count: Count::ONE, part: None };
        Ok(Self { description, rounded })
    }

    /// The query with another count.
    #[must_use]
    pub fn times(mut self, count: Count) -> Self {
        self.rounded.count = count;
        self
    }

    /// The query about one part of the data. An account charges it like a query about all data; a plan uses its part.
    #[must_use]
    pub fn about(mut self, part: Option<Arc<str>>) -> Self {
        self.rounded.part = part;
        self
    }

    /// The mechanism that is described.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The number of runs.
    #[must_use]
    pub fn count(&self) -> Count {
        self.rounded.count
    }

    /// The part of the data that the query is about.
    #[must_use]
    pub fn part(&self) -> Option<&Arc<str>> {
        self.rounded.part.as_ref()
    }

    /// A release in doubles that costs at least as much as the query.
    #[must_use]
    pub fn release(&self) -> &Release {
        &self.rounded
    }

    /// The release in doubles, with count one and about all data.
    pub(super) fn once(&self) -> Release {
        Release { count: Count::ONE, part: None, ..self.rounded.clone() }
    }

    /// A release in doubles, with count one, that costs at most as much as the query. A slot covers every query that
    /// its lower release covers. `None` if a rounded number is not legal.
    pub(super) fn lower_release(&self) -> Option<Release> {
        let mechanism = self.description.rounded(Side::Below).ok()?;
        Some(Release { mechanism, ..self.once() })
    }

    /// True if the query runs on a Poisson sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.rounded.rate.is_some_and(|rate| rate.get() < 1.0)
    }
}

/// Checks that a query may be charged to an account. An account about a part of the data accepts queries about that
/// part only; an account about all data accepts every query.
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

/// The side of the exact amounts on which doubles lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The doubles cost at least as much.
    Above,
    /// The doubles cost at most as much.
    Below,
}

impl Description {
    /// The mechanism in doubles: costs are rounded to the given side, noise to the other side.
    fn rounded(&self, side: Side) -> Result<Mechanism, OutOfRangeError> {
        let to = |amount: &Amount, up: bool| if up { amount.upper() } else { amount.lower() };
        let cost = |amount: &Amount| to(amount, side == Side::Above);
        let noise = |amount: &Amount| NoiseScale::new(to(amount, side == Side::Below));
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

/// A Rényi curve with one order.
fn one_order(order: Order, tau: f64) -> Result<RenyiCurve, OutOfRangeError> {
    let (quantity, legal) = ("tau", Epsilon::LEGAL);
    let curve = RenyiCurve::new(&[order.get()], &[tau]);
    curve.map_err(|_| OutOfRangeError { quantity, value: tau, legal })
}

impl From<Release> for Query {
    /// Converts a release; the query's amounts are exactly the release's doubles.
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

/// The exact description of a curve with one point.
fn of_one_order(curve: &RenyiCurve) -> Option<Description> {
    let &[(order, tau)] = curve.points() else { return None };
    Some(Description::Renyi { order: Order::new(order).ok()?, tau: Amount::from_f64(tau)? })
}
