//! Covariances and least squares from sums of ones, of offsets and of products of offsets.

use super::summand::{Of, Summand};
use super::{Bounds, cut};
use crate::noise::Noise;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// What is added up for a covariance, with its columns.
pub(super) fn of_two(x: Bounds, y: Bounds, public: bool) -> Vec<(Of, [usize; 2])> {
    let ones = (Of::Ones(None), [0, 0]);
    let rest = [(Of::Offsets(x), [0, 0]), (Of::Offsets(y), [1, 1]), (Of::Products(x, y), [0, 1])];
    (!public).then_some(ones).into_iter().chain(rest).collect()
}

/// What is added up for a correlation: as for a covariance, and the squares of both columns.
pub(super) fn of_correlation(x: Bounds, y: Bounds, public: bool) -> Vec<(Of, [usize; 2])> {
    let squares = [(Of::Squares(x), [0, 0]), (Of::Squares(y), [1, 1])];
    of_two(x, y, public).into_iter().chain(squares).collect()
}

/// What is added up for a regression: ones, offsets of each column, and products of each predictor with itself, those
/// after it and the outcome. A record in a corner of the bounds has all of them as large as they may be, so that
/// no noise for all at once would be smaller than one for each, where people are added or removed.
pub(super) fn of_line(
    predictors: &[Bounds],
    outcome: Bounds,
    public: bool,
) -> Vec<(Of, [usize; 2])> {
    let all: Vec<(usize, Bounds)> =
        predictors.iter().copied().chain([outcome]).enumerate().collect();
    let ones = (!public).then_some((Of::Ones(None), [0, 0]));
    let offsets = all.iter().map(|&(place, bounds)| (Of::Offsets(bounds), [place; 2]));
    let products = all.iter().take(predictors.len()).flat_map(|&(i, x)| {
        all.iter().skip(i).map(move |&(j, y)| match i == j {
            true => (Of::Squares(x), [i, i]),
            false => (Of::Products(x, y), [i, j]),
        })
    });
    ones.into_iter().chain(offsets).chain(products).collect()
}

/// Where the sum of products of two of so many columns is, the first not being after the second: rows of products are one shorter each.
pub(super) fn product_place(count: usize, i: usize, j: usize) -> usize {
    count + i * count - i * i.saturating_sub(1) / 2 + (j - i)
}

/// How many records there are, and the other sums: public, or the first of the noisy sums.
fn split(noisy: &[f64], public: Option<f64>) -> (f64, &[f64]) {
    match (public, noisy) {
        (None, [ones, rest @ ..]) => (ones.max(1.0), rest),
        (records, rest) => (records.unwrap_or(1.0).max(1.0), rest),
    }
}

/// The mean product less the product of means, within what is possible.
pub(super) fn covariance(x: Bounds, y: Bounds, noisy: &[f64], public: Option<f64>) -> f64 {
    let (records, &[first, second, products]) = split(noisy, public) else { return 0.0 };
    let mean = |sum: f64, bounds: Bounds| cut(sum / records, -bounds.half(), bounds.half());
    let most = x.half() * y.half();
    cut(products / records - mean(first, x) * mean(second, y), -most, most)
}

/// The covariance over the root of the product of variances, within what is possible; 0 where a column does not vary.
pub(super) fn correlation(x: Bounds, y: Bounds, noisy: &[f64], public: Option<f64>) -> f64 {
    let (records, &[first, second, products, xs, ys]) = split(noisy, public) else { return 0.0 };
    let together = covariance(x, y, &[first, second, products], Some(records));
    let variance = |sum: f64, squares: f64, bounds: Bounds| {
        let mean = cut(sum / records, -bounds.half(), bounds.half());
        cut(squares / records - mean * mean, 0.0, bounds.half() * bounds.half())
    };
    // The root of each, as their product may be too small to be a number.
    let scale = variance(first, xs, x).sqrt() * variance(second, ys, y).sqrt();
    if scale > 0.0 { cut(together / scale, -1.0, 1.0) } else { 0.0 }
}

/// A regression's shape.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Those of the predictors, and of the outcome.
    bounds: Vec<Bounds>,
    /// The mean distance of the noise on a mean product of one record, as a part of the largest: the largest of them.
    noise: f64,
    public: Option<f64>,
}

/// Directions vary at least so much, as a part of what bounds allow: below, doubles decide.
const LEAST: f64 = 1e-9;

impl Line {
    /// Of the noise on its sums.
    pub(super) fn new(
        predictors: &[Bounds],
        outcome: Bounds,
        sums: &[(Summand, Noise)],
        public: Option<f64>,
    ) -> Self {
        let part = |(summand, noise): &(Summand, Noise)| match summand.of() {
            of @ (Of::Squares(_) | Of::Products(..)) => noise.expected_error() / of.range().1,
            _ => 0.0,
        };
        let noise = sums.iter().map(part).fold(0.0, f64::max);
        Self { bounds: predictors.iter().copied().chain([outcome]).collect(), noise, public }
    }

