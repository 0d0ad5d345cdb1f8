//! What the figures about use say, by hand.

use super::claims::delta;
use super::{at, curve, figure};

#[test]
fn noise_for_many_queries_is_what_closed_forms_say() {
    let figure = figure("kov-noise");
    let chart = &figure.charts[0];
    // k Gaussian answers are one of sqrt(k) the sensitivity; one needs 3.7306316348 (Balle and Wang's analytic mechanism).
    for &(k, deviation) in curve(chart, "Gaussian, least") {
        let hand = 3.730_631_634_8 * k.sqrt();
        assert!((deviation / hand - 1.0).abs() < 1e-6, "{k}: {deviation}, not {hand}");
    }
    for &(k, deviation) in curve(chart, "both, KOV's rule") {
        let hand = (8.0 * k * (1_f64.exp() + 1e5).ln()).sqrt();
        assert!((deviation / hand - 1.0).abs() < 1e-9, "{k}: {deviation}, not {hand}");
    }
    let laplace = curve(chart, "Laplace, least");
    // One: delta = 1 - exp((1 - 1/scale)/2). A hundred, by another library: 36.747.
    let one = 1.0 / (1.0 - 2.0 * (-1e-5_f64).ln_1p());
    for (k, scale, within) in [(1.0, one, 1e-6), (100.0, 36.747, 2e-5)] {
        let own = at(laplace, k) / std::f64::consts::SQRT_2;
        assert!((own / scale - 1.0).abs() < within, "{k}: {own}, not {scale}");
    }
    assert!(
        figure.caption.contains("is 36.747 sensitivities where the least Gaussian σ is 37.306")
    );
    // The scale of Laplace noise is about the deviation of Gaussian noise.
    let (far, least) = (at(laplace, 1e4), at(curve(chart, "Gaussian, least"), 1e4));
    assert!((far / least / std::f64::consts::SQRT_2 - 1.0).abs() < 0.01, "{far} {least}");
}

#[test]
fn sketches_are_as_accurate_as_their_composition_allows() {
    let figure = figure("kov-sketch");
    let chart = &figure.charts[0];
    let (eta, nu, d) = (0.5, 0.05, 1e-6);
    let r = (8.0 * (2.0_f64 / nu).ln() / (eta * eta)).ceil();
    let each = d / (2.0 * r);
    let error = |e0: f64| 2.0 * eta * 4.0 / e0 * (2.0 / each).ln();
    for (name, log) in [
        ("(23), by III.2", (|_, d: f64| (2.0 / d).ln()) as fn(f64, f64) -> f64),
        ("(24), by III.4", |e, d| (1_f64.exp() + 2.0 * e / d).ln()),
    ] {
        for &(e, own) in curve(chart, name) {
            let hand = error(e / (4.0 * r * log(e, d)).sqrt());
            assert!((own / hand - 1.0).abs() < 1e-9, "{name} {e}: {own}, not {hand}");
        }
    }
    for &(e, own) in curve(chart, "optimal composition") {
        let e0 = 8.0 * eta * (2.0 / each).ln() / own;
        let all = |e0: f64| {
            let kept = (r * (-each).ln_1p()).exp();
            1.0 - kept * (1.0 - delta(e0, r, e))
        };
        assert!(all(e0 * (1.0 - 1e-6)) <= d * (1.0 + 1e-7), "{e}");
        assert!(all(e0 * 1.01) > d, "{e}: {e0} is not the largest");
    }
}

#[test]
fn times_of_the_approximation_are_measured() {
    let figure = figure("mv-theorem-1.7");
    let coarse = curve(&figure.charts[0], "MV 1.7, η = 0.5");
    let fine = curve(&figure.charts[0], "MV 1.7, η = 0.03125");
    assert!(coarse.len() == 6 && fine.len() == 6);
    assert!(fine.iter().chain(coarse).all(|point| point.1 > 0.0));
    assert!(!figure.caption.contains("NaN"), "{}", figure.caption);
}
