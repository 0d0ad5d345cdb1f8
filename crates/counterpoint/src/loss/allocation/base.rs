//! The law of the likelihood ratio of N(mu, 1) and N(0, 1) under the latter: e^(mu z - mu^2/2).

use super::Domination;
use super::grid::CellMasses;
use super::point_masses::PointMasses;
use counterpoint_numerics::{self, Dd, LN_SQRT_TAU, exp_rounded};

/// The distance below zero, and above mu, at which z is cut.
const REACH: f64 = 11.5;
/// Bounds the probability that a normal variable is beyond 11.5, which is 6.6e-31.
pub(super) const BEYOND: f64 = 1e-30;

/// The largest step in z, and the largest growth of the ratio's logarithm in a step.
const WIDEST_STEP: f64 = 1.0 / 128.0;
const GROWTH: f64 = 1.0 / 64.0;
/// A bound on the step times |z| + mu + 5. The relative error of the rule below is at most 2.7e-6 times its twelfth
/// power, 1.2e-14.
const SHORT: f64 = 0.2;
/// The relative error of each mass: that of the rule, and of some thirty roundings.
const ERROR: f64 = 1e-13;

/// Gauss and Legendre's rule of six points between 0 and 1.
const RULE: [(f64, f64); 6] = [
    (0.033_765_242_898_423_99, 0.085_662_246_189_585_17),
    (0.169_395_306_766_867_74, 0.180_380_786_524_069_3),
    (0.380_690_406_958_401_55, 0.233_956_967_286_345_52),
    (0.619_309_593_041_598_5, 0.233_956_967_286_345_52),
    (0.830_604_693_233_132_3, 0.180_380_786_524_069_3),
    (0.966_234_757_101_576, 0.085_662_246_189_585_17),
];

/// Computes the law at points that are evenly spaced in z.
pub(super) fn law(mu: Dd, side: Domination) -> PointMasses {
    let width = 2.0 * REACH + mu.hi;
    let step = WIDEST_STEP.min(GROWTH / mu.hi).min(SHORT / (REACH + 2.0 * mu.hi + 5.0));
    let cells = (width / step).ceil() as usize;
    let place = |k: usize| step * k as f64 - REACH;
    let ratio = |k: usize| exp_rounded(mu * place(k) - (mu * mu).scaled(0.5));
    let points: Vec<f64> = (0..=cells).map(ratio).collect();
    let mut fallen = CellMasses::new(&points);
    // The upper point's share is the same in all cells, because the rule's points are at the same places in each.
    let growth = (mu * step).hi;
    let shares = RULE.map(|(at, _)| {
        counterpoint_numerics::expm1(growth * at) / counterpoint_numerics::expm1(growth)
    });
    for cell in 0..cells {
        let z = place(cell);
        let density = exp_rounded(-Dd::product(z, z).scaled(0.5) - LN_SQRT_TAU);
        let (mut down, mut up) = (0.0, 0.0);
        for ((at, weight), share) in RULE.into_iter().zip(shares) {
            let further = at * step;
            let mass = density
                * counterpoint_numerics::exp(-further * (z + 0.5 * further))
                * (weight * step);
            up += share * mass;
            down += (1.0 - share) * mass;
        }
        fallen.add(cell, down, up);
    }
    let (points, masses, error) = fallen.rounded(side);
    PointMasses::new(points, masses, ERROR + error)
}
