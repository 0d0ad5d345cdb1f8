//! Calibration: the least noise, the largest loss or the largest count that a target allows.

mod decimals;
mod failing;
mod trial;
mod unknown;

use super::{Answer, AskError, Options};
use crate::composition::CompositionError;
use crate::composition::PlanError;
use crate::loss::LossError;
use crate::mechanism::{Adjacency, Release};
use crate::quantity::{Delta, Epsilon, GroupSize, format_number};
use trial::{Trial, Trials};

impl Calibration {
    /// The relative distance between the value and the nearest value that provably fails.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let (failing, _) = self.failing.as_ref()?;
        Some((failing - self.value).abs() / self.value.max(*failing))
    }
}

/// The parameter that calibration finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The standard deviation of (discrete) Gaussian releases; the least that meets the target.
    Sigma,
    /// The scale of Laplace and geometric releases; the least that meets the target.
    Scale,
    /// The epsilon of releases that have one; the largest that meets the target.
    Epsilon,
    /// The count; the largest that meets the target.
    Count,
}

/// A plan with an unknown parameter.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The releases. Those that vary keep the ratios of their present values: a release with twice the scale of another
    /// keeps it. (Where all present values are zero, as epsilons may be, the releases take equal values.)
    pub releases: &'a [Release],
    /// The indices of the releases that vary; if empty, all that have the unknown.
    pub varying: &'a [usize],
    /// The parameter that varies.
    pub unknown: Unknown,
    /// The neighbouring relation.
    pub adjacency: Option<Adjacency>,
    /// The number of people who are protected together.
    pub group: GroupSize,
}

/// A value that meets the target, the next value on the unsafe side, and a value that provably fails. Where several
/// releases vary, values are those of the first release whose present value is positive.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// The value that meets the target.
    pub value: f64,
    /// The plan's epsilon at this value and the target's delta: the answer of [`Plan::epsilon`](crate::Plan::epsilon)
    /// for `releases` with the same options.
    pub cost: Answer,
    /// The next legal double (or count) on the unsafe side, with its cost. The cost's upper end is above the target,
    /// and infinite if no finite epsilon could be certified. `None` if the value is at the end of the legal range. The
    /// upper end may be that of the plan written in decimals, with its numbers read back and rounded to the safe side.
    pub beyond: Option<(f64, Answer)>,
    /// The nearest value found that provably does not meet the target: its cost's lower end is above the target. It is
    /// `beyond` itself where brackets can decide, else a little further on; `None` if none is found.
    pub failing: Option<(f64, Answer)>,
    /// The releases with the value filled in.
    pub releases: Vec<Release>,
    /// The indices of the releases in which the value was filled in.
    pub varied: Vec<usize>,
}

/// Reasons why calibration fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// No release has the unknown.
    #[error("no release has a {unknown}; legal: {legal}")]
    NothingVaries {
        /// The name of the unknown.
        unknown: &'static str,
        /// The mechanisms that have it.
        legal: &'static str,
    },
    /// A chosen release does not have the unknown.
    #[error("release {} has no {unknown}; legal: {legal}", .index + 1)]
    DoesNotVary {
        /// The release's index, from 0.
        index: usize,
        /// The name of the unknown.
        unknown: &'static str,
        /// The mechanisms that have it.
        legal: &'static str,
    },
    /// No legal value meets the target.
    #[error("no {unknown} meets the target: even {} costs epsilon {}", format_number(*.value), format_number(*.cost))]
    OutOfReach {
        /// The name of the unknown.
        unknown: &'static str,
        /// The safest legal value.
        value: f64,
        /// The cost at that value.
        cost: f64,
    },
    /// The plan has no meaning.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A trial found no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// Finds the least noise, the largest epsilon or the largest count that meets (epsilon, delta).
