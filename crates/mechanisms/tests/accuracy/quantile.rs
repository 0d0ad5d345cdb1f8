//! Quantiles, one and several.

use super::{all_within, slack, table};
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Measurement, Query};
use counterpoint_testing::tries;

/// All data there are, as far as candidates see them: how many are below each.
fn all_below(candidates: usize, rows: u64) -> Vec<Vec<u64>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..candidates {
        let longer = |list: &Vec<u64>| {
            let least = list.last().copied().unwrap_or(0);
            (least..=rows).map(|next| [list.clone(), vec![next]].concat()).collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

#[test]
fn a_quantile_is_off_as_far_as_its_law_says() {
    let candidates = [1.0, 2.0, 3.0, 4.0];
    for (share, rows) in [((1, 2), 9), ((1, 3), 7), ((3, 10), 8), ((7, 9), 10)] {
        for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
            let relation = Relation::single_record(adjacency);
            let (part, whole) = (f64::from(share.0), f64::from(share.1));
            let moved =
                if adjacency == Adjacency::Replace { whole } else { part.max(whole - part) };
            for epsilon in [0.5, 2.0, 8.0] {
                let query = Query::quantile(share, &candidates).unwrap();
                let ready = query.exponential(epsilon).unwrap().under(relation).unwrap();
                // Weights e^(epsilon score / (2 sensitivity)).
                let law = |below: &Vec<u64>| {
                    let miss = |&below: &u64| (whole * below as f64 - part * rows as f64).abs();
                    let best = below.iter().map(miss).fold(f64::INFINITY, f64::min);
                    let weight = |lack: f64| (-epsilon * lack / (2.0 * moved)).exp();
                    let total: f64 = below.iter().map(|b| weight(miss(b) - best)).sum();
                    let each = |b: &u64| (miss(b) - best, weight(miss(b) - best) / total);
                    below.iter().map(each).collect::<Vec<(f64, f64)>>()
                };
                let half_width = |law: &[(f64, f64)], alpha: f64| {
                    let beyond = |t: f64| {
                        law.iter().filter(|(lack, _)| *lack > t + 1e-9).map(|(_, p)| p).sum::<f64>()
                    };
                    let keeps = law.iter().map(|(lack, _)| *lack).filter(|&t| beyond(t) <= alpha);
                    keeps.fold(f64::INFINITY, f64::min)
                };
                let laws: Vec<_> = all_below(4, rows).iter().map(law).collect();
                for confidence in [0.05, 0.6, 0.9, 0.99] {
                    let truth = laws.iter().map(|law| half_width(law, 1.0 - confidence));
                    let truth = truth.fold(0.0, f64::max) / whole;
                    let found = ready.half_width(rows, confidence).unwrap();
                    let context =
                        format!("{share:?} {rows} {epsilon} {confidence}: {found} {truth}");
                    assert!((found - truth).abs() < 1e-9, "{context}");
                }
                let mean =
                    |law: &Vec<(f64, f64)>| law.iter().map(|(lack, p)| lack * p).sum::<f64>();
                let truth = laws.iter().map(mean).fold(0.0, f64::max) / whole;
                let found = ready.expected_error(rows);
                assert!((found - truth).abs() < 1e-9, "{share:?} {epsilon}: {found} {truth}");
                // Two below the second candidate, the others above the third.
                let values = (0..rows).map(|i| if i < 2 { 1.5 } else { 3.5 });
                let example = Data::new(relation, values.collect::<Vec<f64>>());
                let on = law(&vec![0, 2, 2, rows]);
                let found = ready.half_width_on(&example, 0.9).unwrap();
                assert!((found - half_width(&on, 0.1) / whole).abs() < 1e-9, "{found}");
                let found = ready.expected_error_on(&example).unwrap();
                assert!((found - mean(&on) / whole).abs() < 1e-9, "{found}");
            }
        }
    }
}

/// Several at once: the product of each one's chance on its own worst data.
#[test]
fn all_quantiles_at_once() {
    let (candidates, rows) = ([1.0, 2.0, 3.0, 4.0], 9);
    let shares = [(1, 3), (1, 2), (7, 9)];
    let relation = Relation::single_record(Adjacency::AddRemove);
    for epsilon in [1.5, 6.0, 24.0] {
        let query = Query::quantiles(&shares, &candidates).unwrap();
        let ready = query.exponential(epsilon).unwrap().under(relation).unwrap();
        // How often a choice lacks more than t ranks, on the worst of all data.
        let worst = |share: (u32, u32), t: f64| {
            let (part, whole) = (f64::from(share.0), f64::from(share.1));
            let beyond = |below: &Vec<u64>| {
                let miss = |&below: &u64| (whole * below as f64 - part * rows as f64).abs();
                let best = below.iter().map(miss).fold(f64::INFINITY, f64::min);
                let rate = epsilon / 3.0 / (2.0 * part.max(whole - part));
                let weight = |b: &u64| (-rate * (miss(b) - best)).exp();
                let total: f64 = below.iter().map(weight).sum();
                let far = below.iter().filter(|b| (miss(b) - best) / whole > t + 1e-9);
                far.map(weight).sum::<f64>() / total
            };
            all_below(4, rows).iter().map(beyond).fold(0.0, f64::max)
        };
        for confidence in [0.3, 0.9, 0.99] {
            let found = ready.half_width_all(rows, confidence).unwrap();
            let within =
                |t: f64| shares.map(|share| 1.0 - worst(share, t)).into_iter().product::<f64>();
            let context = format!("{epsilon} {confidence}: {found}");
            assert!(within(found) >= confidence - 1e-9, "{context}");
            assert!(found < 1e-9 || within(found - 1e-6) < confidence, "{context}");
            // Next to where the chance jumps, half a percent of a failure more or less is told apart.
            let failing = 1.0 - within(found);
            if (1e-6..0.9).contains(&failing) && found > 0.0 {
                let [low, high] = [0.995, 1.005].map(|by| 1.0 - by * failing);
                assert!(ready.half_width_all(rows, low).unwrap() > found + 1e-6, "{context}");
                let found_again = ready.half_width_all(rows, high).unwrap();
                assert!((found_again - found).abs() < 1e-9, "{context}: {found_again}");
            }
            // Each alone is that of a quantile with a third of epsilon.
            let alone = shares.map(|share| {
                let one = Query::quantile(share, &candidates).unwrap().exponential(epsilon / 3.0);
                one.unwrap().under(relation).unwrap()
            });
            let each = alone.each_ref().map(|one| one.half_width(rows, confidence).unwrap());
            let one = ready.half_width(rows, confidence).unwrap();
            assert!((one - each.into_iter().fold(0.0, f64::max)).abs() < 1e-12 && one <= found);
            let example = Data::new(relation, [0.5, 1.5, 1.5, 2.5, 2.5, 2.5, 3.5, 9.0, 9.0]);
            let each = alone.each_ref().map(|one| one.half_width_on(&example, confidence).unwrap());
            let one = ready.half_width_on(&example, confidence).unwrap();
            assert!((one - each.into_iter().fold(0.0, f64::max)).abs() < 1e-12);
        }
    }
}

/// Half of the rows are below all candidates but one, and half above: of shares around one half that candidate is the
/// best, and all others lack just more than the half-width.
#[test]
fn several_quantiles_are_as_close_as_promised() {
    let runs = tries(100_000, 0.02);
    let relation = Relation::single_record(Adjacency::AddRemove);
    let candidates: Vec<f64> = (0..=40).map(f64::from).collect();
    let shares = [(499, 1000), (500, 1000), (501, 1000)];
    let query = Query::quantiles(&shares, &candidates).unwrap();
    let ready = query.exponential(1.0).unwrap().under(relation).unwrap();
    let all = ready.half_width_all(1_000_000, 0.9).unwrap();
    let half = all.ceil() as usize + 1;
    let values = [vec![19.5; half], vec![20.5; half]].concat();
    let rows = values.len() as f64;
    let data = Data::new(relation, values);
    let all = ready.half_width_all(rows as u64, 0.9).unwrap();
    // The middle candidate has half of the rows below it.
    let lacks = |answer: f64, share: (u32, u32)| {
        let below = if answer < 20.0 {
            0.0
        } else if answer > 20.0 {
            rows
        } else {
            0.5 * rows
        };
        let wanted = rows * f64::from(share.0) / 1000.0;
        (below - wanted).abs() - (0.5 * rows - wanted).abs()
    };
    let greatest = |answers: &[f64]| {
        let lacks = answers.iter().zip(shares).map(|(answer, share)| lacks(*answer, share));
        lacks.fold(0.0, f64::max)
    };
    let [right, less, more] = all_within([all, 0.95 * all, 1.2 * all], runs, || {
        let mut answers = table(ready.run(&data).unwrap());
        let found = greatest(&answers);
        answers.sort_by(f64::total_cmp);
        assert!(greatest(&answers) <= found + 1e-9);
        found
    });
    assert!(right >= 0.9 - slack(0.9) && right <= 0.93 + slack(0.9), "{right} within {all}");
    assert!((right - less).abs() < 1e-9 && more > 0.999, "{less} {more}");
}

/// A quantile with an interval is three choices, of which the first is a quantile at a third of epsilon.
#[test]
fn a_quantile_with_an_interval_is_off_as_one_of_a_third() {
    let candidates = [1.0, 2.0, 3.0, 4.0];
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        let relation = Relation::new(adjacency, 3).unwrap();
        let one = Query::quantile((3, 10), &candidates).unwrap();
        let two = Query::quantiles(&[(3, 10), (1, 2)], &candidates).unwrap();
        for (query, count) in [(one, 1), (two, 2)] {
            let ready = query.exponential_interval(6.0, 0.9).unwrap().under(relation).unwrap();
            let plain = query.exponential(2.0).unwrap().under(relation).unwrap();
            let [release] = ready.releases() else { panic!("{ready:?}") };
            assert_eq!(release.count.get(), 3 * count);
            assert_eq!(release.mechanism, plain.releases()[0].mechanism);
            for confidence in [0.5, 0.95] {
                let far = |ready: &Measurement| ready.half_width_all(40, confidence).unwrap();
                assert!((far(&ready) - far(&plain)).abs() < 1e-9);
                let far = |ready: &Measurement| ready.half_width(40, confidence).unwrap();
                assert!((far(&ready) - far(&plain)).abs() < 1e-9);
            }
            assert!((ready.expected_error(40) - plain.expected_error(40)).abs() < 1e-9);
            let example = Data::new(relation, [0.5, 1.5, 1.5, 2.5, 2.5, 2.5, 3.5, 9.0, 9.0]);
            let far = |ready: &Measurement| ready.half_width_on(&example, 0.9).unwrap();
            assert!((far(&ready) - far(&plain)).abs() < 1e-9);
        }
    }
}
