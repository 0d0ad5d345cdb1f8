//! The regions, against the tests an adversary would really use.

use super::{curve, figure};

/// The corners of the errors of all likelihood-ratio tests between k leaky randomized responses
/// and their mirror images (Neyman and Pearson): misses, then false alarms.
fn tests_of_responses(epsilon: f64, delta: f64, k: u32) -> Vec<(f64, f64)> {
    let kept = (1.0 - delta).powi(k as i32);
    let plus = epsilon.exp() / (1.0 + epsilon.exp());
    let binomial = |j: u32| (0..j).fold(1.0, |c, i| c * f64::from(k - i) / f64::from(i + 1));
    let mass =
        |j: u32, p: f64| kept * binomial(j) * p.powi(j as i32) * (1.0 - p).powi((k - j) as i32);
    // Rejecting nothing but what only one side can show: all alarms are true, and then ever more.
    let mut corners = vec![(kept, 0.0)];
    let (mut misses, mut alarms) = (kept, 0.0);
    for j in (0..=k).rev() {
        misses -= mass(j, plus);
        alarms += mass(j, 1.0 - plus);
        corners.push((misses.max(0.0), alarms));
    }
    corners.reverse();
    corners
}

fn same(own: &[(f64, f64)], expected: &[(f64, f64)], what: &str) {
    assert_eq!(own.len(), expected.len(), "{what}: {own:?}, not {expected:?}");
    for (a, b) in std::iter::zip(own, expected) {
        assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9, "{what}: {a:?}, not {b:?}");
    }
}

/// How high a boundary is over a point.
fn height(corners: &[(f64, f64)], x: f64) -> f64 {
    let two = corners.windows(2).find(|two| two[0].0 <= x && x <= two[1].0);
    two.map_or(0.0, |two| two[0].1 + (two[1].1 - two[0].1) * (x - two[0].0) / (two[1].0 - two[0].0))
}

#[test]
fn kov_figure_1_is_one_response() {
    let figure = figure("kov-figure-1");
    let expected = tests_of_responses(1.0, 0.1, 1);
    same(curve(&figure.charts[0], "boundary"), &expected, "boundary");
    let least = expected[1].0 + expected[1].1;
    assert!(figure.caption.contains(&format!("= {least:.4}, so total variation is at most")));
    let line = curve(&figure.charts[0], "least sum of errors, problem (20)");
    assert!(line.iter().all(|(x, y)| (x + y - least).abs() < 1e-9));
}

#[test]
fn kov_figure_2_is_what_the_best_tests_reach() {
    let figure = figure("kov-figure-2");
    for (chart, delta) in std::iter::zip(&figure.charts, [0.0, 0.1]) {
        let mut before = vec![(0.0, 1.0), (1.0, 0.0)];
        for k in 1..=5 {
            let own = curve(chart, &format!("k = {k}"));
            same(own, &tests_of_responses(0.4, delta, k), &format!("k = {k}, delta = {delta}"));
            // Nested: each release lets more be reached.
            for n in 0..=100 {
                let x = f64::from(n) / 100.0;
                assert!(height(own, x) <= height(&before, x) + 1e-9, "{k} {x}");
            }
            before = own.to_vec();
        }
    }
    // At the odd k the middle corner is the balanced test.
    for (k, delta) in [(1, 0.0), (5, 0.0), (1, 0.1), (5, 0.1)] {
        let corners = tests_of_responses(0.4, delta, k);
        let balanced = corners[corners.len() / 2];
        assert!((balanced.0 - balanced.1).abs() < 1e-12);
        let said = format!("{:.3}", balanced.0);
        assert!(figure.caption.contains(&said), "{said} in {}", figure.caption);
    }
}

#[test]
fn kov_figure_3_orders_the_theorems() {
    let chart = &figure("kov-figure-3").charts[0];
    let optimal = curve(chart, "optimal");
    // Only what the best tests reach; their corners are all there.
    let exact = tests_of_responses(0.1, 0.001, 30);
    let basic =
        [(0.0, 0.97), (0.97 / (1.0 + 3_f64.exp()), 0.97 / (1.0 + 3_f64.exp())), (0.97, 0.0)];
    same(curve(chart, "basic (summing)"), &basic, "basic");
    let advanced = curve(chart, "advanced (DRV)");
    for n in 0..=1000 {
        let x = f64::from(n) / 1000.0;
        assert!((height(optimal, x) - height(&exact, x)).abs() < 1e-9, "optimal at {x}");
        assert!(height(optimal, x) >= height(advanced, x) - 1e-9, "advanced at {x}");
        assert!(height(optimal, x) >= height(&basic, x) - 1e-9, "basic at {x}");
        // KOV III.2 for very many slacks.
        let lines = (1..20_000).map(|m| {
            let slack = f64::from(m) / 20_000.0 * 0.97;
            let e = 30.0 * 0.1 * 0.1_f64.exp_m1() + 0.1 * (60.0 * (1.0 / slack).ln()).sqrt();
            let room = 1.0 - 0.03 - slack;
            (room - e.exp() * x).max((room - x) * (-e).exp())
        });
        let highest = lines.fold(0.0, f64::max);
        assert!((height(advanced, x) - highest).abs() < 2e-3, "advanced at {x}");
    }
}

/// The normal distribution function, by the trapezoid rule from far out.
fn phi(x: f64) -> f64 {
    let (from, steps) = (-9.0, 2000);
    let h = (x - from) / f64::from(steps);
    let density = |n: i32| {
        let t = from + f64::from(n) * h;
        (-0.5 * t * t).exp()
    };
    let inner: f64 = (1..steps).map(density).sum();
    h * (inner + 0.5 * (density(0) + density(steps))) / (2.0 * std::f64::consts::PI).sqrt()
}

#[test]
fn tangents_leave_the_gaussian_mechanisms_region() {
    let chart = &figure("kov-figure-3").charts[1];
    let boundary = curve(chart, "Gaussian mechanism");
    for n in -20..=30 {
        // Reject above t: noise of one standard deviation, answers one apart.
        let t = f64::from(n) / 10.0;
        let (misses, alarms) = (phi(t - 1.0), 1.0 - phi(t));
        let own = height(boundary, misses);
        assert!(own <= alarms + 1e-6 && own >= alarms - 2e-4, "{t}: {own} {alarms}");
    }
    for epsilon in [0.0, 0.75, 1.5] {
        let line = curve(chart, &format!("tangent at ε = {epsilon}"));
        let slope = (line[1].1 - line[0].1) / (line[1].0 - line[0].0);
        assert!((slope + f64::exp(epsilon)).abs() < 1e-9);
        let below = |x: f64| height(boundary, x) - (line[0].1 + slope * x);
        let gaps = (0..=1000).map(|n| below(f64::from(n) / 1000.0));
        let least = gaps.fold(f64::INFINITY, f64::min);
        assert!((-1e-9..1e-4).contains(&least), "touches: {least}");
    }
}
