//! Against values that were not computed by this code.

use super::*;
use crate::laws::{
    Atom, Atoms, Direction, Gaussian, Laplace, Loss, Range, Response, SampledGaussian,
    SampledLaplace,
};
use counterpoint_numerics::normal_tail;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-6;

fn dd(x: f64) -> Dd {
    Dd::from(x)
}

fn laplace(epsilon: f64) -> Loss {
    Loss::from(Laplace { epsilon: dd(epsilon) })
}

fn part(loss: Loss, count: u64) -> CountedLoss {
    CountedLoss { each: loss, count }
}

fn sampled(rate: f64, sigma: f64, direction: Direction, count: u64) -> Vec<CountedLoss> {
    vec![part(Loss::from(SampledGaussian { rate, mu: dd(1.0 / sigma), direction }), count)]
}

/// The bracket must be narrow and hold the value, known to `error`, relative.
fn holds(bracket: Bracket, value: f64, error: f64) {
    let text = format!("{:e} to {:e} for {value:e}", bracket.lower, bracket.upper);
    assert!(bracket.lower <= value * (1.0 + error), "{text}");
    assert!(bracket.upper >= value * (1.0 - error), "{text}");
    assert!(bracket.relative_width() <= TOLERANCE, "{text}");
}

fn delta_holds(parts: &[CountedLoss], epsilon: f64, value: f64, error: f64) {
    let DeltaBounds { lower, upper } =
        delta(parts, epsilon, TOLERANCE, (Effort::Much, Watch::none())).unwrap();
    holds(Bracket { lower: lower.lower(0.0), upper: upper.upper(0.0) }, value, error);
}

fn epsilon_holds(parts: &[CountedLoss], target: f64, value: f64, error: f64) {
    let target = Target { lower: Wide::from(target), upper: Wide::from(target) };
    holds(epsilon(parts, &target, TOLERANCE, (Effort::Much, Watch::none())).unwrap(), value, error);
}

#[test]
fn laplace_once_and_twice() {
    delta_holds(&[part(laplace(1.0), 1)], 0.5, 0.221_199_216_928_595, 1e-14);
    delta_holds(&[part(laplace(1.0), 2)], 1.0, 0.241_836_675_359_208_22, 1e-14);
    delta_holds(&[part(laplace(1.0), 2)], 0.5, 0.350_495_989_981_105, 1e-14);
}

#[test]
fn a_thousand_laplaces() {
    epsilon_holds(&[part(laplace(0.1), 1000)], 1e-6, 18.950_287_367_540, 1e-12);
}

#[test]
fn gaussian() {
    let parts = [part(Loss::from(Gaussian { square: Dd::ONE }), 1)];
    delta_holds(&parts, 1.0, 0.126_936_737_506_643_95, 1e-14);
}

#[test]
fn three_kinds() {
    let parts = [
        part(Loss::from(Gaussian { square: dd(2.5) }), 1),
        part(laplace(0.05), 100),
        part(Loss::from(Response { epsilon: dd(0.2) }), 50),
    ];
    epsilon_holds(&parts, 1e-6, 12.064_250_334_773, 1e-12);
}

#[test]
fn randomized_responses() {
    let responses =
        |epsilon: f64, count| part(Loss::from(Response { epsilon: dd(epsilon) }), count);
    epsilon_holds(&[responses(0.1, 1000)], 1e-6, 19.344_671_447_99, 1e-12);
    epsilon_holds(&[responses(0.1, 100)], 1e-12, 6.891_377_199_771, 1e-12);
    delta_holds(&[responses(0.1, 100)], 4.0, 3.422_312_319_196_773_3e-5, 1e-12);
    let different: Vec<CountedLoss> = (1..=20).map(|i| responses(0.05 * f64::from(i), 1)).collect();
    delta_holds(&different, 3.0, 0.431_599_799_550_858_39, 1e-12);
    delta_holds(&different, 6.0, 0.083_955_952_588_741_54, 1e-12);
}

#[test]
fn many_sampled_gaussians() {
    let parts = sampled(0.01, 4.0, Direction::Remove, 10_000);
    delta_holds(&parts, 1.0, 4.243_484_3e-6, 2e-8);
    epsilon_holds(&sampled(0.01, 2.0, Direction::Remove, 10_000), 1e-6, 2.446_734, 3e-7);
    epsilon_holds(&sampled(0.01, 2.0, Direction::Add, 10_000), 1e-6, 2.377_821, 3e-7);
}

#[test]
fn a_tiny_delta() {
    let parts = sampled(0.01, 4.0, Direction::Remove, 1000);
    delta_holds(&parts, 1.0, 1.006_214_247_467_71e-34, 1e-12);
}

/// `Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu)`.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let first = normal_tail(epsilon / mu - 0.5 * mu).0.estimate();
    let second = normal_tail(epsilon / mu + 0.5 * mu).0.estimate();
    first - epsilon.exp() * second
}

#[test]
fn one_sampled_gaussian() {
    let (rate, sigma) = (0.1_f64, 1.5);
    for epsilon in [0.05_f64, 0.2, 0.7] {
        let inner = (epsilon.exp_m1() / rate).ln_1p();
        let value = rate * gaussian_delta(1.0 / sigma, inner);
        delta_holds(&sampled(rate, sigma, Direction::Remove, 1), epsilon, value, 1e-11);
        // Exchanged: delta'(e) = 1 - e^e + e^e delta(-e).
        let inner = ((-epsilon).exp_m1() / rate).ln_1p();
        if inner.is_finite() {
            let turned = rate * gaussian_delta(1.0 / sigma, inner);
            let value = -epsilon.exp_m1() + epsilon.exp() * turned;
            delta_holds(&sampled(rate, sigma, Direction::Add, 1), epsilon, value, 1e-11);
        }
    }
}

