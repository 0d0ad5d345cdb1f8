//! Confidence intervals for the answer without noise, from released numbers only: the noisy numbers and the laws of
//! their noise (theory 11.22). Nothing is assumed about the data or their number.

use super::arithmetic::Interval;
use super::coefficients;
use super::measurement::{Measurement, MeasurementBody, noisy_sums};
use super::ratio::Ratio;
use super::summand::Summand;
use super::tally::Tally;
use super::{Bounds, QueryKind};
use crate::error::Error;
use crate::noise::{Noise, NoiseLaw, confident};
use crate::reply::Reply;
use serde::{Deserialize, Serialize};

/// A reply with confidence intervals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReplyWithIntervals {
    /// The reply.
    pub reply: Reply,
    /// An interval for each number of the reply; empty if the query has no intervals in the units of its numbers.
    pub intervals: Vec<Interval>,
}

/// Everything that is released for an answer; the reply and its intervals are computed from it. It may be shown once it
/// is charged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum NoisyAnswer {
    /// Noisy sums, and the number of records where that is public.
    Sums(Vec<f64>, Option<u64>),
    /// The reply itself.
    Reply(Reply),
    /// Quantiles with intervals.
    Quantiles {
        /// The confidence that the intervals were drawn for.
        confidence: f64,
        /// For each share the chosen quantile, and the lower and the upper end of its interval.
        chosen: Vec<[f64; 3]>,
    },
}

impl Measurement {
    /// Draws a noisy answer from a tally. **Each draw must be charged.**
    ///
    /// # Errors
    /// As for [`Measurement::release`].
    pub fn draw(&self, tally: &Tally) -> Result<NoisyAnswer, Error> {
        self.check_tally(tally)?;
        self.check_own_count()?;
        match &self.body {
            MeasurementBody::Sums(sums) => {
                let public = self.relation().is_length_public().then_some(tally.rows);
                Ok(NoisyAnswer::Sums(noisy_sums(sums, tally)?, public))
            }
            MeasurementBody::Intervals(choices, confidence) => {
                let (confidence, chosen) =
                    (*confidence, self.draw_intervals(choices, *confidence, tally)?);
                Ok(NoisyAnswer::Quantiles { confidence, chosen })
            }
            _ => Ok(NoisyAnswer::Reply(self.release(tally)?)),
        }
    }

    /// The reply of a noisy answer, and intervals that follow from it alone: each number's interval covers the number
    /// without noise with at least this probability, whatever the data are.
    ///
    /// A quantile's interval is drawn with the quantile, at a confidence of its own
    /// ([`Style::ExponentialInterval`](super::Style)). For a larger confidence the interval extends over all
    /// candidates. It covers the quantile of the numbers, each clamped to the candidates, by every definition that
    /// takes the quantile between the rows next to its rank. Quantiles that were drawn without an interval have none
    /// here. The interval of a coefficient is infinite if predictors may be collinear.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1, [`Error::Question`] if the noisy answer belongs to another
    /// query.
    pub fn with_intervals(
        &self,
        drawn: &NoisyAnswer,
        confidence: f64,
    ) -> Result<ReplyWithIntervals, Error> {
        confident(confidence)?;
        match (&self.body, drawn) {
            (MeasurementBody::Sums(sums), NoisyAnswer::Sums(noisy, public))
                if sums.len() == noisy.len() =>
            {
                let public = public.map(|rows| rows as f64);
                let reply = self.reply(noisy, public.unwrap_or_default());
                let intervals =
                    intervals_of_noisy_sums(&self.query().kind, sums, (noisy, public), confidence);
                Ok(ReplyWithIntervals { intervals: extended_to_reply(intervals, &reply), reply })
            }
            (MeasurementBody::Bins(noise), NoisyAnswer::Reply(Reply::Table(bins))) => {
                let half = NoiseLaw::new(noise).half_width(confidence);
                let intervals = bins.iter().map(|bin| Interval::around(*bin, half)).collect();
                Ok(ReplyWithIntervals { reply: Reply::Table(bins.clone()), intervals })
            }
            (MeasurementBody::Nodes(_), NoisyAnswer::Reply(Reply::Table(counts))) => {
                // The same for every number of rows.
                let half = self.half_width(0, confidence)?;
                let intervals = counts.iter().map(|count| Interval::around(*count, half)).collect();
                Ok(ReplyWithIntervals { reply: Reply::Table(counts.clone()), intervals })
            }
            (
                MeasurementBody::Intervals(choices, _),
                NoisyAnswer::Quantiles { confidence: own, chosen },
            ) if choices.len() == chosen.len() => {
                let interval =
                    |drawn: &[f64; 3]| self.quantile_interval(*drawn, confidence <= *own);
                let intervals = chosen.iter().map(interval).collect();
                let values = chosen.iter().map(|[value, ..]| *value).collect();
                Ok(ReplyWithIntervals { reply: self.chosen_reply(values), intervals })
            }
            // Answers that were drawn before intervals existed are returned without intervals.
            (
                MeasurementBody::Choice(_)
                | MeasurementBody::Choices(_)
                | MeasurementBody::Intervals(..),
                NoisyAnswer::Reply(reply),
            ) => Ok(ReplyWithIntervals { reply: reply.clone(), intervals: Vec::new() }),
            _ => Err(Error::Question { legal: "the query that the answer was drawn for" }),
        }
    }
}

