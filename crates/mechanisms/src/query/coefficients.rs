//! Where the coefficients of a regression are, if its sums are where they are said to be (docs/theorems.md, *Intervals from what is
//! released*).

use super::Bounds;
use super::interval::Interval;
use super::moments::product_place;
use nalgebra::{DMatrix, DVector};

/// Nothing is known.
const ANYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// More than all roundings here, relative to what is rounded.
const SLACK: f64 = 1e-9;

/// The intercept and the coefficients of least squares, in the units of the columns. Where the predictors may be collinear nothing
/// is known. The bounds are those of the predictors and, last, of the outcome; the sums are those after the number of rows.
pub(super) fn intervals(bounds: &[Bounds], rows: Interval, sums: &[Interval]) -> Vec<Interval> {
    let Some((outcome, predictors)) = bounds.split_last() else { return Vec::new() };
    let Some(slopes) = slopes(bounds, rows, sums) else { return vec![ANYTHING; bounds.len()] };
    let mean = |(sum, bounds): (&Interval, &Bounds)| {
        sum.over(rows).plus(bounds.center()).cut(bounds.low(), bounds.high())
    };
    let explained = sums.iter().zip(predictors).map(mean).zip(&slopes);
    let explained = explained.map(|(mean, slope)| mean.times(*slope));
    let explained = explained.fold(Interval { low: 0.0, high: 0.0 }, Interval::and);
    let own = sums.get(predictors.len()).map(|sum| mean((sum, outcome)));
    let intercept = own.map(|own| own.minus(explained));
    intercept.into_iter().chain(slopes).map(finite).collect()
}

/// The coefficients without the intercept; `None` where nothing is known of them.
fn slopes(bounds: &[Bounds], rows: Interval, sums: &[Interval]) -> Option<Vec<Interval>> {
    let (count, size) = (bounds.len(), bounds.len() - 1);
    // In units of half the width of the bounds.
    let half = |place: usize| bounds.get(place).map_or(1.0, Bounds::half);
    let sum = |place: usize, by: f64| {
        let sum = sums.get(place).copied().unwrap_or(ANYTHING);
        Interval { low: sum.low / by, high: sum.high / by }
    };
    // Rows times a covariance, or a variance.
    let moment = |i: usize, j: usize| {
        let products = sum(product_place(count, i, j), half(i) * half(j));
        let (first, second) = (sum(i, half(i)), sum(j, half(j)));
        let square = if i == j { first.squared() } else { first.times(second) };
        let moment = products.minus(square.over(rows));
        if i == j { moment.cut(0.0, f64::INFINITY) } else { moment }
    };
    let matrix = |i: usize, j: usize| moment(i.min(j), i.max(j));
    let scaled = match size {
        1 if matrix(0, 0).low > 0.0 => vec![moment(0, 1).over(matrix(0, 0))],
        1 => return None,
        _ => solved(
            &DMatrix::from_fn(size, size, matrix),
            &DVector::from_fn(size, |i, _| moment(i, size)),
        )?,
    };
    let in_units = |(i, slope): (usize, Interval)| {
        let unit = half(size) / half(i);
        Interval { low: slope.low * unit, high: slope.high * unit }
    };
    Some(scaled.into_iter().enumerate().map(in_units).collect())
}

/// Where the solutions x of Mx = b are, for all M and b in intervals; `None` unless all such M are shown to be regular.
///
/// With x' next to the solution in the middle and C next to the inverse there, e = |x - x'| is at most h + Ge, where G = |1 - CM'| + |C| R
/// and h = |C| (|b' - M'x'| + r + R|x'|), R and r being the radii. If there is v > 0 with Gv < v, (1 - G)^-1 is not negative and e is at
/// most (1 - G)^-1 h.
fn solved(matrix: &DMatrix<Interval>, against: &DVector<Interval>) -> Option<Vec<Interval>> {
    let middle = |one: Interval| 0.5 * one.low + 0.5 * one.high;
    let radius = |one: Interval| 0.5 * one.high - 0.5 * one.low;
    let (matrix, radii) = (matrix.map(middle), matrix.map(radius));
    let (against, reach) = (against.map(middle), against.map(radius));
    let size = against.len();
    let inverse = matrix.clone().try_inverse()?;
    let middle = &inverse * &against;
    let identity = DMatrix::<f64>::identity(size, size);
    let absolute = inverse.abs();
    let gain = (&identity - &inverse * &matrix).abs() + &absolute * &radii;
    let rest = (&against - &matrix * &middle).abs() + reach + radii * middle.abs();
    let outer = (&identity - &gain).try_inverse()?;
    let is_regular = |v: &DVector<f64>| {
        v.iter().all(|x| *x > 0.0) && (v - &gain * v).iter().all(|less| *less > SLACK)
    };
    if !is_regular(&(&outer * DVector::from_element(size, 1.0))) {
        return None;
    }
    let error = outer * (absolute * rest) * (1.0 + SLACK);
    let around = |(x, error): (&f64, &f64)| Interval { low: x - error, high: x + error };
    Some(middle.iter().zip(&error).map(around).collect())
}

/// A number too large to be told is no bound.
fn finite(one: Interval) -> Interval {
    if one.low.is_finite() && one.high.is_finite() { one } else { ANYTHING }
}