    /// The intercept, and a coefficient for each predictor: finite whatever the sums are.
    pub(super) fn coefficients(&self, noisy: &[f64]) -> Vec<f64> {
        let (records, sums) = split(noisy, self.public);
        let count = self.bounds.len();
        let half = |place: usize| self.bounds.get(place).map_or(1.0, Bounds::half);
        let sum = |place: usize| sums.get(place).copied().unwrap_or_default();
        // In units of half the width of the bounds.
        let means: Vec<f64> =
            (0..count).map(|i| cut(sum(i) / records / half(i), -1.0, 1.0)).collect();
        let mean = |place: usize| means.get(place).copied().unwrap_or_default();
        let moment = |i: usize, j: usize| {
            let place = product_place(count, i, j).min(sums.len().saturating_sub(1));
            let raw = sum(place) / records / half(i) / half(j);
            cut(raw - mean(i) * mean(j), if i == j { 0.0 } else { -1.0 }, 1.0)
        };
        let predictors = count - 1;
        let matrix = DMatrix::from_fn(predictors, predictors, |i, j| moment(i.min(j), i.max(j)));
        let against = DVector::from_fn(predictors, |i, _| moment(i, predictors));
        let scaled = solve(matrix, &against, self.floor(records));
        let in_units = |(i, slope): (usize, &f64)| finite(slope * (half(predictors) / half(i)));
        let slopes: Vec<f64> = scaled.iter().enumerate().map(in_units).collect();
        let center = |place: usize| {
            let middle = self.bounds.get(place).map_or(0.0, Bounds::center);
            middle + mean(place) * half(place)
        };
        // Parts of which twenty add up to something finite.
        let part = |x: f64| x.clamp(-f64::MAX / 32.0, f64::MAX / 32.0);
        let explained: f64 =
            slopes.iter().enumerate().map(|(i, slope)| part(slope * center(i))).sum();
        [finite(center(predictors) - explained)].into_iter().chain(slopes).collect()
    }

    /// How much each direction is taken to vary at least: as much as noise would make of a direction that does
    /// not. It depends on the number of records, public or with noise, and on the noise alone.
    fn floor(&self, records: f64) -> f64 {
        let size = (self.bounds.len() as f64).sqrt();
        cut(size * self.noise / records, LEAST, 1.0)
    }
}

fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) }
}

/// Solves with a symmetric matrix whose eigenvalues are raised to a floor. Where all are above it, which is where the matrix
/// less so much is positive definite, nothing is raised.
fn solve(matrix: DMatrix<f64>, against: &DVector<f64>, floor: f64) -> Vec<f64> {
    const TURNS: usize = 10_000;
    let size = against.len();
    let less = &matrix - DMatrix::from_diagonal_element(size, size, floor);
    if less.cholesky().is_some()
        && let Some(roots) = matrix.clone().cholesky()
    {
        return roots.solve(against).iter().copied().map(finite).collect();
    }
    let Some(eigen) = SymmetricEigen::try_new(matrix, f64::EPSILON, TURNS) else {
        return vec![0.0; size];
    };
    let mut along = eigen.eigenvectors.tr_mul(against);
    for (part, value) in along.iter_mut().zip(eigen.eigenvalues.iter()) {
        *part /= cut(*value, floor, f64::MAX);
    }
    (eigen.eigenvectors * along).iter().copied().map(finite).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::Random;

    /// Both ways of solving are the same where nothing is raised; where something is, the answer is that of the matrix
    /// with its eigenvalues raised.
    #[test]
    fn eigenvalues_are_raised_to_the_floor() {
        let mut random = Random::new(41);
        for round in 0..300 {
            let size = 1 + round % 6;
            let some = DMatrix::from_fn(size, size, |_, _| random.unit() - 0.5);
            let matrix = &some + some.transpose();
            let against = DVector::from_fn(size, |_, _| random.unit());
            for floor in [1e-9, 0.1, 1.0] {
                let found = DVector::from_vec(solve(matrix.clone(), &against, floor));
                let eigen = matrix.clone().symmetric_eigen();
                let raised = eigen.eigenvalues.map(|value| value.max(floor));
                let raised = &eigen.eigenvectors
                    * DMatrix::from_diagonal(&raised)
                    * eigen.eigenvectors.transpose();
                let off = (raised * &found - &against).norm();
                assert!(off < 1e-9 * (1.0 + found.norm()), "{matrix} {floor}: {off}");
            }
        }
        // All alike: one direction varies, the other does not.
        let ones = DMatrix::from_element(2, 2, 0.5);
        let found = solve(ones, &DVector::from_element(2, 0.5), 0.01);
        assert!(found.iter().all(|x| (x - 0.5).abs() < 1e-9), "{found:?}");
    }
}
