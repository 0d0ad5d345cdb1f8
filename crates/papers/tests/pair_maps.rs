//! Simulation maps. The rows of a map are probabilities, and the map carries the source exactly onto the target. If no
//! map is found, the profiles cross at the reported ratio. Everything is checked by sums written out here, in
//! fractions.

use crate::common::fractions;
use crate::common::pairs;

use counterpoint::Epsilon;
use counterpoint::mechanism::FinitePair;
use counterpoint_numerics::fractions::{ExactError, Ratio, nearest};
use counterpoint_papers::pair::{
    LaplaceMap, Map, MapError, Pair, from_response, simulate, violation,
};
use counterpoint_testing::Random;
use fractions::{cases, ratio};
use pairs::{distribution, random_pair};

fn total(list: &[Ratio]) -> Ratio {
    list.iter().fold(Ratio::ZERO, |sum, value| sum + value)
}

/// The image of a pair under a map, by plain sums.
fn image(rows: &[Vec<Ratio>], pair: &Pair) -> Vec<[Ratio; 2]> {
    let sum = |side: usize, column: usize| {
        let terms = pair.outcomes().iter().zip(rows).map(|(mass, row)| &mass[side] * &row[column]);
        terms.fold(Ratio::ZERO, |sum, term| sum + term)
    };
    (0..rows[0].len()).map(|column| [sum(0, column), sum(1, column)]).collect()
}

fn random_image(random: &mut Random, source: &Pair) -> Pair {
    let count = random.between(1, 6) as usize;
    let rows: Vec<_> = source.outcomes().iter().map(|_| distribution(random, count)).collect();
    let outcomes = image(&rows, source);
    let side = |side: usize| outcomes.iter().map(|outcome| outcome[side].clone()).collect();
    Pair::new(side(0), side(1)).unwrap()
}

fn assert_exact(map: &Map, source: &Pair, target: &Pair) {
    for row in map.rows() {
        assert!(row.iter().all(|entry| *entry >= Ratio::ZERO), "{row:?}");
        assert_eq!(total(row), Ratio::ONE);
    }
    assert_eq!(image(map.rows(), source), target.outcomes(), "{source:?} {target:?}");
    assert!(map.carries(source, target));
}

/// Checks the reported crossing by the definition of the profile: the best event for the target gains more than every
/// event of the source.
fn assert_crossed(error: MapError, source: &Pair, target: &Pair) {
    let MapError::Violated(line) = error else { panic!("{error}") };
    let gain = |event: u32, pair: &Pair| {
        let chosen = pair.outcomes().iter().enumerate().filter(|(i, _)| event >> i & 1 == 1);
        chosen.fold(Ratio::ZERO, |sum, (_, [p, q])| sum + p - &line.ratio * q)
    };
    let best = |pair: &Pair| (0..1 << pair.outcomes().len()).map(|e| gain(e, pair)).max().unwrap();
    assert_eq!((best(source), best(target)), (line.source.clone(), line.target.clone()));
    assert!(line.target > line.source && line.ratio > Ratio::ZERO, "{line:?}");
    assert!(line.refutes(source, target) && line.excess() > Ratio::ZERO);
}

#[test]
fn every_randomized_image_is_reached_exactly() {
    let mut random = Random::new(0x4d61_7073);
    for _ in 0..cases(10_000) {
        let source = random_pair(&mut random);
        let target = random_image(&mut random, &source);
        assert_exact(&simulate(&source, &target).unwrap(), &source, &target);
    }
}

#[test]
fn pairs_that_do_not_dominate_come_with_a_crossed_line() {
    let mut random = Random::new(0x4c69_6e65);
    let mut crossed = 0;
    while crossed < cases(10_000) {
        let (source, target) = (random_pair(&mut random), random_pair(&mut random));
        match simulate(&source, &target) {
            Ok(map) => assert_exact(&map, &source, &target),
            Err(error) => {
                assert_crossed(error, &source, &target);
                crossed += 1;
            }
        }
    }
}

#[test]
fn a_target_one_percent_too_private_to_reach_is_refused() {
    // The target's first outcome is moved away from the source by 1 % of their distance.
    let two = |p: &str, q: &str| {
        let (p, q): (Ratio, Ratio) = (p.parse().unwrap(), q.parse().unwrap());
        Pair::new(vec![p.clone(), Ratio::ONE - p], vec![q.clone(), Ratio::ONE - q]).unwrap()
    };
    let source = two("3/4", "1/4");
    assert!(simulate(&source, &two("3/4", "1/4")).is_ok());
    let beyond = two("303/400", "1/4");
    assert_crossed(simulate(&source, &beyond).unwrap_err(), &source, &beyond);
    let leak = two("1/100", "0");
    assert_crossed(simulate(&source, &leak).unwrap_err(), &source, &leak);
    assert_eq!(violation(&leak, &leak), None);
}

