//! The cost of a plan at one value of the unknown.

use super::{CalibrateError, Search, Unknown, decimals};
use crate::ask::{Answer, AskError, Options};
use crate::citation::Theorem;
use crate::composition::leak::{self, Remainder};
use crate::composition::{Plan, PlanError};
use crate::loss::LossError;
use crate::mechanism::Release;
use crate::methods::Route;
use crate::quantity::{Delta, Epsilon, OutOfRangeError, Tolerance};
use counterpoint_numerics::Bracket;

/// The tolerance for values that are far from the target.
const COARSE: f64 = 1e-3;
/// The tolerance for the last values, where the plan allows it.
const FINE: f64 = 1e-9;
/// The tolerance for counts that fine answers leave undecided.
const FINEST: f64 = 1e-13;

/// A value that was tried, and its cost.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) value: f64,
    pub(super) cost: Answer,
    /// True if the cost's upper end is within the target.
    pub(super) passes: bool,
    /// ln(cost / target); not finite if the cost or the target is zero or infinite.
    pub(super) excess: f64,
    /// The error if there is no finite cost.
    pub(super) infinite: Option<AskError>,
}

/// Computes the plan's cost at one value after another.
pub(super) struct Trials<'a> {
    pub(super) search: &'a Search<'a>,
    /// The indices of the releases that vary, and the multiple of the value that each takes.
    pub(super) varying: Vec<(usize, f64)>,
    target: f64,
    delta: Delta,
    /// True if trials use the certificates that every other command gives.
    certifying: bool,
    options: &'a Options<'a>,
    /// The tolerances from coarse to fine; `level` is the index of the one in use.
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
    pub(super) fn releases_with(&self, value: f64) -> Result<Vec<Release>, PlanError> {
        let mut releases = self.search.releases.to_vec();
        for &(index, times) in &self.varying {
            if let Some(release) = releases.get_mut(index) {
                let value = self.search.unknown.times(value, times);
                self.search.unknown.fill(release, value).map_err(|error| {
                    let OutOfRangeError { quantity: what, value, legal } = error;
                    PlanError::Release { index, error: LossError::Range { what, value, legal } }
                })?;
            }
        }
        Ok(releases)
    }

    /// The plan at a value.
    pub(super) fn plan(&self, value: f64) -> Result<Plan, PlanError> {
        Plan::for_neighbours(self.releases_with(value)?, self.search.adjacency, self.search.group)
    }

    /// The cost, as fine as needed to compare it with the target. A tolerance that was too coarse once is not tried
    /// again, because the search comes nearer and nearer.
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
                    match self.finer_level(&trial) {
                        Some(level) => self.level = level,
                        None => return Ok(trial),
                    }
                }
                Err(error @ (AskError::BelowLeak { .. } | AskError::Unbounded { .. })) => {
                    return Ok(self.infinite(plan, value, error));
                }
                // Finer than the caller requested, and too fine for this plan.
                Err(AskError::ToleranceNotMet { .. })
                    if tolerance.get() < self.options.tolerance.get() =>
                {
                    self.tolerances.truncate(self.level);
                    self.level = self.level.saturating_sub(1);
                }
                // The best available answer.
                Err(AskError::ToleranceNotMet { .. }) if !self.options.tolerance.is_promise() => {
                    let cost = plan.epsilon(self.delta, self.options)?;
                    return Ok(self.trial(value, cost));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// True if a value provably does not meet the target.
    pub(super) fn fails(&self, trial: &Trial) -> bool {
        trial.cost.bracket.lower > self.target
    }

    /// The next tolerance to try, if the trial's bracket does not decide on which side of the target it is, or is too
    /// wide to interpolate from.
    fn finer_level(&self, trial: &Trial) -> Option<usize> {
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

    /// Makes all further trials certificates.
    pub(super) fn certify(&mut self) {
        self.certifying = true;
    }

    /// A trial with the cost that is reported: the answer of [`Plan::epsilon`] to the caller's options. It passes if
    /// that cost is within the target, and so are the costs under the default options and with the plan's numbers read
    /// as decimals.
    fn certificate(&self, plan: &Plan, value: f64) -> Result<Trial, CalibrateError> {
        self.options.watch.check(0.0).map_err(AskError::from)?;
        let cost = match plan.epsilon(self.delta, self.options) {
            Err(error @ (AskError::BelowLeak { .. } | AskError::Unbounded { .. })) => {
                return Ok(self.infinite(plan, value, error));
            }
            cost => cost?,
        };
        let own = self.trial(value, cost);
        match own.passes {
            true => Ok(self.with_other_readings(own, plan)?),
            false => Ok(own),
        }
    }

    /// The trial, or a copy with the larger upper end that does not pass, if another reading of the plan does not pass.
    fn with_other_readings(&self, own: Trial, plan: &Plan) -> Result<Trial, CalibrateError> {
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
                // If no value has a finite cost in decimals, that is no reason against this one.
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

    /// True if the leaks use up all of delta, in decimals, even at the value that leaks least.
    fn leaks_all(&self, delta: Delta) -> bool {
        let (safest, _) = self.search.unknown.range();
        self.in_decimals(safest).is_ok_and(|plan| {
            let mut wholes = plan.compositions.iter();
            wholes.any(|whole| {
                !matches!(leak::remainder(&whole.leaks.above, delta.get()), Remainder::Positive(_))
            })
        })
    }

    /// The plan at a value, with its numbers read from their decimal texts and rounded to the safe side.
    fn in_decimals(&self, value: f64) -> Result<Plan, PlanError> {
        let releases = self.releases_with(value)?;
        let releases = releases.iter().map(decimals::rounded_to_cost_more);
        Plan::for_neighbours(releases, self.search.adjacency, self.search.group)
    }

    fn cost(&self, plan: &Plan, tolerance: Tolerance) -> Result<Answer, AskError> {
        self.options.watch.check(0.0)?;
        plan.epsilon_within_tolerance(self.delta, &Options { tolerance, ..*self.options })
    }

    fn trial(&self, value: f64, cost: Answer) -> Trial {
        let upper = cost.bracket.upper;
        let (passes, excess) = (upper <= self.target, (upper / self.target).ln());
        Trial { value, cost, passes, excess, infinite: None }
    }

    /// A trial without a finite epsilon. Its lower end is infinite if even the lower bounds on the leaks leave no room.
    fn infinite(&self, plan: &Plan, value: f64, error: AskError) -> Trial {
        let unbounded = matches!(error, AskError::Unbounded { .. });
        let certain = plan.compositions.iter().any(|whole| {
            match leak::remainder(&whole.lower_composition().leaks.below, self.delta.get()) {
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

/// Tolerances from coarse to fine: far from the target a coarse answer is enough. Counts are far enough apart for the
/// finest one to decide on which side of the target each is.
fn tolerances(asked: Tolerance, unknown: Unknown) -> Vec<Tolerance> {
    let finest = if unknown == Unknown::Count { FINEST } else { FINE };
    let mut list = vec![asked.get().max(COARSE), asked.get(), asked.get().min(FINE)];
    list.push(asked.get().min(finest));
    list.into_iter().filter_map(|tolerance| Tolerance::new(tolerance).ok()).collect()
}
