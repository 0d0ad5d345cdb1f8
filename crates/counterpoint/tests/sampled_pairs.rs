//! Everything that has a pair, on a Poisson sample; and groups of those known by a curve.
//!
//! Outcomes are mixed, multiplied out and summed in doubles here, and densities integrated: none of it by the
//! formulas of the library. Brackets are a millionth wide, so that one percent would show.

use crate::common;

use common::laws::{self, Law};
use common::mechanisms::*;
use common::{Question, is_full};
use counterpoint::loss::LossError;
use counterpoint::quantity::{GroupSize, Order, Rho};
use counterpoint::{Adjacency, Bracket, Mechanism, Plan, PlanError, Release};

const TOLERANCE: f64 = 1e-6;

fn delta(releases: &[Release], epsilon: f64) -> Bracket {
    ask(&plan(releases), Question::Delta(epsilon), TOLERANCE).unwrap().bracket
}

#[track_caller]
fn assert_holds(bracket: &Bracket, value: f64, error: f64, what: &str) {
    let slack = error * value + 1e-15;
    assert!(
        bracket.lower <= value + slack && value - slack <= bracket.upper,
        "{what}: {value:e} not in {bracket}"
    );
    assert!(is_narrow(bracket, 1e-4), "{what}: {bracket}");
}

type Outcomes = Vec<(f64, f64)>;

/// Mechanisms with their outcomes, written out.
fn listed() -> Vec<(&'static str, Mechanism, Outcomes)> {
    let two = |e: f64| {
        let p = 1.0 / (1.0 + (-e).exp());
        vec![(p, 1.0 - p), (1.0 - p, p)]
    };
    let noise = |a: f64, x: i32| (0.5 * a).tanh() * (-a * f64::from(x.abs())).exp();
    let discrete = |a: f64, steps: i32| {
        (-200..200).map(|x| (noise(a, x - steps), noise(a, x))).collect::<Outcomes>()
    };
    let buckets = |e: f64, m: f64| {
        let all = e.exp() + m - 1.0;
        vec![
            (e.exp() / all, 1.0 / all),
            (1.0 / all, e.exp() / all),
            ((m - 2.0) / all, (m - 2.0) / all),
        ]
    };
    let (gamma, e) = (0.3, 0.8);
    let stairs = {
        // The cells of a period and a tenth, shifted by ten of them.
        let level = |x: f64| (x.abs() - gamma).max(-0.5).floor() + 1.0;
        let density = |x: f64| (-e * level(x)).exp();
        let cells: Vec<f64> = (-600..600).map(|i| 0.1 * (f64::from(i) + 0.5)).collect();
        let total: f64 = cells.iter().map(|&x| density(x)).sum();
        cells.iter().map(|&x| (density(x) / total, density(x - 1.0) / total)).collect()
    };
    let leaky = |e: f64, d: f64| {
        let kept = two(e).into_iter().map(|(p, q)| ((1.0 - d) * p, (1.0 - d) * q));
        kept.chain([(d, 0.0), (0.0, d)]).collect::<Outcomes>()
    };
    vec![
        ("guarantee", approximate(1.2, 0.0), two(1.2)),
        ("leaky guarantee", approximate(0.9, 0.01), leaky(0.9, 0.01)),
        ("leak alone", approximate(0.0, 0.02), vec![(0.02, 0.0), (0.98, 0.98), (0.0, 0.02)]),
        ("geometric 1", geometric(2.0, 1), discrete(0.5, 1)),
        ("geometric 3", geometric(4.0, 3), discrete(0.25, 3)),
        ("response", response(1.2, 2), two(1.2)),
        ("buckets", response(0.9, 5), buckets(0.9, 5.0)),
        ("sparse vector", sparse_vector(0.4, 0.8), two(1.2)),
        ("above threshold", above_threshold(0.4, 0.8), laws::sparse(0.4, 0.8).atoms),
        ("staircase", staircase(e, Some(gamma)), stairs),
        ("shame", name_and_shame(0.01), vec![(0.01, 0.0), (0.99, 0.99), (0.0, 0.01)]),
        (
            "finite",
            finite(&[0.5, 0.3, 0.2, 0.0], &[0.2, 0.3, 0.0, 0.5]),
            vec![(0.5, 0.2), (0.3, 0.3), (0.2, 0.0), (0.0, 0.5)],
        ),
        ("disjoint", finite(&[1.0, 0.0], &[0.0, 1.0]), vec![(1.0, 0.0), (0.0, 1.0)]),
    ]
}

