//! Rényi divergences of finite interactive systems. The recursion is compared with the definition, over a list of every
//! deterministic adversary. L Theorem 2 is checked as an equation of fractions, and the monitor of its proof along
//! every history.

use crate::common::fractions::{cases, ratio};
use crate::common::tree::{Tree, UNIT};

use counterpoint::quantity::Order;
use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_papers::interactive::{Answer, Monitor, Step, System, concurrent};
use counterpoint_testing::Random;

/// The view of a deterministic adversary: the probabilities of its transcripts under both bits.
type View = Vec<[Ratio; 2]>;

/// The views of all deterministic adversaries. No maximum is taken on the way.
fn views(tree: &Tree) -> Vec<View> {
    if tree.0.is_empty() {
        return vec![vec![[Ratio::ONE, Ratio::ONE]]];
    }
    let mut all = Vec::new();
    for answers in &tree.0 {
        let mut seen: Vec<View> = vec![Vec::new()];
        for ([a, b], then) in answers {
            let (a, b) = (ratio(*a, UNIT), ratio(*b, UNIT));
            let after: Vec<View> = views(then)
                .into_iter()
                .map(|view| view.iter().map(|[p, q]| [&a * p, &b * q]).collect())
                .collect();
            let joined = |view: &View| -> Vec<View> {
                after.iter().map(|next| [view.clone(), next.clone()].concat()).collect()
            };
            seen = seen.iter().flat_map(joined).collect();
        }
        all.extend(seen);
    }
    all
}

/// E_Q[(P/Q)^a] by its definition, with a = 2, 3, ...; `None` if it is infinite.
fn moment(view: &View, order: u32) -> Option<Ratio> {
    let mut sum = Ratio::ZERO;
    for [p, q] in view.iter().filter(|[p, _]| !p.is_zero()) {
        if q.is_zero() {
            return None;
        }
        let loss = p / q;
        let power = (0..order).fold(Ratio::ONE, |power, _| power * &loss);
        sum += q * power;
    }
    Some(sum)
}

/// The larger of two moments; `None` is infinite.
fn larger(a: Option<Ratio>, b: Option<Ratio>) -> Option<Ratio> {
    a.zip(b).map(|(a, b)| a.max(b))
}

/// The best of all adversaries.
fn best(tree: &Tree, order: u32) -> Option<Ratio> {
    let all = views(tree).into_iter().map(|view| moment(&view, order));
    all.reduce(larger).unwrap()
}

/// A tree without impossible answers, so that moments are finite.
fn finite(tree: &Tree) -> Tree {
    let query = |answers: &Vec<([u64; 2], Tree)>| {
        let count = answers.len() as u64;
        let raised = |mass: u64| 1 + mass * (UNIT - count) / UNIT;
        let mut list: Vec<([u64; 2], Tree)> =
            answers.iter().map(|([a, b], then)| ([raised(*a), raised(*b)], finite(then))).collect();
        for b in [0, 1] {
            list[0].0[b] += UNIT - list.iter().map(|(masses, _)| masses[b]).sum::<u64>();
        }
        list
    };
    Tree(tree.0.iter().map(query).collect())
}

#[test]
fn the_largest_moment_is_that_of_the_best_of_all_adversaries() {
    let mut random = Random::new(0x5265_6e79);
    let mut infinite = 0;
    for case in 0..cases(600) {
        let size = if case % 2 == 0 { (3, 2) } else { (2, 3) };
        let drawn = Tree::random(&mut random, size.0, size.1);
        let tree = if case % 3 == 0 { drawn } else { finite(&drawn) };
        let order = random.between(2, 5) as u32;
        for tree in [tree.clone(), tree.swapped()] {
            let system = tree.system();
            let attack = system.moment_attack(order).unwrap();
            let expected = best(&tree, order);
            assert_eq!(attack.moment, expected);
            // The returned adversary reaches this moment.
            let seen = system.pair(&attack.adversary).unwrap().outcomes().to_vec();
            assert_eq!(moment(&seen, order), expected);
            infinite += usize::from(expected.is_none());
        }
    }
    assert!(infinite > 0);
}

/// ln of a fraction, in doubles: accurate enough for a comparison to 1e-12.
fn ln(value: &Ratio) -> f64 {
    nearest(value).ln()
}

