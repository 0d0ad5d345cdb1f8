//! Several counts at once: bins, and counts below edges.

use super::{all_within, slack, table};
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Query, monotone};
use counterpoint_testing::{is_full, size, tries};

/// P(all of k within h) is P(one within h)^k.
#[test]
fn all_bins_at_once() {
    let edges: Vec<f64> = (0..=40).map(f64::from).collect();
    let relation = Relation::single_record(Adjacency::AddRemove);
    let ready = Query::histogram(&edges).unwrap().laplace(0.5).unwrap().under(relation).unwrap();
    let decay = (-0.5_f64).exp();
    let within = |h: f64| 1.0 - 2.0 * decay.powf(h + 1.0) / (1.0 + decay);
    for confidence in [1e-3, 0.5, 0.95, 1.0 - 1e-9] {
        let found = ready.half_width_all(0, confidence).unwrap();
        assert!(within(found).powi(40) >= confidence - 1e-12, "{confidence}: {found}");
        assert!(within(found - 1.0).powi(40) < confidence, "{confidence}: {found}");
        assert!(ready.half_width(0, confidence).unwrap() <= found);
    }
    let one = Query::count().laplace(0.5).unwrap().under(relation).unwrap();
    let [all, each] = [one.half_width_all(9, 0.9), one.half_width(9, 0.9)].map(Result::unwrap);
    assert!((all - each).abs() < 1e-12);
}

/// All errors are within the half-width as often as was said, and hardly more often: with 5 % less it would be found too
/// small, and with a fifth more too large. The worst single one likewise.
#[test]
fn counts_below_all_edges_are_as_close_as_promised() {
    let runs = tries(100_000, 0.02);
    let edges: Vec<f64> = (1..=31).map(f64::from).collect();
    let values: Vec<f64> = (0..200).map(|i| f64::from(i % 40)).collect();
    let truth: Vec<f64> = edges
        .iter()
        .map(|edge| values.iter().filter(|value| *value < edge).count() as f64)
        .collect();
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::single_record) {
        let query = Query::cumulative(&edges).unwrap();
        let noisy_queries = [query.laplace(0.3), query.gaussian(9.0), query.staircase(0.3)];
        for noisy_query in noisy_queries.into_iter().take(size(3, 2) as usize) {
            let ready = noisy_query.unwrap().under(relation).unwrap();
            let data = Data::new(relation, values.clone());
            let good = |within: f64| within >= 0.9 - slack(0.9) && within <= 0.908 + slack(0.9);
            let off = |answers: &[f64]| {
                answers.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let all = ready.half_width_all(200, 0.9).unwrap();
            // So much is seen in a quick run.
            let (small, large) = if is_full() { (0.95, 1.2) } else { (0.75, 1.4) };
            let widths = [all, small * all, large * all];
            let [right, less, more] = all_within(widths, runs, || {
                let answers = table(ready.run(&data).unwrap());
                let off_by = off(&answers);
                assert!(off(&monotone(&answers)) <= off_by + 1e-9);
                off_by
            });
            let context = format!("{ready:?}: {right} {less} {more} within {all}");
            assert!(good(right) && !good(less) && !good(more), "{context}");
            // The last is the sum of five.
            let one = ready.half_width(200, 0.9).unwrap();
            let [right, less, more] = all_within([one, small * one, large * one], runs, || {
                (table(ready.run(&data).unwrap())[30] - truth[30]).abs()
            });
            let context = format!("{ready:?}: {right} {less} {more} within {one}");
            assert!(good(right) && !good(less) && !good(more), "{context}");
        }
    }
}