/// Equal ratios as one outcome.
fn together(outcomes: &[(f64, f64)]) -> Outcomes {
    let share = |&(p, q): &(f64, f64)| ((p / (p + q)) * 1e12).round();
    let mut list = outcomes.to_vec();
    list.sort_by(|a, b| share(a).total_cmp(&share(b)));
    list.dedup_by(|next, kept| {
        let same = (share(next) - share(kept)).abs() < 1.5;
        if same {
            *kept = (kept.0 + next.0, kept.1 + next.1);
        }
        same
    });
    list
}

#[test]
fn outcomes_on_a_sample_are_mixed() {
    for (name, mechanism, outcomes) in listed() {
        let outcomes = together(&outcomes);
        for rate in [0.02, 0.3, 0.95] {
            let one = Law::of(outcomes.clone()).sampled(rate);
            let mut law = one.clone();
            for count in 1..=3 {
                for epsilon in [0.0, 0.05, 0.4, 1.0] {
                    let truth = law.delta(false, epsilon).max(law.delta(true, epsilon));
                    let bracket = delta(&[sampled(count, mechanism.clone(), rate)], epsilon);
                    let what = format!("{name} at {rate}, {count} times, {epsilon}");
                    assert_holds(&bracket, truth, 1e-9, &what);
                }
                law = law.and(&one).unwrap();
            }
        }
    }
}

/// The worst case of a guarantee on a sample, composed: values of an independent program to twelve digits. One percent
/// would show.
#[test]
fn guarantees_on_a_sample_cost_what_their_worst_case_does() {
    for (epsilon, rate, count, at, truth) in [
        (2.0, 0.1, 100, 1e-6, 13.834_094_376_430_064),
        (1.0, 0.01, 1000, 1e-6, 1.460_136_823_044),
        (0.5, 0.2, 30, 1e-5, 2.213_434_542_543),
        (1.0, 0.1, 1, 1e-2, 0.126_320_147_978),
    ] {
        let cost = |mechanism| {
            let plan = plan(&[sampled(count, mechanism, rate)]);
            ask(&plan, Question::Epsilon(at), 1e-9).unwrap().bracket
        };
        let bracket = cost(approximate(epsilon, 0.0));
        let is_near = |value: f64| {
            bracket.lower <= value * (1.0 + 1e-11) && value * (1.0 - 1e-11) <= bracket.upper
        };
        assert!(is_near(truth) && is_narrow(&bracket, 1e-8), "{epsilon} {rate}: {bracket}");
        assert!(!is_near(1.01 * truth) && !is_near(0.99 * truth));
        assert!(bracket.overlaps(&cost(response(epsilon, 2))), "{epsilon} {rate}: {bracket}");
    }
}

/// Sums go by the amplified guarantee, whatever the pair's largest loss, and divergences by the lesser of both.
#[test]
fn filters_charge_guarantees_on_a_sample_at_most_what_is_amplified() {
    use counterpoint_budget::{Amount, Filter, Query, Terms};
    let terms = Terms::new(Adjacency::AddRemove);
    let amount = |value: f64| Amount::from_f64(value).unwrap();
    let sums = Filter::sums(amount(50.0), amount(0.5), terms).unwrap();
    let renyi = Filter::renyi_budget(Order::new(4.0).unwrap(), amount(50.0), terms).unwrap();
    for (epsilon, delta, rate) in [(2.0_f64, 0.0, 0.1), (1.0, 0.01, 0.95), (0.3, 1e-6, 0.01)] {
        let asked = Query::from(sampled(1, approximate(epsilon, delta), rate));
        let amplified = (rate * epsilon.exp_m1()).ln_1p();
        let charge = sums.charge(&asked).unwrap();
        assert!((charge.main.upper() / amplified - 1.0).abs() < 1e-12, "{charge:?}");
        assert!((charge.delta.upper() - rate * delta).abs() < 1e-15, "{charge:?}");
        let (charge, high) = (renyi.charge(&asked), 1.0 / (1.0 + (-amplified).exp()));
        let moment = high * (3.0 * amplified).exp() + (1.0 - high) * (-3.0 * amplified).exp();
        let most = moment.ln() / 3.0;
        // The larger of both directions of the sampled response.
        let (p, kept) = (1.0 / (1.0 + (-epsilon).exp()), 1.0 - delta);
        let mixed = |p: f64, q: f64| ((1.0 - rate) * q + rate * p, q);
        let pairs = [mixed(p, 1.0 - p), mixed(1.0 - p, p)];
        let side = |a: f64, b: f64| -> f64 {
            let term = |&(p, q): &(f64, f64)| p.powf(a) * q.powf(b);
            (pairs.iter().map(term).sum::<f64>() * kept).ln() / 3.0
        };
        let pair = side(4.0, -3.0).max(side(-3.0, 4.0));
        let found = charge.unwrap().main.upper();
        assert!(found <= most * (1.0 + 1e-12) && found >= pair, "{found} {most} {pair}");
        assert!(delta > 0.0 || found <= pair * (1.0 + 1e-9), "{found} {pair}");
    }
}

