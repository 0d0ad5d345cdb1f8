//! Finite interactive systems. The recursion is compared with a list of every deterministic adversary, Lyu's
//! decomposition with its equation, and concurrent composition with the optimum. The systems are drawn as trees of
//! whole numbers, and the brute force uses these trees.

use crate::common::fractions;
use crate::common::tree;

use counterpoint::{Count, Epsilon, Guarantee, Options, Plan};
use counterpoint_numerics::fractions::{Ratio, from_double, nearest};
use counterpoint_papers::interactive::{
    Adversary, Answer, DecomposeError, System, concurrent, concurrent_delta, decompose,
};
use counterpoint_papers::pair::{Pair, violation};
use counterpoint_testing::Random;
use fractions::{cases, ratio};
use tree::{Tree, random_ratio, sixtieths};

#[test]
fn the_recursion_is_the_best_of_all_deterministic_adversaries() {
    let mut random = Random::new(0x4c79_7531);
    for _ in 0..cases(1000) {
        let tree = Tree::random(&mut random, 3, 3);
        let system = tree.system();
        // Ratios below one are the other half of the profile.
        let (up, down) = random_ratio(&mut random);
        let at = if random.once_in(3) { (down, up) } else { (up, down) };
        let x = ratio(at.0, at.1);
        let best = [(tree.clone(), system.clone()), (tree.swapped(), system.swapped())].map(
            |(tree, system)| {
                let best = tree.brute_force(3, at);
                let attack = system.attack(&x);
                assert_eq!(attack.delta, best);
                // The returned adversary gains this much.
                assert_eq!(system.pair(&attack.adversary).unwrap().delta(&x), best);
                best
            },
        );
        assert_eq!(system.delta(&x), best.into_iter().max().unwrap());
    }
}

#[test]
fn one_pair_is_as_bad_as_all_adversaries_at_every_ratio() {
    let mut random = Random::new(0x5265_6769);
    for _ in 0..cases(1000) {
        let tree = Tree::random(&mut random, 3, 3);
        let system = tree.system();
        let pair = system.dominating_pair();
        // At any ratios, and at those where the profile has its corners.
        let corners = pair.outcomes().iter().filter(|[_, q]| *q > Ratio::ZERO);
        let mut ratios: Vec<Ratio> = corners.map(|[p, q]| p / q).collect();
        ratios.truncate(8);
        for _ in 0..4 {
            let (up, down) = random_ratio(&mut random);
            ratios.extend([ratio(up, down), ratio(down, up)]);
        }
        for x in ratios {
            assert_eq!(pair.delta(&x), system.attack(&x).delta);
            assert_eq!(pair.swapped().delta(&x), system.swapped().attack(&x).delta);
        }
        let view = system.pair(&any_adversary(&mut random, &system)).unwrap();
        assert_eq!(violation(&pair, &view), None);
    }
}

fn any_adversary(random: &mut Random, system: &System) -> Adversary {
    system.adversary(|_, queries| random.below(queries as u64) as usize).unwrap()
}

/// Checks L (3) for the transcripts of some adversaries, by sums written out here.
fn assert_decomposed(random: &mut Random, system: &System, x: &Ratio, delta: &Ratio) {
    let parts = decompose(system, x, delta).unwrap();
    assert!(parts.reproduces(system));
    for _ in 0..4 {
        let adversary = any_adversary(random, system);
        let [whole, veiled, exposed] = [system, &parts.veiled, &parts.exposed]
            .map(|system| system.pair(&adversary).unwrap().outcomes().to_vec());
        for part in [&veiled, &exposed] {
            for b in [0, 1] {
                let sum = part.iter().fold(Ratio::ZERO, |sum, masses| sum + &masses[b]);
                assert_eq!(sum, Ratio::ONE);
                assert!(part.iter().all(|masses| masses[b] >= Ratio::ZERO));
            }
        }
        for (m, (n, e)) in whole.iter().zip(veiled.iter().zip(&exposed)) {
            for b in [0, 1] {
                let mixed = (x * &n[b] + &n[1 - b]) / (Ratio::ONE + x);
                assert_eq!(m[b], delta * &e[b] + (Ratio::ONE - delta) * mixed);
            }
        }
    }
}