impl Measurement {
    /// The interval of a quantile: between the drawn ends if their confidence suffices, otherwise between all
    /// candidates. It is enlarged to contain the quantile itself.
    fn quantile_interval(&self, drawn: [f64; 3], is_sure: bool) -> Interval {
        let (_, candidates) = self.query().choice().unwrap_or_default();
        let all = candidates.first().into_iter().chain(candidates.last()).copied();
        let ends = drawn.into_iter().chain(all.filter(|_| !is_sure));
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        let hull = ends.fold((low, high), |(low, high), end| (low.min(end), high.max(end)));
        Interval { low: hull.0, high: hull.1 }
    }
}

/// Enlarges the intervals to contain the released coefficients, which treat predictors that hardly vary as varying
/// more. Other intervals contain their numbers already.
fn extended_to_reply(intervals: Vec<Interval>, reply: &Reply) -> Vec<Interval> {
    let Reply::Table(values) = reply else { return intervals };
    intervals.into_iter().zip(values).map(|(interval, value)| interval.with(*value)).collect()
}

/// Intervals for an answer that is computed from noisy sums.
fn intervals_of_noisy_sums(
    kind: &QueryKind,
    sums: &[(Summand, Noise)],
    (noisy, public): (&[f64], Option<f64>),
    confidence: f64,
) -> Vec<Interval> {
    if let ([(_, ones), (_, offsets)], &[count, sum], None) = (sums, noisy, public)
        && let Some(bounds) = bounds_of_mean(kind)
    {
        let laws = [NoiseLaw::new(ones), NoiseLaw::new(offsets)];
        let ratio = Ratio { laws: [&laws[0], &laws[1]], count, sum };
        let (low, high) = ratio.interval(bounds.half(), 1.0 - confidence);
        let mean = Interval { low, high }.plus(bounds.center());
        return vec![mean.cut(bounds.low(), bounds.high())];
    }
    // The failure probability is divided between the sums, so that all are within their intervals.
    let each = 1.0 - (1.0 - confidence) / sums.len().max(1) as f64;
    let around = |((_, noise), sum): (&(_, _), &f64)| {
        Interval::around(*sum, NoiseLaw::new(noise).half_width(each))
    };
    let sums: Vec<Interval> = sums.iter().zip(noisy).map(around).collect();
    match kind {
        QueryKind::Regression { predictors, outcome } => {
            let bounds: Vec<Bounds> = predictors.iter().copied().chain([*outcome]).collect();
            let (rows, rest) = split(&sums, public);
            coefficients::intervals(&bounds, rows, rest)
        }
        _ => interval_of_sums(kind, &sums, public).into_iter().collect(),
    }
}

/// The number of records, at least one, and the other sums. (A mean of no records does not exist.)
fn split(sums: &[Interval], public: Option<f64>) -> (Interval, &[Interval]) {
    let (rows, rest) = match (public, sums) {
        (Some(rows), rest) => (Interval { low: rows, high: rows }, rest),
        // A single sum does not depend on the number of records.
        (None, rest @ ([_] | [])) => (Interval { low: 1.0, high: 1.0 }, rest),
        (None, [rows, rest @ ..]) => (*rows, rest),
    };
    (rows.cut(1.0, f64::INFINITY), rest)
}

