//! Where the answer without noise is, said of what is released alone: the noisy numbers and the laws of their noise
//! (theory 11.22). Nothing is assumed about the data, nor about how many there are.

use super::arithmetic::Interval;
use super::coefficients;
use super::measurement::{Body, Measurement, noisy_sums};
use super::ratio::Ratio;
use super::summand::Summand;
use super::tally::Tally;
use super::{Bounds, Kind};
use crate::error::Error;
use crate::noise::{Law, Noise, confident};
use crate::reply::Reply;
use serde::{Deserialize, Serialize};

/// An answer with intervals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Within {
    /// The answer.
    pub reply: Reply,
    /// For each of its numbers an interval; none for what has none in the numbers' own units.
    pub intervals: Vec<Interval>,
}

/// What was drawn for an answer: all that is released, of which the reply and its intervals are made. It may be shown,
/// once it is charged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Drawn {
    /// Sums with noise, and how many records there are where that is public.
    Sums(Vec<f64>, Option<u64>),
    /// The reply itself.
    Reply(Reply),
    /// Quantiles with intervals.
    Quantiles {
        /// What the intervals were drawn for.
        confidence: f64,
        /// For each share the quantile that was chosen, and the lower and the upper end of its interval.
        chosen: Vec<[f64; 3]>,
    },
}

impl Measurement {
    /// Draws an answer from a tally. **Each draw is to be charged again.**
    ///
    /// # Errors
    /// As for [`Measurement::release`].
    pub fn draw(&self, tally: &Tally) -> Result<Drawn, Error> {
        self.is_of(tally)?;
        self.counts_itself()?;
        match &self.body {
            Body::Sums(sums) => {
                let public = self.relation().is_length_public().then_some(tally.rows);
                Ok(Drawn::Sums(noisy_sums(sums, tally)?, public))
            }
            Body::Intervals(choices, confidence) => {
                let (confidence, chosen) =
                    (*confidence, self.draw_intervals(choices, *confidence, tally)?);
                Ok(Drawn::Quantiles { confidence, chosen })
            }
            _ => Ok(Drawn::Reply(self.release(tally)?)),
        }
    }

    /// The answer that was drawn, and from it alone where the one without noise is: each number's interval holds that
    /// with at least this probability, whatever the data are.
    ///
    /// A quantile's interval is drawn with it, with a confidence of its own ([`Style::ExponentialInterval`](super::Style)): at a greater
    /// one it is that of all candidates. It holds the quantile of the numbers, each clamped to the candidates, by whichever definition takes it
    /// between the rows next to its rank. Quantiles without one have none here. The interval of a coefficient is infinite where predictors
    /// may be collinear.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1, [`Error::Question`] if something else was drawn.
    pub fn within(&self, drawn: &Drawn, confidence: f64) -> Result<Within, Error> {
        confident(confidence)?;
        match (&self.body, drawn) {
            (Body::Sums(sums), Drawn::Sums(noisy, public)) if sums.len() == noisy.len() => {
                let public = public.map(|rows| rows as f64);
                let reply = self.reply(noisy, public.unwrap_or_default());
                let intervals = of_noisy(&self.query().kind, sums, (noisy, public), confidence);
                Ok(Within { intervals: holding(intervals, &reply), reply })
            }
            (Body::Bins(noise), Drawn::Reply(Reply::Table(bins))) => {
                let half = Law::new(noise).half_width(confidence);
                let intervals = bins.iter().map(|bin| Interval::around(*bin, half)).collect();
                Ok(Within { reply: Reply::Table(bins.clone()), intervals })
            }
            (Body::Nodes(_), Drawn::Reply(Reply::Table(counts))) => {
                // The same whatever the number of rows.
                let half = self.half_width(0, confidence)?;
                let intervals = counts.iter().map(|count| Interval::around(*count, half)).collect();
                Ok(Within { reply: Reply::Table(counts.clone()), intervals })
            }
            (Body::Intervals(choices, _), Drawn::Quantiles { confidence: own, chosen })
                if choices.len() == chosen.len() =>
            {
                let interval = |drawn: &[f64; 3]| self.enclosed(*drawn, confidence <= *own);
                let intervals = chosen.iter().map(interval).collect();
                let values = chosen.iter().map(|[value, ..]| *value).collect();
                Ok(Within { reply: self.chosen_reply(values), intervals })
            }
            // What was drawn before there were intervals is told as it was.
            (Body::Choice(_) | Body::Choices(_) | Body::Intervals(..), Drawn::Reply(reply)) => {
                Ok(Within { reply: reply.clone(), intervals: Vec::new() })
            }
            _ => Err(Error::Question { legal: "the question that it was drawn for" }),
        }
    }
}

