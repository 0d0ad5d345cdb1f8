//! A recipe made ready for data of one relation: what runs, and what that costs.

use super::recipe::{Recipe, Style};
use super::tally::{Of, Tally};
use super::{Kind, Query, score_sensitivity};
use crate::choice::Exponential;
use crate::data::Data;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{MOST_SIGMA, Noise, is_charged_as_listed};
use crate::reply::Reply;
use counterpoint::quantity::{Delta, Rho};
use counterpoint::{Adjacency, Count, Guarantee, Mechanism, Relation, Release};

/// A recipe made ready for data of one relation: with its noise, and knowing what it costs.
///
/// Made by [`Recipe::under`], run with [`Measurement::run`], charged as
/// [`Measurement::releases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    recipe: Recipe,
    relation: Relation,
    pub(super) body: Body,
    releases: Vec<Release>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// Sums with noise: of ones, then of values, then of squares, as far as needed.
    Sums(Vec<(Tally, Noise)>),
    /// The same noise for every bin.
    Bins(Noise),
    Choice(Exponential),
}

impl Recipe {
    /// Made ready for data of this relation: noise is scaled, and charged, for what one person
    /// with as many records can change.
    ///
    /// # Errors
    /// [`Error::Unsuited`] for staircase noise on a histogram to which a person contributes
    /// several records; [`Error::OutOfRange`] for Gaussian noise on a histogram if the multiplier times
    /// the records a person (times the root of two where they are replaced) is above 2^20. All other
    /// recipes can be made ready for all relations.
    pub fn under(&self, relation: Relation) -> Result<Measurement, Error> {
        let (body, releases) = match (&self.query.kind, self.style) {
            (Kind::Quantile { share, .. }, Style::Exponential { epsilon }) => {
                let choice = Exponential::new(epsilon, score_sensitivity(*share, relation))?;
                let release = Release::from((choice.mechanism(), Count::ONE));
                (Body::Choice(choice), vec![release])
            }
            (Kind::Histogram(_), style) => {
                let (noise, release) = bins(style, relation)?;
                (Body::Bins(noise), vec![release])
            }
            (kind, style) => {
                let sums = sums(&parts(kind, relation), style, relation)?;
                let one =
                    |(_, noise): &(Tally, Noise)| Release::from((noise.mechanism(), Count::ONE));
                let releases = sums.iter().map(one).collect();
                (Body::Sums(sums), releases)
            }
        };
        Ok(Measurement { recipe: self.clone(), relation, body, releases })
    }
}

/// What is added up for a query. The number of records is among it unless it is public.
fn parts(kind: &Kind, relation: Relation) -> Vec<Of> {
    let public = relation.is_length_public();
    match kind {
        Kind::Count(within) => vec![Of::Ones(*within)],
        Kind::Sum(bounds) if public => vec![Of::Offsets(*bounds)],
        Kind::Sum(bounds) => vec![Of::Values(*bounds)],
        Kind::Mean(bounds) if public => vec![Of::Offsets(*bounds)],
        Kind::Mean(bounds) => vec![Of::Ones(None), Of::Offsets(*bounds)],
        Kind::Variance(bounds) if public => vec![Of::Offsets(*bounds), Of::Squares(*bounds)],
        Kind::Variance(bounds) => vec![Of::Ones(None), Of::Offsets(*bounds), Of::Squares(*bounds)],
        // These are no sums.
        Kind::Histogram(_) | Kind::Quantile { .. } => Vec::new(),
    }
}

fn sums(list: &[Of], style: Style, relation: Relation) -> Result<Vec<(Tally, Noise)>, Error> {
    let style = style.shared(list.len() as f64);
    let sum = |of: &Of| {
        let grid = match (of, style) {
            // Whole numbers, if the noise is not more of them than it may be.
            (Of::Ones(_), Style::Gaussian { .. }) => {
                style.grid(of.reach(relation))?.coarser(Grid::WHOLE)
            }
            (Of::Ones(_), _) => Grid::WHOLE,
            _ => style.grid(of.reach(relation))?,
        };
        let tally = Tally::new(*of, grid);
        Ok((tally, style.noise(tally.sensitivity(relation), grid)?))
    };
    list.iter().map(sum).collect()
}

/// One record more moves one bin by one; another in its place moves two bins by one each, as two
/// releases would. Several records move several bins in ways for which only the sum of the
/// moves, or of their squares, is used.
fn bins(style: Style, relation: Relation) -> Result<(Noise, Release), Error> {
    let moved = if relation.adjacency() == Adjacency::Replace { 2 } else { 1 };
    if relation.records() > 1 {
        return bins_moved_often(style, moved, relation.records());
    }
    let noise = style.shared(moved as f64).noise(1, Grid::WHOLE)?;
    let release = Release::from((noise.mechanism(), Count::new(moved)?));
    Ok((noise, release))
}

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
            let legal = "at most 2^20 over how far one person moves the bins: the records a person, \
                         times the root of two where they are replaced";
            check(sigma <= MOST_SIGMA, "multiplier", multiplier, legal)?;
            let noise = Noise::discrete_gaussian(sigma, records)?;
            let square = (records * records * moved) as f64;
            // Two roundings, and one to spare.
            let rho = (0.5 * square / (sigma * sigma)).next_up().next_up().next_up();
            let rho = Rho::new(rho)?;
            let release = (Mechanism::Zcdp { rho, delta: Delta::new(0.0)? }, Count::ONE);
            Ok((noise, release.into()))
        }
        Style::Staircase { .. } | Style::Exponential { .. } => {
            Err(style.unsuited("a histogram of several records a person", "laplace, gaussian"))
        }
    }
}

