//! Gaussian privacy and readings against values in closed form and searches in arbitrary precision
//! (`reference/readings.py`).
//!
//! | family | reference | cases |
//! | --- | --- | --- |
//! | responses, Laplace, samples, mixed plans, leaks | `readings.txt`: six numbers each | 21 |
//! | Gaussian noise alone | mu itself | 6 |
//! | randomized response | the mu of its error rates | 6 |

use counterpoint::mechanism::CellPair;
use counterpoint::quantity::{Floor, GroupSize, Mu, NoiseScale, Prior, Rate};
use counterpoint::region::{Assumptions, GaussianPrivacy, Readings};
use counterpoint::{
    Adjacency, Bracket, Count, Guarantee, Mechanism, Options, Plan, Release, Sensitivity,
};

fn number(text: &str) -> f64 {
    text.trim().parse().unwrap()
}

fn noise(scale: f64) -> NoiseScale {
    NoiseScale::new(scale).unwrap()
}

fn one() -> Sensitivity {
    Sensitivity::new(1.0).unwrap()
}

fn responses(epsilon: f64, delta: f64, count: u64) -> Release {
    let guarantee = Guarantee::new(epsilon, delta).unwrap();
    (guarantee, Count::new(count).unwrap()).into()
}

/// The plan that a line of the table names.
fn plan(name: &str) -> Plan {
    let words: Vec<&str> = name.split_whitespace().collect();
    let releases = match words.as_slice() {
        ["response", e, k] => vec![responses(number(e), 0.0, k.parse().unwrap())],
        ["leaky", e, d] => vec![responses(number(e), number(d), 1)],
        ["laplace", s] => {
            let laplace = Mechanism::Laplace { scale: noise(number(s)), sensitivity: one() };
            vec![(laplace, Count::ONE).into()]
        }
        ["sampled", s, q] => vec![sampled(number(s), number(q), 1)],
        ["both", e, k, mu] => vec![
            responses(number(e), 0.0, k.parse().unwrap()),
            (Mechanism::Gdp { mu: Mu::new(number(mu)).unwrap() }, Count::ONE).into(),
        ],
        _ => panic!("{name}"),
    };
    Plan::for_neighbours(releases, Some(Adjacency::AddRemove), GroupSize::ONE).unwrap()
}

fn sampled(sigma: f64, rate: f64, count: u64) -> Release {
    let step = Mechanism::Gaussian { sigma: noise(sigma), sensitivity: one() };
    let rate = Rate::new(rate).unwrap();
    Release { rate: Some(rate), ..(step, Count::new(count).unwrap()).into() }
}

fn readings(plan: &Plan, floor: f64) -> Readings {
    let assumptions = Assumptions {
        prior: Prior::new(0.3).unwrap(),
        chance: Prior::new(0.001).unwrap(),
        floor: Floor::new(floor).unwrap(),
    };
    plan.readings(assumptions, &Options::default()).unwrap()
}

fn gdp(plan: &Plan) -> GaussianPrivacy {
    plan.gaussian_privacy(Floor::default(), &Options::default()).unwrap()
}

/// A bracket that contains a reference value, is narrow, and would not contain a value 1 % off.
#[track_caller]
fn check(name: &str, bracket: Bracket, truth: f64, (width, teeth): (f64, f64)) {
    let Bracket { lower, upper } = bracket;
    // The searches of the references end this near to a kink.
    let slack = 1e-9 * truth.abs();
    assert!(lower <= truth + slack && truth - slack <= upper, "{name}: {truth} in {bracket}");
    assert!(upper - lower <= width, "{name}: {bracket} is wide");
    assert!(upper < truth * 1.01 + teeth && lower > truth * 0.99 - teeth, "{name}: {bracket}");
}

#[test]
fn readings_are_those_of_arbitrary_precision() {
    let table = include_str!("reference/readings.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[name, floor, mu, regret, advantage, accuracy, at_hundredth, at_thousandth] =
            fields.as_slice()
        else {
            panic!("{line}")
        };
        let floor = number(floor);
        let found = readings(&plan(name), floor);
        let Readings { gdp, detection, .. } = &found;
        check(&format!("{name}: mu"), gdp.mu, number(mu), (1.5e-4 * number(mu), 0.0));
        check(&format!("{name}: regret"), gdp.regret, number(regret), (3e-4, 3e-4));
        check(&format!("{name}: advantage"), found.advantage, number(advantage), (1e-6, 0.0));
        check(&format!("{name}: accuracy"), found.accuracy, number(accuracy), (1e-6, 0.0));
        check(&format!("{name}: 0.01"), detection[0].1, number(at_hundredth), (3e-6, 0.0));
        check(&format!("{name}: 0.001"), detection[1].1, number(at_thousandth), (3e-6, 1e-6));
        assert_eq!(found.reconstruction, detection[1].1, "{name}");
        assert!(gdp.everywhere.upper >= gdp.mu.lower, "{name}: {gdp:?}");
        count += 1;
    }
    assert!(count >= 20);
}