impl Measurement {
    /// Where a quantile is: between the ends that were drawn if they are sure enough, else between all candidates. The value itself
    /// is within it, which makes it no less sure.
    fn enclosed(&self, drawn: [f64; 3], is_sure: bool) -> Interval {
        let (_, candidates) = self.query().choice().unwrap_or_default();
        let all = candidates.first().into_iter().chain(candidates.last()).copied();
        let ends = drawn.into_iter().chain(all.filter(|_| !is_sure));
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        let hull = ends.fold((low, high), |(low, high), end| (low.min(end), high.max(end)));
        Interval { low: hull.0, high: hull.1 }
    }
}

/// Intervals that hold the coefficients that are told, too: predictors that hardly vary are taken to vary more. Others do by
/// themselves.
fn holding(intervals: Vec<Interval>, reply: &Reply) -> Vec<Interval> {
    let Reply::Table(values) = reply else { return intervals };
    intervals.into_iter().zip(values).map(|(interval, value)| interval.with(*value)).collect()
}

/// Where an answer is that is made of noisy sums.
fn of_noisy(
    kind: &Kind,
    sums: &[(Summand, Noise)],
    (noisy, public): (&[f64], Option<f64>),
    confidence: f64,
) -> Vec<Interval> {
    if let ([(_, ones), (_, offsets)], &[count, sum], None) = (sums, noisy, public)
        && let Some(bounds) = bounds_of_mean(kind)
    {
        let laws = [Law::new(ones), Law::new(offsets)];
        let ratio = Ratio { laws: [&laws[0], &laws[1]], count, sum };
        let (low, high) = ratio.interval(bounds.half(), 1.0 - confidence);
        let mean = Interval { low, high }.plus(bounds.center());
        return vec![mean.cut(bounds.low(), bounds.high())];
    }
    // Each sum within its own with so much more probability that all are with this.
    let each = 1.0 - (1.0 - confidence) / sums.len().max(1) as f64;
    let around = |((_, noise), sum): (&(_, _), &f64)| {
        Interval::around(*sum, Law::new(noise).half_width(each))
    };
    let sums: Vec<Interval> = sums.iter().zip(noisy).map(around).collect();
    match kind {
        Kind::Regression { predictors, outcome } => {
            let bounds: Vec<Bounds> = predictors.iter().copied().chain([*outcome]).collect();
            let (rows, rest) = split(&sums, public);
            coefficients::intervals(&bounds, rows, rest)
        }
        _ => of_sums(kind, &sums, public).into_iter().collect(),
    }
}

/// The number of records, and the other sums. Of no records at all there is no mean; of one at least it is this.
fn split(sums: &[Interval], public: Option<f64>) -> (Interval, &[Interval]) {
    let (rows, rest) = match (public, sums) {
        (Some(rows), rest) => (Interval { low: rows, high: rows }, rest),
        // A sum is a number of its own, whatever their number.
        (None, rest @ ([_] | [])) => (Interval { low: 1.0, high: 1.0 }, rest),
        (None, [rows, rest @ ..]) => (*rows, rest),
    };
    (rows.cut(1.0, f64::INFINITY), rest)
}