impl Style {
    /// The noise for one of several numbers that share a budget.
    fn shared(self, parts: f64) -> Self {
        match self {
            Self::Laplace { epsilon } => Self::Laplace { epsilon: epsilon / parts },
            Self::Gaussian { multiplier } => {
                Self::Gaussian { multiplier: multiplier * parts.sqrt() }
            }
            Self::Staircase { epsilon } => Self::Staircase { epsilon: epsilon / parts },
            Self::Exponential { epsilon } => Self::Exponential { epsilon: epsilon / parts },
        }
    }

    /// A grid much finer than the noise. Gaussian noise is 513,000 to 1,026,000 steps, within the
    /// 2^20 that it may be; with a multiplier of at most 1000 sqrt(3) the sensitivity is then 296 steps at
    /// least, so that rounding it up, and the step more that is charged, are less than 0.7 % of it.
    fn grid(self, sensitivity: f64) -> Result<Grid, Error> {
        Grid::at_most(match self {
            Self::Laplace { epsilon } => (sensitivity / epsilon).min(sensitivity) / 1e9,
            Self::Gaussian { multiplier } => sensitivity * multiplier / 513_000.0,
            Self::Staircase { .. } => sensitivity / 1e6,
            Self::Exponential { .. } => return Err(self.unsuited("a number", "a quantile")),
        })
    }

    /// Noise that costs no more than was asked for a sensitivity in grid units.
    fn noise(self, steps: u64, grid: Grid) -> Result<Noise, Error> {
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
            Self::Staircase { epsilon } => Noise::staircase(epsilon, None, distance, grid),
            Self::Exponential { .. } => Err(self.unsuited("a number", "a quantile")),
        }
    }
}

/// A product, rounded up.
fn rounded_up(one: f64, other: f64) -> f64 {
    let product = one * other;
    // The error of a rounded product is a double.
    if one.mul_add(other, -product) > 0.0 { product.next_up() } else { product }
}

impl Measurement {
    /// What running it is charged as.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// What it was made of.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The relation it was made for.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    pub(crate) fn query(&self) -> &Query {
        &self.recipe.query
    }

    /// The noise that is added to each number released; none for a quantile.
    #[must_use]
    pub fn noises(&self) -> Vec<&Noise> {
        match &self.body {
            Body::Sums(sums) => sums.iter().map(|(_, noise)| noise).collect(),
            Body::Bins(noise) => vec![noise],
            Body::Choice(_) => Vec::new(),
        }
    }

    /// Runs it once. **Each run is a release of its own**, to be charged again.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data are of another relation, [`Error::Randomness`] if there is
    /// none to be had.
    pub fn run(&self, data: &Data) -> Result<Reply, Error> {
        data.is_under(self.relation)?;
        let data = data.values();
        match &self.body {
            Body::Sums(sums) => {
                let noisy = |(tally, noise): &(Tally, Noise)| {
                    Ok(tally.grid().value(noise.add(tally.sum(data))?))
                };
                let noisy: Vec<f64> = sums.iter().map(noisy).collect::<Result<_, Error>>()?;
                Ok(Reply::Number(self.finish(&noisy, data.len() as f64)))
            }
            Body::Bins(noise) => {
                let noisy = |&count: &i128| Ok(noise.add(count)? as f64);
                let bins = self.query().bins(data);
                Ok(Reply::Table(bins.iter().map(noisy).collect::<Result<_, Error>>()?))
            }
            Body::Choice(choice) => {
                let place = choice.release(&self.query().scores(data))?;
                let Kind::Quantile { candidates, .. } = &self.query().kind else {
                    return Err(Error::Question { legal: "a quantile" });
                };
                Ok(Reply::Number(candidates.get(place).copied().unwrap_or_default()))
            }
        }
    }

    /// From noisy sums to the answer. The true number of records is used where it is public.
    fn finish(&self, noisy: &[f64], records: f64) -> f64 {
        let public = self.relation.is_length_public();
        match (&self.query().kind, noisy) {
            (Kind::Sum(bounds), &[offsets]) if public => offsets + bounds.center() * records,
            (Kind::Mean(bounds), &[offsets]) if public => {
                bounds.clamp(bounds.center() + offsets / records.max(1.0))
            }
            (Kind::Mean(bounds), &[ones, offsets]) => {
                bounds.clamp(bounds.center() + offsets / ones.max(1.0))
            }
            (Kind::Variance(bounds), &[offsets, squares]) if public => {
                spread(offsets, squares, records.max(1.0), bounds.half())
            }
            (Kind::Variance(bounds), &[ones, offsets, squares]) => {
                spread(offsets, squares, ones.max(1.0), bounds.half())
            }
            (_, noisy) => noisy.first().copied().unwrap_or_default(),
        }
    }
}

/// The mean square less the squared mean, within what is possible.
fn spread(offsets: f64, squares: f64, records: f64, half: f64) -> f64 {
    let mean = (offsets / records).clamp(-half, half);
    (squares / records - mean * mean).clamp(0.0, half * half)
}
