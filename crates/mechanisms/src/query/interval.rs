//! Where the answer without noise is, said of what is released alone: the noisy numbers and the laws of their noise
//! (docs/theorems.md, *Intervals from what is released*). Nothing is assumed about the data, nor about how many there are.

use super::measurement::{Body, Measurement, noisy_sums};
use super::tally::Tally;
use super::{Bounds, Kind};
use crate::error::Error;
use crate::noise::{Law, confident};
use crate::reply::Reply;
use serde::{Deserialize, Serialize};

/// From one number to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// An answer with intervals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Within {
    /// The answer.
    pub reply: Reply,
    /// For each of its numbers an interval; none for what has none in the numbers' own units.
    pub intervals: Vec<Interval>,
}

impl Interval {
    fn around(middle: f64, half: f64) -> Self {
        Self { low: middle - half, high: middle + half }
    }

    fn cut(self, low: f64, high: f64) -> Self {
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }

    fn plus(self, by: f64) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    /// Over a number that is not negative.
    fn over(self, by: Self) -> Self {
        let low = if self.low < 0.0 { by.low } else { by.high };
        let high = if self.high < 0.0 { by.high } else { by.low };
        Self { low: self.low / low, high: self.high / high }
    }

    fn squared(self) -> Self {
        let (one, other) = (self.low * self.low, self.high * self.high);
        let low = if self.low <= 0.0 && 0.0 <= self.high { 0.0 } else { one.min(other) };
        Self { low, high: one.max(other) }
    }

    fn minus(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }
    }
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
}

impl Measurement {
    /// Draws an answer from a tally. **Each draw is to be charged again.**
    ///
    /// # Errors
    /// As for [`Measurement::release`].
    pub fn draw(&self, tally: &Tally) -> Result<Drawn, Error> {
        self.is_of(tally)?;
        match &self.body {
            Body::Sums(sums) => {
                let public = self.relation().is_length_public().then_some(tally.rows);
                Ok(Drawn::Sums(noisy_sums(sums, tally)?, public))
            }
            _ => Ok(Drawn::Reply(self.release(tally)?)),
        }
    }

    /// The answer that was drawn, and from it alone where the one without noise is: each number's interval holds that
    /// with at least this probability, whatever the data are.
    ///
    /// Quantiles, cumulative counts, covariances and regressions have no intervals here.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1, [`Error::Question`] if something else was drawn.
    pub fn within(&self, drawn: &Drawn, confidence: f64) -> Result<Within, Error> {
        confident(confidence)?;
        match (&self.body, drawn) {
            (Body::Sums(sums), Drawn::Sums(noisy, public)) if sums.len() == noisy.len() => {
                let public = public.map(|rows| rows as f64);
                let reply = self.reply(noisy, public.unwrap_or_default());
                // Each sum within its own with so much more probability that all are with this.
                let each = 1.0 - (1.0 - confidence) / sums.len().max(1) as f64;
                let around = |((_, noise), sum): (&(_, _), &f64)| {
                    Interval::around(*sum, Law::new(noise).half_width(each))
                };
                let sums: Vec<Interval> = sums.iter().zip(noisy).map(around).collect();
                let found = of_sums(&self.query().kind, &sums, public);
                Ok(Within { reply, intervals: found.into_iter().collect() })
            }
            (Body::Bins(noise), Drawn::Reply(Reply::Table(bins))) => {
                let half = Law::new(noise).half_width(confidence);
                let intervals = bins.iter().map(|bin| Interval::around(*bin, half)).collect();
                Ok(Within { reply: Reply::Table(bins.clone()), intervals })
            }
            (Body::Choice(_) | Body::Nodes(_) | Body::Choices(_), Drawn::Reply(reply)) => {
                Ok(Within { reply: reply.clone(), intervals: Vec::new() })
            }
            _ => Err(Error::Question { legal: "the question that it was drawn for" }),
        }
    }
}

/// Where an answer is if its sums are where they are said to be.
fn of_sums(kind: &Kind, sums: &[Interval], public: Option<f64>) -> Option<Interval> {
    let (rows, rest) = match (public, sums) {
        (Some(rows), rest) => (Interval { low: rows, high: rows }, rest),
        // A sum is a number of its own, whatever their number.
        (None, rest @ [_]) => (Interval { low: 1.0, high: 1.0 }, rest),
        (None, [rows, rest @ ..]) => (*rows, rest),
        (None, []) => return None,
    };
    // Of no records at all there is no mean; of one at least it is this.
    let rows = rows.cut(1.0, f64::INFINITY);
    match (kind, rest) {
        (Kind::Count(_), [sum]) => Some(*sum),
        (Kind::Sum(bounds), [sum]) => match public {
            Some(rows) => Some(sum.plus(bounds.center() * rows)),
            None => Some(*sum),
        },
        (Kind::Mean(bounds), [sum]) => Some(mean(*sum, rows, *bounds)),
        (Kind::Proportion(_), [ones]) if public.is_some() => Some(ones.over(rows).cut(0.0, 1.0)),
        (Kind::Proportion(_), [sides]) => Some(sides.over(rows).plus(0.5).cut(0.0, 1.0)),
        (Kind::Variance(bounds), [offsets, squares]) => {
            let half = bounds.half();
            let offset = offsets.over(rows).cut(-half, half);
            let spread = squares.over(rows).minus(offset.squared());
            Some(spread.cut(0.0, half * half))
        }
        _ => None,
    }
}

fn mean(offsets: Interval, rows: Interval, bounds: Bounds) -> Interval {
    offsets.over(rows).plus(bounds.center()).cut(bounds.low(), bounds.high())
}

#[cfg(test)]
mod tests {
    use crate::data::Data;
    use crate::query::{Bounds, Interval, Query};
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
