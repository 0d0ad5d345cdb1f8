//! Decides whether declared slots cover the queries that are run in them.
//!
//! A slot with a pair covers a mechanism if the mechanism's output distributions on any two neighbouring data sets are
//! a randomized function of the slot's pair, that is, if the slot's profile is nowhere below the mechanism's. A slot
//! with a Rényi curve alone covers mechanisms that are shown to be within the curve. A plan composes a slot for an
//! exponential mechanism by a pair *and* by a Rényi curve that is lower than the pair's own. A mechanism that the pair
//! dominates may exceed this curve, so the slot covers exponential mechanisms alone. A query counts as covered only if
//! one of the rules here proves it; all other queries are refused.

use crate::amount::Amount;
use crate::charge;
use crate::curves;
use crate::error::FilterError;
use crate::profile::{self, StepBudget};
use crate::query::{Description, Query};
use crate::roc;
use crate::terms::{Currency, Terms};
use counterpoint::mechanism::{Guarantee, Mechanism, Release};
use counterpoint::quantity::{Count, GroupSize};
use counterpoint::theorem::convert;

/// The rule that shows that slots cover the queries run in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// The query is the declared one.
    Same,
    /// The query is of the same family and loses less: more noise, or a smaller sample.
    LessOfTheSame,
    /// The query's (epsilon, delta) guarantee implies the slot's (KOV Remark A.1).
    Guarantee,
    /// The query's concentrated privacy or Rényi divergences are within the slot's, at every order that the slot names.
    Divergences,
    /// The query's finite pair is a function of the slot's, by exact comparison of all outcomes.
    Outcomes,
    /// Every pure mechanism with the query's epsilon is a function of the slot's symmetric pair, because the slot's
    /// total variation is at least that of randomized response.
    TotalVariation,
    /// The query's profile is within the slots' at each of their losses, hence everywhere.
    Profile,
    /// The sum of the queries' squares of mu is within the slots'.
    Gaussians,
    /// Each query is covered by a slot of its own.
    OneByOne,
}

/// The error for slots that are not shown to cover the queries that were to run in them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{opened} is not shown to be covered by {slots}; legal: the same with no less noise, or a guarantee within the slot's"
)]
pub struct NotCoveredError {
    /// The declared slots, in words.
    pub slots: String,
    /// The queries to be run, in words.
    pub opened: String,
}

