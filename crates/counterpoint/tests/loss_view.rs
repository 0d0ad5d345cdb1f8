//! The privacy loss's mean, variance, quantiles and distribution, against closed forms,
//! enumeration and plain numerical integration.

use counterpoint::ask::PrivacyLoss;
use counterpoint::loss::Direction;
use counterpoint::mechanism::FinitePair;
use counterpoint::quantity::{Buckets, GroupSize, Level, NoiseScale, Rate, Rho, WholeSensitivity};
use counterpoint::{
    Adjacency, AskError, Bracket, Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan,
    Release, Sensitivity,
};

fn times(count: u64, mechanism: Mechanism) -> Release {
    (mechanism, Count::new(count).unwrap()).into()
}

fn sampled(count: u64, mechanism: Mechanism, rate: f64) -> Release {
    Release { rate: Some(Rate::new(rate).unwrap()), ..times(count, mechanism) }
}

fn gaussian(sigma: f64) -> Mechanism {
    let (sigma, sensitivity) = (NoiseScale::new(sigma).unwrap(), Sensitivity::new(1.0).unwrap());
    Mechanism::Gaussian { sigma, sensitivity }
}

fn laplace(scale: f64) -> Mechanism {
    let (scale, sensitivity) = (NoiseScale::new(scale).unwrap(), Sensitivity::new(1.0).unwrap());
    Mechanism::Laplace { scale, sensitivity }
}

fn approximate(epsilon: f64, delta: f64) -> Mechanism {
    Guarantee::new(epsilon, delta).unwrap().into()
}

fn plan(releases: &[Release]) -> Plan {
    Plan::for_neighbours(releases.to_vec(), Some(Adjacency::AddRemove), GroupSize::ONE).unwrap()
}

fn level(level: f64) -> Level {
    Level::new(level).unwrap()
}

/// The bracket holds the value, known to twelve digits, and nothing a share of it away.
#[track_caller]
fn tight(bracket: Bracket, value: f64, share: f64) {
    let slack = 1e-12 * value.abs();
    let holds = bracket.lower <= value + slack && value - slack <= bracket.upper;
    assert!(holds, "{bracket} should hold {value:?}");
    assert!(bracket.width() <= share * value.abs(), "{bracket} is wide for {value:?}");
}

fn above(loss: &PrivacyLoss<'_>, at: f64) -> Bracket {
    loss.above(at, &Options::default()).unwrap()
}

#[test]
fn means_and_variances_of_closed_forms() {
    for e in [1e-6_f64, 0.01, 0.3, 1.0, 4.0, 30.0] {
        let response = plan(&[times(7, approximate(e, 0.0))]);
        let loss = response.losses().unwrap().remove(0);
        let half = (0.5 * e).tanh();
        tight(loss.mean(), 7.0 * e * half, 1e-9);
        let variance = 7.0 * e * e / (0.5 * e).cosh().powi(2);
        // At 30 all but 1e-13 of it is one atom.
        if e < 10.0 {
            tight(loss.variance(), variance, 1e-6);
        } else {
            assert!(loss.variance().contains(variance));
        }

        let noise = plan(&[times(3, laplace(1.0 / e))]);
        let loss = noise.losses().unwrap().remove(0);
        let e = 1.0 / (1.0 / e);
        if e >= 0.01 {
            let mean = e + (-e).exp_m1();
            let square = e * e - 2.0 * e + 4.0 - (2.0 * e + 4.0) * (-e).exp();
            let error = 1e-14 / (e * e * e);
            let found = loss.mean();
            assert!(found.lower <= 3.0 * mean * (1.0 + error), "{found} {mean}");
            assert!(found.upper >= 3.0 * mean * (1.0 - error), "{found} {mean}");
            assert!(found.relative_width() < 1e-8);
            let found = loss.variance();
            let variance = 3.0 * (square - mean * mean);
            assert!(found.lower <= variance * (1.0 + error), "{found} {variance}");
            assert!(found.upper >= variance * (1.0 - error), "{found} {variance}");
            assert!(found.relative_width() < 1e-6, "{found}");
        }
    }
    let noise = plan(&[times(10, gaussian(2.0)), times(4, gaussian(1.0))]);
    let loss = noise.losses().unwrap().remove(0);
    tight(loss.mean(), 0.5 * (2.5 + 4.0), 1e-14);
    tight(loss.variance(), 2.5 + 4.0, 1e-14);
}

