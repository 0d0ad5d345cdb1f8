//! Errors as functions of noise: one kind of noise for a query, at every level.

use crate::price;
use crate::root::{FunctionShape, RootBracket, Search, inward, search};
use crate::study::{Noise, Population, PublicFacts, QueryRequest, StudyError};
use counterpoint::{Mechanism, Release};
use counterpoint_mechanisms::{Contribution, Error, Measurement, NoisyQuery, Query};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A query with one kind of noise. Its *level* rises as the noise falls: the level is the epsilon of Laplace noise and
/// of the exponential mechanism, and one over the multiplier of Gaussian noise.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) noise: Noise,
    query: Query,
    confidence: f64,
    /// The confidence of the interval of each number.
    alone: f64,
    contribution: Contribution,
    /// The count of the rows, if it is a release of its own.
    count: Option<Rc<Measurement>>,
    rows: u64,
    range: (f64, f64),
    slack: f64,
    /// The levels whose errors were computed, in ascending order, with these errors.
    seen: RefCell<Vec<(f64, f64)>>,
    /// The last computed error, divided by its estimate.
    ratio: Cell<f64>,
    /// Estimated errors and charged releases, at levels that are powers of [`RATIO`].
    points: RefCell<BTreeMap<i32, Rc<FamilySample>>>,
}

/// The estimated error and the charged releases at one level.
#[derive(Debug)]
struct FamilySample {
    error: f64,
    releases: Vec<Release>,
}

/// A level between two sampled ones.
pub(crate) struct Interpolation {
    low: Rc<FamilySample>,
    high: Rc<FamilySample>,
    share: f64,
}

impl Interpolation {
    /// Estimates ln E[e^(t L)].
    pub(crate) fn cumulant(&self, t: f64) -> f64 {
        let [from, to] = [&self.low, &self.high].map(|point| price::cumulant(&point.releases, t));
        if from > 0.0 { from * (to / from).powf(self.share) } else { to }
    }
}

/// A level, and the logarithm of its error divided by the error that is searched for.
type Node = (f64, f64);

/// The ratio of neighbouring sampled levels.
const RATIO: f64 = 1.1;
/// The indices of the samples among which the lowest is searched for: levels from 10^-4 to 45.
const SCANNED: (i32, i32) = (-72, 64);

/// The legal levels of [`NoisyQuery`]s.
const EPSILONS: (f64, f64) = (1.0 / (1_u64 << 20) as f64, 500.0);
const INVERSES: (f64, f64) = (1e-3, 40.0);

/// The largest unevenness that grids for Gaussian noise cause, as part of [`Measurement::unevenness`].
const GRID: f64 = 0.008;

/// The relative distance to the least sufficient level at which the search stops.
const NEAR: f64 = 1e-7;

/// A level that every kind of noise has.
const MIDDLE: f64 = 0.1;

impl Family {
    /// All ways to answer a query: one family for each kind of noise that it can have.
    pub(crate) fn all(
        wanted: &QueryRequest,
        public: &PublicFacts,
    ) -> Result<Vec<Self>, StudyError> {
        Self::all_with(wanted, public, None)
    }

    /// All ways to answer a query with the given count of its rows, which is a release of its own.
    pub(crate) fn all_with(
        wanted: &QueryRequest,
        public: &PublicFacts,
        count: Option<&Rc<Measurement>>,
    ) -> Result<Vec<Self>, StudyError> {
        let whole = Population {
            contribution: Contribution::Rows(public.relation),
            rows: public.rows,
            groups: 1,
            count: None,
        };
        let population = wanted.population.as_ref().unwrap_or(&whole);
        // The noises of groups are independent: all groups keep their errors with this confidence if each does with its
        // root.
        let confidence = match population.groups {
            0 | 1 => wanted.confidence,
            groups => wanted.confidence.powf(1.0 / groups as f64).next_up().next_up(),
        };
        let family = |noise| Self {
            noise,
            query: wanted.query.clone(),
            confidence,
            alone: wanted.confidence,
            contribution: population.contribution,
            count: count.cloned(),
            rows: population.rows.unwrap_or(1),
            range: if noise == Noise::Gaussian { INVERSES } else { EPSILONS },
            slack: 0.0,
            seen: RefCell::default(),
            ratio: Cell::new(1.0),
            points: RefCell::default(),
        };
        let kinds = [Noise::Laplace, Noise::Gaussian, Noise::Exponential];
        let asked = |noise: &Noise| wanted.noise.is_none_or(|only| only == *noise);
        let families = kinds.into_iter().filter(asked).map(family);
        let mut refused = None;
        let runs = |mut family: Self| match family.measurement(MIDDLE) {
            Ok(measurement) => {
                // The addition allows for the rounding of levels.
                family.slack = measurement.unevenness() + 1e-6;
                // A query with several numbers has a least level for each, so its own range of levels is smaller.
                while family.measurement(family.range.0).is_err() && family.range.0 < MIDDLE {
                    family.range.0 *= 2.0;
                }
                while family.measurement(family.range.1).is_err() && family.range.1 > MIDDLE {
                    family.range.1 *= 0.5;
                }
                Some(family)
            }
            Err(error) => {
                refused.get_or_insert(error);
                None
            }
        };
        let runs: Vec<Self> = families.filter_map(runs).collect();
        match refused {
            Some(error) if runs.is_empty() => Err(StudyError::new("kind", error.to_string())),
            _ => Ok(runs),
        }
    }