/// Reasons why slots do not cover queries.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CoverError {
    /// No rule shows that the slots cover the queries.
    #[error(transparent)]
    NotCovered(#[from] NotCoveredError),
    /// A query has no meaning under the terms, or no theorem covers it.
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// Shows that slots together cover queries, counts included: the slots dominate the queries at every real epsilon or,
/// where slots are known by Rényi curves, bound them at every order.
///
/// ```
/// use counterpoint::Adjacency;
/// use counterpoint_budget::{Query, Terms, covers};
/// let terms = Terms::new(Adjacency::AddRemove);
/// let pure = |epsilon: &str| -> Result<Query, Box<dyn std::error::Error>> {
///     Ok(Query::approx_dp(epsilon.parse()?, "0".parse()?)?)
/// };
/// // One epsilon of 0.3 covers 0.1 and 0.2 run one after the other, but not the reverse.
/// let (whole, parts) = ([pure("0.3")?], [pure("0.1")?, pure("0.2")?]);
/// assert!(covers(&whole, &parts, terms).is_ok());
/// assert!(covers(&parts, &whole, terms).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CoverError`] if a query has no meaning, or no rule shows that the slots cover the queries.
pub fn covers(slots: &[Query], opened: &[Query], terms: Terms) -> Result<Basis, CoverError> {
    for query in slots.iter().chain(opened) {
        charge::losses(query, terms)?;
    }
    let step_budget = StepBudget::default();
    let basis = match (slots, opened) {
        ([slot], [one]) if slot.count() >= one.count() => {
            basis_for_one(slot, one, terms, &step_budget)
        }
        _ => None,
    };
    let basis = basis.or_else(|| basis_for_lists(slots, opened, terms, &step_budget));
    basis.ok_or_else(|| NotCoveredError { slots: names(slots), opened: names(opened) }.into())
}

/// The queries of a list in words, at most five of them.
fn names(list: &[Query]) -> String {
    const SHOWN: usize = 5;
    let about = |query: &Query| match query.part() {
        Some(part) => format!("{} about part {part:?}", charge::name(query)),
        None => charge::name(query),
    };
    let one = |query: &Query| match query.count().get() {
        1 => about(query),
        n => format!("{n} x {}", about(query)),
    };
    let shown: Vec<String> = list.iter().take(SHOWN).map(one).collect();
    let rest = if list.len() > SHOWN { ", ..." } else { "" };
    if shown.is_empty() { "nothing".to_owned() } else { format!("{}{rest}", shown.join(", ")) }
}

/// The rule by which one slot covers one query, ignoring counts.
fn basis_for_one(
    slot: &Query,
    opened: &Query,
    terms: Terms,
    step_budget: &StepBudget,
) -> Option<Basis> {
    step_budget.take(1)?;
    if slot.part().is_some() && slot.part() != opened.part() {
        return None;
    }
    let alone = Terms { group: GroupSize::ONE, ..terms };
    let [above, below] = [slot, opened].map(|query| [(query.clone(), 1)]);
    let rules: [(Basis, &dyn Fn() -> bool); 7] = [
        (Basis::Same, &|| is_same(slot, opened)),
        (Basis::LessOfTheSame, &|| is_less_of_the_same(slot, opened)),
        (Basis::Guarantee, &|| guarantee_is_within(slot, opened, alone)),
        (Basis::Divergences, &|| curves::cover(&above, &below, alone)),
        (Basis::Outcomes, &|| outcomes_are_within(slot, opened)),
        (Basis::TotalVariation, &|| is_as_far_apart(slot, opened, terms, step_budget)),
        (Basis::Profile, &|| {
            profile::dominates(&above, &below, terms, step_budget).unwrap_or(false)
        }),
    ];
    rules.iter().find(|(_, holds)| holds()).map(|(basis, _)| *basis)
}

fn is_same(slot: &Query, opened: &Query) -> bool {
    slot.description() == opened.description() && slot.once() == opened.once()
}

/// True if `a/b <= c/d`, for positive denominators.
fn is_at_most((a, b): (&Amount, &Amount), (c, d): (&Amount, &Amount)) -> bool {
    a * d <= c * b
}

/// True if the query is of the slot's family with more noise or a smaller sample. Noise of a larger scale is noise of a
/// smaller one plus independent noise (for discrete Laplace noise too: the quotient of the two generating functions is
/// a series with positive coefficients), and a smaller shift is dominated by a larger one (theory 5.2). A Poisson
/// sample of lower rate is a mixture of a sample of higher rate and nothing, whatever mechanism runs on it.
fn is_less_of_the_same(slot: &Query, opened: &Query) -> bool {
    use Description::{Gaussian, Gdp, Laplace};
    let mu = |query: &Query| match query.description() {
        Gaussian { sigma, sensitivity } => Some((sensitivity.clone(), sigma.clone())),
        Gdp { mu } => Some((mu.clone(), Amount::from(1))),
        _ => None,
    };
    let (from, to) = (slot.description(), opened.description());
    if let (Some(most), Some(asked)) = (mu(slot), mu(opened)) {
        return is_at_most((&asked.0, &asked.1), (&most.0, &most.1));
    }
    match (from, to) {
        (Laplace { scale, sensitivity }, Laplace { scale: wider, sensitivity: smaller }) => {
            is_at_most((smaller, wider), (sensitivity, scale))
        }
        _ => {
            let rate = |release: &Release| release.rate.map_or(1.0, |rate| rate.get());
            slot.lower_release().is_some_and(|slot| {
                rate(opened.release()) <= rate(&slot)
                    && (has_more_noise(&slot.mechanism, &opened.release().mechanism)
                        || slot.rate.is_some()
                            && guarantee_implies(&slot.mechanism, &opened.release().mechanism))
            })
        }
    }
}

/// True if the query's guarantee implies the slot's. Both are guarantees on the same sample.
fn guarantee_implies(slot: &Mechanism, opened: &Mechanism) -> bool {
    match (slot, opened) {
        (Mechanism::ApproxDp(slot), Mechanism::ApproxDp(less)) => {
            less.epsilon <= slot.epsilon && less.delta <= slot.delta
        }
        _ => false,
    }
}

/// True if the opened mechanism has at least the slot's noise, in doubles rounded to the safe side. This function does
/// not compare (epsilon, delta) guarantees, which have rules of their own.
fn has_more_noise(slot: &Mechanism, opened: &Mechanism) -> bool {
    use Mechanism as M;
    let exact = |value: f64| Amount::from_f64(value).unwrap_or_default();
    let quotient = |a: (f64, f64), b: (f64, f64)| {
        is_at_most((&exact(a.0), &exact(a.1)), (&exact(b.0), &exact(b.1)))
    };
    match (slot, opened) {
        (M::Laplace { scale, sensitivity }, M::Laplace { scale: wider, sensitivity: smaller }) => {
            quotient((smaller.get(), wider.get()), (sensitivity.get(), scale.get()))
        }
        (
            M::Gaussian { sigma, sensitivity },
            M::Gaussian { sigma: wider, sensitivity: smaller },
        ) => quotient((smaller.get(), wider.get()), (sensitivity.get(), sigma.get())),
        (
            M::Geometric { scale, sensitivity },
            M::Geometric { scale: wider, sensitivity: smaller },
        ) => wider >= scale && smaller <= sensitivity,
        (
            M::DiscreteGaussian { sigma, sensitivity },
            M::DiscreteGaussian { sigma: same, sensitivity: smaller },
        ) => sigma == same && smaller <= sensitivity,
        (
            M::RandomizedResponse { epsilon, buckets },
            M::RandomizedResponse { epsilon: less, buckets: same },
        ) => buckets == same && less <= epsilon,
        (M::Exponential { epsilon }, M::Exponential { epsilon: less }) => less <= epsilon,
        (M::NameAndShame { delta }, M::NameAndShame { delta: less }) => less <= delta,
        _ => false,
    }
}

/// The (epsilon, delta) guarantee that the slot stands for, if it is a guarantee.
fn slot_guarantee(slot: &Query) -> Option<(&Amount, &Amount)> {
    match slot.description() {
        Description::ApproxDp { epsilon, delta } => Some((epsilon, delta)),
        _ => None,
    }
}

/// True if the query's epsilon and delta are both at most the slot's, or the query's guarantee implies the slot's
/// although its epsilon is larger and its delta smaller (KOV Remark A.1). The slot is rounded down and the query up.
fn guarantee_is_within(slot: &Query, opened: &Query, terms: Terms) -> bool {
    let Some((epsilon, delta)) = slot_guarantee(slot) else { return false };
    let Ok(guarantee) = charge::charge_once(opened, Currency::Sums, terms) else { return false };
    if guarantee.main <= *epsilon && guarantee.delta <= *delta {
        return true;
    }
    let from = Guarantee::new(guarantee.main.upper(), guarantee.delta.upper());
    let to = Guarantee::new(epsilon.lower(), delta.lower());
    from.is_ok_and(|from| {
        to.is_ok_and(|to| guarantee.delta <= *delta && convert::implies(from, to))
    })
}

/// True if the slot's finite pair dominates the query's. The pairs are those before sampling. A query on a sample
/// reveals no more than its pair, so it may be compared; a slot on a sample stands for less than its pair, so it may
/// not.
fn outcomes_are_within(slot: &Query, opened: &Query) -> bool {
    match (slot.description(), opened.description()) {
        (
            Description::Other(Mechanism::Finite(above)),
            Description::Other(Mechanism::Finite(below)),
        ) if !slot.is_sampled() => roc::dominates(above, below).unwrap_or(false),
        _ => false,
    }
}

/// True if the total variation of the slot's symmetric pair is at least that of randomized response with the query's
/// epsilon e. The trade-off curve of randomized response is two lines, which meet where both errors are
/// `1/(1 + exp(e))`. The slot's total variation determines the point of its own curve where both errors are equal. If
/// that point is not above the point where the lines meet, the slot's curve, which is convex, is nowhere above the
/// lines.
fn is_as_far_apart(slot: &Query, opened: &Query, terms: Terms, step_budget: &StepBudget) -> bool {
    let Ok(guarantee) = charge::charge_once(opened, Currency::Sums, terms) else { return false };
    if !guarantee.delta.is_zero() {
        return false;
    }
    let Ok(pure) = Guarantee::pure(guarantee.main.upper()) else { return false };
    let asked = convert::total_variation(pure).upper;
    profile::total_variation(slot, terms, step_budget).is_some_and(|least| asked <= least)
}

/// The rule by which lists of slots cover lists of queries. Equal entries are removed first; it is enough that the
/// remaining slots cover the remaining queries. Slots that a rule cannot use are ignored.
fn basis_for_lists(
    slots: &[Query],
    opened: &[Query],
    terms: Terms,
    step_budget: &StepBudget,
) -> Option<Basis> {
    let part = slots.first().and_then(Query::part);
    if slots.iter().chain(opened).any(|query| query.part() != part) {
        return None;
    }
    let counted = |list: &[Query]| -> Vec<(Query, u64)> {
        list.iter().map(|query| (query.clone().times(Count::ONE), query.count().get())).collect()
    };
    let (mut above, mut below) = (counted(slots), counted(opened));
    remove_covered(&mut above, &mut below, is_same);
    let (mut free, mut open) = (above.clone(), below.clone());
    remove_covered(&mut free, &mut open, |slot, query| {
        basis_for_one(slot, query, terms, step_budget).is_some()
    });
    let alone = Terms { group: GroupSize::ONE, ..terms };
    let rules: [(Basis, &dyn Fn() -> bool); 4] = [
        (Basis::OneByOne, &|| open.is_empty()),
        (Basis::Gaussians, &|| squares_are_within(&above, &below)),
        (Basis::Divergences, &|| curves::cover(&above, &below, alone)),
        (Basis::Profile, &|| {
            profile::dominates(&above, &below, terms, step_budget).unwrap_or(false)
        }),
    ];
    rules.iter().find(|(_, holds)| holds()).map(|(basis, _)| *basis)
}

/// True if the queries' squares of mu add up to at most those of the Gaussian slots. (Several Gaussian releases
/// together have the privacy loss of a single one, whose mu^2 is the sum of theirs.)
fn squares_are_within(slots: &[(Query, u64)], opened: &[(Query, u64)]) -> bool {
    let square = |query: &Query, up: bool| match query.description() {
        Description::Gdp { mu } => Some(mu * mu),
        Description::Gaussian { sigma, sensitivity } => {
            let (above, below) = (sensitivity * sensitivity, sigma * sigma);
            if up { above.div_up(&below) } else { above.div_down(&below) }
        }
        _ => None,
    };
    let most = slots.iter().filter_map(|(slot, count)| Some(square(slot, false)?.times(*count)));
    let most = most.fold(Amount::ZERO, |sum, square| &sum + &square);
    let asked = opened.iter().try_fold(Amount::ZERO, |sum, (query, count)| {
        Some(&sum + &square(query, true)?.times(*count))
    });
    asked.is_some_and(|asked| asked <= most)
}

/// Matches slots, in order, with queries that they cover, and removes both from the lists.
fn remove_covered(
    above: &mut Vec<(Query, u64)>,
    below: &mut Vec<(Query, u64)>,
    holds: impl Fn(&Query, &Query) -> bool,
) {
    for (query, wanted) in below.iter_mut() {
        for (slot, free) in above.iter_mut().filter(|(_, free)| *free > 0) {
            if *wanted > 0 && holds(slot, query) {
                let taken = (*wanted).min(*free);
                (*wanted, *free) = (*wanted - taken, *free - taken);
            }
        }
    }
    above.retain(|(_, free)| *free > 0);
    below.retain(|(_, wanted)| *wanted > 0);
}

#[cfg(test)]
mod tests;
