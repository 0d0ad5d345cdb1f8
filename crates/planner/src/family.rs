//! Errors as functions of noise: one way to answer a statistic, at every level of noise.

use crate::root::crossing;
use crate::study::{Noise, Public, StudyError, Wanted};
use counterpoint::Release;
use counterpoint_mechanisms::{Error, Measurement, Query, Recipe};
use std::cell::RefCell;

/// A question with one kind of noise. Its *level* rises as the noise falls: the epsilon of Laplace noise and of
/// choices, one over the multiplier of Gaussian noise.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) noise: Noise,
    query: Query,
    confidence: f64,
    public: Public,
    slack: f64,
    /// Levels that were looked at, rising, with their errors.
    seen: RefCell<Vec<(f64, f64)>>,
}

/// The legal levels of [`Recipe`]s.
const EPSILONS: (f64, f64) = (1.0 / (1_u64 << 20) as f64, 500.0);
const INVERSES: (f64, f64) = (1e-3, 40.0);

/// How near to the least level that will do the search comes, relatively.
const NEAR: f64 = 1e-7;

/// A level that every kind of noise has.
const MIDDLE: f64 = 0.1;

impl Family {
    /// The ways in which a question can be answered.
    pub(crate) fn all(wanted: &Wanted, public: &Public) -> Result<Vec<Self>, StudyError> {
        let family = |noise| Self {
            noise,
            query: wanted.query.clone(),
            confidence: wanted.confidence,
            public: *public,
            slack: 0.0,
            seen: RefCell::default(),
        };
        let kinds = [Noise::Laplace, Noise::Gaussian, Noise::Exponential];
        let asked = |noise: &Noise| wanted.noise.is_none_or(|only| only == *noise);
        let families = kinds.into_iter().filter(asked).map(family);
        let mut refused = None;
        let runs = |mut family: Self| match family.measurement(MIDDLE) {
            Ok(measurement) => {
                // A little for the rounding of levels.
                family.slack = measurement.unevenness() + 1e-6;
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
        match self.noise {
            Noise::Laplace | Noise::Exponential => EPSILONS,
            Noise::Gaussian => INVERSES,
        }
    }

    fn recipe(&self, level: f64) -> Result<Recipe, Error> {
        let (least, most) = self.range();
        let level = level.clamp(least, most);
        match self.noise {
            Noise::Laplace => self.query.laplace(level),
            Noise::Gaussian => self.query.gaussian((1.0 / level).clamp(1.0 / most, 1.0 / least)),
            Noise::Exponential => self.query.exponential(level),
        }
    }

    /// What runs at a level.
    pub(crate) fn measurement(&self, level: f64) -> Result<Measurement, Error> {
        self.recipe(level)?.under(self.public.relation)
    }

    /// The half-width of what runs at a level, of all of its numbers at once.
    pub(crate) fn error(&self, level: f64) -> Result<f64, Error> {
        self.measurement(level)?.half_width_all(self.public.rows.unwrap_or(1), self.confidence)
    }

    pub(crate) fn releases(&self, level: f64) -> Result<Vec<Release>, Error> {
        Ok(self.measurement(level)?.releases().to_vec())
    }

    /// By how much half-widths may rise where noise falls.
    pub(crate) fn slack(&self) -> f64 {
        self.slack
    }

    /// Whether half-widths are searched for, which takes long and leaves a little.
    pub(crate) fn is_searched(&self) -> bool {
        self.slack > 0.002 && !(self.noise == Noise::Gaussian && self.slack < 0.01)
    }

    /// A level that keeps to an error and is next to the least: within a ten-millionth part, or a thousandth where
    /// half-widths are searched for; the least legal one if that does, `None` if none does.
    pub(crate) fn level(&self, error: f64) -> Result<Option<f64>, Error> {
        Ok(self.ends(error)?.map(|(_, keeps)| keeps))
    }

    /// A level next to the least that keeps to an error, but below it: with the slack, none below it does.
    pub(crate) fn level_below(&self, error: f64) -> Result<Option<f64>, Error> {
        Ok(self.ends(error * (1.0 + self.slack))?.map(|(misses, _)| misses))
    }

    /// Both of them.
    fn ends(&self, error: f64) -> Result<Option<(f64, f64)>, Error> {
        // By logarithms, in which errors are nearly straight lines: above zero means too much noise.
        let excess = |level: f64| Ok::<f64, Error>((self.seen(level)? / error).ln());
        let (least, most) = self.range();
        let (mut low, mut high) = self.around(error, (least, most));
        let mut above = excess(low)?;
        while above <= 0.0 && low > least {
            high = low;
            low = (low * above.max(-3.0).exp() / 1.05).max(least);
            above = excess(low)?;
        }
        if above <= 0.0 {
            return Ok(Some((low, low)));
        }
        let mut below = excess(high)?;
        while below > 0.0 && high < most {
            (low, above) = (high, below);
            high = (high * below.min(3.0).exp() * 1.05).min(most);
            below = excess(high)?;
        }
        if below > 0.0 {
            return Ok(None);
        }
        let near = if self.is_searched() { 1e-3 } else { NEAR };
        crossing((low, above), (high, below), (near, 200), excess).map(Some)
    }

    /// The error at a level, looked up if it was looked at before.
    pub(crate) fn seen(&self, level: f64) -> Result<f64, Error> {
        let mut seen = self.seen.borrow_mut();
        let place = seen.partition_point(|&(before, _)| before < level);
        match seen.get(place) {
            Some(&(same, error)) if same.to_bits() == level.to_bits() => Ok(error),
            _ => {
                let error = self.error(level)?;
                seen.insert(place, (level, error));
                Ok(error)
            }
        }
    }

    /// The nearest levels looked at so far on either side of an error; else somewhere in the middle.
    fn around(&self, error: f64, (least, most): (f64, f64)) -> (f64, f64) {
        let seen = self.seen.borrow();
        let low = seen.iter().rev().find(|(_, at)| *at > error).map(|(level, _)| *level);
        let high = seen.iter().find(|(_, at)| *at <= error).map(|(level, _)| *level);
        match (low, high) {
            (Some(low), Some(high)) if low < high => (low, high),
            (Some(low), _) => (low, (1.5 * low).min(most)),
            (_, Some(high)) => ((high / 1.5).max(least), high),
            (None, None) => ((MIDDLE / 2.0).max(least), MIDDLE.min(most)),
        }
    }
}
