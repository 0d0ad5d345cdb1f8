use super::*;
use crate::sample::script;

fn sketching() -> SketchParameters {
    SketchParameters::new(1.0, 0.01, 0.7, 0.1).unwrap()
}

/// The larger delta at epsilon, over both directions, between normals with these variances and standard normals, by a
/// sum over a fine grid.
fn delta_of(variances: &[f64], epsilon: f64) -> f64 {
    let axis: Vec<f64> = (-240..=240).map(|i| f64::from(i) / 20.0).collect();
    let density = |x: f64, variance: f64| (-0.5 * x * x / variance).exp() / variance.sqrt();
    let second: &[f64] = if variances.len() == 2 { &axis } else { &[0.0] };
    let cell = (1.0 / 20.0 / (2.0 * std::f64::consts::PI).sqrt()).powi(variances.len() as i32);
    let (mut ahead, mut back) = (0.0, 0.0);
    for &x in &axis {
        for &y in second {
            let other = variances.get(1).map_or((1.0, 1.0), |&v| (density(y, v), density(y, 1.0)));
            let (p, q) = (density(x, variances[0]) * other.0, density(x, 1.0) * other.1);
            ahead += (p - epsilon.exp() * q).max(0.0) * cell;
            back += (q - epsilon.exp() * p).max(0.0) * cell;
        }
    }
    f64::max(ahead, back)
}

/// The weights make each direction as private as the composition assumes.
#[test]
fn each_direction_is_as_private_as_claimed() {
    for (epsilon, delta, eta, nu) in
        [(1.0, 0.01, 0.7, 0.1), (0.3, 1e-3, 0.5, 0.3), (8.0, 0.2, 0.75, 0.5)]
    {
        let sketching = SketchParameters::new(epsilon, delta, eta, nu).unwrap();
        let (epsilon0, delta0) = sketching.each();
        let most = 2.0 / sketching.cut_weight();
        assert!(delta_of(&[1.0 + most], epsilon0) <= delta0);
        // Twice the change would be too much.
        assert!(delta_of(&[1.0 + 4.0 * most], epsilon0) > delta0);
        let w = sketching.variance_weight();
        let k = 2.0 / w + 1.0 / (w * w);
        for pair in [[1.0 + k, 1.0 + k], [1.0 - k, 1.0 - k], [1.0 + k, 1.0 - k]] {
            assert!(delta_of(&pair, epsilon0) <= delta0, "{pair:?}");
        }
    }
}

/// A changed row moves the covariance's eigenvalues by no more than the weight allows.
#[test]
fn a_row_moves_two_eigenvalues_a_little() {
    let mut state = 1.0_f64;
    let mut next = || {
        state = (state * 16807.0) % 2_147_483_647.0;
        state / 2_147_483_647.0 - 0.5
    };
    for weight in [2.0, 10.0, 50.0] {
        for _ in 0..200 {
            let size = 100.0 * (next() + 0.5).powi(4);
            let a = nalgebra::DMatrix::from_fn(7, 4, |_, _| size * next());
            let step = nalgebra::DVector::from_fn(4, |_, _| next()).normalize();
            let mut b = a.clone();
            b.row_mut(2).iter_mut().zip(&step).for_each(|(x, s)| *x += s);
            let identity = nalgebra::DMatrix::identity(4, 4);
            let covariance = |m: &DMatrix| m.transpose() * m + &identity * (weight * weight);
            let half = covariance(&a).cholesky().unwrap().l().try_inverse().unwrap();
            let ratio = &half * covariance(&b) * half.transpose();
            let moved: Vec<f64> =
                ratio.symmetric_eigenvalues().iter().map(|v| (v - 1.0).abs()).collect();
            let most = 2.0 / weight + 1.0 / (weight * weight);
            assert!(moved.iter().all(|&m| m <= most + 1e-9), "{moved:?} {most}");
            assert!(moved.iter().filter(|&&m| m > 1e-9).count() <= 2);
        }
    }
}

type DMatrix = nalgebra::DMatrix<f64>;

/// The weight is smaller than by Kairouz, Oh and Viswanath's closed choice of eps0 and Lemma 1.
#[test]
fn the_weight_is_below_the_published_one() {
    for (epsilon, delta, eta, nu) in [(1.0, 1e-6, 0.5, 0.05), (0.1, 1e-3, 0.2, 0.01)] {
        let sketching = SketchParameters::new(epsilon, delta, eta, nu).unwrap();
        let r = sketching.directions() as f64;
        assert!((r - (8.0 * (2.0 / nu).ln() / (eta * eta)).ceil()).abs() < 0.5);
        let e = std::f64::consts::E;
        let epsilon0 = epsilon / (4.0 * r * (e + 2.0 * epsilon / delta).ln()).sqrt();
        assert!(sketching.each().0 > epsilon0);
        let published = 4.0 / epsilon0 * (4.0 * r / delta).ln();
        assert!(sketching.cut_weight() < 0.5 * published);
    }
}

#[test]
fn bad_input_is_named() {
    for bad in [f64::NAN, 0.0, -1.0, 200.0] {
        assert!(SketchParameters::new(bad, 0.1, 0.5, 0.1).is_err());
        assert!(SketchParameters::new(1.0, bad, 0.5, 0.1).is_err());
        assert!(SketchParameters::new(1.0, 0.1, bad, 0.1).is_err());
        assert!(SketchParameters::new(1.0, 0.1, 0.5, bad).is_err());
    }
    assert!(Graph::new(3, [(0, 0, 1.0)]).is_err() && Graph::new(3, [(0, 3, 1.0)]).is_err());
    assert!(Graph::new(3, [(0, 1, 1.5)]).is_err());
    assert!(Graph::new(3, [(0, 1, 1.0), (1, 0, 1.0)]).is_err());
    let small = Graph::new(3, [(0, 1, 1.0)]).unwrap();
    assert!(matches!(sketching().cuts(&small), Err(Error::OutOfRange(_))));
    assert!(sketching().variances(&[]).is_err());
    assert!(sketching().variances(&[vec![1.0], vec![1.0, 2.0]]).is_err());
    assert!(sketching().variances(&[vec![f64::NAN]]).is_err());
    let failed = script::with(&[], || sketching().variances(&[vec![1.0]]));
    assert!(matches!(failed, Err(Error::Randomness { .. })));
}
