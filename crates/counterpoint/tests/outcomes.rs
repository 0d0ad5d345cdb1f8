//! Random plans of mechanisms with few outcomes, judged by listing all outcomes in arbitrary
//! precision: up to 4096 of them, both directions; 2,000 plans in the full run, 150 in the
//! quick one.

use crate::common;
use crate::reference;

use common::mechanisms::*;
use common::{Question, is_full};
use counterpoint::quantity::{Gamma, Rate};
use counterpoint::{AskError, Bracket, Mechanism, Plan, Release};
use counterpoint_testing::Random;
use reference::Wide;
use reference::table::{LAST_DIGIT, lines};

/// The outcomes' probabilities with a person's data and without.
type Pair = Vec<(Wide, Wide)>;

fn one() -> Wide {
    Wide::new(1.0)
}

/// e^-x.
fn decay(x: &Wide) -> Wide {
    (&Wide::new(0.0) - x).exp()
}

/// Outcomes of (eps, delta) at its worst: revealed, or randomized response.
fn approximate_outcomes(power: &Wide, delta: &Wide) -> Pair {
    let kept = &one() - delta;
    let small = &kept / &(&one() + power);
    let large = &small * power;
    let none = || Wide::new(0.0);
    vec![
        (delta.clone(), none()),
        (none(), delta.clone()),
        (large.clone(), small.clone()),
        (small, large),
    ]
}

/// The outcomes with a person who is in the sample, or not.
fn on_sample(outcomes: &Pair, rate: f64) -> Pair {
    let (rate, rest) = (Wide::new(rate), &one() - &Wide::new(rate));
    let mixed = |(p, q): &(Wide, Wide)| (&(&rate * p) + &(&rest * q), q.clone());
    outcomes.iter().map(mixed).collect()
}

/// The truth, the other truth, and all other answers together.
fn response_outcomes(epsilon: f64, buckets: u64) -> Pair {
    let power = Wide::new(epsilon).exp();
    let whole = &power + &Wide::new((buckets - 1) as f64);
    let (truth, lie) = (&power / &whole, &one() / &whole);
    let rest = &lie * &Wide::new((buckets - 2) as f64);
    vec![(truth.clone(), lie.clone()), (lie, truth), (rest.clone(), rest)]
}

/// Discrete Laplace noise around `steps` and around zero: outcomes at most 0, each between,
/// and at least `steps`.
fn geometric_outcomes(scale: f64, steps: u64) -> Pair {
    let ratio = decay(&(&one() / &Wide::new(scale)));
    let whole = &one() + &ratio;
    let centre = &(&one() - &ratio) / &whole;
    // Noise at least n, for n > 0, and noise at most 0.
    let tail = |n: u64| &ratio.powi(n) / &whole;
    let half = &one() / &whole;
    let mut list = vec![(tail(steps), half.clone()), (half, tail(steps))];
    for x in 1..steps {
        list.push((&centre * &ratio.powi(steps - x), &centre * &ratio.powi(x)));
    }
    list
}

/// Noise of density e^(-n eps) where |x| is in [n - 1 + gamma, n + gamma), around one and
/// around zero, by its pieces: unit intervals cut at gamma and at 1 - gamma.
fn staircase_outcomes(epsilon: f64, gamma: f64) -> Pair {
    let cuts = [0.0, gamma.min(1.0 - gamma), gamma.max(1.0 - gamma), 1.0];
    let level = |x: f64| (x.abs() - gamma + 1.0).floor().max(0.0) as u64;
    let ratio = decay(&Wide::new(epsilon));
    let beyond = &one() / &(&one() - &ratio);
    let mut list: Pair = Vec::new();
    let mut total = Wide::new(0.0);
    for unit in -3_i32..=3 {
        for ends in cuts.windows(2) {
            let width = &Wide::new(ends[1]) - &Wide::new(ends[0]);
            let middle = f64::from(unit) + f64::midpoint(ends[0], ends[1]);
            // The intervals beyond the last are the same, step by step lower.
            let width = if unit.abs() == 3 { &width * &beyond } else { width };
            let mass = |x: f64| &width * &ratio.powi(level(x));
            total = &total + &mass(middle);
            list.push((mass(middle - 1.0), mass(middle)));
        }
    }
    let merged = [1_i64, 0, -1].map(|sign| {
        // P over Q is e^eps, one or e^-eps.
        let of_sign = |(p, q): &&(Wide, Wide)| {
            let is = if p == q {
                0
            } else if p > q {
                1
            } else {
                -1
            };
            is == sign
        };
        let sum = list
            .iter()
            .filter(of_sign)
            .fold((Wide::new(0.0), Wide::new(0.0)), |s, x| (&s.0 + &x.0, &s.1 + &x.1));
        (&sum.0 / &total, &sum.1 / &total)
    });
    merged.into()
}

