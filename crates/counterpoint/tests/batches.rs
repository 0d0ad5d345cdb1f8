//! Sums over Poisson samples, of summands of bounded norm, and over samples drawn with replacement.

use crate::common;

use common::Question;
use common::formulas::gaussian_delta;
use common::mechanisms::*;
use counterpoint::quantity::{GroupSize, Rate};
use counterpoint::{Adjacency, Bracket, Plan, Release};
use counterpoint_testing::{Random, size};

fn replaced(releases: &[Release], question: Question) -> Bracket {
    let plan =
        Plan::for_neighbours(releases.to_vec(), Some(Adjacency::Replace), GroupSize::ONE).unwrap();
    ask_best(&plan, question, 1e-5).unwrap().bracket
}

fn best(releases: &[Release], question: Question) -> Bracket {
    ask_best(&plan(releases), question, 1e-5).unwrap().bracket
}

/// A mixture of Gaussians on a line: weights and means.
type Law = Vec<(f64, f64)>;

fn density(law: &Law, x: f64) -> f64 {
    law.iter().map(|(weight, mean)| weight * (-0.5 * (x - mean).powi(2)).exp()).sum::<f64>()
        / std::f64::consts::TAU.sqrt()
}

/// Both laws' masses on fine steps; a sum over steps of a smooth function is as good as its integral.
fn pieces(p: &Law, q: &Law, width: f64) -> Vec<(f64, f64)> {
    let steps = (20.0 / width) as i32;
    let places = (-steps..=steps).map(|i| f64::from(i) * width);
    places.map(|x| (density(p, x) * width, density(q, x) * width)).collect()
}

