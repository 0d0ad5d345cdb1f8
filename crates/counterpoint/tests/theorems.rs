//! The named theorems against their formulas, written out plainly in doubles, and against
//! the optimum, which none may undercut.

use counterpoint::quantity::{GroupSize, NoiseScale};
use counterpoint::theorem::eta::Eta;
use counterpoint::theorem::{Bound, Theorem, lattice};
use counterpoint::watch::Watch;
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan, Sensitivity};

const PLANS: [&[(f64, f64, u64)]; 3] =
    [&[(0.1, 0.0, 100)], &[(0.05, 1e-9, 156)], &[(0.2, 1e-8, 7), (0.03, 0.0, 40), (0.5, 1e-9, 2)]];

fn compose(list: &[(f64, f64, u64)]) -> Plan {
    Plan::new(list.iter().map(|&(e, d, n)| (Guarantee::new(e, d).unwrap(), Count::new(n).unwrap())))
        .unwrap()
}

/// Equal but for rounding, and never below but by rounding of the plain formula.
fn assert_close(value: f64, formula: f64, what: &str) {
    assert!((value / formula - 1.0).abs() < 1e-9, "{what}: {value} and {formula}");
}

#[test]
fn epsilons_follow_the_formulas_and_are_never_below_the_optimum() {
    let slack = 1e-6;
    for list in PLANS {
        let plan = compose(list);
        let sum = |f: fn(f64, f64) -> f64| -> f64 {
            list.iter().map(|&(e, d, n)| n as f64 * f(e, d)).sum()
        };
        let (total, square, leaks) = (sum(|e, _| e), sum(|e, _| e * e), sum(|_, d| d));
        let (drift, steep) = (sum(|e, _| e * (e / 2.0).tanh()), sum(|e, _| e * e.exp_m1()));
        let kept: f64 = list.iter().map(|&(_, d, n)| (1.0 - d).powi(n as i32)).product();
        let spread = |l: f64| (2.0 * l * square).sqrt();
        let rest = spread(-(slack - leaks).ln());
        let room = 1.0 - (1.0 - slack) / kept;
        let mixed = spread((std::f64::consts::E + square.sqrt() / room).ln());
        let kov = total.min(drift + mixed).min(drift + spread(-room.ln()));
        let at = Delta::new(slack).unwrap();
        let optimal = plan.epsilon(at, &Options::default()).unwrap().bracket;
        let formulas = [total, steep + rest, drift + rest, kov];
        for (theorem, formula) in Theorem::FORMULAS.into_iter().zip(formulas) {
            let value = theorem.epsilon(&plan, at).unwrap();
            assert_close(value, formula, theorem.name());
            assert!(value >= optimal.lower, "{} {list:?}", theorem.name());
        }
    }
}

/// Of mechanisms the formulas take the largest losses: Laplace noise's is sensitivity over scale, and a
/// group's of a guarantee so many times its epsilon, which here is no double.
#[test]
fn mechanisms_are_charged_by_their_largest_losses() {
    let scale = NoiseScale::new(8.0).unwrap();
    let laplace = Mechanism::Laplace { scale, sensitivity: Sensitivity::new(1.0).unwrap() };
    let guarantee = Mechanism::from(Guarantee::new(0.1, 0.0).unwrap());
    let releases = [(laplace, Count::new(8).unwrap()), (guarantee, Count::new(4).unwrap())];
    for people in [1, 3] {
        let plan =
            Plan::for_neighbours(releases.clone(), None, GroupSize::new(people).unwrap()).unwrap();
        let at = Delta::new(1e-6).unwrap();
        let each = [(people as f64 * 0.125, 8.0), (people as f64 * 0.1, 4.0)];
        let sum = |f: fn(f64) -> f64| each.iter().map(|&(e, n)| n * f(e)).sum::<f64>();
        let rest = (2.0 * (1e6_f64).ln() * sum(|e| e * e)).sqrt();
        let formulas =
            [sum(|e| e), sum(|e| e * e.exp_m1()) + rest, sum(|e| e * (e / 2.0).tanh()) + rest];
        for (theorem, formula) in Theorem::FORMULAS.into_iter().zip(formulas) {
            assert_close(theorem.epsilon(&plan, at).unwrap(), formula, theorem.name());
        }
        // 0.1 is a little more than a tenth, and thrice that more than three tenths.
        assert!(Theorem::Basic.epsilon(&plan, at).unwrap() >= people as f64 * 1.4);
    }
}