/// The bounds of a query that is a mean.
fn bounds_of_mean(kind: &QueryKind) -> Option<Bounds> {
    match kind {
        QueryKind::Mean(bounds) => Some(*bounds),
        // The mean of ones and zeros.
        QueryKind::Proportion(_) => Some(Bounds { low: 0.0, high: 1.0 }),
        _ => None,
    }
}

/// The interval of an answer, given intervals for its sums.
fn interval_of_sums(kind: &QueryKind, sums: &[Interval], public: Option<f64>) -> Option<Interval> {
    let (rows, rest) = split(sums, public);
    match (kind, rest) {
        (QueryKind::Count(_), [sum]) => Some(*sum),
        (QueryKind::Sum(bounds), [sum]) => match public {
            Some(rows) => Some(sum.plus(bounds.center() * rows)),
            None => Some(*sum),
        },
        (QueryKind::Mean(bounds), [sum]) => Some(mean(*sum, rows, *bounds)),
        (QueryKind::Proportion(_), [ones]) => Some(ones.over(rows).cut(0.0, 1.0)),
        (QueryKind::Variance(bounds), [offsets, squares]) => {
            Some(variance(*offsets, *squares, rows, *bounds))
        }
        (QueryKind::Deviation(bounds), [offsets, squares]) => {
            Some(variance(*offsets, *squares, rows, *bounds).root())
        }
        (QueryKind::Covariance(x, y), [first, second, products]) => {
            Some(covariance([*first, *second, *products], rows, [*x, *y]))
        }
        (QueryKind::Correlation(x, y), [first, second, products, xs, ys]) => {
            let covariance = covariance([*first, *second, *products], rows, [*x, *y]);
            let (x, y) = (variance(*first, *xs, rows, *x), variance(*second, *ys, rows, *y));
            let scale = x.root().times(y.root());
            // If a column may be constant, nothing is known.
            let anything = Interval { low: -1.0, high: 1.0 };
            Some(if scale.low > 0.0 { covariance.over(scale).cut(-1.0, 1.0) } else { anything })
        }
        _ => None,
    }
}

/// The interval of a covariance, from the sums of both columns' offsets and of their products.
fn covariance(sums: [Interval; 3], rows: Interval, bounds: [Bounds; 2]) -> Interval {
    let ([first, second, products], [x, y]) = (sums, bounds);
    let mean = |sum: Interval, bounds: Bounds| sum.over(rows).cut(-bounds.half(), bounds.half());
    let most = x.half() * y.half();
    products.over(rows).minus(mean(first, x).times(mean(second, y))).cut(-most, most)
}

