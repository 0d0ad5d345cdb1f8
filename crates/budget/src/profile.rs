//! Domination by profiles.
//!
//! With x = exp(e), the profile of finitely many losses is a chain of lines in x with corners
//! at the losses, flat beyond the largest; every profile is convex in x and starts from 1 at
//! x = 0. So a profile that is within the chain at each corner is within it everywhere.
//! Corners at negative losses are those of the other direction at positive ones.

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
use counterpoint::watch::{Go, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, UNIT};
use std::cell::Cell;

/// With more corners than this nothing is decided.
const MOST_CORNERS: usize = 400;

/// The steps after which a question is left undecided. One is taken for each delta that is asked for, and whenever its
/// computation says that it goes on, every few milliseconds at most.
const MOST_STEPS: u64 = 30_000;

/// What is left of the work that a question may take. Steps are counted and not timed, so that it has one answer on every
/// machine, today and when a history is verified.
pub(super) struct Work(Cell<u64>);

impl Default for Work {
    fn default() -> Self {
        Self(Cell::new(MOST_STEPS))
    }
}

impl Work {
    /// Takes so many steps; `None` if they are not left.
    pub(super) fn take(&self, steps: u64) -> Option<()> {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.map(drop)
    }

    /// The delta of losses at an epsilon, if there is work left for it.
    fn delta(
        &self,
        whole: DirectedLoss<'_>,
        epsilon: Epsilon,
        tolerance: Tolerance,
    ) -> Option<Bracket> {
        self.take(1)?;
        let counted = |_: f64| if self.take(1).is_some() { Go::On } else { Go::Stop };
        let options = Options { tolerance, watch: Watch::with(&counted), ..Options::default() };
        whole.delta(epsilon, &options).ok().map(|answer| answer.bracket)
    }
}

/// Queries and how many of each.
type Counted = [(Query, u64)];