/// The bounds of what is a mean.
fn bounds_of_mean(kind: &Kind) -> Option<Bounds> {
    match kind {
        Kind::Mean(bounds) => Some(*bounds),
        // Of ones and zeros.
        Kind::Proportion(_) => Some(Bounds { low: 0.0, high: 1.0 }),
        _ => None,
    }
}

/// Where an answer is if its sums are where they are said to be.
fn of_sums(kind: &Kind, sums: &[Interval], public: Option<f64>) -> Option<Interval> {
    let (rows, rest) = split(sums, public);
    match (kind, rest) {
        (Kind::Count(_), [sum]) => Some(*sum),
        (Kind::Sum(bounds), [sum]) => match public {
            Some(rows) => Some(sum.plus(bounds.center() * rows)),
            None => Some(*sum),
        },
        (Kind::Mean(bounds), [sum]) => Some(mean(*sum, rows, *bounds)),
        (Kind::Proportion(_), [ones]) => Some(ones.over(rows).cut(0.0, 1.0)),
        (Kind::Variance(bounds), [offsets, squares]) => {
            Some(spread(*offsets, *squares, rows, *bounds))
        }
        (Kind::Deviation(bounds), [offsets, squares]) => {
            Some(spread(*offsets, *squares, rows, *bounds).root())
        }
        (Kind::Covariance(x, y), [first, second, products]) => {
            Some(together([*first, *second, *products], rows, [*x, *y]))
        }
        (Kind::Correlation(x, y), [first, second, products, xs, ys]) => {
            let covariance = together([*first, *second, *products], rows, [*x, *y]);
            let (x, y) = (spread(*first, *xs, rows, *x), spread(*second, *ys, rows, *y));
            let scale = x.root().times(y.root());
            // Where a column may not vary at all, nothing is known.
            let anything = Interval { low: -1.0, high: 1.0 };
            Some(if scale.low > 0.0 { covariance.over(scale).cut(-1.0, 1.0) } else { anything })
        }
        _ => None,
    }
}

/// Where a covariance is: of sums of both columns' offsets, and of their products.
fn together(sums: [Interval; 3], rows: Interval, bounds: [Bounds; 2]) -> Interval {
    let ([first, second, products], [x, y]) = (sums, bounds);
    let mean = |sum: Interval, bounds: Bounds| sum.over(rows).cut(-bounds.half(), bounds.half());
    let most = x.half() * y.half();
    products.over(rows).minus(mean(first, x).times(mean(second, y))).cut(-most, most)
}

/// Where a variance is.
fn spread(offsets: Interval, squares: Interval, rows: Interval, bounds: Bounds) -> Interval {
    let half = bounds.half();
    let offset = offsets.over(rows).cut(-half, half);
    squares.over(rows).minus(offset.squared()).cut(0.0, half * half)
}

fn mean(offsets: Interval, rows: Interval, bounds: Bounds) -> Interval {
    offsets.over(rows).plus(bounds.center()).cut(bounds.low(), bounds.high())
}

#[cfg(test)]
mod tests {
    use crate::data::Data;
    use crate::noise::Law;
    use crate::query::{Bounds, Contribution, Drawn, Interval, Kind, Query};
    use crate::reply::Reply;
    use counterpoint::{Adjacency, Relation};
    use counterpoint_testing::tries;

    /// How often an interval, made so many times as wide, holds the answer without noise.
    fn covers(query: &Query, relation: Relation, truth: f64, times: f64) -> f64 {
        let data: Vec<f64> = (0..40).map(|i| f64::from(i % 10)).collect();
        let trials = tries(20_000, 0.1);
        let mut held = 0;
        for recipe in [query.laplace(1.5).unwrap(), query.gaussian(2.0).unwrap()] {
            let measurement = recipe.under(relation).unwrap();
            let tally = measurement.tally(&Data::new(relation, data.clone())).unwrap();
            for _ in 0..trials {
                let within = measurement.within(&measurement.draw(&tally).unwrap(), 0.9).unwrap();
                let middle = within.reply.number().unwrap();
                let [Interval { low, high }] = within.intervals[..] else { panic!() };
                assert!(low <= middle && middle <= high);
                let [low, high] = [low, high].map(|end| middle + times * (end - middle));
                held += u64::from(low <= truth && truth <= high);
            }
        }
        held as f64 / (2 * trials) as f64
    }