#[test]
fn gaussian_noise_has_its_own_mu_and_no_regret() {
    for (sigma, count) in [(0.1, 1), (0.5, 3), (1.0, 1), (2.0, 100), (7.0, 30), (40.0, 10_000)] {
        let step = Mechanism::Gaussian { sigma: noise(sigma), sensitivity: one() };
        let plan = Plan::new([(step, Count::new(count).unwrap())]).unwrap();
        let found = gdp(&plan);
        let mu = (count as f64).sqrt() / sigma;
        assert!((found.mu.lower / mu - 1.0).abs() < 1e-15, "{found:?}");
        assert!(found.mu.relative_width() < 1e-15 && found.regret.upper < 1e-14, "{found:?}");
        assert_eq!(found.everywhere, found.mu);
    }
}

#[test]
fn the_mu_of_a_pure_guarantee_is_that_of_its_error_rates() {
    // -2 quantile(1/(1 + e^epsilon)), by mpmath.
    let known = [
        (0.1, 0.125_309_012_211_607_6),
        (0.5, 0.623_892_592_098_508_2),
        (1.0, 1.232_035_385_344_901),
        (2.0, 2.357_961_485_647_249_7),
        (4.0, 4.194_478_085_560_34),
        (8.0, 6.802_568_676_155_562),
    ];
    for (epsilon, mu) in known {
        let found = gdp(&plan(&format!("response {epsilon} 1")));
        let Bracket { lower, upper } = found.everywhere;
        assert!(lower <= mu * (1.0 + 1e-14) && mu * (1.0 - 1e-14) <= upper, "{mu} {found:?}");
        assert!(upper / lower < 1.0 + 2e-4 && upper < 1.000_001 * mu, "{mu} {found:?}");
    }
}

#[test]
fn leaks_have_no_mu() {
    let at_floor = gdp(&plan("leaky 1 1e-9"));
    assert!(at_floor.mu.lower.is_infinite() && at_floor.regret.upper <= 0.5);
    let below = gdp(&plan("leaky 1 1e-12"));
    assert!(below.mu.upper.is_finite() && below.everywhere.lower.is_infinite());
}

/// Cells whose pair is known from above and below: a leak of the pair above need not be one of the mechanism.
#[test]
fn a_leak_that_may_not_be_there_is_not_claimed() {
    let cells = CellPair::new(&[0.5, 0.5], &[0.5, 0.5], &[-0.1, -0.1], &[0.1, f64::INFINITY]);
    let release: Release = (Mechanism::Cells(cells.unwrap()), Count::ONE).into();
    let plan = Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE).unwrap();
    let found = gdp(&plan);
    assert!(found.mu.lower.is_finite() && found.everywhere.lower.is_finite(), "{found:?}");
}

#[test]
fn noise_on_samples_has_the_mu_of_all_data_without_a_floor() {
    let release = sampled(1.0, 0.01, 1000);
    let plan = Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE).unwrap();
    let found = gdp(&plan);
    let mu = 1000.0_f64.sqrt();
    assert!((found.everywhere.lower / mu - 1.0).abs() < 1e-14, "{found:?}");
    assert!(found.mu.upper < 1.0 && found.regret.upper < 0.03, "{found:?}");
}

#[test]
fn dp_sgd_agrees_with_the_library_of_gomez_and_others() {
    // Their README: gdpnum.dpsgd.get_mu_and_regret_for_dpsgd(9.4, 0.328, 2000), to their grid's accuracy. Their points
    // have false-alarm rates of at least 1e-10, which is delta 3e-7 here.
    let release = sampled(9.4, 0.328, 2000);
    let plan = Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE).unwrap();
    let found = plan.gaussian_privacy(Floor::new(3e-7).unwrap(), &Options::default()).unwrap();
    assert!((found.mu.upper / 1.568_562_199 - 1.0).abs() < 3e-4, "{found:?}");
    assert!((found.regret.upper - 0.001_020_8).abs() < 3e-4, "{found:?}");
}
