//! The quantities that accounts add up.

use counterpoint::quantity::Order;
use std::fmt;

/// The quantity that an account adds up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Currency {
    /// Epsilons.
    Sums,
    /// Rényi divergences at one order, fixed when the account is opened.
    Renyi {
        /// The order.
        order: Order,
    },
    /// The rho of concentrated privacy.
    Zcdp,
    /// The squares of Gaussian privacy's mu.
    Gdp,
}

impl Currency {
    /// The currency's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sums => "sums",
            Self::Renyi { .. } => "renyi",
            Self::Zcdp => "zcdp",
            Self::Gdp => "gdp",
        }
    }

    /// The name of the currency's unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Sums => "epsilon",
            Self::Renyi { .. } => "Rényi divergence",
            Self::Zcdp => "rho",
            Self::Gdp => "mu squared",
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