/// The interval of a variance.
fn variance(offsets: Interval, squares: Interval, rows: Interval, bounds: Bounds) -> Interval {
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
    use crate::noise::NoiseLaw;
    use crate::query::{Bounds, Contribution, Interval, NoisyAnswer, Query, QueryKind};
    use crate::reply::Reply;
    use counterpoint::{Adjacency, Relation};
    use counterpoint_testing::tries;

    /// The frequency with which intervals, scaled by `times`, cover the answer without noise.
    fn covers(query: &Query, relation: Relation, truth: f64, times: f64) -> f64 {
        let data: Vec<f64> = (0..40).map(|i| f64::from(i % 10)).collect();
        let trials = tries(20_000, 0.1);
        let mut held = 0;
        for noisy_query in [query.laplace(1.5).unwrap(), query.gaussian(2.0).unwrap()] {
            let measurement = noisy_query.under(relation).unwrap();
            let tally = measurement.tally(&Data::new(relation, data.clone())).unwrap();
            for _ in 0..trials {
                let within =
                    measurement.with_intervals(&measurement.draw(&tally).unwrap(), 0.9).unwrap();
                let middle = within.reply.number().unwrap();
                let [Interval { low, high }] = within.intervals[..] else { panic!() };
                assert!(low <= middle && middle <= high);
                let [low, high] = [low, high].map(|end| middle + times * (end - middle));
                held += u64::from(low <= truth && truth <= high);
            }
        }
        held as f64 / (2 * trials) as f64
    }

    /// The interval of an answer with a shared count covers the truth as often as it claims, for forty numbers from 0
    /// to 9.
    #[test]
    fn intervals_with_a_shared_count_hold_the_answer_as_often_as_they_say() {
        let bounds = Bounds::new(0.0, 20.0).unwrap();
        let relation = Relation::single_record(Adjacency::AddRemove);
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
            let noisy_query = query.gaussian(2.0).unwrap();
            let measurement = noisy_query.bounded_with_count(contribution, &count).unwrap();
            let tally = measurement.tally(&data).unwrap();
            let [mut held, mut forgotten] = [0_u64; 2];
            for _ in 0..trials {
                let noisy = count.draw(&counted).unwrap().count().unwrap();
                let drawn = measurement.draw_with_count(&tally, noisy).unwrap();
                let within = measurement.with_intervals(&drawn, 0.9).unwrap();
                let [Interval { low, high }] = within.intervals[..] else { panic!() };
                held += u64::from(low <= truth && truth <= high);
                // A wrong interval, which ignores the noise of the count.
                if let (NoisyAnswer::Sums(sums, None), Query { kind: QueryKind::Mean(_) }) =
                    (&drawn, &query)
                {
                    let (_, noise) = &measurement.own_sums()[0];
                    let half = NoiseLaw::new(noise).half_width(0.9) / sums[0].max(1.0);
                    let middle = within.reply.number().unwrap();
                    forgotten += u64::from((middle - truth).abs() <= half);
                }
            }
            let share = |count: u64| count as f64 / trials as f64;
            assert!(share(held) >= 0.9 - slack, "{query:?}: {}", share(held));
            assert!(share(forgotten) < 0.9 - slack, "{query:?}: {}", share(forgotten));
        }
    }

    /// With many more rows than noise, the interval of a mean with a private number of rows covers the mean as often as
    /// claimed and not much more often; intervals narrower by a fifth are detected.
    #[test]
    fn means_of_many_spend_their_confidence_once() {
        let relation = Relation::single_record(Adjacency::AddRemove);
        for (high, value) in [(9.0, 4.5), (9.0, 0.5), (1.0, 0.9)] {
            let query = Query::mean(Bounds::new(0.0, high).unwrap());
            let data = Data::new(relation, vec![value; 2_000]);
            for noisy_query in [query.laplace(0.3).unwrap(), query.gaussian(8.0).unwrap()] {
                let measurement = noisy_query.under(relation).unwrap();
                let tally = measurement.tally(&data).unwrap();
                let trials = tries(20_000, 0.1);
                let mut held = [0_u64; 2];
                for _ in 0..trials {
                    let drawn = measurement.draw(&tally).unwrap();
                    let within = measurement.with_intervals(&drawn, 0.9).unwrap();
                    let [Interval { low, high }] = within.intervals[..] else { panic!() };
                    let middle = 0.5 * (low + high);
                    for (held, times) in held.iter_mut().zip([1.0, 0.8]) {
                        let half = 0.5 * times * (high - low);
                        *held += u64::from((middle - value).abs() <= half);
                    }
                }
                let [whole, narrow] = held.map(|held| held as f64 / trials as f64);
                let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
                assert!((0.9 - slack..0.915 + slack).contains(&whole), "{noisy_query:?}: {whole}");
                assert!(narrow < 0.9 - slack, "{noisy_query:?}: {narrow}");
            }
        }
    }

    /// For sixty-four pairs, of which the second number is the first plus an independent one: covariance 5.25,
    /// correlation the root of a half.
    #[test]
    fn intervals_of_pairs_hold_the_answer_as_often_as_they_say() {
        let pairs = (0..64).map(|i| (f64::from(i / 8), f64::from(i / 8 + i % 8)));
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let bounds = |high: f64| Bounds::new(0.0, high).unwrap();
        let trials = tries(4_000, 0.1);
        let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
        for relation in [
            Relation::single_record(Adjacency::AddRemove),
            Relation::single_record(Adjacency::Replace),
        ] {
            for (query, truth) in [
                (Query::covariance(bounds(7.0), bounds(14.0)), 5.25),
                (Query::correlation(bounds(7.0), bounds(14.0)), 0.5_f64.sqrt()),
                // The second number is the first plus 3.5 on average.
                (Query::regression(&[bounds(7.0)], bounds(14.0)).unwrap(), 1.0),
            ] {
                let measurement = query.laplace(20.0).unwrap().under(relation).unwrap();
                let data = Data::table(relation, [x.clone(), y.clone()]).unwrap();
                let tally = measurement.tally(&data).unwrap();
                let (mut held, mut narrow, mut intercepts) = (0, 0, 0);
                for _ in 0..trials {
                    let within = measurement
                        .with_intervals(&measurement.draw(&tally).unwrap(), 0.9)
                        .unwrap();
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
                let is_line = query.answer_length() == 2;
                assert!(!is_line || share(intercepts) >= 0.9 - slack, "{}", share(intercepts));
                // An interval of a fifth of the width is too narrow.
                assert!(share(narrow) < 0.9 + slack, "{query:?} {relation}: {}", share(narrow));
            }
        }
    }

    /// A drawn interval is returned for the confidence that it was drawn for or less; for more, all candidates. Answers
    /// that were stored before intervals existed have none.
    #[test]
    fn intervals_of_quantiles_are_told_as_they_were_drawn() {
        let query = Query::quantiles(&[(1, 4), (1, 2)], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let relation = Relation::single_record(Adjacency::AddRemove);
        let measurement = query.exponential_interval(6.0, 0.9).unwrap().under(relation).unwrap();
        let text = r#"{"quantiles":{"confidence":0.8,"chosen":[[2.0,3.0,3.0],[3.0,2.0,4.0]]}}"#;
        let drawn: NoisyAnswer = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&drawn).unwrap(), text);
        let ends = |drawn: &NoisyAnswer, confidence: f64| {
            let within = measurement.with_intervals(drawn, confidence).unwrap();
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
            matches!(drawn, NoisyAnswer::Quantiles { confidence, .. } if (confidence - 0.9).abs() < 1e-15)
        );
        assert!(
            measurement
                .noisy_query()
                .query()
                .exponential(1.0)
                .unwrap()
                .under(relation)
                .unwrap()
                .with_intervals(&drawn, 0.9)
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
        let relation = Relation::single_record(Adjacency::AddRemove);
        let query = Query::cumulative(&edges).unwrap();
        let measurement = query.laplace(1.0).unwrap().under(relation).unwrap();
        let tally = measurement.tally(&Data::new(relation, data)).unwrap();
        let trials = tries(20_000, 0.1);
        let mut held = vec![0_u64; edges.len()];
        for _ in 0..trials {
            let within =
                measurement.with_intervals(&measurement.draw(&tally).unwrap(), 0.9).unwrap();
            for ((held, interval), truth) in held.iter_mut().zip(&within.intervals).zip(&truth) {
                let truth = *truth as f64;
                *held += u64::from(interval.low <= truth && truth <= interval.high);
            }
        }
        let slack = 5.0 * (0.09_f64 / trials as f64).sqrt();
        let shares: Vec<f64> = held.iter().map(|held| *held as f64 / trials as f64).collect();
        assert!(shares.iter().all(|share| *share >= 0.9 - slack), "{shares:?}");
        // The interval of the edge that sums the most nodes is not much more reliable than claimed.
        assert!(shares.iter().any(|share| *share < 0.95), "{shares:?}");
    }

    /// Forty numbers from 0 to 9 with mean 4.5 and variance 8.25.
    #[test]
    fn intervals_hold_the_answer_as_often_as_they_say() {
        let bounds = Bounds::new(0.0, 9.0).unwrap();
        let low = Bounds::new(0.0, 3.5).unwrap();
        let relations = [
            Relation::single_record(Adjacency::AddRemove),
            Relation::single_record(Adjacency::Replace),
            Relation::single_record(Adjacency::Replace).filtered(),
            Relation::new(Adjacency::Replace, 3).unwrap(),
        ];
        // Five standard deviations of the observed frequency.
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
            // Intervals narrower by a fifth are detected where intervals are as narrow as possible.
            let held = covers(&Query::sum(bounds), relation, 180.0, 0.8);
            assert!(held < 0.9 - slack, "{relation}: {held}");
        }
    }
}
