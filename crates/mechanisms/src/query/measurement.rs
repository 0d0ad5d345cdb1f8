//! A recipe made ready for data of one relation: what runs, and what that costs.

use super::ends::{self, CHOICES, chosen};
use super::moments::{self, Line};
use super::prefixes;
use super::recipe::{Recipe, Style};
use super::summand::{Of, Summand};
use super::tally::{self, Tally};
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
    /// Whether the first of its sums, the number of records, is released by another measurement.
    pub(super) has_outside_count: bool,
    releases: Vec<Release>,
}

/// The gaps between places, in which rows are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// All of them: also below the first place, and from the last on.
    All,
    /// Those between two places.
    Between,
    /// All but that from the last place on.
    Below,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// Sums with noise: of ones, then of values, then of squares, as far as needed.
    Sums(Vec<(Summand, Noise)>),
    /// The same noise for every bin.
    Bins(Noise),
    Choice(Exponential),
    /// The same noise for every node of the tree that prefixes are summed from.
    Nodes(Noise),
    /// One for each share.
    Choices(Vec<Exponential>),
    /// One for each share, that is made three times: for the quantile and for both ends of an interval with this confidence.
    Intervals(Vec<Exponential>, f64),
}

impl Recipe {
    /// Made ready for data of this relation: noise is scaled, and charged, for what one person
    /// with as many records can change.
    ///
    /// # Errors
    /// [`Error::Unsuited`] for staircase noise on a histogram, or cumulative count, to which a person contributes
    /// several records; [`Error::OutOfRange`] for Gaussian noise on a histogram if the multiplier times
    /// the records a person (times the root of two where they are replaced) is above 2^20, on a cumulative count if
    /// that times the root of how many counts a record is in is, and for staircase noise on one, or on a regression, if
    /// epsilon over that many, or over the number of sums, is below 2^-24. All other recipes can be made ready for all
    /// relations.
    pub fn under(&self, relation: Relation) -> Result<Measurement, Error> {
        self.under_with(relation, None)
    }

    /// The same, with a count that is released elsewhere.
    pub(super) fn under_with(
        &self,
        relation: Relation,
        count: Option<&Measurement>,
    ) -> Result<Measurement, Error> {
        let (body, releases) = match (&self.query.kind, self.style) {
            (Kind::Quantile { share, .. }, Style::Exponential { epsilon }) => {
                let choice = Exponential::new(epsilon, score_sensitivity(*share, relation))?;
                let release = Release::from((choice.mechanism(), Count::ONE));
                (Body::Choice(choice), vec![release])
            }
            (Kind::Histogram(_), style) => {
                let moved = if relation.adjacency() == Adjacency::Replace { 2 } else { 1 };
                let (noise, release) = bins(style, moved, relation.records())?;
                (Body::Bins(noise), vec![release])
            }
            (Kind::Cumulative(edges), style) => {
                let moved = prefixes::moved(edges.len() as u64, relation.adjacency());
                let (noise, release) = bins(style, moved, relation.records())?;
                (Body::Nodes(noise), vec![release])
            }
            (Kind::Quantiles { shares, .. }, Style::Exponential { epsilon }) => {
                let each = epsilon / shares.len() as f64;
                let choice = |share: &(u32, u32)| {
                    Exponential::new(each, score_sensitivity(*share, relation))
                };
                let choices = shares.iter().map(choice).collect::<Result<Vec<_>, Error>>()?;
                // They may have different sensitivities, and all cost the same.
                let same = choices.first().map(Exponential::mechanism);
                let count = Count::new(shares.len() as u64)?;
                let releases = same.into_iter().map(|same| Release::from((same, count))).collect();
                (Body::Choices(choices), releases)
            }
            (_, Style::ExponentialInterval { epsilon, confidence }) => {
                let (shares, _) = self.query.choice().unwrap_or_default();
                let count = CHOICES * shares.len() as u64;
                let each = epsilon / count as f64;
                let choice = |share: &(u32, u32)| {
                    Exponential::new(each, score_sensitivity(*share, relation))
                };
                let choices = shares.iter().map(choice).collect::<Result<Vec<_>, Error>>()?;
                let (same, count) =
                    (choices.first().map(Exponential::mechanism), Count::new(count)?);
                let releases = same.into_iter().map(|same| Release::from((same, count))).collect();
                (Body::Intervals(choices, confidence), releases)
            }
            (kind, style) => {
                let list = own_parts(placed(kind, relation), count.is_some());
                let sums = sums(&list, style, relation)?;
                let one =
                    |(_, noise): &(Summand, Noise)| Release::from((noise.mechanism(), Count::ONE));
                let releases = sums.iter().map(one).collect();
                (Body::Sums(sums), releases)
            }
        };
        Ok(Measurement::made(self.clone(), relation, body, releases).with_outside_count(count))
    }
}

