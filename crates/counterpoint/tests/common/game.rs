//! Games of an adversary against an account, every outcome enumerated.
//!
//! A game is a tree: at each node the adversary, who knows everything, picks a query that the
//! account admits; each outcome of its worst pair is a branch. The leaves carry their exact
//! probabilities under P and Q, so that the delta of the whole game is a finite sum. Nothing
//! here uses the composition code that is being tested.

use super::is_full;
use counterpoint::mechanism::FinitePair;
use counterpoint::{Adjacency, Count, Mechanism, Release};
use counterpoint_budget::{Amount, Charge, Filter, Promise, Query, Terms};
use counterpoint_numerics::normal_tail;
use counterpoint_testing::Random;

/// Outcomes: (P mass, Q mass).
pub(crate) type Pair = Vec<(f64, f64)>;

/// Games in the full run, and a fortieth of them in the quick one.
pub(crate) fn games(full: usize) -> usize {
    if is_full() { full } else { full / 40 }
}

pub(crate) fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

/// A double in a few decimal digits, rounded down.
pub(crate) fn short(x: f64) -> Amount {
    Amount::from_f64(x.max(0.0)).unwrap().floor(12)
}

pub(crate) fn terms() -> Terms {
    Terms::new(Adjacency::AddRemove)
}

/// Leaky randomized response, with the leaks of both sides.
pub(crate) fn response(epsilon: f64, delta: f64) -> Pair {
    let (up, down) = (1.0 / (1.0 + (-epsilon).exp()), 1.0 / (1.0 + epsilon.exp()));
    let keep = 1.0 - delta;
    vec![(delta, 0.0), (keep * up, keep * down), (keep * down, keep * up), (0.0, delta)]
}

/// Loss l with probability p, the rest of the mass at the loss that balances Q.
pub(crate) fn two_points(l: f64, p: f64) -> Pair {
    let q = p * (-l).exp();
    vec![(p, q), (1.0 - p, 1.0 - q)]
}

/// N(mu, 1) against N(0, 1), told apart at a threshold.
pub(crate) fn threshold(mu: f64, x: f64) -> Pair {
    let tail = |x: f64| normal_tail(x).0.estimate();
    vec![(tail(x - mu), tail(x)), (tail(mu - x), tail(-x))]
}

/// delta at an epsilon in the worse direction.
pub(crate) fn delta_of(leaves: &[(f64, f64)], epsilon: f64) -> f64 {
    let rate = epsilon.exp();
    let one = |ahead: fn(&(f64, f64)) -> (f64, f64)| -> f64 {
        leaves.iter().map(ahead).map(|(p, q)| (p - rate * q).max(0.0)).sum()
    };
    one(|&leaf| leaf).max(one(|&(p, q)| (q, p)))
}

/// The Rényi divergence in the worse direction; Kullback-Leibler's at order 1.
pub(crate) fn divergence_of(leaves: &[(f64, f64)], order: f64) -> f64 {
    let one = |p: f64, q: f64| match (p > 0.0, order > 1.0) {
        (false, _) => 0.0,
        (true, true) => (order * p.ln() + (1.0 - order) * q.ln()).exp(),
        (true, false) => p * (p / q).ln(),
    };
    let [ahead, back] = [false, true].map(|turned| {
        let terms = leaves.iter().map(|&(p, q)| if turned { one(q, p) } else { one(p, q) });
        let sum: f64 = terms.sum();
        if order > 1.0 { sum.ln() / (order - 1.0) } else { sum }
    });
    ahead.max(back)
}

/// The largest x in an interval for which something holds that holds below it.
pub(crate) fn most((mut low, mut high): (f64, f64), holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(low) {
        return None;
    }
    for _ in 0..45 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// A rule that admits a query to an account, given the totals: returns the new totals, or `None`.
pub(crate) type Rule<'a> = dyn Fn(&Charge, &Query) -> Option<Charge> + 'a;

pub(crate) fn rule(filter: &Filter) -> impl Fn(&Charge, &Query) -> Option<Charge> + '_ {
    |spent, query| filter.admit(spent, &filter.charge(query).ok()?).ok()
}

pub(crate) fn finite(pair: &Pair) -> Option<Query> {
    let [p, q]: [Vec<f64>; 2] =
        [pair.iter().map(|o| o.0).collect(), pair.iter().map(|o| o.1).collect()];
    let pair = FinitePair::new(&p, &q).ok()?;
    Some(Query::from(Release::from((Mechanism::Finite(pair), Count::ONE))))
}

pub(crate) fn approx(epsilon: &Amount, delta: &Amount) -> Option<Query> {
    Query::approx_dp(epsilon.clone(), delta.clone()).ok()
}