/// A release with its outcomes, one time run.
fn random_release(random: &mut Random) -> (Mechanism, Option<Rate>, Pair) {
    match random.below(6) {
        0 => {
            let epsilon = random.log_uniform(0.01, 4.0);
            let delta = if random.once_in(2) { 0.0 } else { random.log_uniform(1e-12, 0.1) };
            let rate = if random.once_in(2) { 1.0 } else { random.log_uniform(1e-3, 1.0) };
            let whole = approximate_outcomes(&Wide::new(epsilon).exp(), &Wide::new(delta));
            let outcomes = on_sample(&whole, rate);
            let rate = Some(Rate::new(rate).unwrap());
            (approximate(epsilon, delta), rate, outcomes)
        }
        1 => {
            let (epsilon, buckets) = (random.log_uniform(0.01, 4.0), random.between(2, 50));
            (response(epsilon, buckets), None, response_outcomes(epsilon, buckets))
        }
        2 => {
            let (scale, steps) = (random.log_uniform(0.5, 30.0), random.between(1, 6));
            (geometric(scale, steps), None, geometric_outcomes(scale, steps))
        }
        3 => {
            let epsilon = random.log_uniform(0.05, 4.0);
            // Cut where doubles are exact, so that pieces are too.
            let gamma = random.between(1, 255) as f64 / 256.0;
            let mechanism = staircase(epsilon, Some(gamma));
            (mechanism, None, staircase_outcomes(epsilon, gamma))
        }
        _ => random_finite(random),
    }
}

/// Two vectors of multiples of 2^-16 that sum to one, often with zeros.
fn random_finite(random: &mut Random) -> (Mechanism, Option<Rate>, Pair) {
    let length = random.between(2, 5) as usize;
    let leaks = random.once_in(3);
    let [p, q] = [0, 1].map(|side| {
        let mut left = 65536;
        let mut list: Vec<u64> = (0..length).map(|_| 1).collect();
        left -= length as u64;
        for x in &mut list {
            let share = random.below(left + 1);
            *x += share;
            left -= share;
        }
        list[0] += left;
        // The last outcome but one only with the person, the last only without.
        let gone = length - 1 - side;
        if leaks && gone > 0 {
            list[0] += list[gone];
            list[gone] = 0;
        }
        list.iter().map(|&x| x as f64 / 65536.0).collect::<Vec<f64>>()
    });
    let outcomes = p.iter().zip(&q).map(|(&p, &q)| (Wide::new(p), Wide::new(q))).collect();
    (finite(&p, &q), None, outcomes)
}

fn product(a: &Pair, b: &Pair) -> Pair {
    let times = |x: &(Wide, Wide)| {
        let (p, q) = x.clone();
        b.iter().map(move |y| (&p * &y.0, &q * &y.1))
    };
    let all = a.iter().flat_map(times);
    all.filter(|(p, q)| p.is_positive() || q.is_positive()).collect()
}

/// A plan and all its outcomes.
fn random_plan(random: &mut Random) -> (Plan, Vec<Release>, Pair) {
    let mut releases = Vec::new();
    let mut outcomes = vec![(one(), one())];
    for _ in 0..random.between(1, 5) {
        let (mechanism, rate, pair) = random_release(random);
        let mut count = 0;
        while count < random.between(1, 4) && outcomes.len() * pair.len() <= 4096 {
            outcomes = product(&outcomes, &pair);
            count += 1;
        }
        if count > 0 {
            releases.push(Release { rate, ..times(count, mechanism) });
        }
    }
    (plan(&releases), releases, outcomes)
}