    /// Of forty numbers from 0 to 9 that are counted elsewhere: the count and the sums are as often where they are said to be.
    #[test]
    fn intervals_with_a_shared_count_hold_the_answer_as_often_as_they_say() {
        let bounds = Bounds::new(0.0, 20.0).unwrap();
        let relation = Relation::one(Adjacency::AddRemove);
        let contribution = Contribution::Rows(relation);
        let data = Data::new(relation, (0..40).map(|i| f64::from(i % 10)).collect::<Vec<_>>());
        let count = Query::count().laplace(0.2).unwrap().under(relation).unwrap();
        let counted = count.tally(&data).unwrap();
        let trials = tries(20_000, 0.1);
        let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
        for (query, truth) in [
            (Query::mean(bounds), 4.5),
            (Query::variance(bounds), 8.25),
            (Query::deviation(bounds), 8.25_f64.sqrt()),
            (Query::proportion(Bounds::new(0.0, 3.5).unwrap()), 0.4),
        ] {
            let recipe = query.gaussian(2.0).unwrap();
            let measurement = recipe.bounded_with_count(contribution, &count).unwrap();
            let tally = measurement.tally(&data).unwrap();
            let [mut held, mut forgotten] = [0_u64; 2];
            for _ in 0..trials {
                let noisy = count.draw(&counted).unwrap().count().unwrap();
                let drawn = measurement.draw_with_count(&tally, noisy).unwrap();
                let within = measurement.within(&drawn, 0.9).unwrap();
                let [Interval { low, high }] = within.intervals[..] else { panic!() };
                held += u64::from(low <= truth && truth <= high);
                // The count's noise is forgotten.
                if let (Drawn::Sums(sums, None), Query { kind: Kind::Mean(_) }) = (&drawn, &query) {
                    let (_, noise) = &measurement.own_sums()[0];
                    let half = Law::new(noise).half_width(0.9) / sums[0].max(1.0);
                    let middle = within.reply.number().unwrap();
                    forgotten += u64::from((middle - truth).abs() <= half);
                }
            }
            let share = |count: u64| count as f64 / trials as f64;
            assert!(share(held) >= 0.9 - slack, "{query:?}: {}", share(held));
            assert!(share(forgotten) < 0.9 - slack, "{query:?}: {}", share(forgotten));
        }
    }

    /// With many more rows than noise a mean whose number of rows is not public is as surely within its interval as it should be, and
    /// not much more surely; a fifth less is seen.
    #[test]
    fn means_of_many_spend_their_confidence_once() {
        let relation = Relation::one(Adjacency::AddRemove);
        for (high, value) in [(9.0, 4.5), (9.0, 0.5), (1.0, 0.9)] {
            let query = Query::mean(Bounds::new(0.0, high).unwrap());
            let data = Data::new(relation, vec![value; 2_000]);
            for recipe in [query.laplace(0.3).unwrap(), query.gaussian(8.0).unwrap()] {
                let measurement = recipe.under(relation).unwrap();
                let tally = measurement.tally(&data).unwrap();
                let trials = tries(20_000, 0.1);
                let mut held = [0_u64; 2];
                for _ in 0..trials {
                    let drawn = measurement.draw(&tally).unwrap();
                    let within = measurement.within(&drawn, 0.9).unwrap();
                    let [Interval { low, high }] = within.intervals[..] else { panic!() };
                    let middle = 0.5 * (low + high);
                    for (held, times) in held.iter_mut().zip([1.0, 0.8]) {
                        let half = 0.5 * times * (high - low);
                        *held += u64::from((middle - value).abs() <= half);
                    }
                }
                let [whole, narrow] = held.map(|held| held as f64 / trials as f64);
                let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
                assert!((0.9 - slack..0.915 + slack).contains(&whole), "{recipe:?}: {whole}");
                assert!(narrow < 0.9 - slack, "{recipe:?}: {narrow}");
            }
        }
    }

