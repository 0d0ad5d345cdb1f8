//! What the plan costs at one value.

use super::{CalibrateError, Search, Unknown, decimals};
use crate::ask::{Answer, AskError, Options};
use crate::composition::leak::{self, Remainder};
use crate::composition::{Plan, PlanError};
use crate::loss::LossError;
use crate::mechanism::Release;
use crate::methods::Route;
use crate::quantity::{Delta, Epsilon, OutOfRange, Tolerance};
use crate::source::Theorem;
use counterpoint_numerics::Bracket;

/// Good enough to tell values that are far from the target.
const COARSE: f64 = 1e-3;
/// What the last values are told apart by, where the plan allows it.
const FINE: f64 = 1e-9;
/// What counts that fine answers leave open are told apart by.
const FINEST: f64 = 1e-13;

/// A value that was tried.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) value: f64,
    pub(super) cost: Answer,
    /// Whether the cost's upper end is within the target.
    pub(super) passes: bool,
    /// How far above the target the cost is: ln(cost / target); not finite if one is zero
    /// or infinite.
    pub(super) excess: f64,
    /// Why there is no finite cost.
    pub(super) infinite: Option<AskError>,
}

/// Asks what the plan costs at one value after another.
pub(super) struct Trials<'a> {
    pub(super) search: &'a Search<'a>,
    /// Which releases vary, and how many times the value each takes.
    pub(super) varying: Vec<(usize, f64)>,
    target: f64,
    delta: Delta,
    /// Whether trials are certificates, as every other command gives them.
    certifying: bool,
    options: &'a Options<'a>,
    /// From coarse to fine, and which of them is in use.
    tolerances: Vec<Tolerance>,
    level: usize,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        search: &'a Search<'a>,
        varying: Vec<(usize, f64)>,
        (target, delta): (Epsilon, Delta),
        options: &'a Options<'a>,
    ) -> Self {
        let (target, level, certifying) = (target.get(), 0, false);
        let tolerances = tolerances(options.tolerance, search.unknown);
        Self { search, varying, target, delta, certifying, options, tolerances, level }
    }

    /// The releases with the value filled in.
    pub(super) fn filled(&self, value: f64) -> Result<Vec<Release>, PlanError> {
        let mut releases = self.search.releases.to_vec();
        for &(index, times) in &self.varying {
            if let Some(release) = releases.get_mut(index) {
                let value = self.search.unknown.times(value, times);
                self.search.unknown.fill(release, value).map_err(|error| {
                    let OutOfRange { quantity: what, value, legal } = error;
                    PlanError::Release { index, error: LossError::Range { what, value, legal } }
                })?;
            }
        }
        Ok(releases)
    }

    /// The plan at a value.
    pub(super) fn plan(&self, value: f64) -> Result<Plan, PlanError> {
        Plan::with(self.filled(value)?, self.search.adjacency, self.search.group)
    }

    /// The cost, as finely as it takes to tell it from the target. What was too coarse once
    /// is not tried again: the search comes nearer and nearer.
    pub(super) fn ask(&mut self, plan: &Plan, value: f64) -> Result<Trial, CalibrateError> {
        if self.certifying {
            return self.certificate(plan, value);
        }
        loop {
            let tolerance = self.tolerances.get(self.level).copied();
            let tolerance = tolerance.unwrap_or(self.options.tolerance);
            match self.cost(plan, tolerance) {
                Ok(cost) => {
                    let trial = self.trial(value, cost);
                    match self.finer(&trial) {
                        Some(level) => self.level = level,
                        None => return Ok(trial),
                    }
                }
                Err(error @ (AskError::BelowLeak { .. } | AskError::Unbounded { .. })) => {
                    return Ok(self.infinite(plan, value, error));
                }
                // Finer than the caller asked for, and too fine for this plan.
                Err(AskError::ToleranceNotMet { .. })
                    if tolerance.get() < self.options.tolerance.get() =>
                {
                    self.tolerances.truncate(self.level);
                    self.level = self.level.saturating_sub(1);
                }
                // The best there is, then.
                Err(AskError::ToleranceNotMet { .. }) if !self.options.tolerance.is_promise() => {
                    let cost = plan.epsilon(self.delta, self.options)?;
                    return Ok(self.trial(value, cost));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether a value provably does not meet the target.
    pub(super) fn fails(&self, trial: &Trial) -> bool {
        trial.cost.bracket.lower > self.target
    }

    /// The next tolerance to try, if the trial's bracket leaves open which side it is on, or
    /// is too wide to interpolate from.
    fn finer(&self, trial: &Trial) -> Option<usize> {
        let Bracket { lower, upper } = trial.cost.bracket;
        let width = trial.cost.bracket.relative_width();
        let decided = upper <= self.target || self.target < lower;
        let clear = self.search.unknown == Unknown::Count || trial.excess.abs() >= 100.0 * width;
        if decided && clear {
            return None;
        }
        let narrower = |level: &usize| self.tolerances.get(*level).is_some_and(|t| t.get() < width);
        (self.level + 1..self.tolerances.len()).find(narrower)
    }

    /// From here on trials are certificates.
    pub(super) fn certify(&mut self) {
        self.certifying = true;
    }

    /// What [`Plan::epsilon`] itself says to the caller's options: the cost that is reported. It passes if that is within
    /// the target, and what others would say of the plan is, too: to the default options, and of its numbers as decimals.
    fn certificate(&self, plan: &Plan, value: f64) -> Result<Trial, CalibrateError> {
        self.options.watch.at(0.0).map_err(AskError::from)?;
        let cost = match plan.epsilon(self.delta, self.options) {
            Err(error @ (AskError::BelowLeak { .. } | AskError::Unbounded { .. })) => {
                return Ok(self.infinite(plan, value, error));
            }
            cost => cost?,
        };
        let own = self.trial(value, cost);
        match own.passes {
            true => Ok(self.as_others_say(own, plan)?),
            false => Ok(own),
        }
    }

    /// The same trial; one that does not pass, with the larger upper end, if others would say that it does not.
    fn as_others_say(&self, own: Trial, plan: &Plan) -> Result<Trial, CalibrateError> {
        let options = Options { watch: self.options.watch, ..Options::default() };
        let target = decimals::below(self.target);
        let mut upper = own.cost.bracket.upper;
        if self.options.tolerance.is_promise() || self.options.route.is_some() {
            upper = upper.max(plan.epsilon(self.delta, &options)?.bracket.upper);
        }
        let delta = Delta::new(decimals::below(self.delta.get())).unwrap_or(self.delta);
        if let Ok(plan) = self.in_decimals(own.value)
            && upper <= target
        {
            upper = match plan.epsilon(delta, &options) {
                // Where no value has a finite cost in decimals, that is no reason against this one.
                Err(AskError::BelowLeak { .. } | AskError::Unbounded { .. }) => {
                    if self.leaks_all(delta) { upper } else { f64::INFINITY }
                }
                cost => upper.max(cost?.bracket.upper),
            };
        }
        if upper <= target {
            return Ok(own);
        }
        let bracket = Bracket { upper: upper.max(self.target.next_up()), ..own.cost.bracket };
        Ok(self.trial(own.value, Answer { bracket, ..own.cost }))
    }

    /// Whether nothing of delta is left, in decimals, at the value that leaks least.
    fn leaks_all(&self, delta: Delta) -> bool {
        let (safest, _) = self.search.unknown.range();
        self.in_decimals(safest).is_ok_and(|plan| {
            let mut wholes = plan.compositions.iter();
            wholes.any(|whole| {
                !matches!(leak::remainder(&whole.leaks.above, delta.get()), Remainder::Positive(_))
            })
        })
    }

    /// The plan at a value, with its numbers as their decimal texts, rounded to the safe side.
    fn in_decimals(&self, value: f64) -> Result<Plan, PlanError> {
        let releases = self.filled(value)?;
        let releases = releases.iter().map(decimals::rounded);
        Plan::with(releases, self.search.adjacency, self.search.group)
    }

    fn cost(&self, plan: &Plan, tolerance: Tolerance) -> Result<Answer, AskError> {
        self.options.watch.at(0.0)?;
        plan.epsilon_or_refusal(self.delta, &Options { tolerance, ..*self.options })
    }

    fn trial(&self, value: f64, cost: Answer) -> Trial {
        let upper = cost.bracket.upper;
        let (passes, excess) = (upper <= self.target, (upper / self.target).ln());
        Trial { value, cost, passes, excess, infinite: None }
    }

    /// No finite epsilon does: for certain if what the releases leak at least leaves no room.
    fn infinite(&self, plan: &Plan, value: f64, error: AskError) -> Trial {
        let unbounded = matches!(error, AskError::Unbounded { .. });
        let certain = plan.compositions.iter().any(|whole| {
            match leak::remainder(&whole.at_least().leaks.below, self.delta.get()) {
                Remainder::Negative => true,
                Remainder::Zero => unbounded,
                Remainder::Positive(_) => false,
            }
        });
        let lower = if certain { f64::INFINITY } else { 0.0 };
        let bracket = Bracket { lower, upper: f64::INFINITY };
        let cost = Answer::new(bracket, Route::Leaks, Theorem::Optimal);
        Trial { infinite: Some(error), ..self.trial(value, cost) }
    }
}

/// Ever finer ones: far from the target a coarse answer will do. Counts are far enough apart
/// for the finest to tell on which side of the target each is.
fn tolerances(asked: Tolerance, unknown: Unknown) -> Vec<Tolerance> {
    let finest = if unknown == Unknown::Count { FINEST } else { FINE };
    let mut list = vec![asked.get().max(COARSE), asked.get(), asked.get().min(FINE)];
    list.push(asked.get().min(finest));
    list.into_iter().filter_map(|tolerance| Tolerance::new(tolerance).ok()).collect()
}
