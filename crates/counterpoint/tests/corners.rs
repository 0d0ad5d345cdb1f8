//! Corners where a certificate once was, or easily could be, false.

use counterpoint::Route;
use counterpoint::ask::Bits;
use counterpoint::theorem::{Theorem, lattice};
use counterpoint::watch::Watch;
use counterpoint::{
    Bracket, Count, Delta, Epsilon, Guarantee, Options, Plan, Sensitivity, Tolerance,
};
use counterpoint_papers::noise;

fn compose(list: &[(f64, f64, u64)]) -> Plan {
    Plan::new(list.iter().map(|&(e, d, n)| (Guarantee::new(e, d).unwrap(), Count::new(n).unwrap())))
        .unwrap()
}

fn by(route: Route, plan: &Plan, delta: f64) -> Bracket {
    let options = Options { route: Some(route), ..Options::default() };
    plan.epsilon(Delta::new(delta).unwrap(), &options).unwrap().bracket
}

#[test]
fn lattice_positions_do_not_overflow() {
    let trillion = 1_000_000_000_000;
    let list: Vec<_> =
        [3e-5, 5e-5].into_iter().flat_map(|e| vec![(e, 0.0, trillion); 500]).collect();
    let plan = compose(&list);
    for tolerance in [1e-6, 1e-9] {
        let tolerance = Tolerance::new(tolerance).unwrap();
        let options = Options { tolerance, ..Options::default() };
        // The mean loss alone is sum n e tanh(e/2) = 850,000.
        if let Ok(answer) = plan.epsilon(Delta::new(1e-6).unwrap(), &options) {
            assert!(answer.bracket.upper > 850_000.0, "{}", answer.bracket);
        }
    }
}

#[test]
fn a_huge_epsilon_among_small_ones_keeps_the_lower_end_honest() {
    let mut list: Vec<_> = (0..18).map(|i| (0.1 + 0.0123 * f64::from(i), 0.0, 1)).collect();
    list.push((600.0, 0.0, 1));
    let plan = compose(&list);
    let exact = by(Route::Halves, &plan, 1e-6);
    for route in [Route::Contour, Route::Convolution] {
        let bracket = by(route, &plan, 1e-6);
        assert!(bracket.lower <= exact.upper && exact.lower <= bracket.upper, "{route}: {bracket}");
    }
}

#[test]
fn arbitrary_precision_searches_far_from_its_first_guess() {
    let plan = compose(&[(1.1, 0.0, 2000)]);
    let answer = plan
        .epsilon_to_bits(Delta::new(1e-200).unwrap(), Bits::new(40).unwrap(), Watch::none())
        .unwrap();
    let exact = by(Route::Equal, &plan, 1e-200);
    assert!(answer.lower.parse::<f64>().unwrap() <= exact.upper, "{answer:?} {exact}");
    assert!(answer.upper.parse::<f64>().unwrap() >= exact.lower, "{answer:?} {exact}");
}

#[test]
fn arbitrary_precision_tells_a_little_room_from_none() {
    let leak = 2_f64.powi(-100);
    let plan = compose(&[(0.1, 0.0, 200), (0.0, leak, 1)]);
    let delta = leak * (1.0 + f64::EPSILON);
    let exact = by(Route::Equal, &plan, delta);
    let answer = plan
        .epsilon_to_bits(Delta::new(delta).unwrap(), Bits::new(37).unwrap(), Watch::none())
        .unwrap();
    assert!(answer.lower.parse::<f64>().unwrap() <= exact.upper, "{answer:?} {exact}");
    assert!(answer.upper.parse::<f64>().unwrap() >= exact.lower, "{answer:?} {exact}");
}

#[test]
fn formulas_never_charge_less_than_the_leaks() {
    let plan = compose(&[(1e-30, 0.1, 1)]);
    for theorem in Theorem::FORMULAS {
        if let Ok(delta) = theorem.delta(&plan, Epsilon::new(1.0).unwrap()) {
            assert!(delta >= 0.1, "{}: {delta}", theorem.name());
        }
    }
    let plan = compose(&[(0.1, 2_f64.powi(-200), 1), (0.1, 2_f64.powi(-330), 1)]);
    let least = Delta::new(2_f64.powi(-200)).unwrap();
    assert!(Theorem::Basic.epsilon(&plan, least).is_err());
}

#[test]
fn a_noise_rule_out_of_range_is_refused() {
    let (epsilon, delta) = (Epsilon::new(100.0).unwrap(), Delta::new(0.1).unwrap());
    let many = Count::new(1_000_000_000_000).unwrap();
    let sensitivity = Sensitivity::new(1e-154).unwrap();
    assert!(noise::gaussian(epsilon, delta, many, sensitivity).is_err());
}

#[test]
fn an_impossible_lattice_of_pairs_is_empty() {
    let guarantee = Guarantee::pure(1e6).unwrap();
    assert!(
        lattice::guarantees(guarantee, Count::new(1_000_000_000_000).unwrap()).next().is_none()
    );
}

/// Nearly equal epsilons have a common divisor as large as themselves; the tilt of one step
/// then underflows, which once lost Q mass.
#[test]
fn a_step_as_large_as_the_losses() {
    let first = 16.662_334_537_663_444_f64.to_bits();
    let list: Vec<f64> = (0..6).map(|ulps| f64::from_bits(first + ulps)).collect();
    let plan = Plan::new(list.iter().map(|&e| (Guarantee::pure(e).unwrap(), Count::ONE))).unwrap();
    let epsilon = 99.858_403_991_708_71;
    // One atom lies above: all pluses.
    let pluses: f64 = list.iter().map(|e| -(-e).exp().ln_1p()).sum::<f64>().exp();
    let truth = pluses * -(epsilon - list.iter().sum::<f64>()).exp_m1();
    for route in [None, Some(Route::Halves), Some(Route::Contour), Some(Route::Convolution)] {
        let options = Options { route, ..Options::default() };
        let bracket = plan.delta(Epsilon::new(epsilon).unwrap(), &options).unwrap().bracket;
        let near = bracket.lower <= truth * (1.0 + 1e-12) && bracket.upper >= truth * (1.0 - 1e-12);
        assert!(near, "{route:?}: {bracket} is not about {truth}");
    }
}

/// Deltas at which about a dozen of many minuses are left, far below the reach of rough
/// saddle points.
#[test]
fn many_small_epsilons_near_the_largest_loss() {
    let list = (0..648).map(|i| 2e-7 * 1000_f64.powf((f64::from(i) * 0.618_033_988_7).fract()));
    let plan = Plan::new(list.map(|e| (Guarantee::pure(e).unwrap(), Count::ONE))).unwrap();
    let mut last = 0.0;
    for exponent in [-150, -175, -185, -191, -193] {
        let target = Delta::new(10_f64.powi(exponent)).unwrap();
        let bracket = plan.epsilon(target, &Options::default()).unwrap().bracket;
        assert!(bracket.relative_width() <= 1e-6, "{exponent}: {bracket}");
        assert!(bracket.upper > last, "{exponent}: {bracket} after {last}");
        last = bracket.lower;
    }
}
