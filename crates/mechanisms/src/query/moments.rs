//! Covariances and least squares from sums of ones, of offsets and of products of offsets.

use super::summand::{Summand, Term};
use super::{Bounds, cut};
use crate::noise::Noise;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// The terms of a covariance, with their columns.
pub(super) fn of_two(x: Bounds, y: Bounds, public: bool) -> Vec<(Term, [usize; 2])> {
    let ones = (Term::Ones(None), [0, 0]);
    let rest =
        [(Term::Offsets(x), [0, 0]), (Term::Offsets(y), [1, 1]), (Term::Products(x, y), [0, 1])];
    (!public).then_some(ones).into_iter().chain(rest).collect()
}

/// The terms of a correlation: those of a covariance, and the squares of both columns.
pub(super) fn of_correlation(x: Bounds, y: Bounds, public: bool) -> Vec<(Term, [usize; 2])> {
    let squares = [(Term::Squares(x), [0, 0]), (Term::Squares(y), [1, 1])];
    of_two(x, y, public).into_iter().chain(squares).collect()
}

/// The terms of a regression: ones, offsets of each column, and products of each predictor with itself, later
/// predictors and the outcome. A record in a corner of the bounds has all terms at their largest, so that noise for all
/// terms at once would not be smaller than noise for each, if people are added or removed.
pub(super) fn of_line(
    predictors: &[Bounds],
    outcome: Bounds,
    public: bool,
) -> Vec<(Term, [usize; 2])> {
    let all: Vec<(usize, Bounds)> =
        predictors.iter().copied().chain([outcome]).enumerate().collect();
    let ones = (!public).then_some((Term::Ones(None), [0, 0]));
    let offsets = all.iter().map(|&(place, bounds)| (Term::Offsets(bounds), [place; 2]));
    let products = all.iter().take(predictors.len()).flat_map(|&(i, x)| {
        all.iter().skip(i).map(move |&(j, y)| match i == j {
            true => (Term::Squares(x), [i, i]),
            false => (Term::Products(x, y), [i, j]),
        })
    });
    ones.into_iter().chain(offsets).chain(products).collect()
}

/// The index of the sum of products of columns i <= j among `count` columns; each row of products is one shorter than
/// the previous.
pub(super) fn product_place(count: usize, i: usize, j: usize) -> usize {
    count + i * count - i * i.saturating_sub(1) / 2 + (j - i)
}

/// The number of records, which is public or the first of the noisy sums, and the other sums.
fn split(noisy: &[f64], public: Option<f64>) -> (f64, &[f64]) {
    match (public, noisy) {
        (None, [ones, rest @ ..]) => (ones.max(1.0), rest),
        (records, rest) => (records.unwrap_or(1.0).max(1.0), rest),
    }
}

/// The mean product minus the product of the means, clamped to possible values.
pub(super) fn covariance(x: Bounds, y: Bounds, noisy: &[f64], public: Option<f64>) -> f64 {
    let (records, &[first, second, products]) = split(noisy, public) else { return 0.0 };
    let mean = |sum: f64, bounds: Bounds| cut(sum / records, -bounds.half(), bounds.half());
    let most = x.half() * y.half();
    cut(products / records - mean(first, x) * mean(second, y), -most, most)
}

/// The covariance over the root of the product of the variances, clamped to possible values; 0 if a column does not
/// vary.
pub(super) fn correlation(x: Bounds, y: Bounds, noisy: &[f64], public: Option<f64>) -> f64 {
    let (records, &[first, second, products, xs, ys]) = split(noisy, public) else { return 0.0 };
    let together = covariance(x, y, &[first, second, products], Some(records));
    let variance = |sum: f64, squares: f64, bounds: Bounds| {
        let mean = cut(sum / records, -bounds.half(), bounds.half());
        cut(squares / records - mean * mean, 0.0, bounds.half() * bounds.half())
    };
    // The product of the variances could underflow, so each root is taken first.
    let scale = variance(first, xs, x).sqrt() * variance(second, ys, y).sqrt();
    if scale > 0.0 { cut(together / scale, -1.0, 1.0) } else { 0.0 }
}

/// Computes the coefficients of a regression from its noisy sums.
#[derive(Clone, Debug)]
pub(super) struct RegressionLine {
    /// The bounds of the predictors, then of the outcome.
    bounds: Vec<Bounds>,
    /// The largest mean absolute noise on a product, as a part of the product's largest value.
    noise: f64,
    public: Option<f64>,
}

/// The least variance of a direction, as a part of the largest that the bounds allow; below it, rounding decides.
const LEAST: f64 = 1e-9;

impl RegressionLine {
    /// From the noise on its sums.
    pub(super) fn new(
        predictors: &[Bounds],
        outcome: Bounds,
        sums: &[(Summand, Noise)],
        public: Option<f64>,
    ) -> Self {
        let part = |(summand, noise): &(Summand, Noise)| match summand.term() {
            term @ (Term::Squares(_) | Term::Products(..)) => {
                noise.expected_error() / term.range().1
            }
            _ => 0.0,
        };
        let noise = sums.iter().map(part).fold(0.0, f64::max);
        Self { bounds: predictors.iter().copied().chain([outcome]).collect(), noise, public }
    }

    /// The intercept, and a coefficient for each predictor: finite for all sums.
    pub(super) fn coefficients(&self, noisy: &[f64]) -> Vec<f64> {
        let (records, sums) = split(noisy, self.public);
        let count = self.bounds.len();
        let half = |place: usize| self.bounds.get(place).map_or(1.0, Bounds::half);
        let sum = |place: usize| sums.get(place).copied().unwrap_or_default();
        // Units of half the width of the bounds.
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
        // Clamped so that twenty such parts have a finite sum.
        let part = |x: f64| x.clamp(-f64::MAX / 32.0, f64::MAX / 32.0);
        let explained: f64 =
            slopes.iter().enumerate().map(|(i, slope)| part(slope * center(i))).sum();
        [finite(center(predictors) - explained)].into_iter().chain(slopes).collect()
    }

    /// The least variance of a direction: the variance that noise gives to a constant direction. It depends only on the
    /// number of records, public or noisy, and on the noise.
    fn floor(&self, records: f64) -> f64 {
        let size = (self.bounds.len() as f64).sqrt();
        cut(size * self.noise / records, LEAST, 1.0)
    }
}

fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) }
}

/// Solves with a symmetric matrix whose eigenvalues are raised to a floor. Nothing is raised if all are above the
/// floor, which holds if the matrix minus the floor is positive definite.
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

    /// Both ways of solving agree where nothing is raised; elsewhere the answer is that of the matrix with raised
    /// eigenvalues.
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
        // Two equal predictors: one direction varies, the other does not.
        let ones = DMatrix::from_element(2, 2, 0.5);
        let found = solve(ones, &DVector::from_element(2, 0.5), 0.01);
        assert!(found.iter().all(|x| (x - 0.5).abs() < 1e-9), "{found:?}");
    }
}