#[test]
fn every_system_decomposes_at_its_own_delta_and_at_no_smaller_one() {
    let mut random = Random::new(0x4c79_7533);
    let mut tried = [0; 4];
    for case in 0..cases(1000) {
        let system = Tree::random(&mut random, 3, 3).system();
        let (up, down) = random_ratio(&mut random);
        let x = ratio(up, down);
        let least = system.delta(&x);
        if least == Ratio::ONE {
            assert!(decompose(&system, &x, &ratio(99, 100)).is_err());
            continue;
        }
        let spare = if case % 2 == 0 { Ratio::ZERO } else { ratio(1, 3) };
        let delta = &least + (Ratio::ONE - &least) * spare;
        assert_decomposed(&mut random, &system, &x, &delta);
        tried[usize::from(x == Ratio::ONE) + 2 * usize::from(delta == Ratio::ZERO)] += 1;
        if least > Ratio::ZERO {
            let less = &least * ratio(99, 100);
            match decompose(&system, &x, &less).unwrap_err() {
                DecomposeError::Distinguishable { bit, attack, .. } => {
                    let side = if bit == 0 { system.clone() } else { system.swapped() };
                    let seen = side.pair(&attack.adversary).unwrap();
                    assert!(seen.delta(&x) == attack.delta && attack.delta > less);
                }
                error => panic!("{error}"),
            }
        }
    }
    // With and without epsilon = 0; delta = 0 is in the next test as well.
    assert!(tried[0] > 0 && tried[1] > 0, "{tried:?}");
}

#[test]
fn pure_systems_decompose_without_a_leak() {
    let mut random = Random::new(0x5075_7265);
    for case in 0..cases(400) {
        // A mixture of a system and its swap is pure: every likelihood ratio is bounded.
        let tree = Tree::random(&mut random, 2, 3);
        let pure = if case % 4 == 0 { twin(&tree) } else { blended(&tree) };
        let system = pure.system();
        let least = if case % 4 == 0 { Ratio::ONE } else { ratio(81, 1) };
        assert_eq!(system.delta(&least), Ratio::ZERO);
        assert_decomposed(&mut random, &system, &least, &Ratio::ZERO);
    }
}

/// A tree with the same probabilities under both bits.
fn twin(tree: &Tree) -> Tree {
    let same = |([a, _], then): &([u64; 2], Tree)| ([*a, *a], twin(then));
    Tree(tree.0.iter().map(|answers| answers.iter().map(same).collect()).collect())
}

/// A tree whose answers are at most nine times as likely under one bit as under the other.
fn blended(tree: &Tree) -> Tree {
    let query = |answers: &Vec<([u64; 2], Tree)>| {
        let count = answers.len() as u64;
        let even = |b: usize| -> Vec<u64> {
            let mut list: Vec<u64> =
                answers.iter().map(|(m, _)| 5 + m[b] * (60 - 5 * count) / 60).collect();
            let rest = 60 - list.iter().sum::<u64>();
            list[0] += rest;
            list
        };
        let (zero, one) = (even(0), even(1));
        let both = zero.into_iter().zip(one).zip(answers);
        both.map(|((a, b), (_, then))| ([a, b], blended(then))).collect()
    };
    Tree(tree.0.iter().map(query).collect())
}

#[test]
fn interleaved_adversaries_are_the_best_of_all_interleavings() {
    let mut random = Random::new(0x496e_7465);
    for _ in 0..cases(1000) {
        let first = Tree::random(&mut random, 2, 2);
        let second = Tree::random(&mut random, 1, 2);
        let at = random_ratio(&mut random);
        let x = ratio(at.0, at.1);
        let both = first.beside(&second);
        let best = both.brute_force(3, at).max(both.swapped().brute_force(3, at));
        let systems = [first.system(), second.system()];
        assert_eq!(concurrent_delta(&systems, &x).unwrap(), best);
        let whole = concurrent(&systems).unwrap();
        assert_eq!(whole, whole.swapped().swapped());
        assert_eq!(whole.delta(&x), best);
    }
}

/// A guarantee that the system has: a ratio, and the least delta at this ratio if it is below one.
fn guarantee(random: &mut Random, system: &System) -> Option<Pair> {
    let (up, down) = random_ratio(random);
    let x = ratio(up, down);
    Pair::response(&x, &system.delta(&x)).ok()
}

