//! Adaptive adversaries against every rule for budgets spent as one goes, and against the same
//! rules with budgets 1 % too generous.

use crate::common::game;

use counterpoint::quantity::{Order, Tolerance};
use counterpoint::{Epsilon, Options};
use counterpoint_budget::{Amount, Charge, Currency, Filter, Odometer, PlanAccount, Query};
use counterpoint_testing::Random;
use game::*;
use std::cell::Cell;

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
    let (mut random, mut caught, mut played, all) = (Random::new(2), 0, 0, games(10_000));
    while played < all {
        let (epsilon, delta) = some_target(&mut random);
        let leaks = if random.once_in(2) { Amount::ZERO } else { delta.half() };
        let order = Order::new(random.of(&[1.5, 2.0, 3.0, 6.0, 11.0, 33.0])).unwrap();
        let Ok(filter) = Filter::renyi(epsilon.clone(), delta, leaks, order, terms()) else {
            continue;
        };
        played += 1;
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
                if at < first && random.once_in(2) {
                    // A pure query is charged like the Gaussians that it is a function of.
                    let epsilon = short(capacity.sqrt() * random.log_uniform(0.05, 1.0));
                    let query = approx(&epsilon, &Amount::ZERO)?;
                    return Some((query, response(epsilon.lower(), 0.0)));
                }
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

/// Accounts that add up curves and, beside them, pure epsilons: where the loss is high the
/// adversary fills the one budget, where it is low the other.
#[test]
fn two_rules_at_once_are_never_exceeded() {
    let targets = [("1", "1e-6"), ("0.5", "0.001"), ("2", "0.0001"), ("5", "0.001")];
    let mut filters = Vec::new();
    for (epsilon, delta) in targets.map(|(e, d)| (amount(e), amount(d))) {
        let (e, d) = (|| epsilon.clone(), || delta.clone());
        filters.extend(Filter::gdp(e(), d(), terms()));
        filters.extend(Filter::zcdp(e(), d(), delta.half(), terms()));
        for order in [2.0, 6.0, 33.0, 200.0] {
            let order = Order::new(order).unwrap();
            filters.extend(Filter::renyi(e(), d(), Amount::ZERO, order, terms()));
            filters.extend(Filter::renyi(e(), d(), delta.half(), order, terms()));
        }
    }
    let (mut random, mut caught, all) = (Random::new(7), [0, 0], games(10_000));
    // Admissions by the curve alone, and by the sum alone.
    let (by_curve, by_sum) = (Cell::new(0), Cell::new(0));
    for _ in 0..all {
        let filter = &filters[random.below(filters.len() as u64) as usize];
        let capacity = filter.capacity().clone();
        let goal = capacity.pure.as_ref().unwrap().upper();
        let order = match filter.currency() {
            Currency::Renyi { order } => order.get(),
            _ => random.of(&[3.0, 10.0, 30.0]),
        };
        let (first, depth) = (random.below(3) as u32, random.between(1, 3) as u32);
        let swapped = random.once_in(2);
        let mut choose =
            |random: &mut Random, rule: &Rule<'_>, spent: &Charge, loss: f64, at: u32| {
                let (query, pair) = if at < first {
                    some_response(random, &capacity)?
                } else if (loss > 0.0) == swapped || random.once_in(8) {
                    // As much as is left, pure: the larger of what both rules leave.
                    let fits = |x: f64| {
                        approx(&short(x), &Amount::ZERO).is_some_and(|q| rule(spent, &q).is_some())
                    };
                    let epsilon = short(most((0.0, 40.0), fits)?);
                    (approx(&epsilon, &Amount::ZERO)?, response(epsilon.lower(), 0.0))
                } else if random.once_in(2) {
                    last_pair(random, rule, spent, (order, goal, loss))?
                } else {
                    last_response(random, rule, spent, &capacity)?
                };
                let total = spent.plus(&filter.charge(&query).ok()?);
                let sum =
                    total.pure.as_ref().is_some_and(|sum| Some(sum) <= capacity.pure.as_ref());
                let curve = total.main <= capacity.main && total.delta <= capacity.delta;
                by_curve.set(by_curve.get() + usize::from(curve && !sum));
                by_sum.set(by_sum.get() + usize::from(sum && !curve));
                Some((query, pair))
            };
        for (broken, caught) in [spoilt(filter), spoilt_beside(filter)].iter().zip(&mut caught) {
            sound_and_broken(random.bits(), (filter, broken), depth, &mut choose, caught);
        }
    }
    assert!(by_curve.get() > all && by_sum.get() > all, "{by_curve:?} {by_sum:?}");
    for caught in caught {
        assert!(caught * 20 > all, "only {caught} of {all} broken games were noticed");
    }
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
        let odometer = Odometer::with_levels(delta.clone(), Amount::ZERO, shape, terms()).unwrap();
        let (seed, steps) = (random.bits(), random.between(1, 3) as u32);
        let passed = ever_passed(&odometer, &mut Random::new(seed), steps);
        assert!(passed <= delta.upper() * (1.0 + 1e-9), "seed {seed}: {passed} {odometer:?}");
        let mut levels = odometer.levels().to_vec();
        for level in &mut levels {
            level.capacity = &level.capacity * &amount("1.01");
        }
        let broken = Odometer::from_stored(delta.clone(), Amount::ZERO, levels, terms());
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
