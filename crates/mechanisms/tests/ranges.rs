//! Every recipe within its documented range can be made ready for every relation, and has the noise that
//! was asked for.

use counterpoint::quantity::{Delta, Epsilon};
use counterpoint::{Adjacency, Mechanism, Options, Plan, Relation};
use counterpoint_mechanisms::{Bounds, Error, NoisyQuery, Query};

const MOST: f64 = 500.0;

fn relations() -> Vec<Relation> {
    let both = [Adjacency::AddRemove, Adjacency::Replace];
    let records = [1, 2, 6, 11, 127, 128, 130, 525, 10_000];
    both.iter()
        .flat_map(|&adjacency| records.map(|records| Relation::new(adjacency, records).unwrap()))
        .collect()
}

fn all_bounds() -> Vec<Bounds> {
    let ends = [
        (0.0, 1.0),
        (0.0, 1.03),
        (-1e100, 1e100),
        (0.0, 1e-100),
        (1e99, 1e100),
        (-3.0, 10.0),
        (0.0, 0.999),
        (1e12, 1e12 + 2.0),
    ];
    ends.map(|(low, high)| Bounds::new(low, high).unwrap()).to_vec()
}

fn queries(bounds: Bounds) -> [Query; 5] {
    let means = [Query::mean(bounds), Query::variance(bounds), Query::proportion(bounds)];
    let [mean, variance, proportion] = means;
    [Query::count(), Query::sum(bounds), mean, variance, proportion]
}

#[test]
fn all_that_is_documented_is_legal() {
    let least = 2.0_f64.powi(-20);
    let histogram = Query::histogram(&[0.0, 1.0, 2.0]).unwrap();
    let quantile = Query::quantile((999, 1000), &[0.0, 1.0]).unwrap();
    let cumulative = Query::cumulative(&[0.0, 1.0, 2.0]).unwrap();
    let quantiles = Query::quantiles(&[(1, 1000), (999, 1000)], &[0.0, 1.0]).unwrap();
    for relation in relations() {
        let legal = |noisy_query: Result<NoisyQuery, Error>| {
            let noisy_query = noisy_query.unwrap();
            let ready = noisy_query.under(relation);
            assert!(ready.is_ok(), "{noisy_query:?} under {relation}: {ready:?}");
            let ready = ready.unwrap();
            for noise in ready.noises() {
                assert!(noise.expected_error().is_finite());
            }
        };
        for bounds in all_bounds() {
            for query in queries(bounds) {
                for epsilon in [least, 0.3, 1.0, MOST] {
                    legal(query.laplace(epsilon));
                    legal(query.staircase(epsilon));
                }
                for multiplier in [0.025, 1.0, 77.7, 1000.0] {
                    legal(query.gaussian(multiplier));
                }
            }
        }
        for epsilon in [least, 1.0, MOST] {
            legal(histogram.laplace(epsilon));
            legal(quantile.exponential(epsilon));
            legal(quantiles.exponential((2.0 * epsilon).min(MOST)));
            legal(quantile.exponential_interval((3.0 * epsilon).min(MOST), 1e-9));
            legal(quantiles.exponential_interval((6.0 * epsilon).min(MOST), 1.0 - 1e-9));
            legal(cumulative.laplace(epsilon));
            if relation.records() == 1 {
                legal(histogram.staircase(epsilon));
                legal(cumulative.staircase(epsilon));
            }
        }
        for multiplier in [0.025, 1.0, 1000.0] {
            let moved: f64 = if relation.adjacency() == Adjacency::Replace { 2.0 } else { 1.0 };
            let noisy_query = histogram.gaussian(multiplier);
            if multiplier * relation.records() as f64 * moved.sqrt() <= 1_048_576.0 {
                legal(noisy_query);
            } else {
                let text = noisy_query.unwrap().under(relation).unwrap_err().to_string();
                assert!(
                    text.starts_with("multiplier is 1000; legal: at most 2^20 divided"),
                    "{text}"
                );
            }
            // One record of three edges is in two nodes, and two in each other's place in three.
            let noisy_query = cumulative.gaussian(multiplier);
            if multiplier * relation.records() as f64 * (moved + 1.0).sqrt() <= 1_048_576.0 {
                legal(noisy_query);
            } else {
                assert!(noisy_query.unwrap().under(relation).is_err());
            }
        }
    }
}