    pub(crate) fn range(&self) -> (f64, f64) {
        self.range
    }

    fn recipe(&self, level: f64) -> Result<NoisyQuery, Error> {
        let (least, most) = self.range();
        let level = level.clamp(least, most);
        match self.noise {
            Noise::Laplace => self.query.laplace(level),
            Noise::Gaussian => self.query.gaussian((1.0 / level).clamp(1.0 / most, 1.0 / least)),
            Noise::Exponential => self.query.exponential_interval(level, self.alone),
        }
    }

    /// The mechanism at a level.
    pub(crate) fn measurement(&self, level: f64) -> Result<Measurement, Error> {
        let recipe = self.recipe(level)?;
        match &self.count {
            Some(count) => recipe.bounded_with_count(self.contribution, count),
            None => recipe.bounded(self.contribution),
        }
    }

    /// The half-width at a level, for all of the answer's numbers at once.
    pub(crate) fn error(&self, level: f64) -> Result<f64, Error> {
        self.measurement(level)?.half_width_all(self.rows, self.confidence)
    }

    pub(crate) fn releases(&self, level: f64) -> Result<Vec<Release>, Error> {
        Ok(self.measurement(level)?.releases().to_vec())
    }

    /// The largest relative rise of half-widths where the noise falls.
    pub(crate) fn slack(&self) -> f64 {
        self.slack
    }

    /// The slack at one level, by its releases: the largest relative excess of its half-width over those of *more*
    /// noise.
    ///
    /// The sensitivity of a Gaussian sum is rounded up to whole grid steps, and one more step is charged, so the noise
    /// exceeds the requested noise by at most this part. (A count's sensitivity is exact.)
    pub(crate) fn slack_at(&self, releases: &[Release]) -> f64 {
        if self.noise != Noise::Gaussian {
            return self.slack;
        }
        let rounded = |release: &Release| match &release.mechanism {
            Mechanism::Gaussian { sensitivity, .. } => 2.1 / (sensitivity.get() - 1.0).max(1.0),
            Mechanism::DiscreteGaussian { .. } => 0.0,
            _ => GRID,
        };
        let grid = releases.iter().map(rounded).fold(0.0, f64::max).min(GRID);
        // The addition allows for half-widths in whole steps.
        self.slack - GRID + grid + 1e-5
    }

    /// True if half-widths are found by a search, which is slow and inexact.
    pub(crate) fn is_searched(&self) -> bool {
        self.slack > 0.002 && !(self.noise == Noise::Gaussian && self.slack < 0.01)
    }

    /// A level whose error is at most `error` and that is close to the least such level: within a relative 10^-7, 10^-5
    /// for the exponential mechanism, or 10^-3 where half-widths are found by a search. The least legal level if it
    /// suffices; `None` if no level does.
    pub(crate) fn level(&self, error: f64) -> Result<Option<f64>, Error> {
        Ok(self.ends(error)?.map(|(_, keeps)| keeps))
    }

    /// A level just below the least whose error is at most `error`: no level below it suffices, slack included.
    pub(crate) fn level_below(&self, error: f64) -> Result<Option<f64>, Error> {
        Ok(self.ends(error * (1.0 + self.slack))?.map(|(misses, _)| misses))
    }

    /// A level close to the least whose error is at most `error`, to a relative 10^-3 where half-widths are found by a
    /// search; `None` if no level suffices.
    pub(crate) fn near_level(&self, error: f64) -> Result<Option<f64>, Error> {
        if !self.is_searched() {
            return self.level(error);
        }
        let level = self.calibrated(error, 1e-3)?;
        if level < self.range().1 { Ok(Some(level)) } else { self.level(error) }
    }