/// An adversary's choice at a node, given the loss so far.
pub(crate) type Move<'a> =
    dyn FnMut(&mut Random, &Rule<'_>, &Charge, f64, u32) -> Option<(Query, Pair)> + 'a;

/// All leaves of one game.
pub(crate) fn play(
    random: &mut Random,
    rule: &Rule<'_>,
    choose: &mut Move<'_>,
    depth: u32,
) -> Pair {
    let mut leaves = Vec::new();
    let mut open = vec![((1.0_f64, 1.0_f64), Charge::default(), 0)];
    while let Some(((p, q), spent, at)) = open.pop() {
        let over = at == depth || p <= 0.0 || q <= 0.0;
        let next = if over { None } else { choose(random, rule, &spent, (p / q).ln(), at) };
        // A query that is not admitted does not run.
        let admitted = next.and_then(|(query, pair)| Some((rule(&spent, &query)?, pair)));
        match admitted {
            None => leaves.push((p, q)),
            Some((spent, pair)) => {
                let branches = pair.iter().filter(|outcome| outcome.0 + outcome.1 > 0.0);
                open.extend(branches.map(|&(a, b)| ((p * a, q * b), spent.clone(), at + 1)));
            }
        }
    }
    leaves
}

/// Some randomized response that may or may not fit, the smaller the later.
pub(crate) fn some_response(random: &mut Random, capacity: &Charge) -> Option<(Query, Pair)> {
    let epsilon = short(capacity.main.upper().min(20.0) * random.log_uniform(0.01, 1.0));
    let delta = match random.below(3) {
        0 => Amount::ZERO,
        _ => short(capacity.delta.upper() * random.log_uniform(0.05, 1.0)),
    };
    Some((approx(&epsilon, &delta)?, response(epsilon.lower(), delta.lower())))
}

/// The largest leaky randomized response that still fits, its delta taken first or last.
pub(crate) fn last_response(
    random: &mut Random,
    rule: &Rule<'_>,
    spent: &Charge,
    capacity: &Charge,
) -> Option<(Query, Pair)> {
    let left = capacity.delta.checked_sub(&spent.delta)?;
    let delta = if random.once_in(3) { Amount::ZERO } else { left };
    let fits =
        |x: f64| approx(&short(x), &delta).is_some_and(|query| rule(spent, &query).is_some());
    let epsilon = short(most((0.0, 40.0), fits)?);
    Some((approx(&epsilon, &delta)?, response(epsilon.lower(), delta.lower())))
}

/// The two-point pair that fills the budget at an order and aims just past epsilon.
pub(crate) fn last_pair(
    random: &mut Random,
    rule: &Rule<'_>,
    spent: &Charge,
    (order, epsilon, loss): (f64, f64, f64),
) -> Option<(Query, Pair)> {
    let aim = epsilon - loss + (order / (order - 1.0)).ln() * random.of(&[1.0, 1.0, 0.8, 1.2]);
    if aim <= 1e-3 {
        return None;
    }
    let fits =
        |p: f64| finite(&two_points(aim, p)).is_some_and(|query| rule(spent, &query).is_some());
    let p = most((1e-12, 1.0 - 1e-12), fits)?;
    Some((finite(&two_points(aim, p))?, two_points(aim, p)))
}

/// True if the promise was exceeded.
pub(crate) fn is_exceeded(filter: &Filter, leaves: &[(f64, f64)]) -> bool {
    let exceeds = |found: f64, promised: &Amount| found > promised.upper() * (1.0 + 1e-10) + 1e-14;
    let leaky = leaves.iter().any(|&(p, q)| p <= 0.0 || q <= 0.0);
    match filter.promise() {
        Promise::ApproxDp { epsilon, delta } => exceeds(delta_of(leaves, epsilon.upper()), delta),
        Promise::Zcdp { rho, .. } => {
            !leaky
                && [1.0, 1.5, 2.0, 5.0, 20.0]
                    .iter()
                    .any(|&order| divergence_of(leaves, order) > order * rho.upper() * (1.0 + 1e-9))
        }
        _ => false,
    }
}

fn with_capacity(filter: &Filter, capacity: Charge) -> Filter {
    Filter::from_stored(filter.currency(), filter.promise().clone(), capacity, filter.terms())
}

fn more(x: &Amount) -> Amount {
    x * &amount("1.01")
}

/// The same with a budget 1 % too generous.
pub(crate) fn spoilt(filter: &Filter) -> Filter {
    let Charge { main, delta, pure } = filter.capacity().clone();
    with_capacity(filter, Charge { main: more(&main), delta: more(&delta), pure })
}

/// The same with a sum of pure epsilons that may be 1 % too large.
pub(crate) fn spoilt_beside(filter: &Filter) -> Filter {
    let capacity = filter.capacity().clone();
    let pure = capacity.pure.as_ref().map(more);
    with_capacity(filter, Charge { pure, ..capacity })
}

/// Plays a game by the rule, and the same by one whose budget is 1 % too generous.
pub(crate) fn sound_and_spoilt(
    seed: u64,
    filter: &Filter,
    depth: u32,
    choose: &mut Move<'_>,
    caught: &mut usize,
) {
    sound_and_broken(seed, (filter, &spoilt(filter)), depth, choose, caught);
}

/// Plays a game by the rule, and the same by a broken one.
pub(crate) fn sound_and_broken(
    seed: u64,
    (filter, broken): (&Filter, &Filter),
    depth: u32,
    choose: &mut Move<'_>,
    caught: &mut usize,
) {
    let leaves = play(&mut Random::new(seed), &rule(filter), choose, depth);
    let all = leaves.iter().fold((0.0, 0.0), |sum, leaf| (sum.0 + leaf.0, sum.1 + leaf.1));
    assert!((all.0 - 1.0).abs() < 1e-9 && (all.1 - 1.0).abs() < 1e-9, "{all:?}");
    assert!(!is_exceeded(filter, &leaves), "seed {seed}: {filter:?}: {leaves:?}");
    let leaves = play(&mut Random::new(seed), &rule(broken), choose, depth);
    *caught += usize::from(is_exceeded(filter, &leaves));
}