fn delta(list: &[(f64, f64)], epsilon: f64) -> f64 {
    list.iter().map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

fn twice(list: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let few: Vec<_> = list.iter().filter(|(p, q)| *p > 1e-14 || *q > 1e-14).collect();
    few.iter().flat_map(|a| few.iter().map(|b| (a.0 * b.0, a.1 * b.1))).collect()
}

/// By the point where the ratio of the two densities is e^eps (reference/batches.py).
#[test]
fn one_in_anothers_place_is_the_pair_opposite() {
    let table = [
        (1.0, 0.1, 0.3, 9.696563785006e-3),
        (2.0, 0.3, 1.0, 0.1316842678631),
        (0.5, 0.01, 0.01, 8.3964431234e-4),
    ];
    for (norm, share, epsilon, truth) in table {
        let release = times(1, batch(2.0, 2.0 * norm, share, None));
        let bracket = replaced(&[release], Question::Delta(epsilon));
        let slack = 1e-9 * truth;
        assert!(
            bracket.lower <= truth + slack && truth - slack <= bracket.upper,
            "{bracket} {truth}"
        );
        assert!(is_narrow(&bracket, 1e-4), "{bracket}");
    }
}

#[test]
fn twice_it_is_the_product() {
    let (p, q) = (vec![(0.8, 0.0), (0.2, 1.5)], vec![(0.8, 0.0), (0.2, -1.5)]);
    let list = twice(&pieces(&p, &q, 0.02));
    for epsilon in [0.2, 1.0, 2.0] {
        let truth = delta(&list, epsilon);
        let release = times(2, batch(1.0, 1.5, 0.2, None));
        let bracket = replaced(&[release], Question::Delta(epsilon));
        let slack = 1e-3 * truth;
        assert!(
            bracket.lower <= truth + slack && truth - slack <= bracket.upper,
            "{bracket} {truth}"
        );
        assert!(is_narrow(&bracket, 1e-3), "{bracket}");
    }
}

/// Two summands in a plane, whatever they are, tell no more than two that lie opposite each other.
#[test]
fn no_other_summands_tell_more() {
    let mut random = Random::new(5);
    let mut vector = |norm: f64| {
        let (angle, share) = (random.uniform(0.0, std::f64::consts::TAU), random.uniform(0.0, 1.0));
        (norm * share.sqrt() * angle.cos(), norm * share.sqrt() * angle.sin())
    };
    let (norm, share, width) = (1.5, 0.3, 0.1);
    let bracket =
        |epsilon| replaced(&[times(1, batch(1.0, norm, share, None))], Question::Delta(epsilon));
    let bounds = [0.1, 0.5, 1.5].map(|epsilon| (epsilon, bracket(epsilon).upper));
    let place = |i: i32| f64::from(i) * width;
    for _ in 0..20 {
        let (v, w) = (vector(norm), vector(norm));
        let at = |mean: (f64, f64), x: f64, y: f64| {
            let square = (x - mean.0).powi(2) + (y - mean.1).powi(2);
            (-0.5 * square).exp() / std::f64::consts::TAU * width * width
        };
        let places = (-80..=80).flat_map(|i| (-80..=80).map(move |j| (place(i), place(j))));
        let list: Vec<(f64, f64)> = places
            .map(|(x, y)| {
                let rest = (1.0 - share) * at((0.0, 0.0), x, y);
                (rest + share * at(v, x, y), rest + share * at(w, x, y))
            })
            .collect();
        for (epsilon, upper) in bounds {
            assert!(delta(&list, epsilon) <= upper * (1.0 + 1e-3), "{v:?} {w:?} {epsilon} {upper}");
        }
    }
}

/// The sum's law: everybody in the sample with probability `rate`, and of too large ones all subsets of `most` alike.
fn cut(summands: &[f64], rate: f64, most: u32) -> Law {
    let people = summands.len() as u32;
    let sum = |set: u32| -> f64 {
        (0..people).filter(|i| set >> i & 1 == 1).map(|i| summands[i as usize]).sum()
    };
    let mut law = Law::new();
    for sample in 0..1_u32 << people {
        let size = sample.count_ones() as i32;
        let chance = rate.powi(size) * (1.0 - rate).powi(people as i32 - size);
        let kept: Vec<u32> = (0..1_u32 << people)
            .filter(|set| set & !sample == 0 && set.count_ones() == most.min(sample.count_ones()))
            .collect();
        law.extend(kept.iter().map(|&set| (chance / kept.len() as f64, sum(set))));
    }
    law
}

/// All of the samples and all of their cuts, of few people with all kinds of summands: never above the bracket; and
/// the lower end is met by others who have nothing to add. Full: four shapes. Quick: two.
#[test]
fn cut_batches_by_brute_force() {
    let mut random = Random::new(11);
    let shapes = [(4_u64, 1_u32, 0.3), (5, 2, 0.2), (5, 3, 0.5), (6, 2, 0.7)];
    for (people, most, rate) in shapes.into_iter().take(size(4, 1) as usize) {
        let release = |count| times(count, batch(1.0, 1.0, rate, Some((people, most.into()))));
        let bound = |count, epsilon| best(&[release(count)], Question::Delta(epsilon));
        let bounds = [0.1, 0.5, 1.0].map(|epsilon| (epsilon, bound(1, epsilon), bound(2, epsilon)));
        let others = |kind: usize, random: &mut Random| match kind {
            0 => 0.0,
            1 => -1.0,
            2 => 1.0,
            _ => random.uniform(-1.0, 1.0),
        };
        let mut most_seen = [0.0_f64; 3];
        for kind in 0..6 {
            let mut summands: Vec<f64> = (1..people).map(|_| others(kind, &mut random)).collect();
            let without = cut(&summands, rate, most);
            summands.push(1.0);
            let with = cut(&summands, rate, most);
            for list in [pieces(&with, &without, 0.05), pieces(&without, &with, 0.05)] {
                let two = twice(&list);
                for ((epsilon, once, again), seen) in bounds.iter().zip(&mut most_seen) {
                    let truth = delta(&list, *epsilon);
                    assert!(
                        truth <= once.upper * (1.0 + 1e-6),
                        "{people} {most} {kind}: {truth} {once}"
                    );
                    assert!(delta(&two, *epsilon) <= again.upper * (1.0 + 1e-6));
                    *seen = seen.max(truth);
                }
            }
        }
        for ((_, once, _), seen) in bounds.iter().zip(most_seen) {
            assert!(once.lower <= seen * (1.0 + 1e-6), "{once} {seen}");
        }
    }
}

/// The upper end is that of the theorem: where only one sample is too large its probability is a power, and the pair a
/// product, by hand.
#[test]
fn cut_batches_have_the_upper_end_of_the_theorem() {
    let (people, most, rate) = (4_u64, 3_u64, 0.5_f64);
    let (full, inner) = (rate.powi(3), rate * 0.75);
    let plain = |rate: f64, shift: f64| vec![(1.0 - rate, 0.0), (rate, shift)];
    let none: Law = vec![(1.0, 0.0)];
    let first = pieces(&plain(rate, 1.0), &none, 0.02);
    let mut second: Vec<(f64, f64)> = pieces(&plain(inner, 2.0), &none, 0.02);
    second.iter_mut().for_each(|(p, q)| (*p, *q) = (full * *p, full * *q));
    second.push((1.0 - full, 1.0 - full));
    for epsilon in [0.1, 0.5, 1.5] {
        let growth = f64::exp(epsilon);
        let pairs =
            || first.iter().flat_map(|a| second.iter().map(move |b| (a.0 * b.0, a.1 * b.1)));
        let remove: f64 = pairs().map(|(p, q)| (p - growth * q).max(0.0)).sum();
        let add: f64 = pairs().map(|(p, q)| (q - growth * p).max(0.0)).sum();
        let release = times(1, batch(1.0, 1.0, rate, Some((people, most))));
        let upper = best(&[release], Question::Delta(epsilon)).upper;
        assert!((upper / remove.max(add) - 1.0).abs() < 2e-3, "{upper} {remove} {add}");
    }
}

/// Far out there is nothing but the leak that stands for the rarest of cuts: the binomial tail, by a sum, times the rate.
#[test]
fn the_rarest_cuts_leak() {
    let (others, rate, most) = (99_u32, 0.1_f64, 45_u32);
    let mass = |k: u32| {
        let choose: f64 = (0..k).map(|i| f64::from(others - i) / f64::from(i + 1)).product();
        choose * rate.powi(k as i32) * (1.0 - rate).powi((others - k) as i32)
    };
    let tail: f64 = (most..=others).map(mass).sum();
    let leak = tail * rate * 45.0 / 46.0;
    let release = times(1, batch(1.0, 1.0, rate, Some((100, most.into()))));
    let upper = best(&[release], Question::Delta(60.0)).upper;
    assert!(leak < 1e-16 && upper >= leak && upper < 1.1 * leak, "{upper:e} {leak:e}");
}

/// Where batches are hardly ever cut, it costs hardly anything.
#[test]
fn rare_cuts_cost_little() {
    let question = Question::Epsilon(1e-6);
    let poisson = best(&[sampled(500, gaussian(1.0, 1.0), 0.01)], question);
    let cut = best(&[times(500, batch(1.0, 1.0, 0.01, Some((50_000, 700))))], question);
    assert!(cut.upper >= poisson.lower && cut.upper <= 1.001 * poisson.upper, "{cut} {poisson}");
    let often = best(&[times(500, batch(1.0, 1.0, 0.01, Some((50_000, 510))))], question);
    assert!(often.upper >= 1.1 * poisson.upper, "{often} {poisson}");
    assert!(often.lower <= poisson.upper, "{often} {poisson}");
}

/// The probability of each number of times, by products.
fn times_drawn(draws: u64, records: u64) -> Vec<f64> {
    let each = 1.0 / records as f64;
    let chance = |times: u64| {
        let choose = (0..times).map(|i| (draws - i) as f64 / (i + 1) as f64).product::<f64>();
        choose * each.powi(times as i32) * (1.0 - each).powi((draws - times) as i32)
    };
    (0..=draws).map(chance).collect()
}

/// The sum over j of w_j H_j(1 + (e^eps - 1)/q): the theorem's bound, once.
#[test]
fn draws_with_replacement_have_the_profile_of_the_theorem() {
    for (mu, number, records) in
        [(1.0, 3, 10), (0.5, 20, 1000), (2.0, 5, 5), (5.0, 9, 9), (4.0, 5, 9)]
    {
        let weights = times_drawn(number, records);
        let rate = 1.0 - weights[0];
        let epsilons = [0.1_f64, 20.0, 0.0, 1.0, 200.0].into_iter();
        for epsilon in epsilons.take(size(5, 2) as usize) {
            let inner = (epsilon.exp_m1() / rate).ln_1p();
            let each = |(j, weight): (usize, &f64)| weight * gaussian_delta(mu * j as f64, inner);
            let truth: f64 = weights.iter().enumerate().skip(1).map(each).sum();
            let release = times(1, draws(3.0, 3.0 * mu, number, records));
            let bracket = replaced(&[release], Question::Delta(epsilon));
            let slack = 1e-9 * truth;
            assert!(
                bracket.lower <= truth + slack && truth - slack <= bracket.upper,
                "{mu} {number} {records} {epsilon}: {bracket} {truth}"
            );
            // Far out cells are coarse, and what is drawn very often leaks.
            assert!(is_narrow(&bracket, 1e-3) || epsilon > 1.0 || mu > 2.0, "{bracket}");
        }
    }
}

/// All sequences of draws of few records: never above the bracket, once or twice.
#[test]
fn draws_with_replacement_by_brute_force() {
    let law = |values: &[f64], number: u32| -> Law {
        let (records, sequences) = (values.len() as u64, (values.len() as u64).pow(number));
        let sum = |code: u64| -> f64 {
            (0..number).map(|i| values[(code / records.pow(i) % records) as usize]).sum()
        };
        (0..sequences).map(|code| (1.0 / sequences as f64, sum(code))).collect()
    };
    let mut random = Random::new(13);
    for (records, number) in [(3_usize, 2_u32), (4, 3), (6, 2)] {
        let release = |count| times(count, draws(1.0, 1.0, number.into(), records as u64));
        let bound = |count, epsilon| replaced(&[release(count)], Question::Delta(epsilon)).upper;
        let bounds = [0.1, 0.5, 1.0].map(|epsilon| (epsilon, bound(1, epsilon), bound(2, epsilon)));
        for kind in 0..5 {
            let mut values: Vec<f64> =
                (0..records).map(|_| f64::from(kind > 0) * random.uniform(-0.5, 0.5)).collect();
            values[0] = -0.5;
            let before = law(&values, number);
            values[0] = 0.5;
            let after = law(&values, number);
            let list = pieces(&before, &after, 0.05);
            let two = twice(&list);
            for (epsilon, once, again) in bounds {
                assert!(
                    delta(&list, epsilon) <= once * (1.0 + 1e-6),
                    "{records} {number} {epsilon}"
                );
                assert!(
                    delta(&two, epsilon) <= again * (1.0 + 1e-6),
                    "{records} {number} {epsilon}"
                );
            }
        }
    }
}

/// Few of very many are as good as not drawn twice.
#[test]
fn rare_repetitions_cost_little() {
    if !counterpoint_testing::is_full() {
        return;
    }
    let question = Question::Epsilon(1e-6);
    let without = replaced(&[times(100, subset(1.0, 1.0, 1e-4))], question);
    let with = replaced(&[times(100, draws(1.0, 1.0, 10, 100_000))], question);
    assert!(with.upper >= without.lower && with.upper <= 1.02 * without.upper, "{with} {without}");
    assert!(with.lower >= 0.98 * with.upper, "{with}");
}

#[test]
fn ends_and_refusals() {
    let question = Question::Delta(0.5);
    let same = |a: Bracket, b: Bracket| {
        assert_eq!(
            (a.lower.to_bits(), a.upper.to_bits()),
            (b.lower.to_bits(), b.upper.to_bits()),
            "{a} {b}"
        );
    };
    let poisson = || best(&[sampled(3, gaussian(2.0, 1.0), 0.25)], question);
    same(best(&[times(3, batch(2.0, 1.0, 0.25, None))], question), poisson());
    // No sample is too large.
    same(best(&[times(3, batch(2.0, 1.0, 0.25, Some((10, 10))))], question), poisson());
    let all = best(&[times(3, gaussian(2.0, 1.0))], question);
    same(best(&[times(3, batch(2.0, 1.0, 1.0, None))], question), all);
    let twofold = best(&[times(3, gaussian(1.0, 1.0))], question);
    same(replaced(&[times(3, batch(2.0, 1.0, 1.0, None))], question), twofold);
    assert!(replaced(&[times(3, batch(2.0, 1.0, 0.0, None))], question).upper <= 0.0);
    let refused = |release: Release, adjacency, people| {
        let group = GroupSize::new(people).unwrap();
        Plan::for_neighbours([release], adjacency, group).unwrap_err().to_string()
    };
    let one = || times(1, batch(2.0, 1.0, 0.5, None));
    let (add, replace) = (Some(Adjacency::AddRemove), Some(Adjacency::Replace));
    assert!(refused(one(), None, 1).contains("adjacency is missing"));
    assert!(refused(one(), add, 2).contains("group is 2 for a sum over a Poisson sample"));
    let capped = times(1, batch(2.0, 1.0, 0.5, Some((100, 60))));
    assert!(refused(capped, replace, 1).contains("most is given with adjacency replace"));
    let both = Release { rate: Some(Rate::new(0.5).unwrap()), ..one() };
    assert!(refused(both, add, 1).contains("rate is given for gaussian-batch"));
    let drawn = || times(1, draws(2.0, 1.0, 5, 10));
    let missing = refused(drawn(), None, 1);
    assert!(missing.ends_with(
        "legal: replace (one person's data differ); no bound is proved under add-remove (one data set has one \
         person more)"
    ));
    // Each forbids one of them: the first to say so knows of the others.
    let sampled = Release { rate: Some(Rate::new(0.5).unwrap()), ..times(1, gaussian(2.0, 1.0)) };
    let neither = Plan::new([times(1, gaussian(1.0, 1.0)), drawn(), sampled]).unwrap_err();
    assert!(neither.to_string().contains("legal: none; no bound is proved under"));
    assert!(refused(drawn(), add, 1).contains("draws are given with adjacency add-remove"));
    assert!(refused(drawn(), replace, 2).contains("group is 2 for a release on a sample"));
    let too_many = times(1, draws(2.0, 1.0, 11, 10));
    assert!(refused(too_many, replace, 1).contains("draws is 11; legal: at most 10"));
    let sampled = Release { rate: Some(Rate::new(0.5).unwrap()), ..drawn() };
    assert!(refused(sampled, add, 1).contains("rate is given for gaussian-draws"));
    let faint = times(1, batch(1e4, 1.0, 0.5, None));
    assert!(refused(faint, replace, 1).contains("norm / sigma is 0.0001"));
}