///
/// The value's certified cost is within the target, and the certified cost of the next value is not. The value's cost
/// equals the cost of composing the finished plan, to the last bit. It also stays within the target if the plan is
/// written as text and its numbers are read as exact decimals, as ledgers do. If the next value's lower end is above
/// the target too, that value is proved to fail. Otherwise no bracket can decide, and the nearest value that is proved
/// to fail is searched: the exact boundary lies between the two.
///
/// ```
/// use counterpoint::ask::{Search, Unknown, calibrate};
/// use counterpoint::quantity::GroupSize;
/// use counterpoint::{Count, Delta, Epsilon, Guarantee, Options, Release};
///
/// // A hundred equal questions within (1, 1e-6): how much may each spend?
/// let questions = [Release::from((Guarantee::pure(0.01)?, Count::new(100)?))];
/// let search = Search {
///     releases: &questions,
///     varying: &[],
///     unknown: Unknown::Epsilon,
///     adjacency: None,
///     group: GroupSize::ONE,
/// };
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let found = calibrate(&search, epsilon, delta, &Options::default())?;
/// assert!(found.cost.bracket.upper <= 1.0);
/// assert!(found.value > 0.02, "twice what adding them up allows");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`CalibrateError`].
pub fn calibrate(
    search: &Search<'_>,
    epsilon: Epsilon,
    delta: Delta,
    options: &Options<'_>,
) -> Result<Calibration, CalibrateError> {
    let varying = unknown::varying(search)?;
    let mut trials = Trials::new(search, varying, (epsilon, delta), options);
    let (safe, beyond) = match bracket_target(&mut trials)? {
        (safe, Some(beyond)) => neighbours(&mut trials, safe, beyond)?,
        at_the_end => at_the_end,
    };
    let failing = match &beyond {
        Some(beyond) => failing::nearest(&mut trials, beyond)?,
        None => None,
    };
    let (safe, beyond) = certify_neighbours(&mut trials, &safe, beyond.as_ref())?;
    Ok(Calibration {
        value: safe.value,
        cost: safe.cost,
        beyond: beyond.map(|beyond| (beyond.value, beyond.cost)),
        failing: failing.map(|failing| (failing.value, failing.cost)),
        releases: trials.releases_with(safe.value)?,
        varied: trials.varying.iter().map(|&(index, _)| index).collect(),
    })
}

/// A value that meets the target and one that does not; the least safe legal value alone if even that one meets the
/// target.
fn bracket_target(trials: &mut Trials<'_>) -> Result<(Trial, Option<Trial>), CalibrateError> {
    let mut last = start(trials)?;
    let mut patience = 1.0;
    loop {
        let (next, at_the_end) = match further(trials, &last, patience) {
            // Too far for every route: a smaller step may do.
            Err(CalibrateError::Ask(AskError::ToleranceNotMet { .. })) if patience > 0.01 => {
                patience /= 4.0;
                continue;
            }
            answer => answer?,
        };
        match (last.passes, next.passes) {
            (true, false) => return Ok((last, Some(next))),
            (false, true) => return Ok((next, Some(last))),
            (true, true) if at_the_end => return Ok((next, None)),
            (false, false) if at_the_end => return all_values_fail(trials, next),
            _ => last = next,
        }
        patience *= 4.0;
    }
}

/// A trial nearer to the change; the flag is true if it is at the end of the legal range.
fn further(
    trials: &mut Trials<'_>,
    last: &Trial,
    patience: f64,
) -> Result<(Trial, bool), CalibrateError> {
    let unknown = trials.search.unknown;
    let (safest, least_safe) = unknown.range();
    let limit = if last.passes { least_safe } else { safest };
    let next = next_stride(unknown, last, limit, patience);
    match trials.plan(next) {
        Ok(plan) => Ok((trials.ask(&plan, next)?, (next - limit).abs() < f64::MIN_POSITIVE)),
        Err(_) => Ok((legal_edge(trials, last.value, next)?, true)),
    }
}