#[test]
fn one_sampled_laplace() {
    let (rate, e0) = (0.3_f64, 1.0_f64);
    let inner = |epsilon: f64| (epsilon.exp_m1() / rate).ln_1p();
    let whole = |epsilon: f64| -(0.5 * (epsilon - e0)).exp_m1();
    let parts =
        |direction| [part(Loss::from(SampledLaplace { rate, epsilon: dd(e0), direction }), 1)];
    let epsilon = 0.2_f64;
    delta_holds(&parts(Direction::Remove), epsilon, rate * whole(inner(epsilon)), 1e-13);
    let epsilon = 0.1_f64;
    let turned = rate * whole(inner(-epsilon));
    let value = -epsilon.exp_m1() + epsilon.exp() * turned;
    delta_holds(&parts(Direction::Add), epsilon, value, 1e-12);
}

#[test]
fn one_range() {
    // 1 - e^e' is lost above: the integral of the density times 1 - e^(e - l).
    let (eta, epsilon) = (0.8_f64, 0.3_f64);
    let parts = [part(Loss::from(Range { epsilon: dd(eta) }), 1)];
    let norm = 2.0 * -(-eta).exp_m1();
    let p = 2.0 * -(0.5 * (epsilon - eta)).exp_m1();
    let q = 2.0 * (-0.5 * eta).exp() * ((-0.5 * epsilon).exp() - (-0.5 * eta).exp());
    delta_holds(&parts, epsilon, (p - epsilon.exp() * q) / norm, 1e-13);
}

/// Every combination of atoms.
fn enumerated(parts: &[(Vec<(f64, f64)>, u64)], epsilon: f64) -> f64 {
    let mut all = vec![(0.0, 1.0)];
    for (atoms, count) in parts {
        for _ in 0..*count {
            let next = all.iter().flat_map(|&(l, p)| atoms.iter().map(move |a| (l + a.0, p * a.1)));
            all = next.collect();
        }
    }
    all.iter().map(|&(l, p)| p * (1.0 - (epsilon - l).exp()).max(0.0)).sum()
}

fn atoms_part(list: &[(f64, f64)], count: u64) -> CountedLoss {
    let list: Vec<Atom> =
        list.iter().map(|&(loss, mass)| Atom { loss: dd(loss), mass: dd(mass) }).collect();
    part(
        Loss::from(Arc::new(Atoms {
            list: list.into(),
            cut: 0.0,
            capped: false,
            symmetric: true,
            rho: None,
        })),
        count,
    )
}

#[test]
fn atoms_with_and_without_a_common_step() {
    let three = |e: f64| {
        let total = 1.0 + 0.7 + (-e).exp();
        vec![(e, 1.0 / total), (0.0, 0.7 / total), (-e, (-e).exp() / total)]
    };
    for [a, b] in [[0.5, 0.25], [0.5, 0.311_234]] {
        let lists = [(three(a), 4), (three(b), 4)];
        let parts: Vec<CountedLoss> =
            lists.iter().map(|(list, count)| atoms_part(list, *count)).collect();
        for epsilon in [0.1, 1.05, 2.4] {
            delta_holds(&parts, epsilon, enumerated(&lists, epsilon), 1e-12);
        }
    }
}

#[test]
fn extreme_targets() {
    for target in [1e-30, 1e-100, 1e-250] {
        let parts = [part(Loss::from(Gaussian { square: Dd::ONE }), 1), part(laplace(1e-3), 1)];
        let alone = [part(Loss::from(Gaussian { square: Dd::ONE }), 1)];
        let wide = Target { lower: Wide::from(target), upper: Wide::from(target) };
        let bracket = epsilon(&alone, &wide, TOLERANCE, (Effort::Much, Watch::none())).unwrap();
        assert!(bracket.relative_width() <= TOLERANCE, "{bracket}");
        assert!(gaussian_delta(1.0, bracket.lower) >= target * (1.0 - 1e-9), "{bracket}");
        assert!(gaussian_delta(1.0, bracket.upper) <= target * (1.0 + 1e-9), "{bracket}");
        let both = epsilon(&parts, &wide, TOLERANCE, (Effort::Much, Watch::none())).unwrap();
        assert!(both.upper > bracket.lower && both.lower < bracket.upper + 1e-3, "{both}");
    }
}

#[test]
fn nothing_to_pay_and_all_to_stop() {
    let parts = [part(laplace(0.1), 1)];
    let target = Target { lower: Wide::from(0.5), upper: Wide::from(0.5) };
    let bracket = epsilon(&parts, &target, TOLERANCE, (Effort::Much, Watch::none())).unwrap();
    assert!(bracket.upper <= 0.0, "{bracket}");
    let stop = |_: f64| crate::watch::Control::Stop;
    let stopped = epsilon(&parts, &target, TOLERANCE, (Effort::Much, Watch::new(&stop)));
    assert_eq!(stopped, Err(Failure::Stopped));
}
