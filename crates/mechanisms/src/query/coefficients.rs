//! Intervals for the coefficients of a regression, given intervals for its sums (theory 11.23).

use super::Bounds;
use super::arithmetic::Interval;
use super::moments::product_place;
use nalgebra::{DMatrix, DVector};

/// The interval of all numbers.
const ANYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// An upper bound on the relative rounding errors of this file.
const SLACK: f64 = 1e-9;

/// Intervals for the intercept and the coefficients of least squares, in the units of the columns. They are infinite if
/// the predictors may be collinear. `bounds` are those of the predictors and, last, of the outcome; `sums` are the sums
/// after the number of rows.
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

/// Intervals for the coefficients without the intercept; `None` if the predictors may be collinear.
fn slopes(bounds: &[Bounds], rows: Interval, sums: &[Interval]) -> Option<Vec<Interval>> {
    let (count, size) = (bounds.len(), bounds.len() - 1);
    // Units of half the width of the bounds.
    let half = |place: usize| bounds.get(place).map_or(1.0, Bounds::half);
    let sum = |place: usize, by: f64| {
        let sum = sums.get(place).copied().unwrap_or(ANYTHING);
        Interval { low: sum.low / by, high: sum.high / by }
    };
    // The number of rows times a covariance, or a variance.
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

/// Intervals for the solutions x of Mx = b, for all M and b in intervals; `None` unless all such M are shown to be
/// regular.
///
/// Let M', b' be the midpoints, R, r the radii, x' close to the solution of M'x = b' and C close to the inverse of M'.
/// Then e = |x - x'| <= h + Ge with G = |1 - CM'| + |C| R and h = |C| (|b' - M'x'| + r + R|x'|). If there is a v > 0
/// with Gv < v, then (1 - G)^-1 is not negative and e <= (1 - G)^-1 h.
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

/// Replaces an interval whose ends overflow by the interval of all numbers.
fn finite(one: Interval) -> Interval {
    if one.low.is_finite() && one.high.is_finite() { one } else { ANYTHING }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::{Random, tries};

    /// Random records whose last column depends on the other columns and on random noise.
    fn columns(random: &mut Random, bounds: &[Bounds], rows: usize) -> Vec<Vec<f64>> {
        let predictors = bounds.len() - 1;
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); bounds.len()];
        for _ in 0..rows {
            let own: Vec<f64> = (0..predictors).map(|_| 2.0 * random.unit() - 1.0).collect();
            let sum: f64 = own.iter().enumerate().map(|(i, x)| x * (1.0 - i as f64)).sum();
            let outcome = (sum + random.unit()) / (2.0 * predictors as f64);
            for ((column, bounds), x) in
                columns.iter_mut().zip(bounds).zip(own.iter().chain([&outcome]))
            {
                column.push(bounds.center() + bounds.half() * x);
            }
        }
        columns
    }

    /// The number of rows and the sums of a regression: offsets, and products of each predictor with itself and later
    /// columns.
    fn sums(columns: &[Vec<f64>], bounds: &[Bounds]) -> Vec<f64> {
        let offset = |i: usize| columns[i].iter().map(move |x| x - bounds[i].center());
        let mut sums = vec![columns[0].len() as f64];
        sums.extend((0..bounds.len()).map(|i| offset(i).sum::<f64>()));
        for i in 0..bounds.len() - 1 {
            sums.extend(
                (i..bounds.len())
                    .map(|j| offset(i).zip(offset(j)).map(|(x, y)| x * y).sum::<f64>()),
            );
        }
        sums
    }

    /// Least squares by the normal equations with a column of ones, from the sums.
    fn least_squares(sums: &[f64], bounds: &[Bounds]) -> Option<Vec<f64>> {
        let count = bounds.len();
        let raw = |i: usize, j: usize| match (i.min(j), i.max(j)) {
            (0, 0) => sums[0],
            (0, j) => sums[j],
            (i, j) => sums[1 + product_place(count, i - 1, j - 1)],
        };
        let matrix = DMatrix::from_fn(count, count, raw);
        let against = DVector::from_fn(count, |i, _| raw(i, count));
        let solved = matrix.lu().solve(&against)?;
        // The normal equations are in offsets from the centers.
        let shift: f64 = (1..count).map(|i| solved[i] * bounds[i - 1].center()).sum();
        let intercept = bounds[count - 1].center() + solved[0] - shift;
        Some([intercept].into_iter().chain(solved.iter().skip(1).copied()).collect())
    }

    /// For all sums within their intervals the coefficients are within theirs; with one predictor the slope reaches its
    /// ends.
    #[test]
    fn coefficients_are_within_their_intervals_wherever_the_sums_are() {
        let mut random = Random::new(5);
        let all = [(0.0, 10.0), (-3.0, 1.0), (100.0, 101.0), (-5.0, 5.0)];
        let bounds: Vec<Bounds> = all.map(|(low, high)| Bounds::new(low, high).unwrap()).into();
        for predictors in 1..=3 {
            let bounds = &bounds[..=predictors];
            let mut furthest: f64 = 0.0;
            for _ in 0..tries(400, 0.1) {
                let exact = sums(&columns(&mut random, bounds, 400), bounds);
                let wide = random.log_uniform(1e-4, 0.03) * 400.0;
                let unit = |place: usize| {
                    let half = |i: usize| bounds[i].half();
                    let pairs = (0..predictors).flat_map(|i| (i..=predictors).map(move |j| (i, j)));
                    let ends = pairs.map(|(i, j)| half(i) * half(j));
                    [1.0]
                        .into_iter()
                        .chain((0..=predictors).map(half))
                        .chain(ends)
                        .nth(place)
                        .unwrap()
                };
                let interval = |(place, sum): (usize, &f64)| {
                    let by = wide * unit(place);
                    Interval { low: sum - by, high: sum + by }
                };
                let boxed: Vec<Interval> = exact.iter().enumerate().map(interval).collect();
                let found = intervals(bounds, boxed[0], &boxed[1..]);
                assert_eq!(found.len(), predictors + 1);
                for _ in 0..100 {
                    let is_corner = random.once_in(2);
                    let within = |one: &Interval| match is_corner {
                        true => random.of(&[one.low, one.high]),
                        false => one.low + random.unit() * (one.high - one.low),
                    };
                    let noisy: Vec<f64> = boxed.iter().map(within).collect();
                    let Some(truth) = least_squares(&noisy, bounds) else { continue };
                    for (place, (truth, one)) in truth.iter().zip(&found).enumerate() {
                        let slack = 1e-9 * (1.0 + truth.abs());
                        let is_within = one.low - slack <= *truth && *truth <= one.high + slack;
                        assert!(is_within, "{place}: {truth} {one:?} {exact:?} {wide}");
                        if place == 1 && one.high.is_finite() {
                            let middle = 0.5 * (one.low + one.high);
                            furthest = furthest.max((truth - middle).abs() / (one.high - middle));
                        }
                    }
                }
            }
            assert!(furthest > [0.0, 0.9, 0.5, 0.4][predictors], "{predictors}: {furthest}");
        }
    }

    /// Intervals are infinite if predictors may be collinear or constant.
    #[test]
    fn nothing_is_said_of_predictors_that_may_be_collinear() {
        let bounds = [Bounds::new(-1.0, 1.0).unwrap(); 3];
        let around = |sum: f64| Interval { low: sum - 5.0, high: sum + 5.0 };
        let rows = around(100.0);
        let told = |sums: &[f64], count: usize| {
            let sums: Vec<Interval> = sums.iter().copied().map(around).collect();
            let found = intervals(&bounds[3 - count..], rows, &sums);
            assert_eq!(found.len(), count);
            assert!(found.iter().all(|one| one.low.is_finite()) || found == vec![ANYTHING; count]);
            found[0].low.is_finite()
        };
        assert!(told(&[0.0, 0.0, 30.0, 10.0], 2) && !told(&[0.0, 0.0, 4.0, 1.0], 2));
        assert!(told(&[0.0, 0.0, 0.0, 40.0, 10.0, 1.0, 40.0, 1.0], 3));
        assert!(!told(&[0.0, 0.0, 0.0, 40.0, 35.0, 1.0, 40.0, 1.0], 3));
    }
}