/// A density under P with its loss, by the trapezoid rule over the whole line.
fn moments_by_sums(density: impl Fn(f64) -> f64, loss: impl Fn(f64) -> f64) -> (f64, f64) {
    let step = 1.0 / 256.0;
    let places = || (-10_000..=10_000).map(|i| f64::from(i) * step);
    let mean: f64 = places().map(|x| density(x) * loss(x) * step).sum();
    let square: f64 = places().map(|x| density(x) * loss(x).powi(2) * step).sum();
    (mean, square - mean * mean)
}

#[test]
fn moments_on_poisson_samples() {
    let normal = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    for (rate, sigma) in [(0.01, 1.0), (0.2, 0.7), (0.001, 3.0)] {
        let plan = plan(&[sampled(100, gaussian(sigma), rate)]);
        let mu: f64 = 1.0 / sigma;
        let ratio = move |x: f64| 1.0 - rate + rate * (mu * x - 0.5 * mu * mu).exp();
        for loss in plan.losses().unwrap() {
            let (mean, variance) = match loss.direction() {
                Direction::Remove => moments_by_sums(|x| normal(x) * ratio(x), |x| ratio(x).ln()),
                Direction::Add => moments_by_sums(normal, |x| -ratio(x).ln()),
            };
            let what = format!("{rate} {sigma} {:?}", loss.direction());
            // The sum itself cancels to some ten digits.
            let found = loss.mean();
            assert!((found.upper / (100.0 * mean) - 1.0).abs() < 1e-6, "{what}: {found} {mean}");
            assert!(found.relative_width() < 1e-6, "{what}: {found}");
            let found = loss.variance();
            let off = (found.upper / (100.0 * variance) - 1.0).abs();
            assert!(off < 1e-5, "{what}: {found} {variance}");
            assert!(found.relative_width() < 1e-5, "{what}: {found}");
        }
    }
}

/// P(N > x) for a standard normal, from tables.
const TAILS: [(f64, f64); 6] = [
    (0.0, 0.5),
    (0.5, 0.308_537_538_725_986_9),
    (1.0, 0.158_655_253_931_457_05),
    (2.0, 0.022_750_131_948_179_21),
    (3.0, 0.001_349_898_031_630_094_6),
    (6.0, 9.865_876_450_376_98e-10),
];

#[test]
fn gaussians_are_normal() {
    // mu = 2: the loss is N(2, 4).
    let plan = plan(&[times(4, gaussian(1.0))]);
    let loss = plan.losses().unwrap().remove(0);
    let options = Options::default();
    for (x, tail) in TAILS {
        tight(above(&loss, 2.0 + 2.0 * x), tail, 1e-3);
        tight(loss.at_most(2.0 - 2.0 * x, &options).unwrap(), tail, 1e-3);
        let quantile = loss.quantile(level(1.0 - tail), &options).unwrap();
        if x < 4.0 {
            tight(quantile, 2.0 + 2.0 * x, 1e-4);
        }
    }
}

#[test]
fn a_sampled_gaussian_by_its_outcomes() {
    // The loss rises with the outcome x; at mu = 1 it is ln(1 - q + q e^(x - 1/2)).
    let rate = 0.1_f64;
    let plan = plan(&[sampled(1, gaussian(1.0), rate)]);
    let losses = plan.losses().unwrap();
    let tail = |x: f64| TAILS.iter().find(|row| (row.0 - x).abs() < 1e-9).unwrap().1;
    for x in [1.0, 2.0, 3.0] {
        let at = (1.0 - rate + rate * f64::exp(x - 0.5)).ln();
        let mixed = (1.0 - rate) * tail(x) + rate * tail(x - 1.0);
        tight(above(&losses[0], at), mixed, 1e-3);
        // The other way round P is the standard normal, and the loss minus that.
        let less = losses[1].at_most(-at, &Options::default()).unwrap();
        tight(less, tail(x), 1e-3);
    }
    assert_eq!(losses[0].direction(), Direction::Remove);
    assert_eq!(losses[1].direction(), Direction::Add);
}