#[test]
fn divergences_of_real_order_enclose_the_best_of_all_adversaries() {
    let mut random = Random::new(0x5265_616c);
    for case in 0..cases(400) {
        let drawn = Tree::random(&mut random, 2, 3);
        let tree = if case % 4 == 0 { drawn } else { finite(&drawn) };
        let system = tree.system();
        // Whole orders: the bracket is narrow and contains the exact moment.
        let order = random.between(2, 8) as u32;
        let attack = system.renyi_attack(Order::new(f64::from(order)).unwrap()).unwrap();
        match system.moment_attack(order).unwrap().moment {
            None => assert!(attack.divergence.lower.is_infinite()),
            Some(moment) => {
                let bracket = attack.divergence;
                let t = f64::from(order - 1);
                let truth = ln(&moment) / t;
                assert!(bracket.lower <= bracket.upper, "{bracket:?}");
                assert!(bracket.width() <= 1e-14 * truth.max(1.0), "{bracket:?}");
                assert!((bracket.upper - truth).abs() <= 1e-12 * truth.max(1.0), "{bracket:?}");
            }
        }
        // Any order: compared with the definition in doubles, for the larger divergence of both directions.
        let order = 1.0 + (f64::from(random.between(0, 80) as u32) / 10.0 - 4.0).exp();
        let enclosed = system.divergence(Order::new(order).unwrap()).unwrap();
        let plain = |view: &View, b: usize| -> f64 {
            let terms = view.iter().filter(|masses| !masses[b].is_zero()).map(|masses| {
                let (p, q) = (nearest(&masses[b]), nearest(&masses[1 - b]));
                q * (order * (p / q).ln()).exp()
            });
            let terms = terms.map(|term| if term.is_nan() { f64::INFINITY } else { term });
            (terms.sum::<f64>().ln() / (order - 1.0)).max(0.0)
        };
        let views = views(&tree);
        let all = views.iter().flat_map(|view| [plain(view, 0), plain(view, 1)]);
        let truth = all.fold(0.0, f64::max);
        if truth.is_infinite() {
            assert!(enclosed.lower.is_infinite());
        } else {
            let near = 1e-9 * truth.max(1.0);
            assert!(enclosed.lower <= truth + near && truth <= enclosed.upper + near);
            assert!(enclosed.width() <= near, "{enclosed:?} {truth}");
        }
    }
}

#[test]
fn a_system_by_hand() {
    // First a coin that is fair or 1/4; after heads a choice of two queries.
    let wide = vec![Answer::last(ratio(2, 3), ratio(1, 3)), Answer::last(ratio(1, 3), ratio(2, 3))];
    let slight =
        vec![Answer::last(ratio(1, 2), ratio(2, 5)), Answer::last(ratio(1, 2), ratio(3, 5))];
    let after = System::new(vec![slight, wide]).unwrap();
    let first =
        vec![Answer::new(ratio(1, 2), ratio(1, 4), after), Answer::last(ratio(1, 2), ratio(3, 4))];
    let system = System::new(vec![first]).unwrap();
    // After heads: 4/9 * 3 + 1/9 * 3/2 = 3/2 (the other query: 25/24). In total: 1/4 * 4 * 3/2 + 1/4 * 4/3 = 11/6.
    let attack = system.moment_attack(2).unwrap();
    assert_eq!(attack.moment, Some(ratio(11, 6)));
    let heads = [Step { query: 0, answer: 0 }];
    assert_eq!(system.next_query(&attack.adversary, &heads), Some(1));
    // The other direction: after heads 1/9 * 3/2 + 4/9 * 3 = 3/2, and 1/16 * 2 * 3/2 + 9/16 * 2 = 21/16.
    assert_eq!(system.swapped().moment_attack(2).unwrap().moment, Some(ratio(21, 16)));
    let both = system.divergence(Order::new(2.0).unwrap()).unwrap();
    assert!((both.upper - (11.0_f64 / 6.0).ln()).abs() < 1e-15 && both.width() < 1e-15);
    // An answer that is impossible under b = 1 alone makes the moment infinite, in this direction only.
    let leak = vec![Answer::last(ratio(1, 9), Ratio::ZERO), Answer::last(ratio(8, 9), Ratio::ONE)];
    let leak = System::new(vec![leak]).unwrap();
    assert_eq!(leak.moment_attack(3).unwrap().moment, None);
    assert_eq!(leak.swapped().moment_attack(3).unwrap().moment, Some(ratio(81, 64)));
    let order = Order::new(1.5).unwrap();
    assert!(leak.divergence(order).unwrap().lower.is_infinite());
    assert!(leak.swapped().renyi_attack(order).unwrap().divergence.upper < 1.0);
}

#[test]
fn interleaving_multiplies_the_moments_and_no_more() {
    let mut random = Random::new(0x5468_6d32);
    let mut above = 0;
    for case in 0..cases(400) {
        let sizes: &[usize] = random.of(&[&[2, 1], &[1, 1], &[2, 2], &[1, 1, 1]]);
        let trees: Vec<Tree> = sizes
            .iter()
            .map(|&rounds| {
                let drawn = Tree::random(&mut random, rounds, 2);
                if case % 5 == 0 { drawn } else { finite(&drawn) }
            })
            .collect();
        let systems: Vec<System> = trees.iter().map(Tree::system).collect();
        let order = random.between(2, 4) as u32;
        let whole = concurrent(&systems).unwrap().moment_attack(order).unwrap().moment;
        let parts = systems.iter().map(|system| system.moment_attack(order).unwrap().moment);
        let product = parts.reduce(|a, b| a.zip(b).map(|(a, b)| a * b)).unwrap();
        assert_eq!(whole, product);
        if sizes.iter().sum::<usize>() <= 3 {
            // Every adversary against both trees at once, listed one by one.
            let together = trees.iter().cloned().reduce(|a, b| a.beside(&b)).unwrap();
            assert_eq!(best(&together, order), product);
        }
        // A sum of divergences that is one per cent lower is exceeded.
        if let Some(product) = product.filter(|product| *product > Ratio::ONE) {
            let claimed = 0.99 * ln(&product) / f64::from(order - 1);
            let order = Order::new(f64::from(order)).unwrap();
            let reached = concurrent(&systems).unwrap().renyi_attack(order).unwrap().divergence;
            above += usize::from(reached.lower > claimed);
            assert!(reached.lower > claimed);
        }
    }
    assert!(above > 10);
}