/// The larger of the two directions' sums of (p - e^e q)+, right to 2^-300.
fn delta_of(outcomes: &Pair, epsilon: f64) -> Wide {
    let power = Wide::new(epsilon).exp();
    let sum = |turned: bool| {
        outcomes.iter().fold(Wide::new(0.0), |sum, (p, q)| {
            let gap = if turned { q - &(&power * p) } else { p - &(&power * q) };
            if gap.is_positive() { &sum + &gap } else { sum }
        })
    };
    let (remove, add) = (sum(false), sum(true));
    if remove > add { remove } else { add }
}

/// The delta that no epsilon can undercut.
fn leak_of(outcomes: &Pair) -> Wide {
    let sum = |turned: bool| {
        outcomes.iter().fold(Wide::new(0.0), |sum, (p, q)| {
            let (p, q) = if turned { (q, p) } else { (p, q) };
            if q.is_positive() { sum } else { &sum + p }
        })
    };
    let (remove, add) = (sum(false), sum(true));
    if remove > add { remove } else { add }
}

/// The largest loss of either direction, about.
fn largest_loss(outcomes: &Pair) -> f64 {
    let both = outcomes.iter().filter(|(p, q)| p.is_positive() && q.is_positive());
    both.map(|(p, q)| (p / q).ln().near().abs()).fold(0.0, f64::max)
}

fn random_question(random: &mut Random, outcomes: &Pair) -> Question {
    let leak = leak_of(outcomes);
    let most = &delta_of(outcomes, 0.0) - &leak;
    if most < Wide::new(1e-6) || random.once_in(2) {
        return Question::Delta(random.uniform(0.0, 1.05) * largest_loss(outcomes));
    }
    // Far enough from the leak for a double to be above it.
    let least = if leak.is_positive() { 1e-6 } else { 1e-20 };
    let share = Wide::new(random.log_uniform(least, 1.0));
    Question::Epsilon((&leak + &(&most * &share)).near().min(0.99))
}

/// No root is needed to judge an epsilon: the profile falls up to the largest loss.
fn judge_by_outcomes(
    outcomes: &Pair,
    question: Question,
    bracket: &Bracket,
) -> Result<(), &'static str> {
    let Bracket { lower, upper } = *bracket;
    let tiny = Wide::new(1.0).scaled(-290);
    match question {
        Question::Delta(epsilon) => {
            let truth = delta_of(outcomes, epsilon);
            if Wide::new(upper) < &truth - &tiny {
                return Err("upper end below the truth");
            }
            if Wide::new(lower) > &truth + &tiny {
                return Err("lower end above the truth");
            }
        }
        Question::Epsilon(delta) => {
            let delta = Wide::new(delta);
            if delta_of(outcomes, upper) > &delta + &tiny {
                return Err("upper end below the truth");
            }
            if lower > 0.0 && delta_of(outcomes, lower) < &delta - &tiny {
                return Err("lower end above the truth");
            }
        }
    }
    if is_narrow(bracket, 1e-6) { Ok(()) } else { Err("wider than the tolerance") }
}