/// What is added up here: all but the number of records, which is the first, if that is released elsewhere.
pub(super) fn own_parts(
    mut parts: Vec<(Of, [usize; 2])>,
    has_outside_count: bool,
) -> Vec<(Of, [usize; 2])> {
    if has_outside_count && !parts.is_empty() {
        parts.remove(0);
    }
    parts
}

/// What is added up for a query. The number of records is among it unless it is public.
pub(super) fn parts(kind: &Kind, relation: Relation) -> Vec<Of> {
    let public = relation.is_length_public();
    match kind {
        Kind::Count(within) => vec![Of::Ones(*within)],
        Kind::Sum(bounds) if public => vec![Of::Offsets(*bounds)],
        Kind::Sum(bounds) => vec![Of::Values(*bounds)],
        Kind::Mean(bounds) if public => vec![Of::Offsets(*bounds)],
        Kind::Mean(bounds) => vec![Of::Ones(None), Of::Offsets(*bounds)],
        Kind::Variance(bounds) | Kind::Deviation(bounds) if public => {
            vec![Of::Offsets(*bounds), Of::Squares(*bounds)]
        }
        Kind::Variance(bounds) | Kind::Deviation(bounds) => {
            vec![Of::Ones(None), Of::Offsets(*bounds), Of::Squares(*bounds)]
        }
        Kind::Proportion(bounds) if public => vec![Of::Ones(Some(*bounds))],
        Kind::Proportion(bounds) => vec![Of::Ones(None), Of::Sides(*bounds)],
        // These are no sums.
        Kind::Histogram(_) | Kind::Quantile { .. } => Vec::new(),
        Kind::Cumulative(_) | Kind::Quantiles { .. } => Vec::new(),
        // These are of several columns.
        Kind::Covariance(..) | Kind::Correlation(..) | Kind::Regression { .. } => Vec::new(),
    }
}

/// The same with the columns that each is of.
pub(super) fn placed(kind: &Kind, relation: Relation) -> Vec<(Of, [usize; 2])> {
    match kind {
        Kind::Covariance(x, y) => moments::of_two(*x, *y, relation.is_length_public()),
        Kind::Correlation(x, y) => moments::of_correlation(*x, *y, relation.is_length_public()),
        Kind::Regression { predictors, outcome } => {
            moments::of_line(predictors, *outcome, relation.is_length_public())
        }
        other => parts(other, relation).into_iter().map(|of| (of, [0, 0])).collect(),
    }
}

fn sums(
    list: &[(Of, [usize; 2])],
    style: Style,
    relation: Relation,
) -> Result<Vec<(Summand, Noise)>, Error> {
    let style = style.shared(list.len() as f64);
    let sum = |(of, columns): &(Of, [usize; 2])| {
        let grid = match (of, style) {
            // Whole numbers, if the noise is not more of them than it may be.
            (Of::Ones(_), Style::Gaussian { .. }) => {
                style.grid(of.reach(relation))?.coarser(Grid::WHOLE)
            }
            (Of::Ones(_), _) => Grid::WHOLE,
            _ => style.grid(of.reach(relation))?,
        };
        let summand = Summand::at(*of, *columns, grid);
        Ok((summand, style.noise(summand.sensitivity(relation), grid)?))
    };
    list.iter().map(sum).collect()
}

