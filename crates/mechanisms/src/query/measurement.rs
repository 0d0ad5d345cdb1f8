//! A recipe made ready for data of one relation: what runs, and what that costs.

use super::recipe::{Recipe, Style};
use super::summand::{Of, Summand};
use super::tally::{self, Tally};
use super::{Kind, Query, score_sensitivity};
use crate::choice::Exponential;
use crate::data::Data;
use crate::error::Error;
use crate::grid::Grid;
use crate::noise::{Noise, confident};
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
    body: Body,
    releases: Vec<Release>,
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    /// Sums with noise: of ones, then of values, then of squares, as far as needed.
    Sums(Vec<(Summand, Noise)>),
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
    /// several records; [`Error::OutOfRange`] if the noise is beyond what the samplers take.
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
                    |(_, noise): &(Summand, Noise)| Release::from((noise.mechanism(), Count::ONE));
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

fn sums(list: &[Of], style: Style, relation: Relation) -> Result<Vec<(Summand, Noise)>, Error> {
    let style = style.shared(list.len() as f64);
    let sum = |of: &Of| {
        let grid = match of {
            Of::Ones(_) => Grid::WHOLE,
            _ => style.grid(of.reach(relation))?,
        };
        let summand = Summand::new(*of, grid);
        Ok((summand, style.noise(summand.sensitivity(relation), grid)?))
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
            let sigma = few_bits(multiplier * far);
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

    /// A grid much finer than the noise, and as fine as the accountant likes: it knows discrete
    /// Gaussians up to 10^4 steps.
    fn grid(self, sensitivity: f64) -> Result<Grid, Error> {
        Grid::at_most(match self {
            Self::Laplace { epsilon } => (sensitivity / epsilon).min(sensitivity) / 1e9,
            Self::Gaussian { multiplier } => sensitivity * multiplier / 1024.0,
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
                Noise::gaussian(few_bits(steps as f64 * multiplier) * grid.step(), distance, grid)
            }
            Self::Staircase { epsilon } => Noise::staircase(epsilon, None, distance, grid),
            Self::Exponential { .. } => Err(self.unsuited("a number", "a quantile")),
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
        self.release(&self.tally(data)?)
    }

    /// What each number of its tally adds up, record by record; none where records are counted, in bins or between
    /// candidates.
    #[must_use]
    pub fn summands(&self) -> Vec<Summand> {
        match &self.body {
            Body::Sums(sums) => sums.iter().map(|(summand, _)| *summand).collect(),
            Body::Bins(_) | Body::Choice(_) => Vec::new(),
        }
    }

    /// The whole numbers that noise is added to, in one pass over the data. **They are as secret as the data.**
    ///
    /// # Errors
    /// [`Error::Relation`] if the data are of another relation.
    pub fn tally(&self, data: &Data) -> Result<Tally, Error> {
        data.is_under(self.relation)?;
        let data = data.values();
        let numbers = match &self.query().kind {
            Kind::Histogram(edges) => bins_of(tally::gaps(edges, data)),
            Kind::Quantile { candidates, .. } => tally::gaps(candidates, data),
            _ => tally::sums(&self.summands(), data),
        };
        Ok(self.tally_of(data.len() as u64, numbers))
    }

    /// The same, of numbers that were added up elsewhere, over so many rows: one for each of
    /// [`Measurement::summands`]; for a histogram one count for each bin; for a quantile how many rows are below the
    /// first candidate, how many from each candidate up to the next, and how many from the last. **Whoever adds them
    /// up vouches** that nobody has more records than the relation says, and that each adds what it may.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many numbers as that. Nothing else is checked: it would tell of the
    /// data. What can be no sum or count is cut.
    pub fn tallied(&self, rows: u64, numbers: Vec<i128>) -> Result<Tally, Error> {
        let (length, wanted) = (
            numbers.len(),
            match &self.query().kind {
                Kind::Histogram(edges) => edges.len() - 1,
                Kind::Quantile { candidates, .. } => candidates.len() + 1,
                _ => self.summands().len(),
            },
        );
        if length != wanted {
            let legal = "one for each summand or bin, or for each gap between candidates";
            return Err(Error::Length { what: "a tally", length, legal });
        }
        let numbers = match &self.body {
            Body::Sums(_) => tally::cut_sums(numbers),
            Body::Bins(_) | Body::Choice(_) => tally::cut_counts(numbers),
        };
        Ok(self.tally_of(rows, numbers))
    }

    fn tally_of(&self, rows: u64, numbers: Vec<i128>) -> Tally {
        Tally { query: self.query().clone(), summands: self.summands(), rows, numbers }
    }

    /// Answers from a tally. **Each release is to be charged again.**
    ///
    /// # Errors
    /// [`Error::Question`] if the tally is another question's, [`Error::Randomness`] if there is no randomness.
    pub fn release(&self, tally: &Tally) -> Result<Reply, Error> {
        if tally.query != *self.query() || tally.summands != self.summands() {
            return Err(Error::Question { legal: "the question that the tally was made for" });
        }
        match (&self.body, &self.query().kind) {
            (Body::Sums(sums), _) => {
                let noisy = |((summand, noise), units): (&(Summand, Noise), &i128)| {
                    Ok(summand.grid().value(noise.add(summand.rounded(*units))?))
                };
                let noisy = sums.iter().zip(&tally.numbers).map(noisy);
                let noisy = noisy.collect::<Result<Vec<f64>, Error>>()?;
                Ok(Reply::Number(self.finish(&noisy, tally.rows as f64)))
            }
            (Body::Bins(noise), _) => {
                let noisy = tally.numbers.iter().map(|count| Ok(noise.add(*count)? as f64));
                Ok(Reply::Table(noisy.collect::<Result<_, Error>>()?))
            }
            (Body::Choice(choice), Kind::Quantile { share, candidates }) => {
                let place = choice.release(&tally::scores(*share, &tally.numbers))?;
                Ok(Reply::Number(candidates.get(place).copied().unwrap_or_default()))
            }
            (Body::Choice(_), _) => Err(Error::Question { legal: "a quantile" }),
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

    /// The answer is within this of that without noise, with at least this probability, for so
    /// many rows: for each bin of a histogram; in ranks for a quantile. Clamping and
    /// rounding to the grid are not counted.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, rows: u64, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        match &self.body {
            Body::Bins(noise) => noise.half_width(confidence),
            Body::Sums(sums) => {
                // Each sum may fail with its share of what is allowed.
                let each = 1.0 - (1.0 - confidence) / sums.len() as f64;
                let widths = sums.iter().map(|(_, noise)| noise.half_width(each));
                Ok(self.carried(&widths.collect::<Result<Vec<f64>, Error>>()?, rows as f64))
            }
            Body::Choice(choice) => {
                let Kind::Quantile { share, candidates } = &self.query().kind else {
                    return Err(Error::Question { legal: "a quantile" });
                };
                Ok(choice.shortfall(candidates.len(), confidence)? / f64::from(share.1))
            }
        }
    }

    /// The mean distance from the answer without noise, for so many rows: exact for counts,
    /// sums, bins and means of publicly many; to first order for the others. A quantile's is
    /// in ranks, and a bound.
    #[must_use]
    pub fn expected_error(&self, rows: u64) -> f64 {
        match &self.body {
            Body::Bins(noise) => noise.expected_error(),
            Body::Sums(sums) => {
                let errors = sums.iter().map(|(_, noise)| noise.expected_error());
                self.carried(&errors.collect::<Vec<f64>>(), rows as f64)
            }
            Body::Choice(choice) => match &self.query().kind {
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
    fn carried(&self, errors: &[f64], rows: f64) -> f64 {
        let ratio = |sum: f64, most: f64, ones: f64| {
            if rows > ones { (sum + most * ones) / (rows - ones) } else { f64::INFINITY }
        };
        match (&self.query().kind, errors) {
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

/// A histogram's bins are the gaps between its edges.
fn bins_of(mut gaps: Vec<i128>) -> Vec<i128> {
    gaps.pop();
    gaps.drain(..1.min(gaps.len()));
    gaps
}

/// The mean square less the squared mean, within what is possible.
fn spread(offsets: f64, squares: f64, records: f64, half: f64) -> f64 {
    let mean = (offsets / records).clamp(-half, half);
    (squares / records - mean * mean).clamp(0.0, half * half)
}
