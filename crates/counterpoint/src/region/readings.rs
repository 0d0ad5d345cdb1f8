//! What a plan means for people: numbers about attacks that need no knowledge of epsilon and delta (theory 9.13).

use super::gdp::GaussianPrivacy;
use crate::ask::{AskError, Options};
use crate::composition::Plan;
use crate::quantity::{Epsilon, Floor, Prior, Rate};
use counterpoint_numerics::{Bracket, ln_rounded};

/// The false-alarm rates for which readings give the largest rate of detection.
pub const RISK_RATES: [f64; 2] = [0.01, 0.001];

/// The errors of a logarithm of odds and of a few operations on probabilities.
const ROUNDINGS: f64 = 1e-14;

/// What an attacker is assumed to know before the answers are seen, and the floor of the Gaussian privacy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// The probability with which one of the two data sets was used.
    pub prior: Prior,
    /// The probability with which a reconstruction succeeds without the answers.
    pub chance: Prior,
    /// The floor.
    pub floor: Floor,
}

impl Default for Assumptions {
    /// Even odds, a chance of one in a thousand, and the default floor.
    fn default() -> Self {
        Self { prior: Prior::EVEN, chance: Prior::SMALL, floor: Floor::default() }
    }
}

/// What a plan means for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// The assumptions.
    pub assumptions: Assumptions,
    /// The largest advantage of a test: its rate of true alarms less that of false alarms.
    pub advantage: Bracket,
    /// The largest probability of guessing correctly which of two neighbouring data sets was used.
    pub accuracy: Bracket,
    /// False-alarm rates, each with the largest rate of true alarms.
    pub detection: Vec<(Rate, Bracket)>,
    /// The largest probability of a successful reconstruction of a person's data.
    pub reconstruction: Bracket,
    /// The plan as Gaussian privacy.
    pub gdp: GaussianPrivacy,
}

impl Plan {
    /// Computes what the plan means for people.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn readings(
        &self,
        assumptions: Assumptions,
        options: &Options<'_>,
    ) -> Result<Readings, AskError> {
        let options = Options { tolerance: options.tolerance.as_aim(), ..*options };
        let mut rates: Vec<Rate> =
            RISK_RATES.iter().filter_map(|&rate| Rate::new(rate).ok()).collect();
        let chance = Rate::new(assumptions.chance.get()).map_err(|_| AskError::Stopped)?;
        let region = self.region(&[rates.as_slice(), &[chance]].concat(), &options)?;
        let true_alarms = |rate: Rate| {
            let miss = region.least_miss(rate);
            let hit = |miss: f64, step: f64| (1.0 - miss + step).clamp(rate.get(), 1.0);
            Bracket { lower: hit(miss.upper, -ROUNDINGS), upper: hit(miss.lower, ROUNDINGS) }
        };
        let detection = rates.drain(..).map(|rate| (rate, true_alarms(rate))).collect();
        Ok(Readings {
            assumptions,
            advantage: region.total_variation(),
            accuracy: self.guess(assumptions.prior, &options)?,
            detection,
            reconstruction: true_alarms(chance),
            gdp: self.gaussian_privacy(assumptions.floor, &options)?,
        })
    }

    /// Bounds the largest probability of a correct guess: with the smaller prior p it is
    /// `1 - p + p delta(ln((1 - p)/p))`.
    fn guess(&self, prior: Prior, options: &Options<'_>) -> Result<Bracket, AskError> {
        let (p, rest) = (prior.get(), 1.0 - prior.get());
        let (less, more) = if p < rest { (p, rest) } else { (rest, p) };
        let odds = ln_rounded(more / less);
        let error = if more > less { ROUNDINGS * (1.0 + odds) } else { 0.0 };
        let delta = |odds: f64| {
            let legal = odds.max(if odds > 0.0 { 1e-100 } else { 0.0 });
            let legal = Epsilon::new(legal.max(0.0)).map_err(|_| AskError::Stopped)?;
            Ok::<_, AskError>(self.delta(legal, options)?.bracket)
        };
        let (above, below) = (delta(odds + error)?.lower, delta(odds - error)?.upper);
        let correct = |delta: f64, step: f64| (more + less * delta + step).clamp(0.5, 1.0);
        Ok(Bracket { lower: correct(above, -ROUNDINGS), upper: correct(below, ROUNDINGS) })
    }
}