/// The least delta at x in both directions, by the definition.
pub(crate) fn least_delta(pair: &Pair, x: &Ratio) -> Ratio {
    let side = |a: usize, b: usize| {
        let terms = pair.outcomes().iter().map(|mass| &mass[a] - x * &mass[b]);
        terms.filter(|term| *term > Ratio::ZERO).fold(Ratio::ZERO, |sum, term| sum + term)
    };
    side(0, 1).max(side(1, 0))
}

#[test]
fn leaky_randomized_response_becomes_every_pair_as_private() {
    let mut random = Random::new(0x4d56_3332);
    for case in 0..cases(10_000) {
        let target = random_pair(&mut random);
        let x = match random.below(4) {
            0 => Ratio::ONE,
            1 => ratio(random.between(1, 1000), 1) + Ratio::ONE,
            _ => ratio(random.between(1, 50), random.between(1, 50)) + Ratio::ONE,
        };
        let least = least_delta(&target, &x);
        if least == Ratio::ONE {
            assert!(from_response(&target, &x, &ratio(99, 100)).is_err());
            continue;
        }
        // At the least delta of the pair, or above it.
        let spare = if case % 2 == 0 { Ratio::ZERO } else { ratio(1, random.between(2, 9)) };
        let delta = &least + (Ratio::ONE - &least) * spare;
        let source = Pair::response(&x, &delta).unwrap();
        assert_exact(&from_response(&target, &x, &delta).unwrap(), &source, &target);
        assert_exact(&simulate(&source, &target).unwrap(), &source, &target);
        if least > Ratio::ZERO {
            // One per cent below the least delta of the pair.
            let less = least * ratio(99, 100);
            let source = Pair::response(&x, &less).unwrap();
            let error = from_response(&target, &x, &less).unwrap_err();
            assert_crossed(error, &source, &target);
            assert!(simulate(&source, &target).is_err());
        }
    }
}

#[test]
fn the_laplace_map_mixes_to_laplace_noise() {
    let laplace = |e: f64, centre: f64, z: f64| {
        let tail = 0.5 * (-e * (z - centre).abs()).exp();
        if z < centre { tail } else { 1.0 - tail }
    };
    let density = |e: f64, centre: f64, z: f64| e / 2.0 * (-e * (z - centre).abs()).exp();
    for e in [1e-3, 0.1, 1.0, 3.0, 20.0, 400.0] {
        let map = LaplaceMap::new(Epsilon::new(e).unwrap()).unwrap();
        let plus = 1.0 / (1.0 + (-e).exp());
        for step in -200..=300 {
            let z = f64::from(step) / 100.0;
            for (share, centre) in [(plus, 0.0), (1.0 - plus, 1.0)] {
                let mix = |at: &dyn Fn(bool) -> f64| share * at(true) + (1.0 - share) * at(false);
                let mass = mix(&|side| map.cumulative(side, z));
                assert!((mass - laplace(e, centre, z)).abs() < 1e-12, "{e} {z} {mass}");
                let slope = mix(&|side| map.density(side, z));
                assert!((slope - density(e, centre, z)).abs() < 1e-12 * (1.0 + e), "{e} {z}");
            }
            for side in [true, false] {
                let mass = map.cumulative(side, z);
                if (1e-3..=0.999).contains(&mass) {
                    let back = map.cumulative(side, map.quantile(side, mass).unwrap());
                    assert!((back - mass).abs() < 1e-12, "{e} {z} {mass} {back}");
                }
            }
        }
    }
}

/// Laplace noise, cut into cells of width 1/4, has rational masses if e^(-epsilon/4) is rational. Then the map of Lemma
/// 3.2 on the cells is exact, and must agree with the Laplace map.
#[test]
fn the_laplace_map_agrees_with_the_exact_one_on_cells() {
    let (t, per_unit, reach) = (ratio(2, 3), 4_i32, 24_i32);
    let power = |n: i32| (0..n).fold(Ratio::ONE, |product, _| product * &t);
    // P(z <= k/4) for noise around c/4.
    let below = |k: i32, c: i32| {
        let tail = power((k - c).abs()) / Ratio::from(2);
        if k < c { tail } else { Ratio::ONE - tail }
    };
    let cells = |c: i32| -> Vec<Ratio> {
        let edges = (-reach..=reach + per_unit).map(|k| below(k, c));
        let mut masses = Vec::new();
        let mut last = Ratio::ZERO;
        for edge in edges.chain([Ratio::ONE]) {
            masses.push(&edge - &last);
            last = edge;
        }
        masses
    };
    let pair = Pair::new(cells(0), cells(per_unit)).unwrap();
    let x = Ratio::ONE / power(per_unit);
    let map = from_response(&pair, &x, &Ratio::ZERO).unwrap();
    assert_exact(&map, &Pair::response(&x, &Ratio::ZERO).unwrap(), &pair);
    let epsilon = 4.0 * 1.5_f64.ln();
    let laplace = LaplaceMap::new(Epsilon::new(epsilon).unwrap()).unwrap();
    for (row, side) in [(1, true), (2, false)] {
        let mut sum = 0.0;
        for (index, mass) in map.rows()[row].iter().enumerate() {
            sum += nearest(mass);
            let edge = (f64::from(index as u32) - f64::from(reach)) / f64::from(per_unit);
            let want = if index as i32 > 2 * reach + per_unit {
                1.0
            } else {
                laplace.cumulative(side, edge)
            };
            assert!((sum - want).abs() < 1e-12, "{side} {edge} {sum} {want}");
        }
    }
}

