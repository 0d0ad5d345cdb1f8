//! Adaptive adversaries against every rule for budgets spent as one goes.
//!
//! A game is a tree: at each node the adversary, who knows everything, picks a query that the
//! account admits; each outcome of its worst pair is a branch. The leaves carry their exact
//! probabilities under P and Q, so that the delta of the whole game is a finite sum. Nothing
//! here uses the composition code that is being tested.

#[path = "common/random.rs"]
#[allow(dead_code)]
mod random;

use counterpoint::filter::{
    Amount, Charge, Currency, Filter, Odometer, PlanAccount, Promise, Query, Terms,
};
use counterpoint::mechanism::FinitePair;
use counterpoint::quantity::{Order, Tolerance};
use counterpoint::rounding::normal_tail;
use counterpoint::{
    Adjacency, Composition, Count, Epsilon, Guarantee, Mechanism, Options, Release,
};
use random::Random;

/// Outcomes: (P mass, Q mass).
type Pair = Vec<(f64, f64)>;

fn is_full() -> bool {
    std::env::var("COUNTERPOINT_FULL").is_ok_and(|value| value == "1")
}

/// Games in the full run, and a fortieth of them in the quick one.
fn games(full: usize) -> usize {
    if is_full() { full } else { full / 40 }
}

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

/// A double in a few decimal digits, rounded down.
fn short(x: f64) -> Amount {
    Amount::from_f64(x.max(0.0)).unwrap().floor(12)
}

fn terms() -> Terms {
    Terms::new(Adjacency::AddRemove)
}

/// Leaky randomized response, with the leaks of both sides.
fn response(epsilon: f64, delta: f64) -> Pair {
    let (up, down) = (1.0 / (1.0 + (-epsilon).exp()), 1.0 / (1.0 + epsilon.exp()));
    let keep = 1.0 - delta;
    vec![(delta, 0.0), (keep * up, keep * down), (keep * down, keep * up), (0.0, delta)]
}

/// Loss l with probability p, the rest of the mass at the loss that balances Q.
fn two_points(l: f64, p: f64) -> Pair {
    let q = p * (-l).exp();
    vec![(p, q), (1.0 - p, 1.0 - q)]
}

/// N(mu, 1) against N(0, 1), told apart at a threshold.
fn threshold(mu: f64, x: f64) -> Pair {
    let tail = |x: f64| normal_tail(x).0.estimate();
    vec![(tail(x - mu), tail(x)), (tail(mu - x), tail(-x))]
}

/// delta at an epsilon in the worse direction.
fn delta_of(leaves: &[(f64, f64)], epsilon: f64) -> f64 {
    let rate = epsilon.exp();
    let one = |ahead: fn(&(f64, f64)) -> (f64, f64)| -> f64 {
        leaves.iter().map(ahead).map(|(p, q)| (p - rate * q).max(0.0)).sum()
    };
    one(|&leaf| leaf).max(one(|&(p, q)| (q, p)))
}

/// The Rényi divergence in the worse direction; Kullback-Leibler's at order 1.
fn divergence_of(leaves: &[(f64, f64)], order: f64) -> f64 {
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
fn most((mut low, mut high): (f64, f64), holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(low) {
        return None;
    }
    for _ in 0..45 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// Whether an account lets a query in: its totals, if so.
type Rule<'a> = dyn Fn(&Charge, &Query) -> Option<Charge> + 'a;

fn rule(filter: &Filter) -> impl Fn(&Charge, &Query) -> Option<Charge> + '_ {
    |spent, query| filter.admit(spent, &filter.charge(query).ok()?).ok()
}

fn finite(pair: &Pair) -> Option<Query> {
    let [p, q]: [Vec<f64>; 2] =
        [pair.iter().map(|o| o.0).collect(), pair.iter().map(|o| o.1).collect()];
    let pair = FinitePair::new(&p, &q).ok()?;
    Some(Query::from(Release::from((Mechanism::Finite(pair), Count::ONE))))
}

fn approx(epsilon: &Amount, delta: &Amount) -> Option<Query> {
    Query::approx_dp(epsilon.clone(), delta.clone()).ok()
}

/// What an adversary does at a node, with the loss so far.
type Move<'a> = dyn FnMut(&mut Random, &Rule<'_>, &Charge, f64, u32) -> Option<(Query, Pair)> + 'a;