/// Sigma is what was asked for, or up to 0.8 % more; never less. What is charged is at most what was asked
/// for, and no more than 0.8 % less.
#[test]
fn gaussian_noise_is_as_much_as_was_asked_for() {
    for relation in relations() {
        let records = relation.records() as f64;
        for bounds in all_bounds() {
            let (low, high) = (bounds.low(), bounds.high());
            let half = 0.5 * high - 0.5 * low;
            let public = relation.is_length_public();
            let far = |low: f64, high: f64| match relation.adjacency() {
                Adjacency::AddRemove => low.abs().max(high.abs()) * records,
                Adjacency::Replace if public => high - low,
                Adjacency::Replace => (high.max(0.0) - low.min(0.0)) * records,
            };
            let ones = if public { vec![] } else { vec![records] };
            let (offsets, squares) = (far(-half, half), far(0.0, half * half));
            let sums = [
                (Query::count(), vec![records]),
                (Query::sum(bounds), vec![if public { high - low } else { far(low, high) }]),
                (Query::mean(bounds), [ones.clone(), vec![offsets]].concat()),
                (Query::variance(bounds), [ones.clone(), vec![offsets, squares]].concat()),
                (Query::proportion(bounds), [ones, vec![far(-0.5, 0.5)]].concat()),
            ];
            for (query, moved) in sums {
                for multiplier in [0.025, 0.7, 3.0, 33.3, 999.0, 1000.0] {
                    let ready = query.gaussian(multiplier).unwrap().under(relation).unwrap();
                    let asked = multiplier * (moved.len() as f64).sqrt();
                    for (noise, moved) in ready.noises().iter().zip(&moved) {
                        let (sigma, charged) = match noise.mechanism() {
                            Mechanism::Gaussian { sigma, sensitivity } => {
                                (sigma.get(), sensitivity.get() / sigma.get())
                            }
                            Mechanism::DiscreteGaussian { sigma, sensitivity } => {
                                (sigma.get(), sensitivity.get() as f64 / sigma.get())
                            }
                            other => panic!("{other:?}"),
                        };
                        let context = format!("{query:?} {multiplier} {relation}: {noise:?}");
                        let more = sigma * noise.grid().step() / (asked * moved);
                        assert!((1.0 - 1e-9..=1.008).contains(&more), "{context}: {more}");
                        let less = charged * asked;
                        assert!((0.992..=1.0 + 1e-12).contains(&less), "{context}: {less}");
                    }
                }
            }
        }
    }
}

/// Counts of few records with much noise are charged at once, by Rényi divergences.
#[test]
fn wide_counts_have_a_price() {
    let relation = Relation::new(Adjacency::AddRemove, 11).unwrap();
    let ready = Query::count().gaussian(1000.0).unwrap().under(relation).unwrap();
    let plan = Plan::new(ready.releases().to_vec()).unwrap();
    let found = plan.delta(Epsilon::new(0.004).unwrap(), &Options::default()).unwrap();
    // Of Gaussian noise of 1000 sensitivities: tail(epsilon/mu - mu/2) - e^epsilon tail(epsilon/mu + mu/2).
    let tail = |x: f64| 0.5 * libm::erfc(x / 2.0_f64.sqrt());
    let exact = tail(4.0 - 0.0005) - 0.004_f64.exp() * tail(4.0 + 0.0005);
    let upper = found.bracket.upper;
    assert!(upper >= exact * 0.999 && upper <= 20.0 * exact, "{upper} {exact}");
    assert!(plan.epsilon(Delta::new(1e-6).unwrap(), &Options::default()).is_ok());
}