    /// Of sixty-four pairs, of which the second is the first plus another number: their covariance is 5.25, their correlation
    /// the root of a half.
    #[test]
    fn intervals_of_pairs_hold_the_answer_as_often_as_they_say() {
        let pairs = (0..64).map(|i| (f64::from(i / 8), f64::from(i / 8 + i % 8)));
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let bounds = |high: f64| Bounds::new(0.0, high).unwrap();
        let trials = tries(4_000, 0.1);
        let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
        for relation in [Relation::one(Adjacency::AddRemove), Relation::one(Adjacency::Replace)] {
            for (query, truth) in [
                (Query::covariance(bounds(7.0), bounds(14.0)), 5.25),
                (Query::correlation(bounds(7.0), bounds(14.0)), 0.5_f64.sqrt()),
                // The second is the first and 3.5 on average.
                (Query::regression(&[bounds(7.0)], bounds(14.0)).unwrap(), 1.0),
            ] {
                let measurement = query.laplace(20.0).unwrap().under(relation).unwrap();
                let data = Data::table(relation, [x.clone(), y.clone()]).unwrap();
                let tally = measurement.tally(&data).unwrap();
                let (mut held, mut narrow, mut intercepts) = (0, 0, 0);
                for _ in 0..trials {
                    let within =
                        measurement.within(&measurement.draw(&tally).unwrap(), 0.9).unwrap();
                    let Interval { low, high } = *within.intervals.last().unwrap();
                    held += u64::from(low <= truth && truth <= high);
                    let middle = match &within.reply {
                        Reply::Table(line) => {
                            let Interval { low, high } = within.intervals[0];
                            intercepts += u64::from(low <= 3.5 && 3.5 <= high);
                            line[1]
                        }
                        other => other.number().unwrap(),
                    };
                    let half = 0.1 * (high - low);
                    narrow += u64::from((middle - truth).abs() <= half);
                }
                let share = |count: u64| count as f64 / trials as f64;
                assert!(share(held) >= 0.9 - slack, "{query:?} {relation}: {}", share(held));
                let is_line = query.numbers() == 2;
                assert!(!is_line || share(intercepts) >= 0.9 - slack, "{}", share(intercepts));
                // A fifth of it is too narrow.
                assert!(share(narrow) < 0.9 + slack, "{query:?} {relation}: {}", share(narrow));
            }
        }
    }

    /// An interval that was drawn holds as often as was asked for when it was drawn, or less often; for more it is that of all
    /// candidates. What was stored before there were intervals has none.
    #[test]
    fn intervals_of_quantiles_are_told_as_they_were_drawn() {
        let query = Query::quantiles(&[(1, 4), (1, 2)], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let relation = Relation::one(Adjacency::AddRemove);
        let measurement = query.exponential_interval(6.0, 0.9).unwrap().under(relation).unwrap();
        let text = r#"{"quantiles":{"confidence":0.8,"chosen":[[2.0,3.0,3.0],[3.0,2.0,4.0]]}}"#;
        let drawn: Drawn = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&drawn).unwrap(), text);
        let ends = |drawn: &Drawn, confidence: f64| {
            let within = measurement.within(drawn, confidence).unwrap();
            assert_eq!(within.reply, Reply::Table(vec![2.0, 3.0]));
            within.intervals.iter().map(|one| (one.low, one.high)).collect::<Vec<_>>()
        };
        assert_eq!(ends(&drawn, 0.5), [(2.0, 3.0), (2.0, 4.0)]);
        assert_eq!(ends(&drawn, 0.8), [(2.0, 3.0), (2.0, 4.0)]);
        assert_eq!(ends(&drawn, 0.81), [(1.0, 4.0), (1.0, 4.0)]);
        let before = serde_json::from_str(r#"{"reply":{"table":[2.0,3.0]}}"#).unwrap();
        assert_eq!(ends(&before, 0.8), []);
        let tally = measurement.tally(&Data::new(relation, [1.5; 9])).unwrap();
        let drawn = measurement.draw(&tally).unwrap();
        assert!(
            matches!(drawn, Drawn::Quantiles { confidence, .. } if (confidence - 0.9).abs() < 1e-15)
        );
        assert!(
            measurement
                .recipe()
                .query()
                .exponential(1.0)
                .unwrap()
                .under(relation)
                .unwrap()
                .within(&drawn, 0.9)
                .is_err()
        );
    }

