//! A noisy query under one neighbouring relation: the mechanism that runs, and its cost.

use super::ends::{self, CHOICES, chosen};
use super::moments::{self, RegressionLine};
use super::noises::{bins, sums};
use super::noisy_query::{NoisyQuery, Style};
use super::parts::{own_parts, placed};
use super::prefixes;
use super::summand::Summand;
use super::tally::{self, Tally};
use super::{Query, QueryKind, score_sensitivity};
use crate::choice::Exponential;
use crate::data::Data;
use crate::error::Error;
use crate::noise::Noise;
use crate::reply::Reply;
use counterpoint::{Adjacency, Count, Relation, Release};

/// A noisy query under one neighbouring relation, with its scaled noise and its cost.
///
/// Made by [`NoisyQuery::under`], run with [`Measurement::run`], charged as [`Measurement::releases`].
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    noisy_query: NoisyQuery,
    relation: Relation,
    pub(super) body: MeasurementBody,
    /// True if another measurement releases the number of records, which is the first of the sums.
    pub(super) has_outside_count: bool,
    releases: Vec<Release>,
}

/// The gaps between places in which rows are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// All gaps, including those below the first place and from the last place on.
    All,
    /// The gaps between two places.
    Between,
    /// All gaps except the one from the last place on.
    Below,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum MeasurementBody {
    /// Sums with noise: of ones, of values and of squares, as the query needs them.
    Sums(Vec<(Summand, Noise)>),
    /// The noise of every bin.
    Bins(Noise),
    Choice(Exponential),
    /// The noise of every node of the tree from which prefixes are summed.
    Nodes(Noise),
    /// A choice for each share.
    Choices(Vec<Exponential>),
    /// A choice for each share, made three times: for the quantile and for both ends of an interval with this
    /// confidence.
    Intervals(Vec<Exponential>, f64),
}

impl NoisyQuery {
    /// Scales and charges the noise for the neighbouring relation of the data.
    ///
    /// # Errors
    /// [`Error::Unsuited`] for staircase noise on a histogram or cumulative count to which a person contributes several
    /// records. [`Error::OutOfRange`] for Gaussian noise on a histogram if the multiplier times the number of records
    /// per person (times the root of two if people are replaced) is above 2^20; on a cumulative count, if that product
    /// times the root of the number of counts that contain a record is above 2^20. [`Error::OutOfRange`] for staircase
    /// noise on a cumulative count or a regression if epsilon divided by the number of counts or sums is below 2^-24.
    /// All other noisy queries work under all relations.
    pub fn under(&self, relation: Relation) -> Result<Measurement, Error> {
        self.under_with(relation, None)
    }

    /// As [`NoisyQuery::under`], with a count that another measurement releases.
    pub(super) fn under_with(
        &self,
        relation: Relation,
        count: Option<&Measurement>,
    ) -> Result<Measurement, Error> {
        let (body, releases) = match (&self.query.kind, self.style) {
            (QueryKind::Quantile { share, .. }, Style::Exponential { epsilon }) => {
                let choice = Exponential::new(epsilon, score_sensitivity(*share, relation))?;
                let release = Release::from((choice.mechanism(), Count::ONE));
                (MeasurementBody::Choice(choice), vec![release])
            }
            (QueryKind::Histogram(_), style) => {
                let moved = if relation.adjacency() == Adjacency::Replace { 2 } else { 1 };
                let (noise, release) = bins(style, moved, relation.records())?;
                (MeasurementBody::Bins(noise), vec![release])
            }
            (QueryKind::Cumulative(edges), style) => {
                let moved = prefixes::moved(edges.len() as u64, relation.adjacency());
                let (noise, release) = bins(style, moved, relation.records())?;
                (MeasurementBody::Nodes(noise), vec![release])
            }
            (QueryKind::Quantiles { shares, .. }, Style::Exponential { epsilon }) => {
                let each = epsilon / shares.len() as f64;
                let choice = |share: &(u32, u32)| {
                    Exponential::new(each, score_sensitivity(*share, relation))
                };
                let choices = shares.iter().map(choice).collect::<Result<Vec<_>, Error>>()?;
                // The choices may differ in sensitivity, but all have the same cost.
                let same = choices.first().map(Exponential::mechanism);
                let count = Count::new(shares.len() as u64)?;
                let releases = same.into_iter().map(|same| Release::from((same, count))).collect();
                (MeasurementBody::Choices(choices), releases)
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
                (MeasurementBody::Intervals(choices, confidence), releases)
            }
            (kind, style) => {
                let list = own_parts(placed(kind, relation), count.is_some());
                let sums = sums(&list, style, relation)?;
                let one =
                    |(_, noise): &(Summand, Noise)| Release::from((noise.mechanism(), Count::ONE));
                let releases = sums.iter().map(one).collect();
                (MeasurementBody::Sums(sums), releases)
            }
        };
        Ok(Measurement::made(self.clone(), relation, body, releases).with_outside_count(count))
    }
}

