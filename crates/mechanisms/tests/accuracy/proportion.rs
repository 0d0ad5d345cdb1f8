//! Shares of rows.

use super::mean::{mean_fails, worst_mean};
use super::{HALF, bounds, expected, is_tight, least, styles};
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Query};
use counterpoint_testing::is_full;

/// A proportion is a mean of numbers that are plus or minus a half; in tenths, as those here are.
#[test]
fn a_proportion_is_off_as_far_as_its_law_says() {
    let query = Query::proportion(bounds());
    let private = Relation::single_record(Adjacency::AddRemove);
    for (noisy_query, law) in styles(&query, 2.0) {
        let measurement = noisy_query.under(private).unwrap();
        let (ones, sides) = (law.whole(), law.scaled(HALF));
        for &rows in if is_full() { &[3, 40, 400, 100_000][..] } else { &[3, 400] } {
            let n = rows as f64;
            for confidence in [0.5, 0.95, 0.999] {
                let truth = worst_mean(&ones, sides, n, confidence);
                let found = 10.0 * measurement.half_width(rows, confidence).unwrap();
                let context = format!("{noisy_query:?} {rows} {confidence}: {found} {truth}");
                assert!(is_tight(found, truth, 1.01), "{context}");
            }
        }
        // 280 of 400 within.
        let values = (0..400).map(|i| if i < 280 { 1.0 } else { 9.0 });
        let example = Data::new(private, values.collect::<Vec<f64>>());
        let fails = |h: f64| mean_fails(&ones, sides, 400.0, 2.0, h);
        let truth = least(fails, 2.0 * HALF, 0.05);
        let found = 10.0 * measurement.half_width_on(&example, 0.95).unwrap();
        assert!(is_tight(found, truth, 1.005), "{noisy_query:?}: {found} {truth}");
        let (found, truth) = (
            10.0 * measurement.expected_error_on(&example).unwrap(),
            expected(fails, 20.0 * truth / 3.0),
        );
        assert!(found >= 0.999 * truth && found <= 1.01 * truth, "{found} {truth}");
        let worst = 10.0 * measurement.expected_error(400);
        assert!(worst >= found && worst <= 2.0 * found, "{worst} {found}");
    }
}

/// Where their number is public, so many ones with noise on whole numbers, clamped: all data there are, one by one.
#[test]
fn a_proportion_of_publicly_many_is_off_as_far_as_its_law_says() {
    let public = Relation::single_record(Adjacency::Replace);
    for (noisy_query, law) in styles(&Query::proportion(bounds()), 1.0) {
        let measurement = noisy_query.under(public).unwrap();
        for rows in [1_u32, 4, 7, 30] {
            let n = f64::from(rows);
            // How far the answer is off, in rows.
            let off = |ones: u32, noise: f64| {
                ((f64::from(ones) + noise).clamp(0.0, n) - f64::from(ones)).abs()
            };
            let fails = |ones: u32, h: f64| {
                let beyond = law.whole().into_iter().filter(|(a, _)| off(ones, *a) > h + 1e-9);
                beyond.map(|(_, chance)| chance).sum::<f64>()
            };
            let mean = |ones: u32| law.whole().iter().map(|(a, p)| off(ones, *a) * p).sum::<f64>();
            for confidence in [0.5, 0.95] {
                let least = |ones: u32| {
                    (0..=rows).find(|h| fails(ones, f64::from(*h)) <= 1.0 - confidence).unwrap()
                };
                let worst = (0..=rows).map(least).max().unwrap();
                let found = n * measurement.half_width(rows.into(), confidence).unwrap();
                // The worst share may lie between two that so few rows can have.
                let context = format!("{noisy_query:?} {rows} {confidence}: {found} {worst}");
                assert!(found >= f64::from(worst) - 1e-9, "{context}");
                assert!(found <= f64::from(worst) + 0.51, "{context}");
                for ones in [0, rows / 3, rows] {
                    let values = (0..rows).map(|i| if i < ones { 1.0 } else { 9.0 });
                    let example = Data::new(public, values.collect::<Vec<f64>>());
                    let found = n * measurement.half_width_on(&example, confidence).unwrap();
                    assert!(
                        (found - f64::from(least(ones))).abs() < 1e-9,
                        "{context}: {ones} {found}"
                    );
                    let found = n * measurement.expected_error_on(&example).unwrap();
                    let close = found / mean(ones).max(1e-300);
                    assert!((1.0 - 1e-9..1.0 + 1e-6).contains(&close), "{context}: {ones} {found}");
                }
            }
            let worst = (0..=rows).map(mean).fold(0.0, f64::max);
            let found = n * measurement.expected_error(rows.into());
            let most = if rows % 2 == 0 { worst * (1.0 + 1e-6) } else { worst + 0.5 };
            assert!(found >= worst * (1.0 - 1e-9) && found <= most, "{rows}: {found} {worst}");
        }
    }
}
