//! Means.

use super::{HALF, Law, bounds, is_tight, least, styles};
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Query};
use counterpoint_testing::{is_full, size};

/// How often a mean of n offsets with mean m is off by more than h: the answer is clamped, so that
/// it is too high, or too low, only if there is room.
pub(super) fn mean_fails(ones: &[(f64, f64)], offsets: Law, n: f64, m: f64, h: f64) -> f64 {
    let fails = |&(a, chance): &(f64, f64)| {
        let noisy = (n + a).max(1.0);
        let shift = m * (noisy - n);
        let high = if m + h < HALF { offsets.above(shift + h * noisy) } else { 0.0 };
        let low = if m - h > -HALF { offsets.above(h * noisy - shift) } else { 0.0 };
        chance * (high + low)
    };
    ones.iter().map(fails).sum()
}

/// Means from 0 to the end of the bounds, denser there.
fn means(h: f64) -> impl Iterator<Item = f64> {
    let room = (0..60).map(|j| HALF * 1.2_f64.powi(-j)).chain([h, 0.99 * h, 1.01 * h, 0.0]);
    let room = room.chain([(2.0 * HALF - h) * (1.0 - 1e-6)]);
    room.map(|room| HALF - room * (1.0 + 1e-9)).filter(|m| *m >= 0.0)
}

/// The half-width of a mean, whatever that is.
pub(super) fn worst_mean(ones: &[(f64, f64)], offsets: Law, n: f64, confidence: f64) -> f64 {
    let worst = |h: f64| {
        let fails = means(h).map(|m| mean_fails(ones, offsets, n, m, h));
        fails.fold(0.0, f64::max)
    };
    least(worst, 2.0 * HALF, 1.0 - confidence)
}

#[test]
fn a_mean_of_privately_many_is_off_as_far_as_its_law_says() {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let query = Query::mean(bounds());
    for (noisy_query, law) in styles(&query, 2.0) {
        let measurement = noisy_query.under(relation).unwrap();
        let (ones, offsets) = (law.whole(), law.scaled(HALF));
        for &rows in if is_full() { &[3, 12, 40, 400, 100_000][..] } else { &[3, 40, 400] } {
            let n = rows as f64;
            for confidence in [0.5, 0.9, 0.95, 0.999] {
                let truth = worst_mean(&ones, offsets, n, confidence);
                let found = measurement.half_width(rows, confidence).unwrap();
                let context = format!("{noisy_query:?} {rows} {confidence}: {found} {truth}");
                assert!(is_tight(found, truth, 1.01), "{context}");
                // Of data that are not the worst.
                if rows <= 400 {
                    let example = Data::new(relation, vec![2.0; rows as usize]);
                    let truth = least(
                        |h| mean_fails(&ones, offsets, n, 2.0, h),
                        2.0 * HALF,
                        1.0 - confidence,
                    );
                    let found = measurement.half_width_on(&example, confidence).unwrap();
                    assert!(is_tight(found, truth, 1.005), "{context} on: {found} {truth}");
                }
            }
            // The mean distance is the integral of how often it is larger.
            let expected = |m: f64| {
                let (steps, unit) = (size(3000, 500) as u32, 2.0 * HALF * (60.0 / n).min(1.0));
                let nodes = (0..steps).map(|j| (f64::from(j) + 0.5) / f64::from(steps));
                // Denser near zero: h = unit x^2.
                let term = |x: f64| 2.0 * x * unit * mean_fails(&ones, offsets, n, m, unit * x * x);
                nodes.map(term).sum::<f64>() / f64::from(steps)
            };
            let truth = means(10.0 / n).step_by(4).map(expected).fold(0.0, f64::max);
            let found = measurement.expected_error(rows);
            let most = if rows < 100 { 1.08 } else { 1.03 };
            assert!(found >= 0.999 * truth && found <= most * truth, "{rows}: {found} {truth}");
            if rows <= 400 {
                let example = Data::new(relation, vec![2.0; rows as usize]);
                let (found, truth) =
                    (measurement.expected_error_on(&example).unwrap(), expected(2.0));
                assert!(found >= 0.999 * truth && found <= 1.01 * truth, "{rows}: {found} {truth}");
            }
        }
    }
}

#[test]
fn a_mean_of_publicly_many_is_off_as_far_as_its_law_says() {
    let relation = Relation::single_record(Adjacency::Replace);
    for (noisy_query, law) in styles(&Query::mean(bounds()), 1.0) {
        let measurement = noisy_query.under(relation).unwrap();
        let (ones, offsets) = ([(0.0, 1.0)], law.scaled(2.0 * HALF));
        for rows in [1, 3, 12, 400] {
            let n = rows as f64;
            for confidence in [0.5, 0.9, 0.95, 0.999] {
                let truth = worst_mean(&ones, offsets, n, confidence);
                let found = measurement.half_width(rows, confidence).unwrap();
                assert!(is_tight(found, truth, 1.0001), "{rows} {confidence}: {found} {truth}");
            }
        }
        // Of many rows clamping is not felt.
        let mean = match offsets {
            Law::Laplace(scale) => scale,
            Law::Normal(sigma) => sigma * (2.0 / std::f64::consts::PI).sqrt(),
        };
        let found = measurement.expected_error(10_000) * 1e4;
        assert!((found / mean - 1.0).abs() < 1e-4, "{found} {mean}");
    }
}