#[test]
fn products_of_responses_are_the_optimal_composition() {
    // MV (1.2), as printed, for two and three pure responses of rational e^epsilon.
    let ratios = [ratio(3, 2), ratio(2, 1), ratio(7, 5)];
    let mut pair = Pair::response(&ratios[0], &Ratio::ZERO).unwrap();
    for x in &ratios[1..] {
        pair = pair.product(&Pair::response(x, &Ratio::ZERO).unwrap()).unwrap();
    }
    for target in [ratio(1, 2), ratio(1, 1), ratio(9, 8), ratio(21, 10), ratio(4, 1), ratio(5, 1)] {
        let mut sum = Ratio::ZERO;
        for subset in 0..1 << ratios.len() {
            let side = |bit: u32| {
                let chosen = ratios.iter().enumerate().filter(|(i, _)| subset >> i & 1 == bit);
                chosen.fold(Ratio::ONE, |product, (_, x)| product * x)
            };
            sum += (side(1) - &target * side(0)).max(Ratio::ZERO);
        }
        let scale = ratios.iter().fold(Ratio::ONE, |product, x| product * (x + Ratio::ONE));
        assert_eq!(pair.delta(&target), sum / scale);
    }
}

#[test]
fn bad_input_is_named() {
    let third = || ratio(1, 3);
    let message = |result: Result<Pair, ExactError>| result.unwrap_err().to_string();
    let bad = Pair::new(vec![third(), third()], vec![third(), third()]);
    assert_eq!(message(bad), "the entries of p sum to 2/3; legal: 1 exactly");
    let bad = Pair::new(vec![Ratio::ONE], vec![Ratio::from(2)]);
    assert_eq!(message(bad), "q[0] is 2; legal: a fraction from 0 to 1, of at most 4096 bits");
    let bad = Pair::new(vec![Ratio::ONE], vec![third(), third(), third()]);
    assert_eq!(message(bad), "entries of q number 3; legal: 1");
    assert_eq!(message(Pair::new(vec![], vec![])), "outcomes number 0; legal: 1 to 1000000");
    let bad = Pair::response(&third(), &Ratio::ZERO);
    assert_eq!(
        message(bad),
        "the likelihood ratio is 1/3; legal: a fraction of at least 1, of at most 4096 bits"
    );
    let bad = Pair::response(&Ratio::ONE, &Ratio::ONE);
    assert_eq!(message(bad), "delta is 1; legal: a fraction from 0 up to but not including 1");
    let long = Ratio::ONE / power_of_two();
    assert!(
        Pair::new(vec![Ratio::ONE - &long, long.clone()], vec![long.clone(), Ratio::ONE - long])
            .is_err()
    );
    let map = simulate(&one(), &one()).unwrap();
    assert!(map.apply(&Pair::response(&Ratio::ONE, &Ratio::ZERO).unwrap()).is_err());
    assert!(LaplaceMap::new(Epsilon::new(0.0).unwrap()).is_err());
    let laplace = LaplaceMap::new(Epsilon::new(1.0).unwrap()).unwrap();
    assert!([0.0, 1.0, f64::NAN, -1.0].iter().all(|&u| laplace.quantile(true, u).is_err()));
}

fn one() -> Pair {
    Pair::new(vec![Ratio::ONE], vec![Ratio::ONE]).unwrap()
}

/// 2^5000.
fn power_of_two() -> Ratio {
    (0..5000).fold(Ratio::ONE, |product, _| product * Ratio::from(2))
}

#[test]
fn maps_too_large_to_hold_are_refused() {
    let many = vec![1.0 / 1000.0; 1000];
    let large = FinitePair::new(&many, &many).unwrap();
    let pair = Pair::from(&large);
    let error = simulate(&pair, &pair).unwrap_err().to_string();
    assert_eq!(error, "entries of the map number 1000000; legal: 1 to 250000");
    assert!(pair.product(&pair).unwrap().product(&pair).is_err());
}