    /// A level that does not suffice and a level that does, next to each other.
    fn ends(&self, error: f64) -> Result<Option<(f64, f64)>, Error> {
        let near = match self.noise {
            _ if self.is_searched() => 1e-3,
            // Errors are whole ranks, and costs are not known as accurately.
            Noise::Exponential => 1e-5,
            _ => NEAR,
        };
        // The logarithm of the error is nearly linear; a value above zero means too much noise.
        let excess = |level: f64| Ok::<f64, Error>((self.seen(level)? / error).ln());
        let found = match self.around(error)? {
            Some((low, high)) => inward(low, high, (near, FunctionShape::Straight), excess)?,
            None => {
                let stride = if self.is_searched() { 1.0 + 0.4 * near } else { 1.002 };
                let guess = self.calibrated(error, 0.3 * near)?;
                let place = Search { guess, stride, range: self.range(), power: 1.0, near };
                search(place, excess)?
            }
        };
        Ok(match found {
            RootBracket::Between(misses, keeps) => Some((misses, keeps)),
            RootBracket::Below => Some((self.range().0, self.range().0)),
            RootBracket::Above => None,
        })
    }

    /// Estimates the level with this error. If the error computed there is off by more than `near`, the estimates are
    /// corrected by it, and the level is estimated again.
    fn calibrated(&self, error: f64, near: f64) -> Result<f64, Error> {
        let guess = self.about(error)?;
        let off = (self.seen(guess)? / error).ln();
        if off.abs() < near { Ok(guess) } else { self.about(error) }
    }

    /// The error at a level, computed once.
    pub(crate) fn seen(&self, level: f64) -> Result<f64, Error> {
        let mut seen = self.seen.borrow_mut();
        let place = seen.partition_point(|&(before, _)| before < level);
        match seen.get(place) {
            Some(&(same, error)) if same.to_bits() == level.to_bits() => Ok(error),
            _ => {
                let measurement = self.measurement(level)?;
                let error = measurement.half_width_all(self.rows, self.confidence)?;
                let about = measurement.about_half_width_all(self.rows, self.confidence)?;
                let ratio = about.map(|about| error / about).filter(|ratio| ratio.is_normal());
                self.ratio.set(ratio.unwrap_or(1.0));
                seen.insert(place, (level, error));
                Ok(error)
            }
        }
    }

    /// The nearest computed levels on both sides of the least one that keeps to an error, each with the logarithm of
    /// its error over this one; `None` if none are near.
    fn around(&self, error: f64) -> Result<Option<(Node, Node)>, Error> {
        // This computes samples, where errors cannot be estimated.
        self.about(error)?;
        let seen = self.seen.borrow();
        let place = seen.partition_point(|(_, at)| *at > error);
        let node = |&(level, at): &(f64, f64)| (level, (at / error).ln());
        let low = place.checked_sub(1).and_then(|low| seen.get(low)).map(node);
        let near = |low: &Node, high: &Node| {
            low.1 > 0.0 && high.1 <= 0.0 && high.0 < RATIO.powi(2) * low.0
        };
        Ok(low.zip(seen.get(place).map(node)).filter(|(low, high)| near(low, high)))
    }

    fn point(&self, index: i32) -> Result<Rc<FamilySample>, Error> {
        if let Some(point) = self.points.borrow().get(&index) {
            return Ok(Rc::clone(point));
        }
        let level = self.sample(index);
        let measurement = self.measurement(level)?;
        let error = match measurement.about_half_width_all(self.rows, self.confidence)? {
            Some(about) => about,
            None => self.seen(level)?,
        };
        let point = Rc::new(FamilySample { error, releases: measurement.releases().to_vec() });
        self.points.borrow_mut().insert(index, Rc::clone(&point));
        Ok(point)
    }

    /// The level of a sample.
    fn sample(&self, index: i32) -> f64 {
        let (least, most) = self.range();
        (MIDDLE * RATIO.powi(index)).clamp(least, most)
    }

    /// The samples around a level, and the level's place between them.
    pub(crate) fn between(&self, level: f64) -> Result<Interpolation, Error> {
        let place = (level / MIDDLE).ln() / RATIO.ln();
        let index = place.floor();
        let (low, high) = (self.point(index as i32)?, self.point(index as i32 + 1)?);
        Ok(Interpolation { low, high, share: place - index })
    }

