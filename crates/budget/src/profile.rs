//! Domination by profiles.
//!
//! With x = exp(e), the profile of finitely many losses is a chain of lines in x with corners at the losses, constant
//! beyond the largest. Every profile is convex in x and is 1 at x = 0. So a profile that is within the chain at each
//! corner is within it everywhere. Corners at negative losses are corners of the other direction at positive losses.

use crate::amount::Amount;
use crate::charge;
use crate::query::{Description, Query};
use crate::terms::{Currency, Terms};
use counterpoint::Plan;
use counterpoint::ask::Options;
use counterpoint::ask::{DirectedLoss, ReleaseLoss};
use counterpoint::loss::Direction;
use counterpoint::mechanism::Release;
use counterpoint::quantity::{Count, Epsilon, Tolerance};
use counterpoint::watch::{Control, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, UNIT};
use std::cell::Cell;

/// The largest number of corners; with more, the comparison is undecided.
const MOST_CORNERS: usize = 400;

/// The number of steps after which a comparison is undecided. Each delta takes one step. Each progress call of a
/// delta's computation takes one more. Progress calls follow the work that is done, and at most a few milliseconds of
/// work lie between two calls.
const MOST_STEPS: u64 = 30_000;

/// The steps that are left for one comparison. Steps are counted and not timed, so a comparison has the same result on
/// every machine, and again when a history is verified.
pub(super) struct StepBudget(Cell<u64>);

impl Default for StepBudget {
    fn default() -> Self {
        Self(Cell::new(MOST_STEPS))
    }
}

impl StepBudget {
    /// Takes steps; `None` if fewer are left.
    pub(super) fn take(&self, steps: u64) -> Option<()> {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.map(drop)
    }

    /// The delta of a loss at an epsilon, if enough steps are left.
    fn delta(
        &self,
        whole: DirectedLoss<'_>,
        epsilon: Epsilon,
        tolerance: Tolerance,
    ) -> Option<Bracket> {
        self.take(1)?;
        let counted =
            |_: f64| if self.take(1).is_some() { Control::Continue } else { Control::Stop };
        let options = Options { tolerance, watch: Watch::new(&counted), ..Options::default() };
        whole.delta(epsilon, &options).ok().map(|answer| answer.bracket)
    }
}

/// Queries, each once, with their counts.
type QueryCounts = [(Query, u64)];

