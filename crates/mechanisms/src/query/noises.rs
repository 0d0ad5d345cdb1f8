//! The noise of each style, scaled to the sensitivity.

use super::noisy_query::Style;
use super::summand::{Summand, Term};
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{MOST_SIGMA, Noise, is_charged_as_listed};
use counterpoint::quantity::{Delta, Rho};
use counterpoint::{Count, Guarantee, Mechanism, Relation, Release};

/// Each sum, on a grid of its own, with its share of the noise.
pub(super) fn sums(
    list: &[(Term, [usize; 2])],
    style: Style,
    relation: Relation,
) -> Result<Vec<(Summand, Noise)>, Error> {
    let style = style.shared(list.len() as f64);
    let sum = |(term, columns): &(Term, [usize; 2])| {
        let grid = match (term, style) {
            // A count is in whole numbers, unless the noise would be too many of them.
            (Term::Ones(_), Style::Gaussian { .. }) => {
                style.grid(term.reach(relation))?.coarser(Grid::WHOLE)
            }
            (Term::Ones(_), _) => Grid::WHOLE,
            _ => style.grid(term.reach(relation))?,
        };
        let summand = Summand::at(*term, *columns, grid);
        Ok((summand, style.noise(summand.sensitivity(relation), grid)?))
    };
    list.iter().map(sum).collect()
}

/// The noise of bins, of which a record moves `moved` by one each, and its release. An added record moves one bin by
/// one; a record that replaces another moves two bins by one each, as two releases would. (A record may be in several
/// nested bins.) If a person has several records, only the sum of the changes, or of their squares, is used.
pub(super) fn bins(style: Style, moved: u64, records: u64) -> Result<(Noise, Release), Error> {
    if records > 1 {
        return bins_moved_often(style, moved, records);
    }
    let noise = style.shared(moved as f64).noise(1, Grid::WHOLE)?;
    let release = Release::from((noise.mechanism(), Count::new(moved)?));
    Ok((noise, release))
}

/// As [`bins`] for several records of a person. Adding, removing or replacing one record moves at most `moved` bins by
/// one each: by `moved` in total, and by its root in Euclidean norm. A person's records change one by one, and both
/// norms are subadditive: the bound is multiplied by the number of records, and is reached if all records are equal.
fn bins_moved_often(style: Style, moved: u64, records: u64) -> Result<(Noise, Release), Error> {
    match style {
        Style::Laplace { epsilon } => {
            let noise = style.noise(moved * records, Grid::WHOLE)?;
            let release = (Mechanism::from(Guarantee::pure(epsilon)?), Count::ONE);
            Ok((noise, release.into()))
        }
        Style::Gaussian { multiplier } => {
            // rho = |shift|^2 / (2 sigma^2), bin by bin (Canonne, Kamath and Steinke 2020).
            let far = records as f64 * (moved as f64).sqrt();
            let sigma = rounded_up(far, multiplier);
            let legal = "at most 2^20 divided by the sensitivity: the records per person, times the root of two \
                         where people are replaced, or of the number of bins that a record moves";
            check(sigma <= MOST_SIGMA, "multiplier", multiplier, legal)?;
            let noise = Noise::discrete_gaussian(sigma, records)?;
            let square = (records * records * moved) as f64;
            // Two roundings, and one to spare.
            let rho = (0.5 * square / (sigma * sigma)).next_up().next_up().next_up();
            let rho = Rho::new(rho)?;
            let release = (Mechanism::Zcdp { rho, delta: Delta::new(0.0)? }, Count::ONE);
            Ok((noise, release.into()))
        }
        _ => Err(style.unsuited("a histogram of several records a person", "laplace, gaussian")),
    }
}

impl Style {
    /// The style of one of several numbers that share a budget.
    pub(crate) fn shared(self, parts: f64) -> Self {
        match self {
            Self::Laplace { epsilon } => Self::Laplace { epsilon: epsilon / parts },
            Self::Gaussian { multiplier } => {
                Self::Gaussian { multiplier: multiplier * parts.sqrt() }
            }
            Self::DiscreteGaussian { .. } => self,
            Self::Staircase { epsilon } => Self::Staircase { epsilon: epsilon / parts },
            Self::Exponential { epsilon } => Self::Exponential { epsilon: epsilon / parts },
            Self::ExponentialInterval { epsilon, confidence } => {
                Self::ExponentialInterval { epsilon: epsilon / parts, confidence }
            }
        }
    }

    /// A grid much finer than the noise. Sigma of Gaussian noise is 513,000 to 1,026,000 steps, within the limit of
    /// 2^20. With a multiplier of at most 1000 sqrt(3) the sensitivity is at least 296 steps, so rounding it up, and
    /// the additional step that is charged, cost less than 0.7 %. (Regressions share a budget among up to 170 sums:
    /// less than 3 % there.)
    pub(super) fn grid(self, sensitivity: f64) -> Result<Grid, Error> {
        Grid::at_most(match self {
            Self::Laplace { epsilon } => (sensitivity / epsilon).min(sensitivity) / 1e9,
            Self::Gaussian { multiplier } => sensitivity * multiplier / 513_000.0,
            Self::DiscreteGaussian { .. } => return Ok(Grid::WHOLE),
            Self::Staircase { .. } => sensitivity / 1e6,
            Self::Exponential { .. } | Self::ExponentialInterval { .. } => {
                return Err(self.unsuited("a number", "a quantile"));
            }
        })
    }

    /// Noise for a sensitivity in grid steps that costs at most as much as the style states.
    pub(crate) fn noise(self, steps: u64, grid: Grid) -> Result<Noise, Error> {
        let distance = steps as f64 * grid.step();
        match self {
            Self::Laplace { epsilon } => {
                // Beyond 10^5 steps one more is charged.
                let charged = if steps > 100_000 { steps + 1 } else { steps };
                let units = (charged as f64 / epsilon).next_up().next_up();
                Noise::laplace(units * grid.step(), distance, grid)
            }
            Self::Gaussian { multiplier } => {
                let listed = is_charged_as_listed(steps as f64 * multiplier, steps);
                let charged = if listed { steps } else { steps + 1 };
                let units = rounded_up(charged as f64, multiplier);
                Noise::gaussian(units * grid.step(), distance, grid)
            }
            Self::DiscreteGaussian { sigma } => Noise::discrete_gaussian(sigma, steps),
            Self::Staircase { epsilon } => Noise::staircase(epsilon, None, distance, grid),
            Self::Exponential { .. } | Self::ExponentialInterval { .. } => {
                Err(self.unsuited("a number", "a quantile"))
            }
        }
    }
}

/// A product, rounded up.
pub(super) fn rounded_up(one: f64, other: f64) -> f64 {
    let product = one * other;
    // The error of a rounded product is a double.
    if one.mul_add(other, -product) > 0.0 { product.next_up() } else { product }
}