#[test]
fn deltas_undo_the_epsilons_and_are_never_below_the_optimum() {
    for list in PLANS {
        let plan = compose(list);
        for target in [1e-4, 1e-6] {
            for theorem in Theorem::FORMULAS.into_iter().skip(1) {
                let at = theorem.epsilon(&plan, Delta::new(target).unwrap()).unwrap();
                let at = Epsilon::new(at).unwrap();
                let back = theorem.delta(&plan, at).unwrap();
                assert!(back <= target * (1.0 + 1e-9), "{}: {back:e}", theorem.name());
                let optimal = plan.delta(at, &Options::default()).unwrap().bracket;
                assert!(back >= optimal.lower, "{}: {back:e} {optimal}", theorem.name());
            }
        }
    }
}

/// KOV equation (6), term by term.
#[test]
fn the_lattice_of_pairs_is_kov_iii_3() {
    let (e, d, k) = (0.3_f64, 1e-5_f64, 12_u64);
    let choose = |n: u64, r: u64| (0..r).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    let pairs = lattice::guarantees(Guarantee::new(e, d).unwrap(), Count::new(k).unwrap());
    for (i, pair) in pairs.enumerate() {
        let i = i as u64;
        let sum: f64 = (0..i)
            .map(|l| {
                let up = ((k - l) as f64 * e).exp();
                choose(k, l) * (up - ((k - 2 * i + l) as f64 * e).exp())
            })
            .sum();
        let pure = sum / (1.0 + e.exp()).powi(k as i32);
        let whole = 1.0 - (1.0 - d).powi(k as i32) * (1.0 - pure);
        assert_close(pair.epsilon.max(1e-9), ((k - 2 * i) as f64 * e).max(1e-9), "epsilon");
        assert_close(pair.delta.upper, whole, "delta");
    }
}

/// KOV below (7): squares in the place of the mean losses, which are at most half as large.
#[test]
fn the_simplified_form_has_squares_for_drift() {
    for list in PLANS {
        let plan = compose(list);
        let sum =
            |f: fn(f64) -> f64| -> f64 { list.iter().map(|&(e, _, n)| n as f64 * f(e)).sum() };
        let (total, square) = (sum(|e| e), sum(|e| e * e));
        let kept: f64 = list.iter().map(|&(_, d, n)| (1.0 - d).powi(n as i32)).product();
        let room = 1.0 - (1.0 - 1e-6) / kept;
        let spread = |l: f64| (2.0 * l * square).sqrt();
        let mixed = spread((std::f64::consts::E + square.sqrt() / room).ln());
        let formula = total.min(square + mixed).min(square + spread(-room.ln()));
        let at = Delta::new(1e-6).unwrap();
        let value = Theorem::KovSimplified.epsilon(&plan, at).unwrap();
        assert_close(value, formula, "simplified");
        assert!(value >= Theorem::KovClosedForm.epsilon(&plan, at).unwrap());
        let back = Theorem::KovSimplified.delta(&plan, Epsilon::new(value).unwrap()).unwrap();
        assert!(back <= 1e-6 * (1.0 + 1e-9), "{back:e}");
    }
}

/// MV Theorem 1.7: between the optimum and eta above the optimum at e^(-eta/2) delta.
#[test]
fn the_approximation_is_a_bound_by_name() {
    let (plan, delta) = (compose(PLANS[2]), Delta::new(1e-6).unwrap());
    let at = |d: f64| plan.epsilon(Delta::new(d).unwrap(), &Options::default()).unwrap().bracket;
    for eta in [0.5, 0.1] {
        let bound =
            Bound::approximation(&plan, delta, Eta::new(eta).unwrap(), Watch::none()).unwrap();
        let value = bound.value.unwrap();
        let most = at((-eta / 2.0).exp() * 1e-6).upper + eta;
        assert!(at(1e-6).lower <= value && value <= most, "{value} {most}");
    }
    assert!(Theorem::Approximation.epsilon(&plan, delta).is_err());
}
