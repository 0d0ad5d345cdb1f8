//! A recipe made ready for data of one relation: what runs, and what that costs.

use super::ends::{self, CHOICES, chosen};
use super::moments::{self, Line};
use super::noises::{bins, sums};
use super::parts::{own_parts, placed};
use super::prefixes;
use super::recipe::{Recipe, Style};
use super::summand::Summand;
use super::tally::{self, Tally};
use super::{Kind, Query, score_sensitivity};
use crate::choice::Exponential;
use crate::data::Data;
use crate::error::Error;
use crate::noise::Noise;
use crate::reply::Reply;
use counterpoint::{Adjacency, Count, Relation, Release};

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