#[test]
fn concurrent_composition_never_exceeds_the_optimal_composition() {
    let mut random = Random::new(0x4c79_7501);
    let mut tight = 0;
    for _ in 0..cases(1000) {
        let rounds: &[usize] = random.of(&[&[3, 2], &[2, 2], &[2, 1, 1], &[1, 1, 1]]);
        let systems: Vec<System> =
            rounds.iter().map(|&r| Tree::random(&mut random, r, 2).system()).collect();
        let responses = systems.iter().map(|system| guarantee(&mut random, system));
        let Some(responses) = responses.collect::<Option<Vec<Pair>>>() else { continue };
        let nothing = Pair::response(&Ratio::ONE, &Ratio::ZERO).unwrap();
        let all = responses.iter().fold(nothing, |all, one| all.product(one).unwrap());
        // Vadhan and Zhang's bound is between the two.
        let pairs = systems.iter().map(System::dominating_pair);
        let dominating = pairs.reduce(|all, one| all.product(&one).unwrap()).unwrap();
        for _ in 0..3 {
            let (up, down) = random_ratio(&mut random);
            let x = ratio(up, down);
            let (together, optimal) = (concurrent_delta(&systems, &x).unwrap(), all.delta(&x));
            let between = dominating.delta(&x).max(dominating.swapped().delta(&x));
            assert!(together <= between && between <= optimal);
            assert!(together <= optimal, "{} {}", nearest(&together), nearest(&optimal));
            tight += usize::from(together == optimal && optimal > Ratio::ZERO);
        }
    }
    // A bound that is one per cent lower would be exceeded.
    assert!(tight > 0);
}

#[test]
fn concurrent_randomized_responses_reach_the_optimal_composition() {
    let mut random = Random::new(0x5252_5252);
    for _ in 0..cases(200) {
        let count = random.between(1, 4);
        let mut one = || {
            let (up, down) = random_ratio(&mut random);
            let delta =
                if random.once_in(2) { Ratio::ZERO } else { ratio(1, random.between(2, 99)) };
            (ratio(up, down), delta)
        };
        let list: Vec<(Ratio, Ratio)> = (0..count).map(|_| one()).collect();
        let systems: Vec<System> =
            list.iter().map(|(x, d)| System::from(&Pair::response(x, d).unwrap())).collect();
        let (up, down) = random_ratio(&mut random);
        let x = ratio(up, down);
        assert_eq!(concurrent_delta(&systems, &x).unwrap(), optimal(&list, &x));
    }
}

/// MV (1.2), as printed, solved for delta_g.
fn optimal(list: &[(Ratio, Ratio)], target: &Ratio) -> Ratio {
    let mut sum = Ratio::ZERO;
    for subset in 0..1_u32 << list.len() {
        let side = |bit: u32| {
            let chosen = list.iter().enumerate().filter(|(i, _)| subset >> i & 1 == bit);
            chosen.fold(Ratio::ONE, |product, (_, (x, _))| product * x)
        };
        sum += (side(1) - target * side(0)).max(Ratio::ZERO);
    }
    let scale = list.iter().fold(Ratio::ONE, |product, (x, _)| product * (x + Ratio::ONE));
    let kept = list.iter().fold(Ratio::ONE, |product, (_, d)| product * (Ratio::ONE - d));
    Ratio::ONE - kept * (Ratio::ONE - sum / scale)
}

#[test]
fn the_certified_routes_agree_with_concurrent_randomized_responses() {
    let lists: [&[(f64, f64)]; 3] = [
        &[(0.5, 0.0), (0.25, 0.0), (1.0, 0.0)],
        &[(0.1, 0.01), (0.7, 0.0), (0.3, 1e-6), (0.2, 0.0)],
        &[(1.5, 0.1), (1.5, 0.1)],
    ];
    for list in lists {
        let guarantees = list.iter().map(|&(e, d)| (Guarantee::new(e, d).unwrap(), Count::ONE));
        let plan = Plan::new(guarantees).unwrap();
        let systems: Vec<System> = list
            .iter()
            .map(|&(e, d)| {
                let (x, _) = Epsilon::new(e).unwrap().exponential().unwrap();
                System::from(&Pair::response(&x, &from_double(d)).unwrap())
            })
            .collect();
        for at in [0.0, 0.3, 0.9, 1.4] {
            let at = Epsilon::new(at).unwrap();
            let certified = plan.delta(at, &Options::default()).unwrap().bracket;
            let (x, _) = at.exponential().unwrap();
            let exact = nearest(&concurrent_delta(&systems, &x).unwrap());
            assert!(certified.lower - 1e-12 < exact && exact < certified.upper + 1e-12);
        }
    }
}