/// One record more moves one bin by one; another in its place moves two bins by one each, as two
/// releases would. (Of nested bins one record is in several: it moves so many, by one each.) Several records move
/// several bins in ways for which only the sum of the moves, or of their squares, is used.
fn bins(style: Style, moved: u64, records: u64) -> Result<(Noise, Release), Error> {
    if records > 1 {
        return bins_moved_often(style, moved, records);
    }
    let noise = style.shared(moved as f64).noise(1, Grid::WHOLE)?;
    let release = Release::from((noise.mechanism(), Count::new(moved)?));
    Ok((noise, release))
}

/// One record for another, or one that comes or goes, moves at most so many bins by one each: by so much in all, and by
/// the root of it in Euclidean norm. A person's records are exchanged one by one, and both norms are
/// subadditive: as many times that, which is reached if all of them are alike.
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
                         times the root of two where they are replaced, or of how many bins a record moves";
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
    /// The noise for one of several numbers that share a budget.
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

    /// A grid much finer than the noise. Gaussian noise is 513,000 to 1,026,000 steps, within the
    /// 2^20 that it may be; with a multiplier of at most 1000 sqrt(3) the sensitivity is then 296 steps at
    /// least, so that rounding it up, and the step more that is charged, are less than 0.7 % of it. (Regressions share a budget among up
    /// to 170 sums: less than 3 % there.)
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

    /// Noise that costs no more than was asked for a sensitivity in grid units.
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

impl Measurement {
    pub(super) fn made(
        recipe: Recipe,
        relation: Relation,
        body: Body,
        releases: Vec<Release>,
    ) -> Self {
        Self { recipe, relation, body, has_outside_count: false, releases }
    }

    /// The same with the noise of a count that is released elsewhere before its own.
    pub(super) fn with_outside_count(mut self, count: Option<&Self>) -> Self {
        if let (Body::Sums(sums), Some(Body::Sums(ones))) =
            (&mut self.body, count.map(|count| &count.body))
        {
            sums.splice(0..0, ones.iter().cloned());
            self.has_outside_count = true;
        }
        self
    }

    /// The sums that it draws itself.
    pub(super) fn own_sums(&self) -> &[(Summand, Noise)] {
        match &self.body {
            Body::Sums(sums) => sums.get(usize::from(self.has_outside_count)..).unwrap_or_default(),
            _ => &[],
        }
    }

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

    /// The noise that is added to each number that it releases; none for a quantile.
    #[must_use]
    pub fn noises(&self) -> Vec<&Noise> {
        match &self.body {
            Body::Sums(_) => self.own_sums().iter().map(|(_, noise)| noise).collect(),
            Body::Bins(noise) | Body::Nodes(noise) => vec![noise],
            Body::Choice(_) | Body::Choices(_) | Body::Intervals(..) => Vec::new(),
        }
    }

    /// Whether it can be run on these data; no number of them is looked at.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data are of another relation, [`Error::Columns`] if they have more columns than the
    /// query is about, or fewer.
    pub fn suits(&self, data: &Data) -> Result<(), Error> {
        data.is_under(self.relation)?;
        data.is_of(self.query().columns())
    }

    /// Runs it once. **Each run is a release of its own**, to be charged again.
    ///
    /// # Errors
    /// As for [`Measurement::suits`], and [`Error::Randomness`] if there is none to be had.
    pub fn run(&self, data: &Data) -> Result<Reply, Error> {
        self.release(&self.tally(data)?)
    }

    /// What each number of its tally adds up, record by record; none where records are counted, in bins or between
    /// candidates.
    #[must_use]
    pub fn summands(&self) -> Vec<Summand> {
        self.own_sums().iter().map(|(summand, _)| *summand).collect()
    }

    /// The numbers between which rows are counted, and which of the gaps count; none where records are added up.
    #[must_use]
    pub fn places(&self) -> Option<(&[f64], Gaps)> {
        match &self.query().kind {
            Kind::Histogram(edges) => Some((edges, Gaps::Between)),
            Kind::Quantile { candidates, .. } | Kind::Quantiles { candidates, .. } => {
                Some((candidates, Gaps::All))
            }
            Kind::Cumulative(edges) => Some((edges, Gaps::Below)),
            _ => None,
        }
    }