#[test]
fn one_laplace() {
    let plan = plan(&[times(1, laplace(0.5))]);
    let loss = plan.losses().unwrap().remove(0);
    let options = Options::default();
    for at in [-1.9, -1.0, -0.1, 0.0, 0.3, 1.9] {
        let less = 0.5 * f64::exp(0.5 * (at - 2.0));
        tight(loss.at_most(at, &options).unwrap(), less, 1e-3);
        tight(above(&loss, at), 1.0 - less, 1e-3);
    }
    assert!(above(&loss, 2.1).upper <= 0.0);
    assert!(above(&loss, -2.1).lower >= 1.0);
    // Half of the mass is the atom at the top.
    for share in [0.51, 0.9, 0.999] {
        tight(loss.quantile(level(share), &options).unwrap(), 2.0, 1e-4);
    }
    let quarter = 2.0 + 2.0 * f64::ln(0.5);
    tight(loss.quantile(level(0.25), &options).unwrap(), quarter, 1e-4);
}

#[test]
fn responses_are_binomial() {
    let (epsilon, k) = (0.5_f64, 30_u32);
    let plan = plan(&[times(u64::from(k), approximate(epsilon, 0.0))]);
    let loss = plan.losses().unwrap().remove(0);
    let high = epsilon.exp() / (1.0 + epsilon.exp());
    let mut mass = (1.0 - high).powi(k as i32);
    let mut below = 0.0;
    for ups in 0..=k {
        let at = epsilon * (2.0 * f64::from(ups) - f64::from(k));
        below += mass;
        let found = loss.at_most(at + 0.25, &Options::default()).unwrap();
        tight(found, below, 1e-6);
        if mass > 1e-4 {
            let middle = level(below - 0.5 * mass);
            let quantile = loss.quantile(middle, &Options::default()).unwrap();
            assert!(quantile.contains(at) && quantile.width() < 1e-4, "{quantile} {at}");
        }
        let (k, ups) = (f64::from(k), f64::from(ups));
        mass *= (k - ups) / (ups + 1.0) * epsilon.exp();
    }
    let atoms = loss.atoms().unwrap();
    assert_eq!(atoms.len(), 31);
    tight(atoms[0].loss, 15.0, 1e-14);
    tight(atoms[0].mass, high.powi(30), 1e-14);
    let mean: f64 = atoms.iter().map(|atom| atom.loss.lower * atom.mass.lower).sum();
    assert!((mean / loss.mean().upper - 1.0).abs() < 1e-12);
}

#[test]
fn leaks_are_infinite_losses() {
    let plan = plan(&[times(2, approximate(1.0, 0.1))]);
    let loss = plan.losses().unwrap().remove(0);
    tight(loss.leak(), 0.19, 1e-12);
    let options = Options::default();
    tight(above(&loss, 3.0), 0.19, 1e-9);
    let high = 1.0_f64.exp() / (1.0 + 1.0_f64.exp());
    tight(above(&loss, 1.0), 0.19 + 0.81 * high * high, 1e-9);
    assert!(loss.quantile(level(0.9), &options).unwrap().lower.is_infinite());
    tight(loss.quantile(level(0.8), &options).unwrap(), 2.0, 1e-4);
    tight(loss.mean(), 2.0 * 0.5_f64.tanh(), 1e-9);
    let masses: f64 = loss.atoms().unwrap().iter().map(|atom| atom.mass.upper).sum();
    assert!((masses - 0.81).abs() < 1e-12);
}

#[test]
fn a_lopsided_pair() {
    let (p, q) = ([0.5, 0.25, 0.125, 0.125, 0.0], [0.25, 0.25, 0.25, 0.0, 0.25]);
    let pair = Mechanism::Finite(FinitePair::new(&p, &q).unwrap());
    let plan = plan(&[times(1, pair)]);
    let losses = plan.losses().unwrap();
    tight(above(&losses[0], 0.5), 0.625, 1e-6);
    tight(above(&losses[0], -0.5), 0.875, 1e-6);
    tight(above(&losses[0], -0.8), 1.0, 1e-6);
    tight(above(&losses[1], 0.5), 0.5, 1e-6);
    tight(above(&losses[1], -0.5), 0.75, 1e-6);
    let two = f64::ln(2.0);
    tight(losses[0].mean(), (0.5 * two - 0.125 * two) / 0.875, 1e-12);
    // The other way: ln(1/2) and ln 2 with 1/4 each, and a quarter leaked.
    let mean = losses[1].mean();
    assert!(mean.contains(0.0) && mean.width() < 1e-20, "{mean}");
}