    /// Counts below edges, each within its own interval.
    #[test]
    fn intervals_of_cumulative_counts_hold_them_as_often_as_they_say() {
        let edges: Vec<f64> = (1..=12).map(f64::from).collect();
        let data: Vec<f64> = (0..100).map(|i| f64::from(i % 13)).collect();
        let truth: Vec<usize> =
            edges.iter().map(|edge| data.iter().filter(|x| *x < edge).count()).collect();
        let relation = Relation::one(Adjacency::AddRemove);
        let query = Query::cumulative(&edges).unwrap();
        let measurement = query.laplace(1.0).unwrap().under(relation).unwrap();
        let tally = measurement.tally(&Data::new(relation, data)).unwrap();
        let trials = tries(20_000, 0.1);
        let mut held = vec![0_u64; edges.len()];
        for _ in 0..trials {
            let within = measurement.within(&measurement.draw(&tally).unwrap(), 0.9).unwrap();
            for ((held, interval), truth) in held.iter_mut().zip(&within.intervals).zip(&truth) {
                let truth = *truth as f64;
                *held += u64::from(interval.low <= truth && truth <= interval.high);
            }
        }
        let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
        let shares: Vec<f64> = held.iter().map(|held| *held as f64 / trials as f64).collect();
        assert!(shares.iter().all(|share| *share >= 0.9 - slack), "{shares:?}");
        // The edge that is furthest down the tree is not much surer than it says.
        assert!(shares.iter().any(|share| *share < 0.95), "{shares:?}");
    }

    /// Of forty numbers from 0 to 9: their mean is 4.5, their variance 8.25.
    #[test]
    fn intervals_hold_the_answer_as_often_as_they_say() {
        let bounds = Bounds::new(0.0, 9.0).unwrap();
        let low = Bounds::new(0.0, 3.5).unwrap();
        let relations = [
            Relation::one(Adjacency::AddRemove),
            Relation::one(Adjacency::Replace),
            Relation::one(Adjacency::Replace).of_some(),
            Relation::new(Adjacency::Replace, 3).unwrap(),
        ];
        // Five standard deviations of as many trials.
        let slack = 5.0 * (0.09_f64 / (2 * tries(20_000, 0.1)) as f64).sqrt();
        for relation in relations {
            for (query, truth) in [
                (Query::count(), 40.0),
                (Query::sum(bounds), 180.0),
                (Query::mean(bounds), 4.5),
                (Query::variance(bounds), 8.25),
                (Query::deviation(bounds), 8.25_f64.sqrt()),
                (Query::proportion(low), 0.4),
            ] {
                let held = covers(&query, relation, truth, 1.0);
                assert!(held >= 0.9 - slack, "{query:?} {relation}: {held}");
            }
            // A fifth less is seen where intervals are as narrow as can be.
            let held = covers(&Query::sum(bounds), relation, 180.0, 0.8);
            assert!(held < 0.9 - slack, "{relation}: {held}");
        }
    }
}
