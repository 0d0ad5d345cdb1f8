//! A query with noise: ready to run, and knowing what it costs.

use super::tally::{Of, Tally};
use super::{Kind, Query};
use crate::choice::Exponential;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{Noise, confident};
use crate::reply::Reply;
use counterpoint::quantity::{Delta, Rho};
use counterpoint::{Adjacency, Count, Guarantee, Mechanism, Release};

/// A query together with the noise it is answered with.
///
/// Made by [`Query::laplace`] and its kin, run with [`Measurement::run`], charged as
/// [`Measurement::releases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    pub(super) query: Query,
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

/// The kinds of noise, as they are asked for: relative to the sensitivity.
#[derive(Clone, Copy, Debug)]
enum Style {
    Laplace { epsilon: f64 },
    Gaussian { multiplier: f64 },
    Staircase { epsilon: f64 },
}

impl Query {
    /// Answered with Laplace noise, costing at most epsilon in all. Counts get geometric
    /// noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for a quantile.
    pub fn laplace(&self, epsilon: f64) -> Result<Measurement, Error> {
        legal_epsilon(epsilon)?;
        self.with(Style::Laplace { epsilon })
    }

    /// Answered with Gaussian noise of so many sensitivities (in Euclidean norm, where several
    /// numbers are released), rounded up to 12 bits. Counts get discrete Gaussian noise.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0.025 <= multiplier <= 1000; [`Error::Unsuited`] for a
    /// quantile.
    pub fn gaussian(&self, multiplier: f64) -> Result<Measurement, Error> {
        let legal = "a number from 0.025 to 1000";
        check((0.025..=1000.0).contains(&multiplier), "multiplier", multiplier, legal)?;
        self.with(Style::Gaussian { multiplier })
    }

    /// Answered with staircase noise, costing at most epsilon in all.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for a quantile,
    /// and for a histogram to which a person contributes several records.
    pub fn staircase(&self, epsilon: f64) -> Result<Measurement, Error> {
        legal_epsilon(epsilon)?;
        self.with(Style::Staircase { epsilon })
    }

    /// A quantile chosen by the exponential mechanism, costing epsilon.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 500; [`Error::Unsuited`] for other
    /// queries.
    pub fn exponential(&self, epsilon: f64) -> Result<Measurement, Error> {
        let Kind::Quantile { share, .. } = self.kind else {
            let legal = "a quantile";
            return Err(Error::Unsuited { noise: "exponential", query: self.kind.name(), legal });
        };
        let choice = Exponential::new(epsilon, self.score_sensitivity(share))?;
        let releases = vec![Release::from((choice.mechanism(), Count::ONE))];
        Ok(Measurement { query: self.clone(), body: Body::Choice(choice), releases })
    }

    /// Answered with the least Laplace epsilon, to three digits, that keeps to a half-width for
    /// so many records.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the confidence is not legal or no epsilon up to 500 will do.
    pub fn laplace_within(
        &self,
        half_width: f64,
        records: u64,
        confidence: f64,
    ) -> Result<Measurement, Error> {
        let keeps = |measurement: &Measurement| {
            Ok::<bool, Error>(measurement.half_width(records, confidence)? <= half_width)
        };
        let (mut low, mut high) = (2.0_f64.powi(-20), 500.0);
        let mut best = self.laplace(high)?;
        let legal = "no less than what epsilon 500 gives";
        check(keeps(&best)?, "half-width", half_width, legal)?;
        while high / low > 1.001 {
            let middle = (low * high).sqrt();
            let trial = self.laplace(middle)?;
            if keeps(&trial)? {
                (high, best) = (middle, trial);
            } else {
                low = middle;
            }
        }
        Ok(best)
    }

    fn with(&self, style: Style) -> Result<Measurement, Error> {
        let sums = |list: &[Of]| self.sums(list, style);
        let public = self.is_length_public();
        match &self.kind {
            Kind::Count(within) => sums(&[Of::Ones(*within)]),
            Kind::Sum(bounds) if public => sums(&[Of::Offsets(*bounds)]),
            Kind::Sum(bounds) => sums(&[Of::Values(*bounds)]),
            Kind::Mean(bounds) if public => sums(&[Of::Offsets(*bounds)]),
            Kind::Mean(bounds) => sums(&[Of::Ones(None), Of::Offsets(*bounds)]),
            Kind::Variance(bounds) if public => sums(&[Of::Offsets(*bounds), Of::Squares(*bounds)]),
            Kind::Variance(bounds) => {
                sums(&[Of::Ones(None), Of::Offsets(*bounds), Of::Squares(*bounds)])
            }
            Kind::Histogram(_) => self.with_bins(style),
            Kind::Quantile { .. } => {
                let (query, legal) = (self.kind.name(), "exponential");
                Err(Error::Unsuited { noise: style.name(), query, legal })
            }
        }
    }