#[test]
fn random_plans_agree_with_all_their_outcomes() {
    let random = &mut Random::new(0x006d_6563_6861_6e69);
    let cases = if is_full() { 2000 } else { 60 };
    let mut failures = Vec::new();
    for case in 0..cases {
        let (plan, releases, outcomes) = random_plan(random);
        let question = random_question(random, &outcomes);
        let verdict = match ask(&plan, question, 1e-6) {
            Ok(answer) => judge_by_outcomes(&outcomes, question, &answer.bracket)
                .map_err(|reason| format!("{} by {}: {reason}", answer.bracket, answer.route)),
            // Right if all but that delta stays at whatever epsilon.
            Err(AskError::BelowLeak { delta, .. }) => {
                let leaks = delta_of(&outcomes, 1e5) > Wide::new(delta);
                if leaks { Ok(()) } else { Err("refused without a leak".to_owned()) }
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = verdict {
            failures.push(format!("case {case}: {reason}\n  {question:?} of {releases:?}"));
        }
        if failures.len() >= 20 {
            break;
        }
    }
    for failure in &failures {
        common::summary::say(failure);
    }
    assert!(failures.is_empty(), "{} failures; first: {}", failures.len(), failures[0]);
}

/// The outcomes of a release that has few.
fn outcomes_of(release: &Release) -> Option<Pair> {
    match &release.mechanism {
        Mechanism::RandomizedResponse { epsilon, buckets } => {
            Some(response_outcomes(epsilon.get(), buckets.get()))
        }
        Mechanism::Geometric { scale, sensitivity } => {
            Some(geometric_outcomes(scale.get(), sensitivity.get()))
        }
        Mechanism::Staircase { epsilon, gamma } => {
            // Only where 1 - gamma is exact.
            let gamma = gamma.map(Gamma::get).filter(|gamma| (gamma * 256.0).fract() <= 0.0)?;
            Some(staircase_outcomes(epsilon.get(), gamma))
        }
        Mechanism::Finite(pair) => {
            let sum = |list: &mut dyn Iterator<Item = f64>| {
                list.fold(Wide::new(0.0), |sum, x| &sum + &Wide::new(x))
            };
            let p = sum(&mut pair.outcomes().iter().map(|x| x.0));
            let q = sum(&mut pair.outcomes().iter().map(|x| x.1));
            let share = |&(a, b): &(f64, f64)| (&Wide::new(a) / &p, &Wide::new(b) / &q);
            Some(pair.outcomes().iter().map(share).collect())
        }
        _ => None,
    }
}

/// The two references, which share nothing, agree where both apply.
#[test]
fn the_table_agrees_with_all_outcomes() {
    let mut compared = 0;
    for line in lines() {
        let Question::Delta(epsilon) = line.question else { continue };
        let mut outcomes = Some(vec![(one(), one())]);
        for release in &line.releases {
            for _ in 0..release.count.get().min(7) {
                outcomes = outcomes.zip(outcomes_of(release)).map(|(a, b)| product(&a, &b));
            }
        }
        let few = line.releases.iter().all(|release| release.count.get() < 7);
        if let Some(outcomes) = outcomes.filter(|_| few) {
            let gap = (&delta_of(&outcomes, epsilon) - &line.value).abs();
            assert!(gap <= &line.value * &Wide::new(LAST_DIGIT), "{}", line.text);
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared}");
}

/// The judge itself: outcomes are probabilities, and each mechanism's worst loss is its label.
#[test]
fn outcomes_are_probabilities() {
    let random = &mut Random::new(7);
    for _ in 0..200 {
        let (mechanism, _, outcomes) = random_release(random);
        let zero = || Wide::new(0.0);
        let sums = outcomes.iter().fold((zero(), zero()), |s, x| (&s.0 + &x.0, &s.1 + &x.1));
        let tiny = one().scaled(-280);
        assert!((&sums.0 - &one()).abs() < tiny && (&sums.1 - &one()).abs() < tiny);
        let label = match mechanism {
            Mechanism::RandomizedResponse { epsilon, .. }
            | Mechanism::Staircase { epsilon, .. } => epsilon.get(),
            Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
            _ => continue,
        };
        let worst = largest_loss(&outcomes);
        assert!((worst / label - 1.0).abs() < 1e-12, "{worst} {label}");
        assert!(delta_of(&outcomes, label * (1.0 - 1e-9)).is_positive());
    }
}

/// The judge has teeth: ends moved past the truth by one part in a million are caught.
#[test]
fn the_judge_catches_a_millionth() {
    let random = &mut Random::new(11);
    for _ in 0..40 {
        let (_, _, outcomes) = random_plan(random);
        let epsilon = 0.5 * largest_loss(&outcomes);
        let truth = delta_of(&outcomes, epsilon).near();
        let question = Question::Delta(epsilon);
        for (low, high, is_right) in [
            (1.0 - 1e-7, 1.0 + 1e-7, true),
            (1.0 + 1e-7, 1.0 + 2e-7, false),
            (1.0 - 2e-7, 1.0 - 1e-7, false),
        ] {
            let bracket = Bracket { lower: truth * low, upper: truth * high };
            assert_eq!(judge_by_outcomes(&outcomes, question, &bracket).is_ok(), is_right);
        }
    }
}