/// True if the slots with finitely many losses dominate the opened queries; `None` if that is undecided. All other
/// slots are left out: those with infinitely many losses, and those that are not pairs, because no mechanism is known
/// to attain their profile.
pub(super) fn dominates(
    slots: &QueryCounts,
    opened: &QueryCounts,
    terms: Terms,
    step_budget: &StepBudget,
) -> Option<bool> {
    let is_finite = |(slot, _): &&(Query, u64)| both_losses(slot, terms, ReleaseLoss::is_finite);
    let slots: Vec<_> = slots.iter().filter(is_finite).cloned().collect();
    if is_beyond(&slots, opened, terms) {
        return Some(false);
    }
    let above = plan(&slots, terms, Query::lower_release)?;
    let below = plan(opened, terms, |query| Some(query.once()))?;
    let top_is_within = top_is_within(&slots, opened, terms);
    let directions: &[Direction] = if above.has_one_loss() && below.has_one_loss() {
        &[Direction::Remove]
    } else {
        &[Direction::Remove, Direction::Add]
    };
    for &direction in directions {
        let (above, below) = (above.directed_loss(direction)?, below.directed_loss(direction)?);
        // Beyond the slots' largest loss their delta is zero if they have no leak.
        if !above.has_leak() && !below.is_bounded() {
            return Some(false);
        }
        let mut corners = above.values(MOST_CORNERS)?;
        corners.sort_by(|a, b| b.hi.total_cmp(&a.hi).then(b.lo.total_cmp(&a.lo)));
        // The slots' epsilons were rounded down, by at most one unit in the last place.
        let rounded = 4.0 * UNIT * corners.first()?.hi.abs();
        // The first corner is the largest loss, which exact amounts have shown to be within.
        let known = usize::from(top_is_within);
        for &corner in corners.iter().skip(known) {
            if !is_within(above, below, (corner, rounded), step_budget)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// A lower bound on the total variation distance of a symmetric pair, which is delta at epsilon zero.
pub(super) fn total_variation(slot: &Query, terms: Terms, step_budget: &StepBudget) -> Option<f64> {
    // This rule does not apply to slots with a range of losses: such a slot stands for all mechanisms within the range,
    // and their Rényi curve is lower than that of the range's pair.
    both_losses(slot, terms, ReleaseLoss::is_of_one_pair).then_some(())?;
    let plan = plan(&[(slot.clone(), 1)], terms, Query::lower_release)?;
    let whole = plan.has_one_loss().then(|| plan.directed_loss(Direction::Remove))??;
    let zero = Epsilon::new(0.0).ok()?;
    step_budget.take(1)?;
    whole.delta(zero, &Options::default()).ok().map(|answer| answer.bracket.lower)
}

/// True if a query's losses meet a condition in both directions.
fn both_losses(query: &Query, terms: Terms, holds: impl Fn(&ReleaseLoss) -> bool) -> bool {
    charge::losses(query, terms).is_ok_and(|both| both.iter().all(holds))
}

fn plan(
    list: &QueryCounts,
    terms: Terms,
    once: impl Fn(&Query) -> Option<Release>,
) -> Option<Plan> {
    let release = |(query, count): &(Query, u64)| {
        Some(Release { count: Count::new(*count).ok()?, ..once(query)? })
    };
    let releases: Vec<Release> = list.iter().map(release).collect::<Option<_>>()?;
    Plan::for_neighbours(releases, Some(terms.adjacency), terms.group).ok()
}

/// True if the profile `below` is at most the profile `above` at a corner. Corners are known to some 80 bits, apart
/// from the rounding of the description; so `above` is taken a little to the right and `below` a little to the left.
fn is_within(
    above: DirectedLoss<'_>,
    below: DirectedLoss<'_>,
    (corner, rounded): (Dd, f64),
    step_budget: &StepBudget,
) -> Option<bool> {
    let error = Dd::from(rounded + 4096.0 * STEP * (1.0 + corner.hi.abs()));
    let (left, right) = ((corner - error).lower(), (corner + error).upper());
    if right < 0.0 {
        return Some(true);
    }
    let legal = |x: f64| Epsilon::new(if x < 1e-100 { 0.0 } else { x }).ok();
    // A few digits decide most comparisons.
    for digits in [1e-3, 1e-6, 1e-9] {
        let tolerance = Tolerance::new(digits).ok()?;
        let most = step_budget.delta(above, legal(right.max(1e-100))?, tolerance)?;
        let asked = step_budget.delta(below, legal(left)?, tolerance)?;
        if asked.upper <= most.lower {
            return Some(true);
        }
        if asked.lower > most.upper {
            break;
        }
    }
    Some(false)
}

/// True if the largest loss and the leak of the opened queries are within those of the slots, by exact amounts. Applies
/// to slots that are guarantees: beyond the largest loss only leaks are left.
fn top_is_within(slots: &QueryCounts, opened: &QueryCounts, terms: Terms) -> bool {
    let stated = |(slot, _): &(Query, u64)| {
        matches!(slot.description(), Description::ApproxDp { .. }) && terms.group.get() == 1
    };
    slots.iter().all(stated)
        && whole_guarantee(slots, terms)
            .zip(whole_guarantee(opened, terms))
            .is_some_and(|((most, least), (sum, kept))| sum <= most && kept >= least)
}

/// True if the slots have no leak and the queries have a larger largest loss. Then no profile has to be computed.
fn is_beyond(slots: &QueryCounts, opened: &QueryCounts, terms: Terms) -> bool {
    whole_guarantee(slots, terms)
        .zip(whole_guarantee(opened, terms))
        .is_some_and(|((most, least), (sum, _))| sum > most && least == Amount::from(1))
}

/// The guarantee of all queries together: the sum of the largest losses, and the probability that no query leaks.
/// `None` if a query has no guarantee, or if more than 64 runs leak: the exact product would have too many digits.
fn whole_guarantee(list: &QueryCounts, terms: Terms) -> Option<(Amount, Amount)> {
    let (mut sum, mut kept, mut leaks) = (Amount::ZERO, Amount::from(1), 0_u64);
    for (query, count) in list {
        let guarantee = charge::charge_once(query, Currency::Sums, terms).ok()?;
        sum = &sum + &guarantee.main.times(*count);
        let keep = Amount::from(1).checked_sub(&guarantee.delta)?;
        leaks = leaks.saturating_add(if guarantee.delta.is_zero() { 0 } else { *count });
        for _ in 0..if guarantee.delta.is_zero() { 0 } else { (*count).min(65) } {
            kept = &kept * &keep;
        }
    }
    (leaks <= 64).then_some((sum, kept))
}