/// Even the safest positive value fails; an epsilon may still be zero.
fn all_values_fail(
    trials: &mut Trials<'_>,
    safest: Trial,
) -> Result<(Trial, Option<Trial>), CalibrateError> {
    let mut last = safest;
    if trials.search.unknown == Unknown::Epsilon
        && let Ok(plan) = trials.plan(0.0)
    {
        let none = trials.ask(&plan, 0.0)?;
        if none.passes {
            return Ok((none, Some(last)));
        }
        last = none;
    }
    match last.infinite {
        Some(error) => Err(error.into()),
        None => Err(CalibrateError::OutOfReach {
            unknown: trials.search.unknown.name(),
            value: last.value,
            cost: last.cost.bracket.upper,
        }),
    }
}

/// The first trial: at the plan's present value, or else at any legal value.
fn start(trials: &mut Trials<'_>) -> Result<Trial, CalibrateError> {
    let Search { releases, unknown, .. } = *trials.search;
    let values =
        trials.varying.iter().filter_map(|&(index, _)| unknown.value(releases.get(index)?));
    let present = values.into_iter().find(|value| *value > 0.0).unwrap_or(1.0);
    let refusal = match trials.plan(present) {
        Ok(plan) => return trials.ask(&plan, present),
        Err(refusal) => refusal,
    };
    let (a, b) = unknown.range();
    let decades = (0..=100).flat_map(|k| [10_f64.powi(k), 10_f64.powi(-k)]);
    if is_of_range(&refusal) {
        for value in decades.filter(|value| (a.min(b)..=a.max(b)).contains(value)) {
            if let Ok(plan) = trials.plan(value) {
                return trials.ask(&plan, value);
            }
        }
    }
    Err(refusal.into())
}

/// True if another value might be legal.
fn is_of_range(error: &PlanError) -> bool {
    match error {
        PlanError::Release { error, .. } => matches!(error, LossError::Range { .. }),
        PlanError::Composition(error) => !matches!(error, CompositionError::Empty),
    }
}

/// A step towards the limit, a little longer than needed if the cost is proportional to the value or its reciprocal.
/// Each step is longer than the one before.
fn next_stride(unknown: Unknown, last: &Trial, limit: f64, patience: f64) -> f64 {
    let octaves = last.excess.abs() * std::f64::consts::LOG2_E;
    let octaves = if octaves.is_finite() { octaves.min(64.0) } else { 1.0 };
    let factor = ((1.1 * octaves + 0.1) * patience).min(700.0).exp2();
    let whole = unknown == Unknown::Count;
    if limit > last.value {
        let next = last.value * factor;
        (if whole { next.ceil() } else { next }).min(limit)
    } else {
        let next = last.value / factor;
        (if whole { next.floor() } else { next }).max(limit)
    }
}

/// A trial of the last legal value before an illegal one.
fn legal_edge(trials: &mut Trials<'_>, legal: f64, illegal: f64) -> Result<Trial, CalibrateError> {
    let (mut legal, mut illegal) = (legal, illegal);
    while let Some(middle) = between(trials.search.unknown, legal, illegal, 0.5) {
        match trials.plan(middle) {
            Ok(_) => legal = middle,
            Err(_) => illegal = middle,
        }
    }
    let plan = trials.plan(legal)?;
    trials.ask(&plan, legal)
}

/// Narrows the interval until no legal value lies between one that passes and one that does not.
///
/// The logarithm of the cost is interpolated by the Illinois rule, which approaches from both sides; after three steps
/// that did not halve the gap, the next step halves it. The upper ends need not be perfectly monotone: each end is a
/// value that was tried.
fn neighbours(
    trials: &mut Trials<'_>,
    safe: Trial,
    beyond: Trial,
) -> Result<(Trial, Option<Trial>), CalibrateError> {
    let unknown = trials.search.unknown;
    let (mut safe, mut beyond) = (safe, beyond);
    let mut weights = (safe.excess, beyond.excess);
    let mut last_passed = None;
    let mut slow = 0;
    loop {
        let before = gap(safe.value, beyond.value);
        let share =
            if before <= 16 || slow >= 3 { 0.5 } else { weights.0 / (weights.0 - weights.1) };
        let share = if share.is_finite() { share } else { 0.5 };
        let Some(value) = between(unknown, safe.value, beyond.value, share) else {
            return Ok((safe, Some(beyond)));
        };
        let plan = trials.plan(value)?;
        let next = trials.ask(&plan, value)?;
        let less = if last_passed == Some(next.passes) { 0.5 } else { 1.0 };
        last_passed = Some(next.passes);
        if next.passes {
            weights = (next.excess, weights.1 * less);
            safe = next;
        } else {
            weights = (weights.0 * less, next.excess);
            beyond = next;
        }
        slow = if gap(safe.value, beyond.value) > before / 2 { slow + 1 } else { 0 };
    }
}