/// Neither direction is always the worse one, and they differ: both are computed.
#[test]
fn both_directions_are_asked() {
    let pair = [(0.5, 0.2), (0.3, 0.3), (0.2, 0.5)];
    let law = Law::of(pair.to_vec()).sampled(0.5);
    let ways: Vec<bool> =
        [0.1, 0.3].map(|e| law.delta(false, e) > law.delta(true, e)).into_iter().collect();
    assert!(ways.iter().any(|&way| way), "{ways:?}");
    let bracket = delta(&[sampled(1, finite(&[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5]), 0.5)], 0.1);
    let turned = delta(&[sampled(1, finite(&[0.2, 0.3, 0.5], &[0.5, 0.3, 0.2]), 0.5)], 0.1);
    assert!(bracket.overlaps(&turned), "{bracket} and {turned}");
}

#[test]
fn gaussian_privacy_on_a_sample_is_a_gaussian() {
    for count in [1, 50] {
        let by = |mechanism| delta(&[sampled(count, mechanism, 0.05)], 0.3);
        let (one, other) = (by(gdp(0.5)), by(gaussian(2.0, 1.0)));
        assert_eq!(
            (one.lower.to_bits(), one.upper.to_bits()),
            (other.lower.to_bits(), other.upper.to_bits())
        );
    }
    assert!(delta(&[sampled(9, gdp(0.0), 0.5)], 0.0).upper <= 0.0);
}

/// The pair of a range, twice, by the midpoint rule in both losses.
#[test]
fn ranges_on_a_sample() {
    let pieces = if is_full() { 4000 } else { 1500 };
    for (range, rate) in [(0.5, 0.1), (2.0, 0.4), (3.0, 0.02)] {
        let width = 2.0 * range / f64::from(pieces);
        let scale = 0.5 / -(-range).exp_m1();
        // The Q mass of each piece, and the ratio E there.
        let cells: Vec<(f64, f64)> = (0..pieces)
            .map(|i| (f64::from(i) + 0.5) * width - range)
            .map(|y: f64| (scale * (-0.5 * (y + range)).exp() * width, 1.0 + rate * y.exp_m1()))
            .collect();
        for epsilon in [0.02_f64, 0.2, 0.5] {
            let growth = epsilon.exp();
            let (mut once, mut twice) = ([0.0; 2], [0.0; 2]);
            for &(mass, ratio) in &cells {
                once[0] += mass * (ratio - growth).max(0.0);
                once[1] += mass * (1.0 - growth * ratio).max(0.0);
                for &(other, more) in &cells {
                    twice[0] += mass * other * (ratio * more - growth).max(0.0);
                    twice[1] += mass * other * (1.0 - growth * ratio * more).max(0.0);
                }
            }
            // The rule's error is relative to the square of a piece.
            let (error, what) = (2e-4, format!("range {range} at {rate}, {epsilon}"));
            let bracket = delta(&[sampled(1, exponential(range), rate)], epsilon);
            assert_holds(&bracket, f64::max(once[0], once[1]), error, &what);
            // No one mechanism has that pair: twice it is an upper end, and the lower one is that of two
            // outcomes.
            let both = plan(&[sampled(2, exponential(range), rate)]);
            let bracket = ask_best(&both, Question::Delta(epsilon), TOLERANCE).unwrap().bracket;
            assert_holds(
                &Bracket::exact(bracket.upper),
                f64::max(twice[0], twice[1]),
                error,
                &what,
            );
            let halved = |share: f64| two_apart_twice(range, share, rate, epsilon);
            let worst = (1..20_000).map(|i| halved(5e-5 * f64::from(i))).fold(0.0, f64::max);
            assert!(bracket.lower <= worst * (1.0 + 1e-4), "{what}: {bracket} {worst:e}");
            assert!(bracket.lower >= 0.9 * halved(0.5).min(worst), "{what}: {bracket} {worst:e}");
        }
    }
}

