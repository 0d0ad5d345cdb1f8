//! Errors as functions of noise: one way to answer a statistic, at every level of noise.

use crate::root::crossing;
use crate::study::{Noise, Public, StudyError, Wanted};
use counterpoint::Release;
use counterpoint_mechanisms::{Error, Measurement, Query, Recipe};

/// A question with one kind of noise. Its *level* rises as the noise falls: the epsilon of Laplace noise and of
/// choices, one over the multiplier of Gaussian noise.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) noise: Noise,
    query: Query,
    confidence: f64,
    public: Public,
}

/// The legal levels of [`Recipe`]s.
const EPSILONS: (f64, f64) = (1.0 / (1_u64 << 20) as f64, 500.0);
const INVERSES: (f64, f64) = (1e-3, 40.0);

/// How near to the least level that will do the search comes, relatively.
const NEAR: f64 = 1e-9;

impl Family {
    /// The ways in which a question can be answered.
    pub(crate) fn all(wanted: &Wanted, public: &Public) -> Result<Vec<Self>, StudyError> {
        let family = |noise| Self {
            noise,
            query: wanted.query.clone(),
            confidence: wanted.confidence,
            public: *public,
        };
        let kinds = [Noise::Laplace, Noise::Gaussian, Noise::Exponential];
        let asked = |noise: &Noise| wanted.noise.is_none_or(|only| only == *noise);
        let families = kinds.into_iter().filter(asked).map(family);
        let (middle, mut refused) = (0.5, None);
        let runs = |family: &Self| match family.error(middle) {
            Ok(_) => true,
            Err(error) => {
                refused.get_or_insert(error);
                false
            }
        };
        let runs: Vec<Self> = families.filter(runs).collect();
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

    /// By how much, relatively, a half-width may be above the least one that holds at *any* lower level: grids for
    /// Gaussian noise take up to 0.8 % more noise than is asked for, others next to nothing; half-widths that are
    /// searched for may be some thousandth parts too wide.
    pub(crate) fn slack(&self) -> f64 {
        match self.noise {
            Noise::Gaussian => 0.012,
            Noise::Laplace | Noise::Exponential => 0.004,
        }
    }

    /// The least level that keeps to an error, within a billionth part; the least legal one if that does, `None` if
    /// none does.
    pub(crate) fn level(&self, error: f64) -> Result<Option<f64>, Error> {
        // By logarithms, in which errors are nearly straight lines: above zero means too much noise.
        let excess = |level: f64| Ok::<f64, Error>((self.error(level)? / error).ln());
        let (least, most) = self.range();
        let above = excess(least)?;
        if above <= 0.0 {
            return Ok(Some(least));
        }
        let below = excess(most)?;
        if below > 0.0 {
            return Ok(None);
        }
        let (_, level) = crossing((least, above), (most, below), (NEAR, 200), excess)?;
        Ok(Some(level))
    }
}