    fn sums(&self, list: &[Of], style: Style) -> Result<Measurement, Error> {
        let style = style.shared(list.len() as f64);
        let sum = |of: &Of| {
            let reach = of.reach(self.adjacency, self.records);
            let grid = match of {
                Of::Ones(_) => Grid::WHOLE,
                _ => style.grid(reach)?,
            };
            let tally = Tally::new(*of, grid);
            let steps = tally.sensitivity(self.adjacency, self.records);
            Ok((tally, style.noise(steps, grid)?))
        };
        let sums: Vec<(Tally, Noise)> = list.iter().map(sum).collect::<Result<_, Error>>()?;
        let one = |(_, noise): &(Tally, Noise)| Release::from((noise.mechanism(), Count::ONE));
        let releases = sums.iter().map(one).collect();
        Ok(Measurement { query: self.clone(), body: Body::Sums(sums), releases })
    }

    /// One record more moves one bin by one; another in its place moves two bins by one each,
    /// as two releases would. Several records move several bins in ways for which only the
    /// sum of the moves, or of their squares, is used.
    fn with_bins(&self, style: Style) -> Result<Measurement, Error> {
        let moved = if self.adjacency == Adjacency::Replace { 2 } else { 1 };
        let (noise, release) = if self.records == 1 {
            let noise = style.shared(moved as f64).noise(1, Grid::WHOLE)?;
            let release = Release::from((noise.mechanism(), Count::new(moved)?));
            (noise, release)
        } else {
            self.with_bins_moved_often(style, moved)?
        };
        let body = Body::Bins(noise);
        Ok(Measurement { query: self.clone(), body, releases: vec![release] })
    }

    fn with_bins_moved_often(&self, style: Style, moved: u64) -> Result<(Noise, Release), Error> {
        match style {
            Style::Laplace { epsilon } => {
                let noise = style.noise(moved * self.records, Grid::WHOLE)?;
                let release = (Mechanism::from(Guarantee::pure(epsilon)?), Count::ONE);
                Ok((noise, release.into()))
            }
            Style::Gaussian { multiplier } => {
                // rho = |shift|^2 / (2 sigma^2), bin by bin (Canonne, Kamath and Steinke 2020).
                let far = self.records as f64 * (moved as f64).sqrt();
                let sigma = few_bits(multiplier * far);
                let noise = Noise::discrete_gaussian(sigma, self.records)?;
                let square = (self.records * self.records * moved) as f64;
                // Two roundings, and one to spare.
                let rho = (0.5 * square / (sigma * sigma)).next_up().next_up().next_up();
                let rho = Rho::new(rho)?;
                let release = (Mechanism::Zcdp { rho, delta: Delta::new(0.0)? }, Count::ONE);
                Ok((noise, release.into()))
            }
            Style::Staircase { .. } => {
                let (noise, query) = (style.name(), "a histogram of several records a person");
                Err(Error::Unsuited { noise, query, legal: "laplace, gaussian" })
            }
        }
    }
}

fn legal_epsilon(epsilon: f64) -> Result<(), Error> {
    let legal = "a number from 2^-20 to 500";
    check((2.0_f64.powi(-20)..=500.0).contains(&epsilon), "epsilon", epsilon, legal)
}

impl Style {
    fn name(self) -> &'static str {
        match self {
            Self::Laplace { .. } => "laplace",
            Self::Gaussian { .. } => "gaussian",
            Self::Staircase { .. } => "staircase",
        }
    }

    /// The noise for one of several numbers that share a budget.
    fn shared(self, parts: f64) -> Self {
        match self {
            Self::Laplace { epsilon } => Self::Laplace { epsilon: epsilon / parts },
            Self::Gaussian { multiplier } => {
                Self::Gaussian { multiplier: multiplier * parts.sqrt() }
            }
            Self::Staircase { epsilon } => Self::Staircase { epsilon: epsilon / parts },
        }
    }

    /// A grid much finer than the noise, and as fine as the accountant likes: it knows discrete
    /// Gaussians up to 10^4 steps.
    fn grid(self, sensitivity: f64) -> Result<Grid, Error> {
        Grid::at_most(match self {
            Self::Laplace { epsilon } => (sensitivity / epsilon).min(sensitivity) / 1e9,
            Self::Gaussian { multiplier } => sensitivity * multiplier / 1024.0,
            Self::Staircase { .. } => sensitivity / 1e6,
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
                Noise::gaussian(few_bits(steps as f64 * multiplier) * grid.step(), distance, grid)
            }
            Self::Staircase { epsilon } => Noise::staircase(epsilon, None, distance, grid),
        }
    }
}

/// Rounded up to 12 significant bits, with which the sampler is fast.
fn few_bits(x: f64) -> f64 {
    let mask = (1_u64 << 41) - 1;
    let cut = x.to_bits() & !mask;
    f64::from_bits(if cut == x.to_bits() { cut } else { cut + mask + 1 })
}

