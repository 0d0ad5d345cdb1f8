//! Compares an odometer's readings with its theorem in arbitrary precision and with the exact probability that a
//! reading is ever exceeded.

use crate::reference::real;

use counterpoint::Adjacency;
use counterpoint_budget::{Amount, Level, Odometer, Query, Terms};

type Wide = real::Real<320>;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn terms() -> Terms {
    Terms::new(Adjacency::AddRemove)
}

fn wide(x: f64) -> Wide {
    Wide::new(x)
}

/// A decimal, digit by digit.
fn exact(amount: &Amount) -> Wide {
    let text = amount.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = whole.bytes().chain(fraction.bytes()).map(|byte| f64::from(byte - b'0'));
    let value = digits.fold(wide(0.0), |sum, digit| &(&sum * &wide(10.0)) + &wide(digit));
    &value / &wide(10.0).powi(fraction.len() as u64)
}

/// delta 1e-6, of which a tenth is for leaks; what is left is shared by 64 levels.
fn odometer() -> (Odometer, Wide) {
    let odometer = Odometer::new(amount("1e-6"), amount("1e-7"), terms()).unwrap();
    let share = &wide(9.0) / &(&wide(10.0).powi(7) * &wide(64.0));
    (odometer, share)
}

/// Ville's inequality: passed with probability at most `exp(t (B - E))`, which is the share if
/// `B = E + ln(share)/t`.
fn capacity(epsilon: &Wide, share: &Wide, t: &Wide) -> Wide {
    epsilon + &(&share.ln() / t)
}

#[test]
fn levels_are_those_of_the_theorem() {
    let (odometer, share) = odometer();
    assert_eq!(odometer.levels().len(), 64);
    let mut millionths = 100_000_u64;
    for level in odometer.levels() {
        assert_eq!(level.epsilon, Amount::from(millionths).div_up(&amount("1e6")).unwrap());
        // A ninth more, to the next millionth above.
        millionths = millionths * 10 / 9 + 1;
        let t = &wide(level.order.get()) - &wide(1.0);
        let due = capacity(&exact(&level.epsilon), &share, &t);
        let below = &due - &exact(&level.capacity);
        assert!(below >= wide(0.0) && below < wide(1e-20), "{level:?}: {due:?}");
        // (E - l/t)/(1 + t) is largest where E t^2 - 2 l t - l = 0.
        let (e, l) = (level.epsilon.upper(), -share.ln().near());
        let best = (l + (l * l + e * l).sqrt()) / e;
        assert!((t.near() / best - 1.0).abs() < 1e-4, "{level:?}: {best}");
    }
}

/// The divergence of randomized response, by its definition.
fn response(epsilon: &Wide, order: f64) -> Wide {
    let (one, t) = (wide(1.0), &wide(order) - &wide(1.0));
    let p = &one / &(&one + &(&wide(0.0) - epsilon).exp());
    let q = &one - &p;
    let loss = &(&p / &q).ln() * &t;
    let mean = &(&p * &loss.exp()) + &(&q * &(&wide(0.0) - &loss).exp());
    &mean.ln() / &t
}

/// The divergence of a Gaussian, `a / (2 sigma^2)`.
fn gaussian(sigma: f64, order: f64) -> Wide {
    &wide(order) / &wide(2.0 * sigma * sigma)
}

/// A level's epsilon, what may be spent there, and what one query costs there.
type Held = (Amount, Wide, Wide);

/// The theorem's bound after n equal queries: the least epsilon whose level holds, or the sum of epsilons.
fn reading(levels: &[Held], each: Option<&Amount>, n: u64) -> Option<Amount> {
    let holds = levels.iter().filter(|(_, most, one)| &wide(n as f64) * one <= *most);
    let holds = holds.map(|(epsilon, ..)| epsilon.clone());
    holds.chain(each.map(|each| each.times(n))).min()
}

/// After how many of n queries two odometers read differently.
fn differences(one: &Odometer, due: &[Option<Amount>], query: &Query) -> usize {
    let (price, mut spent) = (one.charge(query).unwrap(), one.start());
    let is_other = |due: &&Option<Amount>| {
        spent = spent.plus(&price);
        one.bound(&spent) != **due
    };
    due.iter().filter(is_other).count()
}

/// The odometer with every capacity changed by a factor.
fn changed(odometer: &Odometer, factor: &str) -> Odometer {
    let mut levels = odometer.levels().to_vec();
    for level in &mut levels {
        level.capacity = &level.capacity * &amount(factor);
    }
    Odometer::from_stored(odometer.delta().clone(), odometer.leaks().clone(), levels, terms())
}

/// Full and quick: every reading after 1 to 400 equal queries of each kind.
#[test]
fn every_reading_is_the_theorems() {
    const QUERIES: u64 = 400;
    let (odometer, share) = odometer();
    let tenth = amount("0.1");
    let held = |one: &dyn Fn(f64) -> Wide| -> Vec<Held> {
        let level = |level: &Level| {
            let order = level.order.get();
            let most = capacity(&exact(&level.epsilon), &share, &(&wide(order) - &wide(1.0)));
            (level.epsilon.clone(), most, one(order))
        };
        odometer.levels().iter().map(level).collect()
    };
    let pure = Query::approx_dp(tenth.clone(), Amount::ZERO).unwrap();
    let of_pure = held(&|order| response(&exact(&tenth), order));
    let noisy = Query::gaussian(amount("10"), amount("1")).unwrap();
    let of_noisy = held(&|order| gaussian(10.0, order));
    for (query, levels, each) in [(pure, of_pure, Some(&tenth)), (noisy, of_noisy, None)] {
        let due: Vec<_> = (1..=QUERIES).map(|n| reading(&levels, each, n)).collect();
        assert_eq!(differences(&odometer, &due, &query), 0);
        // A hundredth more or less would be noticed.
        for factor in ["1.01", "0.99"] {
            let noticed = differences(&changed(&odometer, factor), &due, &query);
            assert!(noticed >= 10, "{factor}: {noticed}");
        }
    }
}

/// The exact chance that the loss of equal randomized responses is ever above what was read at
/// the time, in 1000 of them: a walk that stops where it passes.
#[test]
fn randomized_responses_pass_the_reading_less_often_than_delta() {
    for epsilon in ["0.05", "0.1", "0.2"] {
        let (odometer, _) = odometer();
        let each = amount(epsilon);
        let price =
            odometer.charge(&Query::approx_dp(each.clone(), Amount::ZERO).unwrap()).unwrap();
        let (mut spent, steps) = (odometer.start(), 1000_usize);
        let up = 1.0 / (1.0 + (-each.lower()).exp());
        // Place i is a loss of (i - steps) epsilons.
        let mut walk = vec![0.0; 2 * steps + 1];
        walk[steps] = 1.0;
        let mut passed = 0.0;
        for _ in 0..steps {
            spent = spent.plus(&price);
            let bound = odometer.bound(&spent).unwrap();
            let mut next = vec![0.0; walk.len()];
            for (place, mass) in walk.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                next[place + 1] += mass * up;
                next[place - 1] += mass * (1.0 - up);
            }
            for (place, mass) in next.iter_mut().enumerate().skip(steps) {
                if each.times((place - steps) as u64) > bound {
                    passed += std::mem::take(mass);
                }
            }
            walk = next;
        }
        assert!(passed > 1e-12 && passed <= 1e-6, "{epsilon}: {passed:e}");
    }
}