    /// Estimates the level with an error.
    pub(crate) fn about(&self, error: f64) -> Result<f64, Error> {
        let error = error / self.ratio.get();
        let (least, most) = self.range();
        let [first, last] = [least, most].map(|end| ((end / MIDDLE).ln() / RATIO.ln()) as i32);
        let keeps = |index: i32| Ok::<bool, Error>(self.point(index)?.error <= error);
        // Errors are nearly inverse to levels, so one jump comes close, and single steps find the sample.
        let here = self.point(0)?.error;
        let mut index = (((here / error).ln() / RATIO.ln()).ceil() as i32).clamp(first, last);
        while index > first && keeps(index - 1)? {
            index -= 1;
        }
        while index < last && !keeps(index)? {
            index += 1;
        }
        let (low, high) = (self.point(index - 1)?, self.point(index)?);
        let share = (low.error / error).ln() / (low.error / high.error).ln();
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 };
        Ok((self.sample(index - 1) * RATIO.powf(share)).clamp(least, most))
    }

    /// Estimates the error at a level.
    pub(crate) fn about_error(&self, level: f64) -> Result<f64, Error> {
        let Interpolation { low, high, share } = self.between(level)?;
        Ok(low.error.powf(1.0 - share) * high.error.powf(share) * self.ratio.get())
    }

    /// Estimates ln E[e^(t L)] at a level.
    pub(crate) fn cumulant(&self, level: f64, t: f64) -> Result<f64, Error> {
        Ok(self.between(level)?.cumulant(t))
    }

    /// Estimates the level with the least value of a function of its error and its cumulant at order `t`.
    pub(crate) fn least(
        &self,
        t: f64,
        value: impl Fn(f64, f64) -> f64,
    ) -> Result<(f64, f64), Error> {
        let (least, most) = self.range();
        let [first, last] = [least, most].map(|end| ((end / MIDDLE).ln() / RATIO.ln()) as i32);
        let at = |index: i32| {
            let point = self.point(index)?;
            let error = point.error * self.ratio.get();
            Ok::<f64, Error>(value(error, price::cumulant(&point.releases, t)))
        };
        // Errors level off where noise is very wide, so there may be a second minimum.
        let (mut index, mut here) = (0, f64::INFINITY);
        for place in (SCANNED.0.max(first)..=SCANNED.1.min(last)).step_by(8) {
            let there = at(place)?;
            if there < here {
                (index, here) = (place, there);
            }
        }
        for stride in [8, 4, 2, 1, -8, -4, -2, -1, 1] {
            loop {
                let next = (index + stride).clamp(first, last);
                if next == index {
                    break;
                }
                let there = at(next)?;
                if there >= here {
                    break;
                }
                (index, here) = (next, there);
            }
        }
        if index <= first || index >= last {
            return Ok((self.sample(index), here));
        }
        // The minimum of the parabola through three samples.
        let (before, after) = (at(index - 1)?, at(index + 1)?);
        let bend = before - 2.0 * here + after;
        let shift = if bend > 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 };
        let dip = here - 0.25 * (before - after) * shift;
        Ok(((self.sample(index) * RATIO.powf(shift)).clamp(least, most), dip.min(here)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Family;
    use crate::study::{AccuracyTarget, PublicFacts, QueryRequest};
    use counterpoint::{Adjacency, Relation};
    use counterpoint_mechanisms::{Bounds, Query};
    use counterpoint_testing::{Random, tries};

    /// More noise has no smaller half-width, except by the slack of each level.
    #[test]
    fn half_widths_are_as_even_as_each_level_says() {
        let mut random = Random::new(74);
        let public = |adjacency| PublicFacts {
            relation: Relation::single_record(adjacency),
            rows: Some(2000),
            sample_of: None,
        };
        let bounds = Bounds::new(0.3, 77.7).unwrap();
        let queries = [
            Query::sum(bounds),
            Query::mean(bounds),
            Query::count_within(bounds),
            Query::histogram(&[0.0, 1.0, 2.0]).unwrap(),
        ];
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            for query in &queries {
                let wanted = QueryRequest {
                    query: query.clone(),
                    noise: None,
                    confidence: 0.95,
                    target: AccuracyTarget::Weight(1.0),
                    scale: 1.0,
                    population: None,
                };
                for family in Family::all(&wanted, &public(adjacency)).unwrap() {
                    for _ in 0..tries(500, 0.1) {
                        let (least, most) = family.range();
                        let level = random.log_uniform(least.max(2e-3), most.min(20.0));
                        let less = (level / random.log_uniform(1.0, 1.01)).max(least);
                        let slack = family.slack_at(&family.releases(level).unwrap());
                        let (here, there) = (family.error(level), family.error(less));
                        let (here, there) = (here.unwrap(), there.unwrap());
                        assert!(
                            there * (1.0 + slack) >= here,
                            "{query:?} {level} {here}, {less} {there}: {slack}"
                        );
                    }
                }
            }
        }
    }
}