impl Measurement {
    /// What running it is charged as.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The query.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
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
    /// [`Error::Randomness`] if there is none to be had.
    pub fn run(&self, data: &[f64]) -> Result<Reply, Error> {
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
                let bins = self.query.bins(data);
                Ok(Reply::Table(bins.iter().map(noisy).collect::<Result<_, Error>>()?))
            }
            Body::Choice(choice) => {
                let place = choice.release(&self.query.scores(data))?;
                let Kind::Quantile { candidates, .. } = &self.query.kind else {
                    return Err(Error::Question { legal: "a quantile" });
                };
                Ok(Reply::Number(candidates.get(place).copied().unwrap_or(f64::NAN)))
            }
        }
    }

    /// From noisy sums to the answer. The true number of records is used where it is public.
    fn finish(&self, noisy: &[f64], records: f64) -> f64 {
        let public = self.query.is_length_public();
        match (&self.query.kind, noisy) {
            (Kind::Sum(bounds), &[offsets]) if public => offsets + bounds.center() * records,
            (Kind::Mean(bounds), &[offsets]) => {
                bounds.clamp(bounds.center() + offsets / records.max(1.0))
            }
            (Kind::Mean(bounds), &[ones, offsets]) => {
                bounds.clamp(bounds.center() + offsets / ones.max(1.0))
            }
            (Kind::Variance(bounds), &[offsets, squares]) => {
                spread(offsets, squares, records.max(1.0), bounds.half())
            }
            (Kind::Variance(bounds), &[ones, offsets, squares]) => {
                spread(offsets, squares, ones.max(1.0), bounds.half())
            }
            (_, noisy) => noisy.first().copied().unwrap_or(f64::NAN),
        }
    }

    /// The answer is within this of that without noise, with at least this probability, for so
    /// many records: for each bin of a histogram; in ranks for a quantile. Clamping and
    /// rounding to the grid are not counted.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, records: u64, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        match &self.body {
            Body::Bins(noise) => noise.half_width(confidence),
            Body::Sums(sums) => {
                // Each sum may fail with its share of what is allowed.
                let each = 1.0 - (1.0 - confidence) / sums.len() as f64;
                let widths = sums.iter().map(|(_, noise)| noise.half_width(each));
                Ok(self.carried(&widths.collect::<Result<Vec<f64>, Error>>()?, records as f64))
            }
            Body::Choice(choice) => {
                let Kind::Quantile { share, candidates } = &self.query.kind else {
                    return Err(Error::Question { legal: "a quantile" });
                };
                Ok(choice.shortfall(candidates.len(), confidence)? / f64::from(share.1))
            }
        }
    }

    /// The mean distance from the answer without noise, for so many records: exact for counts,
    /// sums, bins and means of publicly many; to first order for the others. A quantile's is
    /// in ranks, and a bound.
    #[must_use]
    pub fn expected_error(&self, records: u64) -> f64 {
        match &self.body {
            Body::Bins(noise) => noise.expected_error(),
            Body::Sums(sums) => {
                let errors = sums.iter().map(|(_, noise)| noise.expected_error());
                self.carried(&errors.collect::<Vec<f64>>(), records as f64)
            }
            Body::Choice(choice) => match &self.query.kind {
                // The mean of a number that exceeds t with probability n e^(-t/s), at most.
                Kind::Quantile { share, candidates } => {
                    choice.scale() * (1.0 + (candidates.len() as f64).ln()) / f64::from(share.1)
                }
                _ => 0.0,
            },
        }
    }

    /// How far errors of the sums move the answer: with sums S of at most M each, over n,
    /// |S~/n~ - S/n| <= (s + M a) / (n - a) for errors s of S and a of n.
    fn carried(&self, errors: &[f64], records: f64) -> f64 {
        let ratio = |sum: f64, most: f64, ones: f64| {
            if records > ones { (sum + most * ones) / (records - ones) } else { f64::INFINITY }
        };
        match (&self.query.kind, errors) {
            (Kind::Mean(bounds), &[offsets]) => ratio(offsets, bounds.half(), 0.0),
            (Kind::Mean(bounds), &[ones, offsets]) => ratio(offsets, bounds.half(), ones),
            (Kind::Variance(bounds), &[.., offsets, squares]) => {
                let half = bounds.half();
                let ones = if errors.len() == 3 { errors.first().copied() } else { None };
                let ones = ones.unwrap_or(0.0);
                ratio(squares, half * half, ones) + 2.0 * half * ratio(offsets, half, ones)
            }
            (_, errors) => errors.first().copied().unwrap_or(0.0),
        }
    }
}

/// The mean square less the squared mean, within what is possible.
fn spread(offsets: f64, squares: f64, records: f64, half: f64) -> f64 {
    let mean = (offsets / records).clamp(-half, half);
    (squares / records - mean * mean).clamp(0.0, half * half)
}