impl Measurement {
    pub(super) fn made(
        noisy_query: NoisyQuery,
        relation: Relation,
        body: MeasurementBody,
        releases: Vec<Release>,
    ) -> Self {
        Self { noisy_query, relation, body, has_outside_count: false, releases }
    }

    /// Prepends the noise of a count that another measurement releases.
    pub(super) fn with_outside_count(mut self, count: Option<&Self>) -> Self {
        if let (MeasurementBody::Sums(sums), Some(MeasurementBody::Sums(ones))) =
            (&mut self.body, count.map(|count| &count.body))
        {
            sums.splice(0..0, ones.iter().cloned());
            self.has_outside_count = true;
        }
        self
    }

    /// The sums that this measurement draws itself.
    pub(super) fn own_sums(&self) -> &[(Summand, Noise)] {
        match &self.body {
            MeasurementBody::Sums(sums) => {
                sums.get(usize::from(self.has_outside_count)..).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The releases that one run is charged as.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The noisy query.
    #[must_use]
    pub fn noisy_query(&self) -> &NoisyQuery {
        &self.noisy_query
    }

    /// The neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    pub(crate) fn query(&self) -> &Query {
        &self.noisy_query.query
    }

    /// The noise of each released number; empty for quantiles.
    #[must_use]
    pub fn noises(&self) -> Vec<&Noise> {
        match &self.body {
            MeasurementBody::Sums(_) => self.own_sums().iter().map(|(_, noise)| noise).collect(),
            MeasurementBody::Bins(noise) | MeasurementBody::Nodes(noise) => vec![noise],
            MeasurementBody::Choice(_)
            | MeasurementBody::Choices(_)
            | MeasurementBody::Intervals(..) => Vec::new(),
        }
    }

    /// Checks that the measurement can run on the data, without reading any of their numbers.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data have another relation, [`Error::Columns`] if their number of columns is not the
    /// query's.
    pub fn check_data(&self, data: &Data) -> Result<(), Error> {
        data.check_relation(self.relation)?;
        data.check_columns(self.query().columns())
    }

    /// Runs the measurement once. **Each run is a separate release** that must be charged.
    ///
    /// # Errors
    /// As for [`Measurement::check_data`], and [`Error::Randomness`] if the source of randomness fails.
    pub fn run(&self, data: &Data) -> Result<Reply, Error> {
        self.release(&self.tally(data)?)
    }

    /// The summand of each number of the tally; empty if records are counted in bins or between candidates.
    #[must_use]
    pub fn summands(&self) -> Vec<Summand> {
        self.own_sums().iter().map(|(summand, _)| *summand).collect()
    }

    /// The places between which rows are counted, and the gaps that are used; none if records are added up.
    #[must_use]
    pub fn places(&self) -> Option<(&[f64], Gaps)> {
        match &self.query().kind {
            QueryKind::Histogram(edges) => Some((edges, Gaps::Between)),
            QueryKind::Quantile { candidates, .. } | QueryKind::Quantiles { candidates, .. } => {
                Some((candidates, Gaps::All))
            }
            QueryKind::Cumulative(edges) => Some((edges, Gaps::Below)),
            _ => None,
        }
    }

    /// The whole numbers that noise is added to, in one pass over the data. **They are as secret as the data.**
    ///
    /// # Errors
    /// As for [`Measurement::check_data`].
    pub fn tally(&self, data: &Data) -> Result<Tally, Error> {
        self.check_data(data)?;
        let values = data.values();
        let numbers = match &self.query().kind {
            QueryKind::Histogram(edges) => bins_of(tally::gaps(edges, values)),
            QueryKind::Quantile { candidates, .. } | QueryKind::Quantiles { candidates, .. } => {
                tally::gaps(candidates, values)
            }
            QueryKind::Cumulative(edges) => {
                let mut gaps = tally::gaps(edges, values);
                gaps.truncate(edges.len());
                gaps
            }
            _ => tally::sums(&self.summands(), data),
        };
        Ok(self.tally_of(data.rows() as u64, numbers))
    }

    /// A tally from numbers that were added up elsewhere, over `rows` rows. They are: one number for each of
    /// [`Measurement::summands`]; for a histogram, one count for each bin; for quantiles, the number of rows below the
    /// first candidate, from each candidate up to the next, and from the last candidate on; for a cumulative count, the
    /// number of rows below the first edge and from each edge up to the next, but not from the last edge on. (The
    /// counts of a cumulative query are disjoint: this function's caller must not add them up.) **Whoever adds up
    /// vouches** that nobody has more records than the relation allows, and that each record adds a legal number.
    ///
    /// # Errors
    /// [`Error::Length`] unless the number of numbers is right. Nothing else is checked, since such an error would
    /// depend on the data. Impossible sums and counts are clamped.
    pub fn tally_from_numbers(&self, rows: u64, numbers: Vec<i128>) -> Result<Tally, Error> {
        let (length, wanted) = (
            numbers.len(),
            match &self.query().kind {
                QueryKind::Histogram(edges) => edges.len() - 1,
                QueryKind::Quantile { candidates, .. }
                | QueryKind::Quantiles { candidates, .. } => candidates.len() + 1,
                QueryKind::Cumulative(edges) => edges.len(),
                _ => self.summands().len(),
            },
        );
        if length != wanted {
            let legal = "one for each summand or bin, or for each gap between candidates or edges";
            return Err(Error::Length { what: "a tally", length, legal });
        }
        let numbers = match &self.body {
            MeasurementBody::Sums(_) => tally::cut_sums(numbers),
            _ => tally::cut_counts(numbers),
        };
        Ok(self.tally_of(rows, numbers))
    }

    fn tally_of(&self, rows: u64, numbers: Vec<i128>) -> Tally {
        let (relation, query) = (self.relation, self.query().clone());
        Tally { relation, query, summands: self.summands(), rows, numbers }
    }

    /// Answers from a tally. **Each release must be charged.**
    ///
    /// # Errors
    /// [`Error::Relation`] if the tally has another relation, [`Error::Question`] if it belongs to another query,
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn release(&self, tally: &Tally) -> Result<Reply, Error> {
        self.check_tally(tally)?;
        self.check_own_count()?;
        match (&self.body, &self.query().kind) {
            (MeasurementBody::Sums(sums), _) => {
                Ok(self.reply(&noisy_sums(sums, tally)?, tally.rows as f64))
            }
            (MeasurementBody::Bins(noise), _) => {
                let noisy = tally.numbers.iter().map(|count| Ok(noise.add(*count)? as f64));
                Ok(Reply::Table(noisy.collect::<Result<_, Error>>()?))
            }
            (MeasurementBody::Choice(choice), QueryKind::Quantile { share, candidates }) => {
                let scores = tally::scores(*share, &tally.numbers);
                Ok(Reply::Number(chosen(choice, candidates, &scores)?))
            }
            (MeasurementBody::Nodes(noise), _) => {
                let nodes = prefixes::nodes(&tally.numbers);
                let noisy = nodes.iter().map(|count| noise.add(*count));
                let prefixes = prefixes::sums(&noisy.collect::<Result<Vec<i128>, Error>>()?);
                Ok(Reply::Table(prefixes.into_iter().map(|sum| sum as f64).collect()))
            }
            (MeasurementBody::Choices(choices), QueryKind::Quantiles { shares, candidates }) => {
                let chosen = |(choice, share): (&Exponential, &(u32, u32))| {
                    chosen(choice, candidates, &tally::scores(*share, &tally.numbers))
                };
                let chosen = choices.iter().zip(shares.iter()).map(chosen);
                Ok(Reply::Table(chosen.collect::<Result<_, Error>>()?))
            }
            (MeasurementBody::Intervals(choices, confidence), _) => {
                let drawn = self.draw_intervals(choices, *confidence, tally)?;
                Ok(self.chosen_reply(drawn.into_iter().map(|[value, ..]| value).collect()))
            }
            (MeasurementBody::Choice(_) | MeasurementBody::Choices(_), _) => {
                Err(Error::Question { legal: "a quantile, or several" })
            }
        }
    }

    /// For each share the chosen quantile, and the lower and the upper end of its interval.
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

    /// The chosen values, as a number for one quantile and as a table for several.
    pub(super) fn chosen_reply(&self, values: Vec<f64>) -> Reply {
        match (&self.query().kind, values.as_slice()) {
            (QueryKind::Quantile { .. }, &[value]) => Reply::Number(value),
            _ => Reply::Table(values),
        }
    }

    /// Returns an error if another measurement releases the number of records.
    pub(super) fn check_own_count(&self) -> Result<(), Error> {
        match self.has_outside_count {
            false => Ok(()),
            true => Err(Error::Question {
                legal: "draw_with_count, for a measurement that uses another count",
            }),
        }
    }

    /// Returns an error unless the tally belongs to this query.
    pub(super) fn check_tally(&self, tally: &Tally) -> Result<(), Error> {
        if tally.relation != self.relation {
            return Err(Error::Relation { made: self.relation, data: tally.relation });
        }
        if tally.query != *self.query() || tally.summands != self.summands() {
            return Err(Error::Question { legal: "the query that the tally was made for" });
        }
        Ok(())
    }

    /// The reply that follows from the noisy sums.
    pub(super) fn reply(&self, noisy: &[f64], records: f64) -> Reply {
        match self.line(records) {
            Some(line) => Reply::Table(line.coefficients(noisy)),
            None => Reply::Number(self.number(noisy, records)),
        }
    }

    /// The regression that turns noisy sums into coefficients, if this is one.
    pub(super) fn line(&self, records: f64) -> Option<RegressionLine> {
        let records = self.relation.is_length_public().then_some(records);
        match (&self.query().kind, &self.body) {
            (QueryKind::Regression { predictors, outcome }, MeasurementBody::Sums(sums)) => {
                Some(RegressionLine::new(predictors, *outcome, sums, records))
            }
            _ => None,
        }
    }

    /// The number that follows from the noisy sums.
    pub(super) fn number(&self, noisy: &[f64], records: f64) -> f64 {
        match &self.query().kind {
            QueryKind::Covariance(x, y) => {
                let records = self.relation.is_length_public().then_some(records);
                moments::covariance(*x, *y, noisy, records)
            }
            QueryKind::Correlation(x, y) => {
                let records = self.relation.is_length_public().then_some(records);
                moments::correlation(*x, *y, noisy, records)
            }
            QueryKind::Count(_)
            | QueryKind::Sum(_)
            | QueryKind::Mean(_)
            | QueryKind::Variance(_)
            | QueryKind::Deviation(_)
            | QueryKind::Proportion(_)
            | QueryKind::Histogram(_)
            | QueryKind::Cumulative(_)
            | QueryKind::Quantile { .. }
            | QueryKind::Quantiles { .. }
            | QueryKind::Regression { .. } => self.finish(noisy, records),
        }
    }

    /// The number that follows from the noisy sums of one column. The true number of records is used where it is
    /// public.
    fn finish(&self, noisy: &[f64], records: f64) -> f64 {
        let public = self.relation.is_length_public();
        match (&self.query().kind, noisy) {
            (QueryKind::Sum(bounds), &[offsets]) if public => offsets + bounds.center() * records,
            (QueryKind::Mean(bounds), &[offsets]) if public => {
                bounds.clamp(bounds.center() + offsets / records.max(1.0))
            }
            (QueryKind::Mean(bounds), &[ones, offsets]) => {
                bounds.clamp(bounds.center() + offsets / ones.max(1.0))
            }
            (QueryKind::Variance(bounds), &[offsets, squares]) if public => {
                variance(offsets, squares, records.max(1.0), bounds.half())
            }
            (QueryKind::Variance(bounds), &[ones, offsets, squares]) => {
                variance(offsets, squares, ones.max(1.0), bounds.half())
            }
            (QueryKind::Deviation(bounds), &[offsets, squares]) if public => {
                variance(offsets, squares, records.max(1.0), bounds.half()).sqrt()
            }
            (QueryKind::Deviation(bounds), &[ones, offsets, squares]) => {
                variance(offsets, squares, ones.max(1.0), bounds.half()).sqrt()
            }
            (QueryKind::Proportion(_), &[ones]) => (ones / records.max(1.0)).clamp(0.0, 1.0),
            (QueryKind::Proportion(_), &[ones, sides]) => {
                (0.5 + sides / ones.max(1.0)).clamp(0.0, 1.0)
            }
            (_, noisy) => noisy.first().copied().unwrap_or_default(),
        }
    }
}

/// Adds fresh noise to each sum.
pub(super) fn noisy_sums(sums: &[(Summand, Noise)], tally: &Tally) -> Result<Vec<f64>, Error> {
    let noisy = |((summand, noise), units): (&(Summand, Noise), &i128)| {
        Ok(summand.grid().value(noise.add(summand.rounded(*units))?))
    };
    sums.iter().zip(&tally.numbers).map(noisy).collect()
}

/// The bins of a histogram, which are the gaps between its edges.
fn bins_of(mut gaps: Vec<i128>) -> Vec<i128> {
    gaps.pop();
    gaps.drain(..1.min(gaps.len()));
    gaps
}

/// The mean square minus the squared mean, clamped to possible variances.
fn variance(offsets: f64, squares: f64, records: f64, half: f64) -> f64 {
    let mean = (offsets / records).clamp(-half, half);
    (squares / records - mean * mean).clamp(0.0, half * half)
}