/// All leaves of one game.
fn play(random: &mut Random, rule: &Rule<'_>, choose: &mut Move<'_>, depth: u32) -> Pair {
    let mut leaves = Vec::new();
    let mut open = vec![((1.0_f64, 1.0_f64), Charge::default(), 0)];
    while let Some(((p, q), spent, at)) = open.pop() {
        let over = at == depth || p <= 0.0 || q <= 0.0;
        let next = if over { None } else { choose(random, rule, &spent, (p / q).ln(), at) };
        // What is not admitted is not run.
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
fn some_response(random: &mut Random, capacity: &Charge) -> Option<(Query, Pair)> {
    let epsilon = short(capacity.main.upper().min(20.0) * random.log_uniform(0.01, 1.0));
    let delta = match random.below(3) {
        0 => Amount::ZERO,
        _ => short(capacity.delta.upper() * random.log_uniform(0.05, 1.0)),
    };
    Some((approx(&epsilon, &delta)?, response(epsilon.lower(), delta.lower())))
}

/// The largest leaky randomized response that still fits, its delta taken first or last.
fn last_response(
    random: &mut Random,
    rule: &Rule<'_>,
    spent: &Charge,
    capacity: &Charge,
) -> Option<(Query, Pair)> {
    let left = capacity.delta.less(&spent.delta)?;
    let delta = if random.once_in(3) { Amount::ZERO } else { left };
    let fits =
        |x: f64| approx(&short(x), &delta).is_some_and(|query| rule(spent, &query).is_some());
    let epsilon = short(most((0.0, 40.0), fits)?);
    Some((approx(&epsilon, &delta)?, response(epsilon.lower(), delta.lower())))
}

/// The two-point pair that fills the budget at an order and aims just past epsilon.
fn last_pair(
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

/// Whether the promise was exceeded.
fn is_exceeded(filter: &Filter, leaves: &[(f64, f64)]) -> bool {
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

fn spoilt(filter: &Filter) -> Filter {
    let more = |x: &Amount| x * &amount("1.01");
    let capacity = filter.capacity();
    let capacity = Charge { main: more(&capacity.main), delta: more(&capacity.delta) };
    Filter::restored(filter.currency(), filter.promise().clone(), capacity, filter.terms())
}

/// Plays a game by the rule, and the same by one whose budget is 1 % too generous.
fn sound_and_spoilt(
    seed: u64,
    filter: &Filter,
    depth: u32,
    choose: &mut Move<'_>,
    caught: &mut usize,
) {
    let leaves = play(&mut Random::new(seed), &rule(filter), choose, depth);
    let all = leaves.iter().fold((0.0, 0.0), |sum, leaf| (sum.0 + leaf.0, sum.1 + leaf.1));
    assert!((all.0 - 1.0).abs() < 1e-9 && (all.1 - 1.0).abs() < 1e-9, "{all:?}");
    assert!(!is_exceeded(filter, &leaves), "seed {seed}: {filter:?}: {leaves:?}");
    let broken = spoilt(filter);
    let leaves = play(&mut Random::new(seed), &rule(&broken), choose, depth);
    *caught += usize::from(is_exceeded(filter, &leaves));
}

fn some_target(random: &mut Random) -> (Amount, Amount) {
    let epsilon = amount(random.of(&["0.5", "1", "2", "5", "10"]));
    let delta = amount(random.of(&["1e-6", "0.001", "0.01", "0.1"]));
    (epsilon, delta)
}

#[test]
fn sums_are_never_exceeded() {
    let (mut random, mut caught, all) = (Random::new(1), 0, games(10_000));
    for _ in 0..all {
        let (epsilon, delta) = some_target(&mut random);
        let filter = Filter::sums(epsilon, delta, terms()).unwrap();
        let capacity = filter.capacity().clone();
        let (first, depth) = (random.below(3) as u32, random.between(1, 3) as u32);
        let mut choose = |random: &mut Random, rule: &Rule<'_>, spent: &Charge, _: f64, at: u32| {
            if at < first {
                some_response(random, &capacity)
            } else {
                // The delta of the broken account is larger: take what its rule lets in.
                let delta = most((0.0, 0.2), |d| {
                    let query = approx(&Amount::ZERO, &short(d));
                    query.is_some_and(|query| rule(spent, &query).is_some())
                })?;
                let ends = Charge { delta: &spent.delta + &short(delta), ..capacity.clone() };
                last_response(random, rule, spent, &ends)
            }
        };
        sound_and_spoilt(random.bits(), &filter, depth, &mut choose, &mut caught);
    }
    assert!(caught * 10 > all, "only {caught} of {all} broken games were noticed");
}

#[test]
fn renyi_at_one_order_is_never_exceeded() {
    let (mut random, mut caught, all) = (Random::new(2), 0, games(10_000));
    for _ in 0..all {
        let (epsilon, delta) = some_target(&mut random);
        let leaks = if random.once_in(2) { Amount::ZERO } else { delta.half() };
        let order = Order::new(random.of(&[1.5, 2.0, 3.0, 6.0, 11.0, 33.0])).unwrap();
        let Ok(filter) = Filter::renyi(epsilon.clone(), delta, leaks, order, terms()) else {
            continue;
        };
        let (goal, capacity) = (epsilon.upper(), filter.capacity().clone());
        let (first, depth) = (random.below(3) as u32, random.between(1, 3) as u32);
        let mut choose =
            |random: &mut Random, rule: &Rule<'_>, spent: &Charge, loss: f64, at: u32| match random
                .below(4)
            {
                _ if at < first => some_response(random, &capacity),
                0 => last_response(random, rule, spent, &capacity),
                _ => last_pair(random, rule, spent, (order.get(), goal, loss)),
            };
        sound_and_spoilt(random.bits(), &filter, depth, &mut choose, &mut caught);
    }
    assert!(caught * 20 > all, "only {caught} of {all} broken games were noticed");
}

#[test]
fn concentrated_privacy_is_never_exceeded() {
    let (mut random, mut caught, all) = (Random::new(3), 0, games(10_000));
    for _ in 0..all {
        let (epsilon, delta) = some_target(&mut random);
        let filter = if random.once_in(2) {
            Filter::zcdp(epsilon, delta.clone(), delta.half(), terms()).unwrap()
        } else {
            Filter::zcdp_budget(amount(random.of(&["0.1", "0.5", "2"])), Amount::ZERO, terms())
                .unwrap()
        };
        let capacity = filter.capacity().clone();
        let (first, depth) = (random.below(3) as u32, random.between(1, 3) as u32);
        let mut choose = |random: &mut Random, rule: &Rule<'_>, spent: &Charge, _: f64, at: u32| {
            if at < first {
                some_response(random, &capacity)
            } else {
                last_response(random, rule, spent, &capacity)
            }
        };
        sound_and_spoilt(random.bits(), &filter, depth, &mut choose, &mut caught);
    }
    assert!(caught * 20 > all, "only {caught} of {all} broken games were noticed");
}

/// Gaussians told apart at thresholds, the last one where the whole loss passes epsilon.
#[test]
fn gaussian_privacy_is_never_exceeded() {
    let (mut random, mut caught, all) = (Random::new(4), 0, games(10_000));
    let targets: Vec<(f64, Filter)> = [("1", "0.01"), ("0.5", "0.1"), ("3", "0.001")]
        .map(|(e, d)| (e.parse().unwrap(), Filter::gdp(amount(e), amount(d), terms()).unwrap()))
        .into();
    for _ in 0..all {
        let (goal, filter) = &targets[random.below(3) as usize];
        let capacity = filter.capacity().main.upper();
        let (first, depth) = (random.below(3) as u32, random.between(1, 3) as u32);
        let mut choose =
            |random: &mut Random, rule: &Rule<'_>, spent: &Charge, loss: f64, at: u32| {
                let fits = |mu: f64| {
                    Query::gdp(short(mu)).is_ok_and(|query| rule(spent, &query).is_some())
                };
                let mu = if at < first {
                    capacity.sqrt() * random.unit()
                } else {
                    most((0.0, 2.0 * capacity.sqrt()), fits)?
                };
                let mu = short(mu);
                let size = mu.lower();
                if size < 1e-6 {
                    return None;
                }
                // mu x - mu^2/2 = epsilon - loss.
                let x = if at < first {
                    random.uniform(-2.0, 3.0)
                } else {
                    (goal - loss) / size + 0.5 * size
                };
                Some((Query::gdp(mu).ok()?, threshold(size, x.clamp(-30.0, 30.0))))
            };
        sound_and_spoilt(random.bits(), filter, depth, &mut choose, &mut caught);
    }
    assert!(caught * 20 > all, "only {caught} of {all} broken games were noticed");
}

/// The chance that the loss ever passes what the odometer said at that time.
fn ever_passed(odometer: &Odometer, random: &mut Random, steps: u32) -> f64 {
    let ever = |turned: bool, leaves: &[(f64, f64, bool, bool)]| -> f64 {
        let mass = |leaf: &(f64, f64, bool, bool)| if turned { leaf.1 } else { leaf.0 };
        let passed = |leaf: &&(f64, f64, bool, bool)| if turned { leaf.3 } else { leaf.2 };
        leaves.iter().filter(passed).map(mass).sum()
    };
    let mut open = vec![((1.0_f64, 1.0_f64), odometer.start(), 0, (false, false))];
    let mut leaves = Vec::new();
    while let Some(((p, q), spent, at, passed)) = open.pop() {
        let loss = (p / q).ln();
        let level = random.below(odometer.levels().len() as u64) as usize;
        let level = &odometer.levels()[level];
        let next = (at < steps && p > 0.0 && q > 0.0).then(|| {
            if at + 1 < steps || random.once_in(4) {
                let epsilon = short(level.epsilon.upper() * random.log_uniform(0.02, 0.4));
                let query = approx(&epsilon, &Amount::ZERO)?;
                return Some((query, response(epsilon.lower(), 0.0)));
            }
            let aim = level.epsilon.upper() * (1.0 + 1e-9) - loss;
            let held = |p: f64| {
                let charge = odometer.charge(&finite(&two_points(aim, p))?).ok()?;
                let bound = odometer.bound(&spent.plus(&charge))?;
                (bound <= level.epsilon).then_some(())
            };
            let p = most((1e-12, 1.0 - 1e-12), |p| aim > 1e-3 && held(p).is_some())?;
            Some((finite(&two_points(aim, p))?, two_points(aim, p)))
        });
        let Some((query, pair)) = next.flatten() else {
            leaves.push((p, q, passed.0, passed.1));
            continue;
        };
        let spent = spent.plus(&odometer.charge(&query).unwrap());
        let bound = odometer.bound(&spent).map_or(f64::INFINITY, |bound| bound.upper());
        for &(a, b) in pair.iter().filter(|outcome| outcome.0 + outcome.1 > 0.0) {
            let (p, q) = (p * a, q * b);
            // A hair, as the losses here are doubles.
            let over = |loss: f64| loss > bound * (1.0 + 1e-12);
            let passed = (passed.0 || over((p / q).ln()), passed.1 || over((q / p).ln()));
            open.push(((p, q), spent.clone(), at + 1, passed));
        }
    }
    ever(false, &leaves).max(ever(true, &leaves))
}

#[test]
fn odometers_hold_at_all_times_at_once() {
    let (mut random, mut caught, all) = (Random::new(5), 0, games(10_000));
    for _ in 0..all {
        let delta = amount(random.of(&["0.001", "0.01", "0.1"]));
        let count = random.of(&[1, 2, 4]);
        let (first, ratio) = (amount(random.of(&["2", "5"])), amount("1.5"));
        let shape = (&first, &ratio, count);
        let odometer = Odometer::with(delta.clone(), Amount::ZERO, shape, terms()).unwrap();
        let (seed, steps) = (random.bits(), random.between(1, 3) as u32);
        let passed = ever_passed(&odometer, &mut Random::new(seed), steps);
        assert!(passed <= delta.upper() * (1.0 + 1e-9), "seed {seed}: {passed} {odometer:?}");
        let mut levels = odometer.levels().to_vec();
        for level in &mut levels {
            level.capacity = &level.capacity * &amount("1.01");
        }
        let broken = Odometer::restored(delta.clone(), Amount::ZERO, levels, terms());
        caught += usize::from(
            ever_passed(&broken, &mut Random::new(seed), steps) > delta.upper() * (1.0 + 1e-9),
        );
    }
    assert!(caught * 50 > all, "only {caught} of {all} broken games were noticed");
}

/// Slots opened in an order that depends on the answers, some with less than they allow.
#[test]
fn declared_plans_are_never_exceeded() {
    let (mut random, all) = (Random::new(6), games(10_000));
    let options = Options { tolerance: Tolerance::new(1e-9).unwrap(), ..Options::default() };
    for _ in 0..all {
        let slots = random.between(1, 4) as usize;
        let declared: Vec<(Amount, Amount)> = (0..slots)
            .map(|_| {
                let leak = if random.once_in(2) { 0.0 } else { random.log_uniform(1e-4, 0.1) };
                (short(random.log_uniform(0.05, 2.0)), short(leak))
            })
            .collect();
        let queries = declared.iter().map(|(e, d)| approx(e, d).unwrap()).collect();
        let account = PlanAccount::new(queries, terms()).unwrap();
        let mut open = vec![((1.0, 1.0), account.clone())];
        let mut leaves = Vec::new();
        while let Some(((p, q), mut account)) = open.pop() {
            let free: Vec<usize> =
                (0..slots).filter(|&slot| account.slots()[slot].left() > 0).collect();
            if free.is_empty() || p <= 0.0 || q <= 0.0 || random.once_in(12) {
                leaves.push((p, q));
                continue;
            }
            let slot = random.of(&free);
            let (epsilon, delta) = &declared[slot];
            let share = if random.once_in(4) { amount("0.5") } else { amount("1") };
            let epsilon = epsilon * &share;
            account.open(slot, &approx(&epsilon, delta).unwrap()).unwrap();
            for (a, b) in response(epsilon.lower(), delta.lower()) {
                if a + b > 0.0 {
                    open.push(((p * a, q * b), account.clone()));
                }
            }
        }
        for epsilon in [0.0, random.uniform(0.1, 2.0), random.uniform(0.0, 8.0)] {
            let promised = account.delta(Epsilon::new(epsilon).unwrap(), &options).unwrap();
            let found = delta_of(&leaves, epsilon);
            assert!(found <= promised.bracket.upper * (1.0 + 1e-10) + 1e-14, "{declared:?}");
        }
    }
}

/// Budget (1, 0.01): RR(1), then on + RR(0.0273592953025063), on - a leak of 0.01. Either
/// branch by itself is within the budget; both together are not.
#[test]
fn composing_what_was_accepted_is_unsound_and_refused() {
    let (first, second) = ("1", "0.0273592953025063");
    let guarantee = |e: &str, d: &str| Guarantee::new(e.parse().unwrap(), d.parse().unwrap());
    let one = Epsilon::new(1.0).unwrap();
    for (e, d) in [(second, "0"), ("0", "0.01")] {
        let accepted =
            [(guarantee(first, "0").unwrap(), Count::ONE), (guarantee(e, d).unwrap(), Count::ONE)];
        let composed = Composition::new(accepted).unwrap();
        let naive = counterpoint::delta(&composed, one, &Options::default()).unwrap();
        // The naive rule accepts: delta is 0.01, to all digits of the epsilon given.
        assert!(naive.bracket.upper < 0.01 * (1.0 + 1e-12), "{}", naive.bracket);
        assert!(naive.bracket.lower > 0.01 * (1.0 - 1e-12), "{}", naive.bracket);
    }
    let ends = |after: Pair, p: f64, q: f64| -> Pair {
        after.iter().map(|&(a, b)| (p * a, q * b)).collect()
    };
    let start = response(1.0, 0.0);
    let leaves = [
        ends(response(second.parse().unwrap(), 0.0), start[1].0, start[1].1),
        ends(response(0.0, 0.01), start[2].0, start[2].1),
    ]
    .concat();
    let whole = delta_of(&leaves, 1.0);
    assert!((whole - 0.0126894142137).abs() < 1e-13, "{whole}");

    let [e, d] = ["1", "0.01"].map(amount);
    let zero = Amount::ZERO;
    let plus = approx(&amount(second), &zero).unwrap();
    let minus = approx(&zero, &amount("0.01")).unwrap();
    for filter in promising(&e, &d) {
        assert!(
            !lets_both(&filter, &approx(&amount("1"), &zero).unwrap(), &plus, &minus),
            "{filter:?}"
        );
    }
    // As a plan both branches' slots have to be declared, and cost more than the budget.
    let slots = vec![approx(&amount("1"), &zero).unwrap(), plus, minus];
    let account = PlanAccount::new(slots, terms()).unwrap();
    assert!(!account.keeps(&e, &d, &Options::default()).unwrap());
}

/// Every filter that promises an (epsilon, delta): orders and shares of all kinds.
fn promising(epsilon: &Amount, delta: &Amount) -> Vec<Filter> {
    let (e, d) = (|| epsilon.clone(), || delta.clone());
    let shares = [Amount::ZERO, delta.half(), delta * &amount("0.999999")];
    let mut list = vec![Filter::sums(e(), d(), terms()).unwrap()];
    list.extend(Filter::gdp(e(), d(), terms()));
    list.extend(Filter::renyi_for(e(), d(), &[], terms()));
    for leaks in shares {
        list.extend(Filter::zcdp(e(), d(), leaks.clone(), terms()));
        for i in 0..60 {
            let order = Order::new(1.0 + (0.2 * f64::from(i) - 3.0).exp()).unwrap();
            list.extend(Filter::renyi(e(), d(), leaks.clone(), order, terms()));
        }
    }
    list
}

/// Whether a filter admits the first query and then either of two others.
fn lets_both(filter: &Filter, first: &Query, plus: &Query, minus: &Query) -> bool {
    let rule = rule(filter);
    let Some(spent) = rule(&Charge::default(), first) else { return false };
    rule(&spent, plus).is_some() && rule(&spent, minus).is_some()
}

/// E = 10, delta = 0.1, orders 2 and 11: RR(0.2), then on + a pair that order 2 lets in, on -
/// one that order 11 does.
#[test]
fn some_order_still_in_budget_is_unsound_and_refused() {
    let [e, d] = ["10", "0.1"].map(amount);
    let at = |order: f64| {
        Filter::renyi(e.clone(), d.clone(), Amount::ZERO, Order::new(order).unwrap(), terms())
            .unwrap()
    };
    let (two, eleven) = (at(2.0), at(11.0));
    assert!((two.capacity().main.upper() - 9.08371).abs() < 5e-6);
    assert!((eleven.capacity().main.upper() - 10.10484).abs() < 5e-6);
    let first = approx(&amount("0.2"), &Amount::ZERO).unwrap();
    let fill = |filter: &Filter, loss: f64| {
        let rule = rule(filter);
        let spent = rule(&Charge::default(), &first).unwrap();
        let fits =
            |p: f64| finite(&two_points(loss, p)).is_some_and(|q| rule(&spent, &q).is_some());
        most((1e-9, 1.0 - 1e-12), fits).unwrap()
    };
    // Which order lets in the surer pair on either branch is the adversary's choice.
    let (high, low) = (fill(&eleven, 9.963), fill(&two, 10.893));
    assert!((high - 0.9999529).abs() < 1e-6, "{high}");
    assert!((low - 0.157438).abs() < 2e-6, "{low}");
    let start = response(0.2, 0.0);
    let ends = |after: Pair, (p, q): (f64, f64)| -> Pair {
        after.iter().map(|&(a, b)| (p * a, q * b)).collect()
    };
    let leaves =
        [ends(two_points(9.963, high), start[1]), ends(two_points(10.893, low), start[2])].concat();
    let whole = delta_of(&leaves, 10.0);
    assert!((whole - 0.1181).abs() < 5e-5 && whole > 0.1 * 1.18, "{whole}");
    let plus = finite(&two_points(9.963, high)).unwrap();
    let minus = finite(&two_points(10.893, low)).unwrap();
    for filter in promising(&e, &d) {
        assert!(!lets_both(&filter, &first, &plus, &minus), "{filter:?}");
    }
    // Played at random, choosing the order afterwards is caught too, and a fixed one never.
    let some_order = |spent: &Charge, query: &Query| -> Option<Charge> {
        // The totals at both orders, kept in the two halves of a charge.
        let [a, b] = [&two, &eleven].map(|filter| filter.charge(query).map(|c| c.main).ok());
        let total = Charge { main: &spent.main + &a?, delta: &spent.delta + &b? };
        let within = total.main <= two.capacity().main || total.delta <= eleven.capacity().main;
        within.then_some(total)
    };
    let mut caught = 0;
    for seed in 0..200 {
        let mut choose = |random: &mut Random,
                          rule: &Rule<'_>,
                          spent: &Charge,
                          loss: f64,
                          at: u32| {
            if at == 0 {
                let epsilon = short(random.uniform(0.05, 0.5));
                return Some((approx(&epsilon, &Amount::ZERO)?, response(epsilon.lower(), 0.0)));
            }
            if loss < 0.0 {
                return last_pair(random, rule, spent, (2.0, 10.0, loss));
            }
            // Nearly surely, with as large a loss as order 11 lets in.
            let pair = |aim: f64| two_points(aim, 0.9999);
            let fits = |aim: f64| finite(&pair(aim)).is_some_and(|q| rule(spent, &q).is_some());
            let aim = most((5.0, 15.0), fits)?;
            Some((finite(&pair(aim))?, pair(aim)))
        };
        let leaves = play(&mut Random::new(seed), &some_order, &mut choose, 2);
        caught += usize::from(delta_of(&leaves, 10.0) > 0.1);
        for filter in [&two, &eleven] {
            let leaves = play(&mut Random::new(seed), &rule(filter), &mut choose, 2);
            assert!(!is_exceeded(filter, &leaves), "seed {seed}");
        }
    }
    assert!(caught > 20, "only {caught} of 200 were noticed");
    assert!(matches!(two.currency(), Currency::Renyi { .. }));
}