#[test]
fn adversaries_can_be_replayed_step_by_step() {
    let mut random = Random::new(0x5265_706c);
    for _ in 0..cases(200) {
        let tree = Tree::random(&mut random, 3, 3);
        let system = tree.system();
        let attack = system.attack(&Ratio::ONE);
        // Follows the tree along the adversary's own choices.
        let (mut node, mut history) = (&tree, Vec::new());
        while let Some(query) = system.next_query(&attack.adversary, &history) {
            let answer = random.below(node.0[query].len() as u64) as usize;
            history.push(counterpoint_papers::interactive::Step { query, answer });
            node = &node.0[query][answer].1;
        }
        assert!(node.0.is_empty());
        let nowhere = [counterpoint_papers::interactive::Step { query: 99, answer: 0 }];
        assert_eq!(system.next_query(&attack.adversary, &nowhere), None);
    }
}

#[test]
fn bad_systems_are_named() {
    let half = || ratio(1, 2);
    let message = |queries| System::new(queries).unwrap_err().to_string();
    let lame = vec![Answer::last(half(), half()), Answer::last(half(), ratio(1, 3))];
    let fine = vec![Answer::last(Ratio::ONE, Ratio::ONE)];
    assert_eq!(
        message(vec![fine.clone(), lame]),
        "the probabilities of the answers to query 1, b = 1, sum to 5/6; legal: 1 exactly"
    );
    let negative = vec![Answer::last(-half(), half()), Answer::last(ratio(3, 2), half())];
    assert_eq!(
        message(vec![negative]),
        "the probability of answer 0 to query 0, b = 0, is -1/2; legal: a fraction from 0 to 1, \
         of at most 4096 bits"
    );
    assert_eq!(message(vec![vec![]]), "answers to a query number 0; legal: 1 to 1000000");
    let system = System::new(vec![fine.clone(), fine]).unwrap();
    assert!(decompose(&system, &half(), &Ratio::ZERO).is_err());
    assert!(decompose(&system, &Ratio::ONE, &Ratio::ONE).is_err());
    assert_eq!(
        system.adversary(|_, _| 2).unwrap_err().to_string(),
        "the query chosen is number 2; legal: 0 to 1"
    );
    let other = System::over().attack(&Ratio::ONE).adversary;
    assert!(system.pair(&other).is_err());
}

#[test]
fn what_would_explode_is_refused() {
    let mut random = Random::new(0x426f_6f6d);
    let mut node = Tree::default();
    // A chain of 2,000 rounds does not overflow the stack.
    let mut chain = System::over();
    for _ in 0..2000 {
        let coin = |then: System| Answer::new(ratio(1, 2), ratio(1, 2), then);
        chain = System::new(vec![vec![coin(chain), coin(System::over())]]).unwrap();
    }
    assert_eq!(chain.attack(&Ratio::ONE).delta, Ratio::ZERO);
    assert!(decompose(&chain, &Ratio::ONE, &ratio(1, 7)).unwrap().reproduces(&chain));
    assert_eq!(
        concurrent_delta(&[chain.clone(), chain.clone()], &Ratio::ONE).unwrap_err().to_string(),
        "tuples of states number 16008001; legal: 1 to 1000000"
    );
    for _ in 0..2 {
        node = Tree(vec![
            sixtieths(&mut random, 30)
                .into_iter()
                .map(|m| ([m, m], node.clone()))
                .collect();
            1
        ]);
    }
    let large = node.system();
    assert_eq!(
        concurrent_delta(&[], &Ratio::ONE).unwrap_err().to_string(),
        "systems number 0; legal: 1 to 64"
    );
    assert!(concurrent(&[large.clone(), large.clone(), large.clone()]).is_err());
    assert!(concurrent_delta(&[large.clone(), large.clone(), large], &Ratio::ONE).is_err());
    // Probabilities without a common factor: their sums would have very long denominators.
    let odd = |n: u64| ratio(1, 1_000_003 + 2 * n) / Ratio::from(4096_u64);
    let mut answers: Vec<Answer> = (0..40_000).map(|n| Answer::last(odd(n), odd(n))).collect();
    answers.push(Answer::last(Ratio::ONE, Ratio::ONE));
    let error = System::new(vec![answers]).unwrap_err().to_string();
    assert!(error.starts_with("bits of the answers' probabilities number"), "{error}");
}