/// Moves from values that fine brackets distinguish to neighbours that certificates distinguish. Mostly these are the
/// same, else a little to the safe side.
fn certify_neighbours(
    trials: &mut Trials<'_>,
    safe: &Trial,
    beyond: Option<&Trial>,
) -> Result<(Trial, Option<Trial>), CalibrateError> {
    trials.certify();
    let ask = |trials: &mut Trials<'_>, value: f64| trials.ask(&trials.plan(value)?, value);
    let here = ask(trials, safe.value)?;
    let there = beyond.map(|beyond| ask(trials, beyond.value)).transpose()?;
    match there {
        _ if !here.passes => {
            let (last, next) = walk_across(trials, here)?;
            match next {
                Some(next) => neighbours(trials, next, last),
                None => all_values_fail(trials, last),
            }
        }
        Some(there) if there.passes => match walk_across(trials, there)? {
            (last, Some(next)) => neighbours(trials, last, next),
            (last, None) => Ok((last, None)),
        },
        there => Ok((here, there)),
    }
}

/// Walks in strides that double until a trial is on the other side of the target. Returns the last trial before it and
/// that trial, or no second trial if the legal range ends first.
fn walk_across(
    trials: &mut Trials<'_>,
    from: Trial,
) -> Result<(Trial, Option<Trial>), CalibrateError> {
    let unknown = trials.search.unknown;
    let (safest, least_safe) = unknown.range();
    let limit = if from.passes { least_safe } else { safest };
    let mut distance = if from.excess.is_finite() { from.excess.abs() } else { 0.0 };
    let mut last = from;
    loop {
        distance = (2.0 * distance).max(f64::EPSILON);
        let next = step_towards(unknown, last.value, limit, distance);
        if gap(next, last.value) == 0 {
            return Ok((last, None));
        }
        let Ok(plan) = trials.plan(next) else { return Ok((last, None)) };
        let trial = trials.ask(&plan, next)?;
        if trial.passes != last.passes {
            return Ok((last, Some(trial)));
        }
        last = trial;
    }
}

/// A value nearer to a limit by a relative distance, and at least by one double or count.
fn step_towards(unknown: Unknown, value: f64, limit: f64, distance: f64) -> f64 {
    let whole = unknown == Unknown::Count;
    if limit > value {
        let next = value * (1.0 + distance);
        (if whole { next.ceil().max(value + 1.0) } else { next.max(value.next_up()) }).min(limit)
    } else {
        let next = value / (1.0 + distance);
        (if whole { next.floor().min(value - 1.0) } else { next.min(value.next_down()) }).max(limit)
    }
}

/// The number of doubles between two positive ones.
fn gap(a: f64, b: f64) -> u64 {
    a.to_bits().abs_diff(b.to_bits())
}

/// A legal value strictly between two, about this share of the way; `None` between an epsilon of zero and the least
/// positive one. Counting doubles is nearly the same as taking logarithms.
fn between(unknown: Unknown, a: f64, b: f64, share: f64) -> Option<f64> {
    let (low, high) = (a.min(b), a.max(b));
    let whole = unknown == Unknown::Count;
    if low <= 0.0 || gap(a, b) <= 1 || (whole && high - low < 1.5) {
        return None;
    }
    let share = if a < b { share } else { 1.0 - share };
    let steps = (gap(a, b) as f64 * share) as u64;
    let value = f64::from_bits(low.to_bits() + steps.clamp(1, gap(a, b) - 1));
    Some(if whole { value.round().clamp(low + 1.0, high - 1.0) } else { value })
}
