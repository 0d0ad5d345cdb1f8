//! How far a simple random sample is off from its population.

use counterpoint_mechanisms::{Bounds, Query};

fn share() -> Query {
    Query::proportion(Bounds::new(0.5, 1.5).unwrap())
}

/// Serfling's bound, computed elsewhere, in the units of each query.
#[test]
fn the_bound_is_serflings() {
    let near = |query: Query, (n, of, confidence): (u64, u64, f64), truth: f64| {
        let said = query.sampling_error(n, of, confidence).unwrap().unwrap();
        assert!((said / truth - 1.0).abs() < 1e-12, "{said} {truth}");
    };
    near(share(), (100, 10_000, 0.95), 0.13513621919230623);
    near(share(), (4000, 5000, 0.9), 0.008658417877746988);
    let income = Bounds::new(-50.0, 150.0).unwrap();
    near(Query::mean(income), (100, 10_000, 0.95), 200.0 * 0.13513621919230623);
    near(Query::sum(income), (100, 10_000, 0.95), 20_000.0 * 0.13513621919230623);
    near(Query::count_within(income), (100, 10_000, 0.95), 13.513621919230623);
    // Of five bins at once each has a fifth of the chance to be further off.
    let bins = Query::histogram(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    near(bins, (100, 10_000, 0.75), 13.513621919230623);
    assert_eq!(Query::count().sampling_error(100, 1000, 0.9).unwrap(), Some(0.0));
    assert_eq!(Query::variance(income).sampling_error(100, 1000, 0.9).unwrap(), None);
    assert_eq!(share().sampling_error(1, 1, 0.95).unwrap(), Some(1.0), "no share is further off");
    for (rows, population, confidence) in [(0, 9, 0.9), (10, 9, 0.9), (1, 9, 0.0), (1, 9, 1.0)] {
        assert!(share().sampling_error(rows, population, confidence).is_err());
    }
}

/// All samples of all populations of zeros and ones: none is further off more often than was said.
#[test]
fn shares_of_samples_are_as_near_as_promised() {
    let choose = |n: u64, k: u64| (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product::<f64>();
    for (n, of) in [(1, 8), (5, 20), (10, 60), (30, 60), (55, 60), (60, 60)] {
        for confidence in [0.5, 0.9, 0.95, 0.999] {
            let t = share().sampling_error(n, of, confidence).unwrap().unwrap();
            for ones in 0..=of {
                let off = |k: u64| (k as f64 / n as f64 - ones as f64 / of as f64).abs();
                let chance = |k: u64| match k <= ones && n - k <= of - ones {
                    true => choose(ones, k) * choose(of - ones, n - k) / choose(of, n),
                    false => 0.0,
                };
                let far: f64 = (0..=n).filter(|k| off(*k) > t + 1e-12).map(chance).sum();
                assert!(far <= 1.0 - confidence, "{ones} of {of}, {n} drawn: {far}");
            }
        }
    }
}