/// delta(e) is the integral of e^(e - l) P(L > l) over l > e.
#[test]
fn the_distribution_gives_the_profile_back() {
    let buckets = Buckets::new(5).unwrap();
    let list = [
        times(3, laplace(2.0)),
        times(2, gaussian(3.0)),
        times(2, Mechanism::RandomizedResponse { epsilon: Epsilon::new(0.4).unwrap(), buckets }),
        times(
            1,
            Mechanism::Geometric {
                scale: NoiseScale::new(3.0).unwrap(),
                sensitivity: WholeSensitivity::new(2).unwrap(),
            },
        ),
        sampled(20, gaussian(1.0), 0.05),
    ];
    let plan = plan(&list);
    let options = Options::default();
    let at = 0.8;
    let (mut most, mut least) = (0.0_f64, 0.0_f64);
    for loss in plan.losses().unwrap() {
        let (mut low, mut high) = (0.0, 0.0);
        let step = 0.05;
        // The tail falls: sums from either end of each step bracket the integral.
        let mut before = above(&loss, at);
        for i in 0..200 {
            let place = at + step * f64::from(i);
            let after = above(&loss, place + step);
            let weight = (at - place).exp() - (at - place - step).exp();
            low += weight * after.lower;
            high += weight * before.upper;
            before = after;
        }
        assert!(low <= high && high < 1.2 * low, "{low} {high}");
        (most, least) = (most.max(high + (-10.0_f64).exp() * before.upper), least.max(low));
    }
    let delta = plan.delta(Epsilon::new(at).unwrap(), &options).unwrap().bracket;
    assert!(least <= delta.upper && delta.lower <= most, "{delta} {least} {most}");
}

#[test]
fn a_training_run_is_nearly_normal() {
    let plan = plan(&[sampled(10_000, gaussian(1.0), 0.01)]);
    let options = Options::default();
    for loss in plan.losses().unwrap() {
        let (mean, variance) = (loss.mean(), loss.variance());
        assert!(mean.relative_width() < 1e-6 && variance.relative_width() < 1e-5);
        let median = loss.quantile(level(0.5), &options).unwrap();
        let deviation = variance.upper.sqrt();
        assert!((median.lower - mean.lower).abs() < 0.1 * deviation, "{median} {mean}");
        assert!(median.width() < 1e-3 * deviation, "{median}");
        let list = loss.distribution(21, &options).unwrap();
        assert_eq!(list.len(), 21);
        let falls = |pair: &[(f64, Bracket)]| pair[1].1.lower <= pair[0].1.upper;
        assert!(list.windows(2).all(falls));
        let (_, middle) = list[10];
        assert!((middle.lower - 0.5).abs() < 0.05, "{middle}");
    }
}

#[test]
fn what_has_no_distribution_says_so() {
    let rho = Mechanism::Zcdp { rho: Rho::new(0.1).unwrap(), delta: Delta::new(0.0).unwrap() };
    let curve = plan(&[times(1, rho), times(1, laplace(1.0))]);
    assert_eq!(curve.losses().unwrap_err(), AskError::NoDistribution);
    let noise = plan(&[times(1, laplace(1.0))]);
    let loss = noise.losses().unwrap().remove(0);
    for at in [f64::NAN, f64::INFINITY, 1e6, -1e6] {
        let error = loss.above(at, &Options::default()).unwrap_err();
        assert!(matches!(error, AskError::Loss { .. }), "{error}");
        assert!(loss.at_most(at, &Options::default()).is_err());
    }
    assert!(Level::new(0.0).is_err() && Level::new(1.0).is_err() && Level::new(f64::NAN).is_err());
}