/// Whether finitely many losses dominate others; `None` if that cannot be told. Slots that
/// are no pairs are left out, as there is no profile that they surely reach, and so are those
/// with more losses.
pub(super) fn dominates(
    slots: &Counted,
    opened: &Counted,
    terms: Terms,
    work: &Work,
) -> Option<bool> {
    let is_finite = |(slot, _): &&(Query, u64)| stands_for(slot, terms, ReleaseLoss::is_finite);
    let slots: Vec<_> = slots.iter().filter(is_finite).cloned().collect();
    if is_beyond(&slots, opened, terms) {
        return Some(false);
    }
    let above = plan(&slots, terms, Query::beneath)?;
    let below = plan(opened, terms, |query| Some(query.once()))?;
    let top_is_within = top_is_within(&slots, opened, terms);
    let directions: &[Direction] = if above.has_one_loss() && below.has_one_loss() {
        &[Direction::Remove]
    } else {
        &[Direction::Remove, Direction::Add]
    };
    for &direction in directions {
        let (above, below) = (above.directed(direction)?, below.directed(direction)?);
        // Beyond the slots' largest loss nothing is left for what has none.
        if !above.has_leak() && !below.is_bounded() {
            return Some(false);
        }
        let mut corners = above.values(MOST_CORNERS)?;
        corners.sort_by(|a, b| b.hi.total_cmp(&a.hi).then(b.lo.total_cmp(&a.lo)));
        // The slots' epsilons were rounded down, by one unit in the last place at most.
        let rounded = 4.0 * UNIT * corners.first()?.hi.abs();
        let known = usize::from(top_is_within);
        for &corner in corners.iter().skip(known) {
            if !is_within(above, below, (corner, rounded), work)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// The least that a symmetric pair is apart in total variation: delta at epsilon zero.
pub(super) fn total_variation(slot: &Query, terms: Terms, work: &Work) -> Option<f64> {
    // A range stands for all mechanisms with it, and its Rényi curve is lower than its pair's.
    stands_for(slot, terms, ReleaseLoss::is_of_one_pair).then_some(())?;
    let plan = plan(&[(slot.clone(), 1)], terms, Query::beneath)?;
    let whole = plan.has_one_loss().then(|| plan.directed(Direction::Remove))??;
    let zero = Epsilon::new(0.0).ok()?;
    work.take(1)?;
    whole.delta(zero, &Options::default()).ok().map(|answer| answer.bracket.lower)
}

/// Whether a description has a certain loss in each direction.
fn stands_for(query: &Query, terms: Terms, holds: impl Fn(&ReleaseLoss) -> bool) -> bool {
    charge::losses(query, terms).is_ok_and(|both| both.iter().all(holds))
}

fn plan(list: &Counted, terms: Terms, once: impl Fn(&Query) -> Option<Release>) -> Option<Plan> {
    let release = |(query, count): &(Query, u64)| {
        Some(Release { count: Count::new(*count).ok()?, ..once(query)? })
    };
    let releases: Vec<Release> = list.iter().map(release).collect::<Option<_>>()?;
    Plan::with(releases, Some(terms.adjacency), terms.group).ok()
}

/// Whether a profile is within another at a corner of it, known to some 80 bits but for how
/// it was rounded: a little to the left for the one, a little to the right for the other.
fn is_within(
    above: DirectedLoss<'_>,
    below: DirectedLoss<'_>,
    (corner, rounded): (Dd, f64),
    work: &Work,
) -> Option<bool> {
    let error = Dd::from(rounded + 4096.0 * STEP * (1.0 + corner.hi.abs()));
    let (left, right) = ((corner - error).lower(), (corner + error).upper());
    if right < 0.0 {
        return Some(true);
    }
    let legal = |x: f64| Epsilon::new(if x < 1e-100 { 0.0 } else { x }).ok();
    // Most are told apart by a few digits.
    for digits in [1e-3, 1e-6, 1e-9] {
        let tolerance = Tolerance::new(digits).ok()?;
        let most = work.delta(above, legal(right.max(1e-100))?, tolerance)?;
        let asked = work.delta(below, legal(left)?, tolerance)?;
        if asked.upper <= most.lower {
            return Some(true);
        }
        if asked.lower > most.upper {
            break;
        }
    }
    Some(false)
}

/// Whether the largest loss and the leak of guarantees are within those of others, by exact
/// amounts: beyond the largest loss only the leaks are left.
fn top_is_within(slots: &Counted, opened: &Counted, terms: Terms) -> bool {
    let stated = |(slot, _): &(Query, u64)| {
        matches!(slot.description(), Description::ApproxDp { .. }) && terms.group.get() == 1
    };
    slots.iter().all(stated)
        && labels(slots, terms)
            .zip(labels(opened, terms))
            .is_some_and(|((most, least), (sum, kept))| sum <= most && kept >= least)
}

/// Whether the largest loss is above that of slots without a leak: then nothing has to be computed.
fn is_beyond(slots: &Counted, opened: &Counted, terms: Terms) -> bool {
    labels(slots, terms)
        .zip(labels(opened, terms))
        .is_some_and(|((most, least), (sum, _))| sum > most && least == Amount::from(1))
}

/// The largest loss and the chance that nothing leaks, all together.
fn labels(list: &Counted, terms: Terms) -> Option<(Amount, Amount)> {
    let (mut sum, mut kept, mut leaks) = (Amount::ZERO, Amount::from(1), 0_u64);
    for (query, count) in list {
        let label = charge::of(query, Currency::Sums, terms).ok()?;
        sum = &sum + &label.main.times(*count);
        let keep = Amount::from(1).less(&label.delta)?;
        leaks = leaks.saturating_add(if label.delta.is_zero() { 0 } else { *count });
        for _ in 0..if label.delta.is_zero() { 0 } else { (*count).min(65) } {
            kept = &kept * &keep;
        }
    }
    (leaks <= 64).then_some((sum, kept))
}