/// Two outcomes with losses `share` and `share - 1` of the range, on a sample, twice: the larger delta of both
/// directions.
fn two_apart_twice(range: f64, share: f64, rate: f64, epsilon: f64) -> f64 {
    let top = share * range;
    let high = (1.0 - (top - range).exp()) / (1.0 - (-range).exp());
    let pair = [(high, high * (-top).exp()), (1.0 - high, (1.0 - high) * (range - top).exp())];
    let growth = epsilon.exp();
    let mixed = pair.map(|(p, q)| ((1.0 - rate) * q + rate * p, q));
    let mut sums = [0.0; 2];
    for (p, q) in mixed {
        for (other, less) in mixed {
            sums[0] += (p * other - growth * q * less).max(0.0);
            sums[1] += (q * less - growth * p * other).max(0.0);
        }
    }
    f64::max(sums[0], sums[1])
}

/// Many releases go by the Rényi route, too: it is never below the truth, and not far above.
#[test]
fn curves_of_samples_hold_their_brackets() {
    use counterpoint::Options;
    use counterpoint::Route;
    let kinds = [exponential(0.5), response(0.5, 2), geometric(4.0, 2), staircase(0.5, None)];
    for mechanism in kinds.into_iter().take(counterpoint_testing::size(4, 2) as usize) {
        let plan = plan(&[sampled(400, mechanism.clone(), 0.1)]);
        let question = Question::Epsilon(1e-6);
        let best = ask_best(&plan, question, 1e-4).unwrap().bracket;
        let options = Options { route: Some(Route::Renyi), ..Options::default() };
        let curve = ask_with(&plan, question, &options).unwrap().bracket;
        assert!(curve.upper >= best.lower, "{mechanism:?}: {curve} and {best}");
        assert!(curve.upper <= 1.2 * best.upper, "{mechanism:?}: {curve} and {best}");
    }
}

/// A chain of g steps has at most g times the total variation of one, and one has at most sqrt(D/2A), about: the
/// Gaussians that show the lower end fit the one person's curve, not the group's.
#[test]
fn lower_ends_of_groups_of_curves() {
    let at_zero = |release: Release, people: u64| {
        let group = GroupSize::new(people).unwrap();
        let plan = Plan::for_neighbours([release], Some(Adjacency::AddRemove), group).unwrap();
        ask_best(&plan, Question::Delta(0.0), TOLERANCE).unwrap().bracket
    };
    for (people, order, divergence, most) in [
        (3, 3.001, 0.01, 0.12312),
        (10, 10.001, 1e-4, 0.022365),
        (10, 10.001, 0.01, 0.22932),
        (100, 100.01, 1e-3, 0.22992),
    ] {
        let bracket = at_zero(times(1, rdp(&[order], &[divergence])), people);
        assert!(bracket.lower <= most && bracket.lower > 0.5 * most, "{people}: {bracket}");
        assert!(bracket.upper >= bracket.lower);
    }
    // Staircase noise moved by two sensitivities, and answers of which there are three.
    let staircase = at_zero(times(1, staircase(1.0, Some(0.2))), 2);
    assert!(staircase.lower <= 0.632_120_56 && 0.632_120_55 <= staircase.upper, "{staircase}");
    let one = 1.0_f64.exp();
    let truth = (one - 1.0) / (one + 2.0);
    let buckets = at_zero(times(1, response(1.0, 3)), 2);
    assert!(buckets.lower <= truth * (1.0 + 1e-9) && truth <= buckets.upper, "{buckets}");
}

fn tcdp(rho: f64, omega: f64) -> Mechanism {
    Mechanism::Tcdp { rho: Rho::new(rho).unwrap(), omega: Order::new(omega).unwrap() }
}

/// One step of the chain after the other, by Hölder's inequality.
fn chained(people: u64, order: f64, divergence: impl Fn(f64) -> f64 + Copy) -> f64 {
    if people == 1 {
        return divergence(order);
    }
    let all = people as f64 * order;
    let before = chained(people - 1, (all - 1.0) / (people - 1) as f64, divergence);
    all / (all - 1.0) * before + divergence(all)
}

