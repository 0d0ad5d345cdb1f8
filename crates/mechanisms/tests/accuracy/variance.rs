//! Variances.

use super::{HALF, Law, bounds, expected, seen, slack, styles};
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Query};
use counterpoint_testing::{is_full, size};

/// How often a variance is off by more than h, by sums over the noise on the offsets: the answer and the mean
/// within it are clamped.
fn variance_fails(
    ones: &[(f64, f64)],
    (offsets, squares): (Law, Law),
    (n, m, u): (f64, f64, f64),
    h: f64,
) -> f64 {
    let (variance, most) = (u - m * m, HALF * HALF);
    let unit = match offsets {
        Law::Laplace(scale) => scale / 12.0,
        Law::Normal(sigma) => sigma / 12.0,
    };
    let given = |a: f64| {
        let noisy = (n + a).max(1.0);
        let inner = |j: i32| {
            let s = f64::from(j) * unit;
            let mean = ((n * m + s) / noisy).clamp(-HALF, HALF);
            // What the squares' noise has to reach for the answer to be the variance.
            let even = noisy * (variance + mean * mean) - n * u;
            let high = if variance + h < most { squares.above(even + h * noisy) } else { 0.0 };
            let low = if variance > h { squares.above(h * noisy - even) } else { 0.0 };
            offsets.density(s) * unit * (high + low)
        };
        (-180..=180).map(inner).sum::<f64>()
    };
    ones.iter().map(|&(a, chance)| chance * given(a)).sum()
}

#[test]
fn a_variance_is_off_as_far_as_its_law_says() {
    let most = HALF * HALF;
    for public in [true, false] {
        let adjacency = if public { Adjacency::Replace } else { Adjacency::AddRemove };
        let relation = Relation::single_record(adjacency);
        let (parts, moved) = if public { (2.0, 2.0) } else { (3.0, 1.0) };
        for (noisy_query, law) in styles(&Query::variance(bounds()), parts) {
            let measurement = noisy_query.under(relation).unwrap();
            let laws = (law.scaled(moved * HALF), law.scaled(most));
            let mut ones = if public { vec![(0.0, 1.0)] } else { law.whole() };
            ones.retain(|(_, chance)| *chance > 1e-7);
            for &rows in if is_full() { &[150, 2_000, 50_000][..] } else { &[150, 2_000] } {
                let n = rows as f64;
                for &confidence in if is_full() { &[0.5, 0.95, 0.999][..] } else { &[0.5, 0.95] } {
                    let alpha = 1.0 - confidence;
                    let found = measurement.half_width(rows, confidence).unwrap();
                    let worst = |h: f64| {
                        let far = (most - h).max(0.0).sqrt();
                        let all = [0.0, 0.3, 0.7, 0.9, 0.97, 0.99, 0.999, 1.0 - 1e-9];
                        let many = if public { &all[..] } else { &all[5..] };
                        let squares = |m: f64| [m * m, 0.5 * (m * m + most), most];
                        let data = many.iter().flat_map(|share| {
                            let m = share * far;
                            squares(m).map(|u| variance_fails(&ones, laws, (n, m, u), h))
                        });
                        data.fold(0.0, f64::max)
                    };
                    let context = format!("{noisy_query:?} {rows} {confidence}: {found}");
                    if found < most {
                        assert!(worst(found) <= alpha * (1.0 + 1e-3), "{context}");
                    }
                    // Of few rows the squared error of the mean is felt; at one half the sides overlap.
                    let most = match (rows < 1000, confidence < 0.9) {
                        (false, false) => 1.03,
                        (true, false) => 1.15,
                        (false, true) => 1.2,
                        (true, true) => 1.5,
                    };
                    assert!(worst(found / most) > alpha, "{context}");
                }
                // Data of which half are at the middle, and others at an end.
                if rows <= 2_000 {
                    let values = (0..rows).map(|i| if i % 2 == 0 { 0.0 } else { 4.0 });
                    let example = Data::new(relation, values.collect::<Vec<f64>>());
                    let found = measurement.half_width_on(&example, 0.95).unwrap();
                    let fails = |h: f64| variance_fails(&ones, laws, (n, 2.0, 8.0), h);
                    assert!(fails(found) <= 0.05 * 1.001, "{noisy_query:?} {rows}: {found}");
                    assert!(fails(found / 1.04) > 0.05, "{noisy_query:?} {rows}: {found}");
                    let truth = expected(fails, 16.0 * found);
                    let found = measurement.expected_error_on(&example).unwrap();
                    assert!(found >= 0.999 * truth && found <= 1.06 * truth, "{found} {truth}");
                }
            }
            let (rows, far) = (5_000, (most - 0.5_f64).sqrt());
            let fails = |h: f64| variance_fails(&ones, laws, (rows as f64, far, most), h);
            let found = measurement.expected_error(rows);
            let truth = expected(fails, 10.0 * found);
            assert!(found >= 0.999 * truth && found <= 1.2 * truth, "{found} {truth}");
        }
    }
}

/// A variance's worst data are at the ends of the bounds, and as uneven as they may be with both sides open.
#[test]
fn variances_are_as_close_as_promised() {
    let rows = 1_000_u64;
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::single_record) {
        let query = Query::variance(bounds());
        let noisy_queries = [query.laplace(0.8), query.gaussian(3.0), query.staircase(0.8)];
        for noisy_query in noisy_queries.into_iter().take(size(3, 2) as usize) {
            let measurement = noisy_query.unwrap().under(relation).unwrap();
            let half_width = measurement.half_width(rows, 0.9).unwrap();
            // A little more than that, so that it can be too low by as much.
            let mean = (HALF * HALF - 1.01 * half_width).sqrt();
            let high = (rows as f64 * 0.5 * (1.0 + mean / HALF)).floor() as u64;
            let value = |i: u64| if i < high { HALF } else { -HALF };
            let data = Data::new(relation, (0..rows).map(value).collect::<Vec<f64>>());
            let mean = HALF * (2.0 * high as f64 / rows as f64 - 1.0);
            let (within, _) = seen(&measurement, &data, HALF * HALF - mean * mean, half_width);
            let context = format!("{measurement:?}: {within} within {half_width}");
            assert!(within >= 0.9 - slack(0.9) && within <= 0.92 + slack(0.9), "{context}");
        }
    }
}