/// Follows every history. Checks that weight times remaining moment never grows at a query, and counts the queries at
/// which it stays equal.
fn followed(monitor: &Monitor<'_>, trees: &[&Tree], order: u32, tight: &mut usize) {
    let Some(left) = monitor.remaining() else { return };
    // The remaining moment is the product of the best adversaries' moments from here on.
    let product = trees.iter().map(|tree| best(tree, order).unwrap());
    assert_eq!(left, product.fold(Ratio::ONE, |a, b| a * b));
    let before = monitor.weight().unwrap() * left;
    for (which, tree) in trees.iter().enumerate() {
        for (query, answers) in tree.0.iter().enumerate() {
            let mut after = Ratio::ZERO;
            for (answer, (_, then)) in answers.iter().enumerate() {
                let mut next = monitor.clone();
                next.follow(which, Step { query, answer }).unwrap();
                after += next.weight().unwrap() * next.remaining().unwrap();
                let mut trees = trees.to_vec();
                trees[which] = then;
                followed(&next, &trees, order, tight);
            }
            assert!(after <= before, "the budget was overdrawn");
            // If both are equal, a remaining moment that is 1 % smaller would have been overdrawn.
            *tight += usize::from(after == before);
        }
    }
}

#[test]
fn the_monitor_is_never_overdrawn_along_any_history() {
    let mut random = Random::new(0x4d6f_6e69);
    let mut tight = 0;
    for _ in 0..cases(200) {
        let trees = [2, 1].map(|rounds| finite(&Tree::random(&mut random, rounds, 2)));
        let systems = [trees[0].system(), trees[1].system()];
        let order = random.between(2, 4) as u32;
        let monitor = Monitor::new(&systems, order).unwrap();
        let start = systems.iter().map(|system| system.moment_attack(order).unwrap().moment);
        assert_eq!(monitor.remaining(), start.reduce(|a, b| a.zip(b).map(|(a, b)| a * b)).unwrap());
        followed(&monitor, &[&trees[0], &trees[1]], order, &mut tight);
    }
    assert!(tight > 20);
}

#[test]
fn what_the_monitor_and_moments_refuse() {
    let coin = System::new(vec![vec![Answer::last(Ratio::ONE, Ratio::ONE)]]).unwrap();
    for order in [0, 1, 1001] {
        let text = coin.moment_attack(order).unwrap_err().to_string();
        assert_eq!(text, format!("the order is number {order}; legal: 2 to 1000"));
    }
    assert!(coin.divergence(Order::new(1e12).unwrap()).is_err());
    assert!(Monitor::new(&[], 2).is_err() && Monitor::new(std::slice::from_ref(&coin), 1).is_err());
    let systems = [coin];
    let mut monitor = Monitor::new(&systems, 2).unwrap();
    let step = Step { query: 0, answer: 0 };
    assert!(monitor.follow(1, step).is_err());
    assert!(monitor.follow(0, Step { query: 1, ..step }).is_err());
    assert!(monitor.follow(0, Step { answer: 1, ..step }).is_err());
    monitor.follow(0, step).unwrap();
    let text = monitor.follow(0, step).unwrap_err().to_string();
    assert_eq!(text, "queries that can be made now number 0; legal: 1 to 1000000");
    assert_eq!((monitor.remaining(), monitor.weight()), (Some(Ratio::ONE), Some(Ratio::ONE)));
    // Fractions that do not fit into memory.
    let long = |k: u32| Ratio::ONE / Ratio::from(3_u64).pow(k as i32);
    let mut chain = System::over();
    for round in 0..200 {
        let (p, q) = (long(1000 + round), long(1001 + round));
        let (rest_p, rest_q) = (Ratio::ONE - &p, Ratio::ONE - &q);
        chain = System::new(vec![vec![
            Answer::new(p, q, System::over()),
            Answer::new(rest_p, rest_q, chain),
        ]])
        .unwrap();
    }
    let text = chain.moment_attack(1000).unwrap_err().to_string();
    assert!(text.starts_with("bits of all states' moments number"), "{text}");
    // The bracket needs little memory.
    assert!(chain.divergence(Order::new(1000.0).unwrap()).unwrap().upper < 1e4);
}