#[test]
fn groups_of_curves() {
    let question = Question::Epsilon(1e-6);
    let cost = |mechanism: &Mechanism, people| {
        ask_best(&for_group(&[times(1, mechanism.clone())], people), question, 0.1)
            .unwrap()
            .bracket
            .upper
    };
    for people in [2, 3, 7] {
        let size = people as f64;
        let larger = tcdp(0.01 * size * size, 40.0 / size);
        let (group, other) = (cost(&tcdp(0.01, 40.0), people), cost(&larger, 1));
        assert!((group / other - 1.0).abs() < 1e-9, "{people}: {group} and {other}");
        // The divergence at the one listed order, from there down.
        let (orders, epsilons) = ([12.0, 40.0], [0.1, 0.3]);
        let smaller = orders.map(|order| order / size);
        let [few, many] = [0, 1].map(|at| chained(people, smaller[at], |_| epsilons[at]));
        let other = cost(&rdp(&smaller, &[few, many]), 1);
        let group = cost(&rdp(&orders, &epsilons), people);
        assert!((group / other - 1.0).abs() < 1e-9, "{people}: {group} and {other}");
    }
    // Beyond 64 people the sum is continued by an integral: a little more, never less.
    let many = cost(&rdp(&[1000.0], &[0.01]), 200);
    let other = cost(&rdp(&[5.0], &[chained(200, 5.0, |_| 0.01)]), 1);
    assert!(other <= many && many < 1.01 * other, "{many} and {other}");
    let refused = |mechanism: Mechanism| {
        let group = GroupSize::new(5).unwrap();
        let error =
            Plan::for_neighbours(vec![times(1, mechanism)], Some(Adjacency::AddRemove), group);
        assert!(
            matches!(error, Err(PlanError::Release { error: LossError::Group { .. }, .. })),
            "{error:?}"
        );
    };
    refused(tcdp(0.1, 5.0));
    refused(rdp(&[2.0, 5.0], &[0.1, 0.1]));
}

/// A filter charges a group by what is true of the group, not by what is stated of one person.
#[test]
fn filters_charge_groups_of_curves() {
    use counterpoint_budget::{Filter, Query, Terms};
    let group = GroupSize::new(2).unwrap();
    let terms = Terms { group, ..Terms::new(Adjacency::AddRemove) };
    let order = Order::new(6.0).unwrap();
    let query = Query::from(times(1, rdp(&[6.0, 12.0], &[0.1, 0.3])));
    let budget = counterpoint_budget::Amount::from_f64(1.0).unwrap();
    let filter = Filter::renyi_budget(order, budget, terms).unwrap();
    // 12 (1/12 + 1/11) times what is stated at 12.
    let charge = 0.3 * (1.0 + 12.0 / 11.0);
    let found = filter.charge(&query).unwrap().main.upper();
    assert!(found >= charge && found < charge * (1.0 + 1e-12), "{found} and {charge}");
}

/// A sample's own guarantee, and the chain of neighbours: written out.
#[test]
fn groups_of_guarantees_on_a_sample() {
    let (rate, epsilon) = (0.2_f64, 0.7_f64);
    let one = (rate * epsilon.exp_m1()).ln_1p();
    for people in [2, 5] {
        let size = people as f64;
        let leak = 1e-6 * rate * (0..people).map(|i| (i as f64 * one).exp()).sum::<f64>();
        let by_hand = [times(3, approximate(size * one, leak))];
        let truth = delta(&by_hand, 0.5);
        let pure = delta(&[times(3, approximate(size * one, 0.0))], 0.5);
        let group = |mechanism: Mechanism| {
            let plan = for_group(&[sampled(3, mechanism, rate)], people);
            ask_best(&plan, Question::Delta(0.5), TOLERANCE).unwrap().bracket.upper
        };
        let near = |found: f64, wanted: f64| {
            assert!((found / wanted - 1.0).abs() < 1e-9, "{people}: {found} and {wanted}");
        };
        near(group(approximate(epsilon, 1e-6)), truth.upper);
        let sparse = [sparse_vector(0.3, 0.4), above_threshold(0.3, 0.4)];
        for mechanism in [response(epsilon, 2), response(epsilon, 9)].into_iter().chain(sparse) {
            near(group(mechanism), pure.upper);
        }
    }
}

/// A Gaussian's own curve: for a group the truth is known, and the bound is above it.
#[test]
fn a_group_of_curves_is_no_less_than_the_truth() {
    for people in [2, 5] {
        let orders: Vec<f64> = (1..60).map(|i| 1.0 + 0.5 * f64::from(i)).collect();
        let epsilons: Vec<f64> = orders.iter().map(|a| 0.02 * a).collect();
        let question = Question::Epsilon(1e-6);
        let curve =
            ask_best(&for_group(&[times(1, rdp(&orders, &epsilons))], people), question, 0.1);
        let truth = ask(&for_group(&[times(1, gdp(0.2))], people), question, 1e-6).unwrap().bracket;
        assert!(curve.unwrap().bracket.upper >= truth.upper, "{people}");
    }
}