    /// The whole numbers that noise is added to, in one pass over the data. **They are as secret as the data.**
    ///
    /// # Errors
    /// As for [`Measurement::suits`].
    pub fn tally(&self, data: &Data) -> Result<Tally, Error> {
        self.suits(data)?;
        let values = data.values();
        let numbers = match &self.query().kind {
            Kind::Histogram(edges) => bins_of(tally::gaps(edges, values)),
            Kind::Quantile { candidates, .. } | Kind::Quantiles { candidates, .. } => {
                tally::gaps(candidates, values)
            }
            Kind::Cumulative(edges) => {
                let mut gaps = tally::gaps(edges, values);
                gaps.truncate(edges.len());
                gaps
            }
            _ => tally::sums(&self.summands(), data),
        };
        Ok(self.tally_of(data.rows() as u64, numbers))
    }

    /// The same, of numbers that were added up elsewhere, over so many rows: one for each of
    /// [`Measurement::summands`]; for a histogram one count for each bin; for quantiles how many rows are below the
    /// first candidate, how many from each candidate up to the next, and how many from the last; for a cumulative
    /// count how many are below the first edge, and how many from each edge up to the next, but not how many from the
    /// last. (They are added up here: a record is in one of them, wherever they are counted.) **Whoever adds them
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
                Kind::Quantile { candidates, .. } | Kind::Quantiles { candidates, .. } => {
                    candidates.len() + 1
                }
                Kind::Cumulative(edges) => edges.len(),
                _ => self.summands().len(),
            },
        );
        if length != wanted {
            let legal = "one for each summand or bin, or for each gap between candidates or edges";
            return Err(Error::Length { what: "a tally", length, legal });
        }
        let numbers = match &self.body {
            Body::Sums(_) => tally::cut_sums(numbers),
            _ => tally::cut_counts(numbers),
        };
        Ok(self.tally_of(rows, numbers))
    }

    fn tally_of(&self, rows: u64, numbers: Vec<i128>) -> Tally {
        let (relation, query) = (self.relation, self.query().clone());
        Tally { relation, query, summands: self.summands(), rows, numbers }
    }

    /// Answers from a tally. **Each release is to be charged again.**
    ///
    /// # Errors
    /// [`Error::Relation`] if the tally is of data of another relation, [`Error::Question`] if it is another
    /// question's, [`Error::Randomness`] if there is no randomness.
    pub fn release(&self, tally: &Tally) -> Result<Reply, Error> {
        self.is_of(tally)?;
        self.counts_itself()?;
        match (&self.body, &self.query().kind) {
            (Body::Sums(sums), _) => Ok(self.reply(&noisy_sums(sums, tally)?, tally.rows as f64)),
            (Body::Bins(noise), _) => {
                let noisy = tally.numbers.iter().map(|count| Ok(noise.add(*count)? as f64));
                Ok(Reply::Table(noisy.collect::<Result<_, Error>>()?))
            }
            (Body::Choice(choice), Kind::Quantile { share, candidates }) => {
                let scores = tally::scores(*share, &tally.numbers);
                Ok(Reply::Number(chosen(choice, candidates, &scores)?))
            }
            (Body::Nodes(noise), _) => {
                let nodes = prefixes::nodes(&tally.numbers);
                let noisy = nodes.iter().map(|count| noise.add(*count));
                let prefixes = prefixes::sums(&noisy.collect::<Result<Vec<i128>, Error>>()?);
                Ok(Reply::Table(prefixes.into_iter().map(|sum| sum as f64).collect()))
            }
            (Body::Choices(choices), Kind::Quantiles { shares, candidates }) => {
                let chosen = |(choice, share): (&Exponential, &(u32, u32))| {
                    chosen(choice, candidates, &tally::scores(*share, &tally.numbers))
                };
                let chosen = choices.iter().zip(shares.iter()).map(chosen);
                Ok(Reply::Table(chosen.collect::<Result<_, Error>>()?))
            }
            (Body::Intervals(choices, confidence), _) => {
                let drawn = self.draw_intervals(choices, *confidence, tally)?;
                Ok(self.chosen_reply(drawn.into_iter().map(|[value, ..]| value).collect()))
            }
            (Body::Choice(_) | Body::Choices(_), _) => {
                Err(Error::Question { legal: "a quantile, or several" })
            }
        }
    }

    /// For each share the quantile that was chosen, and the lower and the upper end.
    pub(super) fn draw_intervals(
        &self,
        choices: &[Exponential],
        confidence: f64,
        tally: &Tally,
    ) -> Result<Vec<[f64; 3]>, Error> {
        let (shares, candidates) = self.query().choice().unwrap_or_default();
        let draw = |(choice, share): (&Exponential, &(u32, u32))| {
            let value = chosen(choice, candidates, &tally::scores(*share, &tally.numbers))?;
            let with = (choice, confidence);
            let [low, high] = ends::draw(with, *share, candidates, &tally.numbers)?;
            Ok([value, low, high])
        };
        choices.iter().zip(shares).map(draw).collect()
    }

    /// What was chosen, as a number if one quantile is asked for, and as a table if several may be.
    pub(super) fn chosen_reply(&self, values: Vec<f64>) -> Reply {
        match (&self.query().kind, values.as_slice()) {
            (Kind::Quantile { .. }, &[value]) => Reply::Number(value),
            _ => Reply::Table(values),
        }
    }

    /// An error if the number of records is released elsewhere.
    pub(super) fn counts_itself(&self) -> Result<(), Error> {
        match self.has_outside_count {
            false => Ok(()),
            true => Err(Error::Question { legal: "one that is given the count it shares" }),
        }
    }

    /// An error unless the tally is this question's.
    pub(super) fn is_of(&self, tally: &Tally) -> Result<(), Error> {
        if tally.relation != self.relation {
            return Err(Error::Relation { made: self.relation, data: tally.relation });
        }
        if tally.query != *self.query() || tally.summands != self.summands() {
            return Err(Error::Question { legal: "the question that the tally was made for" });
        }
        Ok(())
    }

    /// From noisy sums to the reply.
    pub(super) fn reply(&self, noisy: &[f64], records: f64) -> Reply {
        match self.line(records) {
            Some(line) => Reply::Table(line.coefficients(noisy)),
            None => Reply::Number(self.number(noisy, records)),
        }
    }

    /// What makes a regression of noisy sums, if it is one.
    pub(super) fn line(&self, records: f64) -> Option<Line> {
        let records = self.relation.is_length_public().then_some(records);
        match (&self.query().kind, &self.body) {
            (Kind::Regression { predictors, outcome }, Body::Sums(sums)) => {
                Some(Line::new(predictors, *outcome, sums, records))
            }
            _ => None,
        }
    }

    /// From noisy sums to one number.
    pub(super) fn number(&self, noisy: &[f64], records: f64) -> f64 {
        match &self.query().kind {
            Kind::Covariance(x, y) => {
                let records = self.relation.is_length_public().then_some(records);
                moments::covariance(*x, *y, noisy, records)
            }
            Kind::Correlation(x, y) => {
                let records = self.relation.is_length_public().then_some(records);
                moments::correlation(*x, *y, noisy, records)
            }
            _ => self.finish(noisy, records),
        }
    }

    /// From noisy sums to one number of one column. The true number of records is used where it is public.
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
            (Kind::Deviation(bounds), &[offsets, squares]) if public => {
                spread(offsets, squares, records.max(1.0), bounds.half()).sqrt()
            }
            (Kind::Deviation(bounds), &[ones, offsets, squares]) => {
                spread(offsets, squares, ones.max(1.0), bounds.half()).sqrt()
            }
            (Kind::Proportion(_), &[ones]) => (ones / records.max(1.0)).clamp(0.0, 1.0),
            (Kind::Proportion(_), &[ones, sides]) => (0.5 + sides / ones.max(1.0)).clamp(0.0, 1.0),
            (_, noisy) => noisy.first().copied().unwrap_or_default(),
        }
    }
}

/// Each sum with fresh noise.
pub(super) fn noisy_sums(sums: &[(Summand, Noise)], tally: &Tally) -> Result<Vec<f64>, Error> {
    let noisy = |((summand, noise), units): (&(Summand, Noise), &i128)| {
        Ok(summand.grid().value(noise.add(summand.rounded(*units))?))
    };
    sums.iter().zip(&tally.numbers).map(noisy).collect()
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
